/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/dpa/dpa.h - a DPA context, for libdoca_dpa and for the libraries whose objects device code uses.
 *
 *   [created] --start--> [started] --stop--> [created]
 *                           '--device_extend--> an extended context: started, on its base's process, destroyed before it
 *
 * The process (sim/dpa/exec/process.h) lives from start to stop. Sync events that device code has handles of are withdrawn from all
 * processes when they end: hence the list of started contexts.
 */
#ifndef SHIM_DPA_H
#define SHIM_DPA_H

#include <doca_error.h>
#include <sys/queue.h>

#include "shim/common/base/object.h"
#include "sim/dpa/exec/process.h"

struct doca_dev;
struct doca_dpa_app;

struct doca_dpa {
	struct shim_object object;
	struct doca_dev *dev;            /* held */
	struct doca_dpa *base;           /* of an extended context; else itself */
	struct sim_dpa_process *process; /* NULL = not started; an extended context has its base's */
	struct doca_dpa_app *app;
	uint64_t handle;
	uint32_t fork_generation; /* at the start */
	uint32_t num_users;       /* threads, groups, completions, ... and extended contexts */
	int log_level;
	char *log_path;            /* NULL = none set */
	void *log_file;            /* a FILE */
	LIST_ENTRY(doca_dpa) link; /* in the list of started contexts, unless it is extended */
};

/* Add a started context to the list, and remove it before its process ends. */
SHIM_INTERNAL_API void shim_dpa_add(struct doca_dpa *dpa);
SHIM_INTERNAL_API void shim_dpa_remove(struct doca_dpa *dpa);

/* No kernel uses the sync event afterwards. */
void shim_dpa_withdraw_event(const void *event);

/* Return BAD_STATE, after a log line, if the context is not started, and DRIVER if it can't be used: after a fatal error, after a
 * reset of the function, in a forked child. */
SHIM_INTERNAL_API doca_error_t shim_dpa_check_running(const char *func, const struct doca_dpa *dpa);

#endif
