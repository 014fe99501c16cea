/* SPDX-License-Identifier: BSD-3-Clause */
/* Work queues: jobs in, events out. */
#include <stdlib.h>
#include <sys/eventfd.h>

#include "ctx_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"

#define MAX_DEPTH (1u << 20) /* our choice */

/* A job's end that was not retrieved yet. */
struct ended {
	struct doca_event event;
	struct workq_attachment *attachment; /* NULL = left behind in a forked child */
	bool failed;
};

struct doca_workq {
	struct shim_object object;
	uint32_t depth;
	uint32_t in_flight;          /* submitted and not retrieved */
	struct ended *ended;         /* a ring of @depth: each job in flight ends once */
	uint32_t first_ended, num_ended;
	struct doca_event *wanted;   /* during a retrieval: where the next end goes instead ... */
	bool wanted_failed;          /* ... and how it was */
	bool event_driven;
	bool armed;
	struct doca_pe *pe;
	struct workq_attachment *attachments;
};

#define NEED_WORKQ(workq) SHIM_NEED(workq, SHIM_WORKQ)

doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq)
{
	struct doca_workq *created;
	doca_error_t result;

	SHIM_NEED_OUT(workq);
	if (depth == 0 || depth > MAX_DEPTH)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "a depth of %u; give 1 to %u", depth, MAX_DEPTH);
	created = shim_object_new(SHIM_WORKQ, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->depth = depth;
	created->ended = calloc(depth, sizeof(*created->ended));
	result = created->ended ? core_pe_create(&created->pe) : DOCA_ERROR_NO_MEMORY;
	if (result != DOCA_SUCCESS) {
		free(created->ended);
		shim_object_free(created, SHIM_WORKQ);
		return DOCA_ERROR_NO_MEMORY;
	}
	*workq = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_destroy(struct doca_workq *workq)
{
	NEED_WORKQ(workq);
	if (workq->attachments)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "it is still added to a %s context; call doca_ctx_workq_rm() first",
				   workq->attachments->ctx->ops->name);
	core_pe_destroy(workq->pe);
	free(workq->ended);
	shim_object_free(workq, SHIM_WORKQ);
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_get_depth(const struct doca_workq *workq, uint32_t *depth)
{
	NEED_WORKQ(workq);
	SHIM_NEED_OUT(depth);
	*depth = workq->depth;
	return DOCA_SUCCESS;
}

/* ---- sleepers ---- */

/* The handle becomes readable with the next event, at once if there is one. */
static doca_error_t arm(struct doca_workq *workq)
{
	doca_event_handle_t handle;
	doca_error_t result = core_pe_request_notification(workq->pe);

	if (result == DOCA_SUCCESS && workq->num_ended > 0 &&
	    core_pe_get_notification_handle(workq->pe, &handle) == DOCA_SUCCESS)
		eventfd_write(handle, 1);
	return result;
}

/* ---- attachments ---- */

/* Not in the process that fork() made: the core's contexts are the parent's. */
static inline bool is_ours(const struct workq_attachment *attachment)
{
	return attachment->generation == shim_generation;
}

static inline struct workq_attachment *attachment_of(const struct doca_workq *workq, const struct workq_ctx *ctx)
{
	struct workq_attachment *attachment = workq->attachments;

	while (attachment && attachment->ctx != ctx)
		attachment = attachment->next_of_workq;
	return attachment;
}

static doca_error_t open_core(struct workq_attachment *attachment)
{
	doca_error_t result = attachment->ctx->ops->open(attachment, attachment->workq->depth);

	if (result == DOCA_SUCCESS)
		result = core_pe_connect_ctx(attachment->workq->pe, attachment->core);
	if (result == DOCA_SUCCESS)
		result = core_ctx_start(attachment->core);
	if (result != DOCA_SUCCESS)
		attachment->ctx->ops->close(attachment);
	return result;
}

doca_error_t workq_attach(struct workq_ctx *ctx, struct doca_workq *workq)
{
	struct workq_attachment *attachment;
	doca_error_t result;

	if (attachment_of(workq, ctx)) {
		sim_err("doca_ctx_workq_add: the work queue is added to this context already");
		return DOCA_ERROR_IN_USE;
	}
	attachment = calloc(1, sizeof(*attachment));
	if (!attachment)
		return DOCA_ERROR_NO_MEMORY;
	*attachment = (struct workq_attachment){
		.ctx = ctx,
		.workq = workq,
		.submit = ctx->ops->submit,
		.generation = shim_generation,
		.next_of_ctx = ctx->attachments,
		.next_of_workq = workq->attachments,
	};
	result = open_core(attachment);
	if (result != DOCA_SUCCESS) {
		free(attachment);
		return result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_INITIALIZATION;
	}
	ctx->attachments = workq->attachments = attachment;
	return workq->armed ? arm(workq) : DOCA_SUCCESS;
}

static void unlink_attachment(struct workq_attachment *attachment)
{
	struct workq_attachment **of_ctx = &attachment->ctx->attachments, **of_workq = &attachment->workq->attachments;

	while (*of_ctx != attachment)
		of_ctx = &(*of_ctx)->next_of_ctx;
	*of_ctx = attachment->next_of_ctx;
	while (*of_workq != attachment)
		of_workq = &(*of_workq)->next_of_workq;
	*of_workq = attachment->next_of_workq;
}

/* A core's context that stops gets idle: its jobs' events are in the queue then. */
static void settle(struct workq_attachment *attachment)
{
	enum doca_ctx_states state;

	while (core_ctx_get_state(attachment->core, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_STOPPING)
		shim_pe_progress_one(attachment->workq->pe);
}

/* In a forked child: the jobs that are in flight end in the parent. Events that came stay. */
static void leave_behind(struct workq_attachment *attachment)
{
	struct doca_workq *workq = attachment->workq;

	workq->in_flight -= attachment->in_flight;
	attachment->in_flight = 0;
	for (uint32_t i = 0; i < workq->num_ended; i++) {
		struct ended *ended = &workq->ended[(workq->first_ended + i) % workq->depth];

		if (ended->attachment == attachment) {
			ended->attachment = NULL;
			workq->in_flight++;
		}
	}
}

doca_error_t workq_detach(struct workq_ctx *ctx, struct doca_workq *workq)
{
	struct workq_attachment *attachment = attachment_of(workq, ctx);

	if (!attachment) {
		sim_err("doca_ctx_workq_rm: the work queue was not added to this context");
		return DOCA_ERROR_NOT_FOUND;
	}
	if (!is_ours(attachment))
		leave_behind(attachment);
	if (attachment->in_flight > 0) {
		sim_err("doca_ctx_workq_rm: %u job(s) are in flight, or have events that were not retrieved; retrieve them first",
			attachment->in_flight);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (core_ctx_stop(attachment->core) == DOCA_ERROR_IN_PROGRESS)
		settle(attachment);
	ctx->ops->close(attachment);
	unlink_attachment(attachment);
	free(attachment);
	return DOCA_SUCCESS;
}

/* A job that fails stops the core's context; here the next job finds it well. */
static doca_error_t revive(struct workq_attachment *attachment)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	doca_error_t result;

	if (!is_ours(attachment)) {
		sim_err("doca_workq_submit: the work queue is of the process before fork(); make one in the child");
		return DOCA_ERROR_BAD_STATE;
	}
	core_ctx_get_state(attachment->core, &state);
	if (state == DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE; /* for another reason, which was said */
	settle(attachment);
	result = core_ctx_start(attachment->core);
	if (result == DOCA_ERROR_INITIALIZATION) /* nor will it ever again: its function was reset */
		return DOCA_ERROR_BAD_STATE;
	return result == DOCA_SUCCESS && attachment->workq->armed ? arm(attachment->workq) : result;
}

/* ---- jobs and events ---- */

/* Why the job's context is not one of the queue's. */
static doca_error_t refuse_ctx(const struct doca_ctx *ctx)
{
	if (!workq_ctx_is(ctx)) {
		sim_err("doca_workq_submit: the job's context is %s",
			ctx ? "no live context: destroyed already, or another's handle" : "NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!((const struct workq_ctx *)ctx)->started) {
		sim_err("doca_workq_submit: the job's context is not started");
		return DOCA_ERROR_BAD_STATE;
	}
	sim_err("doca_workq_submit: the work queue is not added to the job's context; call doca_ctx_workq_add() first");
	return DOCA_ERROR_NOT_FOUND;
}

doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job)
{
	struct workq_attachment *attachment;
	doca_error_t result;

	NEED_WORKQ(workq);
	SHIM_NEED_OUT(job);
	attachment = attachment_of(workq, (const struct workq_ctx *)job->ctx);
	if (doca_unlikely(!attachment))
		return refuse_ctx(job->ctx);
	if (workq->in_flight == workq->depth) /* a program may well wait for that: no word in the log */
		return DOCA_ERROR_NO_MEMORY;
	result = doca_likely(is_ours(attachment)) ? attachment->submit(attachment, job) :
								   DOCA_ERROR_BAD_STATE;
	if (doca_unlikely(result == DOCA_ERROR_BAD_STATE)) {
		result = revive(attachment);
		if (result == DOCA_SUCCESS)
			result = attachment->submit(attachment, job);
	}
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	workq->in_flight++;
	attachment->in_flight++;
	return DOCA_SUCCESS;
}

/* Field by field: what is read soon after, and by parts, shall not be written as a whole. */
static inline void fill(struct doca_event *ev, int type, union doca_data user_data, union doca_data result)
{
	ev->type = type;
	ev->user_data = user_data;
	ev->result = result;
}

static inline void count_retrieved(struct doca_workq *workq, struct workq_attachment *attachment)
{
	workq->in_flight--;
	if (doca_likely(attachment))
		attachment->in_flight--;
}

void shim_workq_report(struct workq_attachment *attachment, int type, union doca_data user_data,
		       union doca_data result, bool failed)
{
	struct doca_workq *workq = attachment->workq;
	struct ended *ended;
	uint32_t place;

	if (doca_likely(workq->wanted)) {
		fill(workq->wanted, type, user_data, result);
		workq->wanted = NULL;
		workq->wanted_failed = failed;
		count_retrieved(workq, attachment);
		return;
	}
	place = workq->first_ended + workq->num_ended++;
	ended = &workq->ended[place < workq->depth ? place : place - workq->depth];
	fill(&ended->event, type, user_data, result);
	ended->attachment = attachment;
	ended->failed = failed;
}

static doca_error_t take_oldest(struct doca_workq *workq, struct doca_event *ev)
{
	const struct ended *oldest = &workq->ended[workq->first_ended];

	if (++workq->first_ended == workq->depth)
		workq->first_ended = 0;
	workq->num_ended--;
	count_retrieved(workq, oldest->attachment);
	*ev = oldest->event;
	return oldest->failed ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int flags)
{
	NEED_WORKQ(workq);
	SHIM_NEED_OUT(ev);
	if (doca_unlikely(flags != DOCA_WORKQ_RETRIEVE_FLAGS_NONE))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "flags %#x; there are none", (unsigned int)flags);
	if (doca_unlikely(workq->num_ended > 0))
		return take_oldest(workq, ev);
	workq->wanted = ev;
	while (workq->wanted && shim_pe_progress_one(workq->pe))
		;
	if (doca_unlikely(workq->wanted)) {
		workq->wanted = NULL;
		return DOCA_ERROR_AGAIN;
	}
	return doca_unlikely(workq->wanted_failed) ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

/* ---- sleeping ---- */

doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable)
{
	NEED_WORKQ(workq);
	if (enable > 1)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u is neither 0 nor 1", enable);
	if (workq->event_driven == enable)
		return DOCA_SUCCESS;
	if (workq->attachments)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the work queue is added to a context; change it before");
	workq->event_driven = enable;
	workq->armed = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_get_event_driven_enable(struct doca_workq *workq, uint8_t *enabled)
{
	NEED_WORKQ(workq);
	SHIM_NEED_OUT(enabled);
	*enabled = workq->event_driven;
	return DOCA_SUCCESS;
}

#define NEED_EVENT_DRIVEN(workq)                                                                              \
	do {                                                                                                  \
		NEED_WORKQ(workq);                                                                            \
		if (!(workq)->event_driven)                                                                   \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,                                              \
					   "the work queue is not event-driven; call doca_workq_set_event_driven_enable() first"); \
	} while (0)

doca_error_t doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle)
{
	NEED_EVENT_DRIVEN(workq);
	SHIM_NEED_OUT(handle);
	return core_pe_get_notification_handle(workq->pe, handle);
}

doca_error_t doca_workq_set_event_handle(struct doca_workq *workq, doca_event_handle_t event_handle,
					 uintptr_t completion_key)
{
	(void)completion_key;
	NEED_EVENT_DRIVEN(workq);
	if (event_handle < 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no descriptor", event_handle);
	/* Completion ports that the program brings are Windows'; on Linux the queue has its own handle. */
	return SHIM_NOT_SIMULATED("event handles that the program brings");
}

doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq)
{
	NEED_EVENT_DRIVEN(workq);
	workq->armed = true;
	return arm(workq);
}

doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
{
	NEED_EVENT_DRIVEN(workq);
	workq->armed = false;
	return core_pe_clear_notification(workq->pe, handle);
}
