/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/sync_event_priv.h - sync events, told in the current generation's terms.
 *
 *   sync event ---core_sync_event---> the value: calls that return when it is done, exports
 *       \                               ^
 *        \--queue added--> attachment --+-- an alias: the core's context on the queue's progress engine
 *
 * The core's sync event is either a context or not; here it does both, and for
 * several queues. So one of the core's has the value, and each queue an alias of it.
 */
#ifndef SHIM_WORKQ_SYNC_EVENT_PRIV_H
#define SHIM_WORKQ_SYNC_EVENT_PRIV_H

#include <doca_sync_event.h>

#include "core_api.h"
#include "ctx_priv.h"

struct doca_sync_event {
	struct workq_ctx ctx;               /* first */
	struct doca_sync_event *core_event; /* the core's, behind the same name */
	bool is_ctx, is_standalone;         /* how it is used, for life; both false = not settled */
};

/* sync_event_jobs.c: the context's operations but start and stop. */
bool workq_sync_event_supports(const struct doca_devinfo *devinfo);
doca_error_t workq_sync_event_create_core(struct workq_attachment *attachment, uint32_t depth);
void workq_sync_event_destroy_core(struct workq_attachment *attachment);
doca_error_t workq_sync_event_submit(struct workq_attachment *attachment, const struct doca_job *job);

#endif
