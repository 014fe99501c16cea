/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/workq_priv.h - a work queue: a ring of events over one progress engine of the core.
 *
 *   submit ---> attachment ---> task of the core ---> completion ---> event ring ---> progress_retrieve
 *
 * Each job in flight completes once, so the ring has room for @ring_size events: @depth, and more once more
 * jobs are in flight. A completion
 * during a retrieval with an empty ring bypasses it: the event goes to the caller's struct.
 *
 * workq.c has jobs and events, attachment.c the contexts of the queue, notification.c the
 * event handle. One thread at a time uses a queue and its contexts.
 */
#ifndef SHIM_WORKQ_WORKQ_PRIV_H
#define SHIM_WORKQ_WORKQ_PRIV_H

#include "ctx_priv.h"
#include "shim/common/process/runtime.h"

/* The event of a job that completed and was not retrieved. */
struct queued_event {
	struct doca_event event;
	struct workq_attachment *attachment; /* NULL = removed in a forked child */
	bool failed;
	bool has_result; /* @result, not @event.result */
	struct workq_result result;
};

struct doca_workq {
	struct shim_object object;
	uint32_t depth;
	uint32_t in_flight;              /* submitted and not retrieved */
	struct queued_event *event_ring; /* of @ring_size events */
	uint32_t ring_size, ring_head, num_queued;
	bool has_warned;                  /* that more jobs are in flight than @depth */
	struct doca_event *retrieve_into; /* during a retrieval: the caller's event ... */
	bool retrieved_failed;            /* ... and whether its job failed */
	bool event_driven;
	bool armed;
	struct doca_pe *pe;
	uint32_t num_own_pes; /* attachments with an engine of their own, which the queue progresses, too */
	LIST_HEAD(, workq_attachment) attachments;
};

#define NEED_WORKQ(workq) SHIM_NEED(workq, SHIM_WORKQ)

/* In a forked child the core's contexts belong to the parent. */
static inline bool workq_attachment_is_of_process(const struct workq_attachment *attachment)
{
	return attachment->generation == shim_fork_generation;
}

static inline struct workq_attachment *workq_find_attachment(const struct doca_workq *workq,
							     const struct workq_ctx *ctx)
{
	struct workq_attachment *attachment;

	LIST_FOREACH(attachment, &workq->attachments, of_workq)
		if (attachment->ctx == ctx)
			return attachment;
	return NULL;
}

/* notification.c: the queue progresses the attachment's own engine from now on, and no longer. add: OPERATING_SYSTEM if its handle
 * can't be watched. */
doca_error_t workq_add_engine(struct workq_attachment *attachment);
void workq_remove_engine(struct workq_attachment *attachment);

/* notification.c: make the handle readable with the next event, or now if one is queued. */
doca_error_t workq_arm_notification(struct doca_workq *workq);

/* attachment.c: start the core's context again after a failed job stopped it. BAD_STATE if that
 * is not the reason why it does not run. */
doca_error_t workq_restart_core_ctx(struct workq_attachment *attachment);

#endif
