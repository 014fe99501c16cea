/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/sync/sync_event_remote.h - a sync event of a peer of the network: for tasks of libdoca_rdma.
 *
 * The handle has no operations of its own besides create and destroy. All functions may be called in any thread. Those that
 * access the event return 0, or -EIO: the exporter or its memory is gone.
 */
#ifndef SHIM_SYNC_EVENT_REMOTE_H
#define SHIM_SYNC_EVENT_REMOTE_H

#include <doca_sync_event.h>

#include "shim/common/base/object.h"

SHIM_INTERNAL_API int shim_sync_remote_get(struct doca_sync_event_remote_net *event, uint64_t *ret);
SHIM_INTERNAL_API int shim_sync_remote_set(struct doca_sync_event_remote_net *event, uint64_t to);
SHIM_INTERNAL_API int shim_sync_remote_add(struct doca_sync_event_remote_net *event, uint64_t count,
					   uint64_t *ret_before);

/* A task on the event is in flight from now on, or has ended: meanwhile the event can't be destroyed. */
SHIM_INTERNAL_API void shim_sync_remote_begin_task(struct doca_sync_event_remote_net *event);
SHIM_INTERNAL_API void shim_sync_remote_end_task(struct doca_sync_event_remote_net *event);

/* The event's memory, if its peer is on another machine. */
SHIM_INTERNAL_API struct sim_remote *shim_sync_remote_memory(const struct doca_sync_event_remote_net *event);

/* The id of the exporter's function. */
SHIM_INTERNAL_API uint32_t shim_sync_remote_function(const struct doca_sync_event_remote_net *event);

#endif
