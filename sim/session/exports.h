/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/exports.h - the memory that this process has exported, and its libfabric targets.
 *
 * Threads of the application add and remove exports. The helper thread exposes memory through libfabric when a peer
 * asks, and serves the peers. Targets open on first need, so a process without such peers loads no provider.
 * One lock protects all of it.
 */
#ifndef SIM_SESSION_EXPORTS_H
#define SIM_SESSION_EXPORTS_H

#include "sim/card/card.h"
#include "sim/fabric/ofi/ofi.h"

struct sim_exports;

/* The targets add their descriptors to @epoll_fd (borrowed), each with @epoll_tag as its data. */
int sim_exports_create(int epoll_fd, uint64_t epoll_tag, struct sim_exports **ret_exports);
void sim_exports_destroy(struct sim_exports *exports);

/* End all exposures and close the targets; peers are not served afterwards. */
void sim_exports_close(struct sim_exports *exports);

/* Add an export. Returns 0 or -ENOMEM. */
int sim_exports_add(struct sim_exports *exports, uint64_t key, const struct sim_region *region);

/* Remove an export and end its exposures; an unknown key is ignored. */
void sim_exports_remove(struct sim_exports *exports, uint64_t key);

/* Expose the memory of @key through @provider. Returns 0, -ESTALE or another -errno. */
int sim_exports_describe(struct sim_exports *exports, uint64_t key, const char *provider,
			 struct sim_ofi_desc *ret_desc);

/* Serve peers until a short spin sees no event, for at most @max_us. Returns whether the caller may sleep on the
 * descriptors now. */
bool sim_exports_serve(struct sim_exports *exports, unsigned int max_us);

#endif
