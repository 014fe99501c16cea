/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/image/image.h - the device code of one DPA context: an image of its own, with its own globals.
 *
 *   struct sim_dpa_app (in the program) --load--> memfd, dlopen(RTLD_LOCAL) --> kernels, found by their host stubs
 *
 * Each load gives a new copy of the image's data. BFSIM_DPA_GUARD=off takes the plain image: without hooks, so that a
 * kernel that never ends can't be ended, and one that uses memory of the host is not refused.
 *
 * Kernels run by guarded_run.h. The image must stay loaded as long as one of its kernels runs.
 */
#ifndef SIM_DPA_IMAGE_H
#define SIM_DPA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/dpa/image/port.h"

struct sim_dpa_image;

/* Load a copy of @app, which dpacc wrote and the program passes on. @port is copied; the loader sets its guard functions.
 * Returns 0, -EINVAL (not an application of dpacc, or of another release of it; logged), -ENOEXEC (the image does not load;
 * logged), -ENOMEM or another -errno. */
int sim_dpa_image_load(const void *app, const struct sim_dpa_port *port, struct sim_dpa_image **ret_image);

/* NULL is fine. Static data of the image is gone. */
void sim_dpa_image_unload(struct sim_dpa_image *image);

/* The kernel that the host function @stub stands for; NULL = none of this application. */
const struct sim_dpa_kernel *sim_dpa_image_find_kernel(const struct sim_dpa_image *image, const void *stub);

/* Of --app-name. */
const char *sim_dpa_image_name(const struct sim_dpa_image *image);

/* Whether its kernels pass hooks (it is not the plain image). */
bool sim_dpa_image_is_guarded(const struct sim_dpa_image *image);

/* Whether the process attributes (--dpa-proc-attr) list the feature. */
bool sim_dpa_image_has_feature(const struct sim_dpa_image *image, const char *name);

/* Where @pc is: "function" and "file:line", as far as known. Not in a signal handler. */
struct sim_dpa_place {
	char function[96]; /* "?" = unknown */
	char file[160];    /* "" = unknown */
	unsigned line;
};
void sim_dpa_image_find_place(const struct sim_dpa_image *image, uintptr_t pc, struct sim_dpa_place *ret_place);

#endif
