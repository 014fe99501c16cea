/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/sync_event_priv.h - sync events, on sync events of the core.
 *
 *   sync event ---core_event---> the value, with its blocking calls and exports
 *       \                               ^
 *        \--queue added--> attachment --+-- an alias: the core's context on the queue's progress engine
 *
 * A sync event of the core is either a context or not. In this generation an event is
 * both, and a context of several queues. So one event of the core has the value, and
 * each queue has an alias of that event.
 */
#ifndef SHIM_WORKQ_SYNC_EVENT_PRIV_H
#define SHIM_WORKQ_SYNC_EVENT_PRIV_H

#include <doca_sync_event.h>

#include "core_api.h"
#include "ctx_priv.h"

struct doca_sync_event {
	struct workq_ctx ctx;               /* first */
	struct doca_sync_event *core_event; /* of the core, whose struct has the same name */
	bool is_ctx, is_standalone;         /* its use, which does not change; both false = unused */
};

/* sync_event_jobs.c: operations of struct workq_ctx_ops. */
bool workq_sync_event_supports(const struct doca_devinfo *devinfo);
doca_error_t workq_sync_event_create_core(struct workq_attachment *attachment, uint32_t depth);
void workq_sync_event_destroy_core(struct workq_attachment *attachment);
doca_error_t workq_sync_event_submit(struct workq_attachment *attachment, const struct doca_job *job);

#endif
