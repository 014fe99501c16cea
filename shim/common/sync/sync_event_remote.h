/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/sync/sync_event_remote.h - a sync event of a peer of the network: for tasks of libdoca_rdma.
 *
 * The handle has no operations of its own besides create and destroy. All functions may be called in any thread, and return
 * 0, or -EIO: the exporter or its memory is gone.
 */
#ifndef SHIM_SYNC_EVENT_REMOTE_H
#define SHIM_SYNC_EVENT_REMOTE_H

#include <doca_sync_event.h>

#include "shim/common/base/object.h"

SHIM_INTERNAL_API int shim_sync_remote_get(struct doca_sync_event_remote_net *event, uint64_t *ret);
SHIM_INTERNAL_API int shim_sync_remote_set(struct doca_sync_event_remote_net *event, uint64_t to);
SHIM_INTERNAL_API int shim_sync_remote_add(struct doca_sync_event_remote_net *event, uint64_t count,
					   uint64_t *ret_before);

/* The id of the exporter's function. */
SHIM_INTERNAL_API uint32_t shim_sync_remote_function(const struct doca_sync_event_remote_net *event);

#endif
