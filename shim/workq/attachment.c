/* SPDX-License-Identifier: BSD-3-Clause */
/* Attachments: a work queue added to a context, with a context of the core on the queue's progress engine. */
#include <stdlib.h>

#include "shim/common/base/check.h"
#include "workq_priv.h"

static doca_error_t start_on_queue(struct workq_attachment *attachment)
{
	doca_error_t result = core_pe_connect_ctx(attachment->workq->pe, attachment->core_ctx);

	return result == DOCA_SUCCESS ? core_ctx_start(attachment->core_ctx) : result;
}

static doca_error_t start_core_ctx(struct workq_attachment *attachment)
{
	doca_error_t result = attachment->ctx->ops->create_core(attachment, attachment->workq->depth);

	if (result == DOCA_SUCCESS)
		result = attachment->own_pe ? workq_add_engine(attachment) : start_on_queue(attachment);
	if (result != DOCA_SUCCESS)
		attachment->ctx->ops->destroy_core(attachment);
	return result;
}

doca_error_t workq_attach(struct workq_ctx *ctx, struct doca_workq *workq)
{
	struct workq_attachment *attachment;
	doca_error_t result;

	if (workq_find_attachment(workq, ctx)) {
		sim_err("doca_ctx_workq_add: the work queue is added to this context already");
		return DOCA_ERROR_IN_USE;
	}
	attachment = calloc(1, sizeof(*attachment));
	if (!attachment)
		return DOCA_ERROR_NO_MEMORY;
	attachment->ctx = ctx;
	attachment->workq = workq;
	attachment->submit = ctx->ops->submit;
	attachment->generation = shim_fork_generation;
	result = start_core_ctx(attachment);
	if (result != DOCA_SUCCESS) {
		free(attachment);
		return result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_INITIALIZATION;
	}
	LIST_INSERT_HEAD(&ctx->attachments, attachment, of_ctx);
	LIST_INSERT_HEAD(&workq->attachments, attachment, of_workq);
	return workq->armed ? workq_arm_notification(workq) : DOCA_SUCCESS;
}

/* Progress until the core's context, which stops, is idle. The events of its jobs are queued then. */
static void progress_until_idle(struct workq_attachment *attachment)
{
	enum doca_ctx_states state;

	while (core_ctx_get_state(attachment->core_ctx, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_STOPPING)
		shim_pe_progress_one(attachment->workq->pe);
}

/* In a forked child: jobs in flight complete in the parent. Queued events stay in the queue. */
static void drop_inherited_jobs(struct workq_attachment *attachment)
{
	struct doca_workq *workq = attachment->workq;

	workq->in_flight -= attachment->in_flight;
	attachment->in_flight = 0;
	for (uint32_t i = 0; i < workq->num_queued; i++) {
		struct queued_event *queued = &workq->event_ring[(workq->ring_head + i) % workq->ring_size];

		if (queued->attachment == attachment) {
			queued->attachment = NULL;
			workq->in_flight++;
		}
	}
}

doca_error_t workq_detach(struct workq_ctx *ctx, struct doca_workq *workq)
{
	struct workq_attachment *attachment = workq_find_attachment(workq, ctx);

	if (!attachment) {
		sim_err("doca_ctx_workq_rm: the work queue was not added to this context");
		return DOCA_ERROR_NOT_FOUND;
	}
	if (!workq_attachment_is_of_process(attachment))
		drop_inherited_jobs(attachment);
	if (attachment->in_flight > 0 && ctx->ops->forget_waiting && ctx->ops->forget_waiting(attachment)) {
		workq->in_flight -= attachment->in_flight;
		attachment->in_flight = 0;
	}
	if (attachment->in_flight > 0) {
		sim_err("doca_ctx_workq_rm: %u job(s) are in flight, or have events that were not retrieved; retrieve them first",
			attachment->in_flight);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (attachment->own_pe)
		workq_remove_engine(attachment);
	else if (core_ctx_stop(attachment->core_ctx) == DOCA_ERROR_IN_PROGRESS)
		progress_until_idle(attachment);
	ctx->ops->destroy_core(attachment);
	LIST_REMOVE(attachment, of_ctx);
	LIST_REMOVE(attachment, of_workq);
	free(attachment);
	return DOCA_SUCCESS;
}

doca_error_t workq_restart_core_ctx(struct workq_attachment *attachment)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	doca_error_t result;

	if (!workq_attachment_is_of_process(attachment)) {
		sim_err("doca_workq_submit: the work queue was created before fork(); create one in the child");
		return DOCA_ERROR_BAD_STATE;
	}
	core_ctx_get_state(attachment->core_ctx, &state);
	if (state == DOCA_CTX_STATE_RUNNING || attachment->own_pe)
		return DOCA_ERROR_BAD_STATE; /* the core logged another reason, or a connection has ended */
	progress_until_idle(attachment);
	result = core_ctx_start(attachment->core_ctx);
	if (result == DOCA_ERROR_INITIALIZATION) /* its function was reset: it can't start again */
		return DOCA_ERROR_BAD_STATE;
	return result == DOCA_SUCCESS && attachment->workq->armed ? workq_arm_notification(attachment->workq) : result;
}
