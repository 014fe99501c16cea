/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/exports.h - the memory that this process has exported, and the target that serves it to peers.
 *
 * Threads of the application add and remove exports. The helper thread exposes memory when a peer asks, and serves the
 * peers (sim/fabric/served/served.h). The target opens on first need. One lock protects all of it.
 */
#ifndef SIM_SESSION_EXPORTS_H
#define SIM_SESSION_EXPORTS_H

#include "sim/card/card.h"
#include "sim/fabric/served/served.h"

struct sim_exports;

/* The target adds its descriptor to @epoll_fd (borrowed), with @epoll_tag as its data. */
int sim_exports_create(int epoll_fd, uint64_t epoll_tag, struct sim_exports **ret_exports);
void sim_exports_destroy(struct sim_exports *exports);

/* End all exposures and close the target; peers are not served afterwards. */
void sim_exports_close(struct sim_exports *exports);

/* In a forked child: close the descriptors, and change nothing else. */
void sim_exports_abandon(struct sim_exports *exports);

/* Add an export. Returns 0 or -ENOMEM. */
int sim_exports_add(struct sim_exports *exports, uint64_t key, const struct sim_region *region);

/* Remove an export, and end its exposures and those of its aliases; an unknown key is ignored. */
void sim_exports_remove(struct sim_exports *exports, uint64_t key);

/* End the exposures of an alias; any other key is ignored. */
void sim_exports_remove_alias(struct sim_exports *exports, uint64_t alias);

/* Expose the memory of @key to peers and, if @connect, make a connection for one. @memory is the same key, or that of which @key
 * is an alias: the memory is exposed to its importers separately. *ret_fd, which the caller closes, is the peer's end of the
 * connection, else -1. Transport WAKE exposes nothing: *ret_fd is the descriptor that wakes the inbox's owner. Returns 0, -ESTALE or another -errno. */
int sim_exports_describe(struct sim_exports *exports, uint64_t key, uint64_t memory, enum sim_transport transport,
			 bool connect, struct sim_grant *ret_grant, int *ret_fd);

/* Let peers have descriptors of this process's memory: the session says so, and is of this process's user. */
void sim_exports_permit_memory(struct sim_exports *exports);

/* Open this process's memory (SIM_TRANSPORT_MEM) or mappings (SIM_TRANSPORT_MAPS) for an importer of @key, as of
 * sim_exports_describe(): to read, or also to write if the export permits that. The caller closes *ret_fd, else -1. Returns 0,
 * -EPERM (not permitted), -ESTALE or another -errno. */
int sim_exports_open_memory(struct sim_exports *exports, uint64_t key, uint64_t memory, enum sim_transport transport,
			    int *ret_fd);

/* As sim_target_has_buffers() and sim_target_trim(). */
bool sim_exports_has_buffers(struct sim_exports *exports);
void sim_exports_trim(struct sim_exports *exports);

/* Serve peers until a short spin sees no event, for at most @max_us. Returns whether the caller may sleep on the
 * descriptors now. */
bool sim_exports_serve(struct sim_exports *exports, unsigned int max_us);

#endif
