/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/exports.h - the memory that this process has exported, and its libfabric targets.
 *
 * The application's threads add and remove; the helper thread exposes memory
 * through libfabric when a peer asks, and serves. Targets open on first need,
 * so that a process which nobody reaches that way never loads a provider.
 * One lock covers all of it.
 */
#ifndef SIM_SESSION_EXPORTS_H
#define SIM_SESSION_EXPORTS_H

#include "sim/card/card.h"
#include "sim/fabric/ofi/ofi.h"

struct sim_exports;

/* @epoll_fd (borrowed) gets the targets' descriptors, each with @epoll_tag as its data. */
int sim_exports_create(int epoll_fd, uint64_t epoll_tag, struct sim_exports **ret_exports);
void sim_exports_destroy(struct sim_exports *exports);

/* End all exposures and close the targets; nobody serves any more. */
void sim_exports_close(struct sim_exports *exports);

/* Note an export. Returns 0 or -ENOMEM. */
int sim_exports_add(struct sim_exports *exports, uint64_t key, const struct sim_region *region);

/* Forget it and end its exposures; nothing happens when there is none. */
void sim_exports_remove(struct sim_exports *exports, uint64_t key);

/* Expose the memory of @key through @provider. 0, -ESTALE or -errno. */
int sim_exports_describe(struct sim_exports *exports, uint64_t key, const char *provider,
			 struct sim_ofi_desc *ret_desc);

/* Serve peers until there is nothing to do for a short spin, at most @max_us.
 * Returns whether it is safe to sleep on the descriptors now. */
bool sim_exports_serve(struct sim_exports *exports, unsigned int max_us);

#endif
