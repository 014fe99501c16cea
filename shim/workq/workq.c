/* SPDX-License-Identifier: BSD-3-Clause */
/* Work queues: jobs in, events out. */
#include <stdlib.h>
#include <sys/eventfd.h>

#include "ctx_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"

#define MAX_DEPTH (1u << 20) /* our choice */

/* A job's end that was not retrieved yet. */
struct queued_event {
	struct doca_event event;
	struct workq_attachment *attachment; /* NULL = left behind in a forked child */
	bool failed;
};

struct doca_workq {
	struct shim_object object;
	uint32_t depth;
	uint32_t in_flight;              /* submitted and not retrieved */
	struct queued_event *event_ring; /* a ring of @depth: each job in flight ends once */
	uint32_t ring_head, num_queued;
	struct doca_event *retrieve_into; /* during a retrieval: where the next end goes instead ... */
	bool retrieved_failed;            /* ... and how it was */
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
	created->event_ring = calloc(depth, sizeof(*created->event_ring));
	result = created->event_ring ? core_pe_create(&created->pe) : DOCA_ERROR_NO_MEMORY;
	if (result != DOCA_SUCCESS) {
		free(created->event_ring);
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
		return SHIM_REFUSE(DOCA_ERROR_IN_USE,
				   "it is still added to a %s context; call doca_ctx_workq_rm() first",
				   workq->attachments->ctx->ops->name);
	core_pe_destroy(workq->pe);
	free(workq->event_ring);
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
static doca_error_t arm_notification(struct doca_workq *workq)
{
	doca_event_handle_t handle;
	doca_error_t result = core_pe_request_notification(workq->pe);

	if (result == DOCA_SUCCESS && workq->num_queued > 0 &&
	    core_pe_get_notification_handle(workq->pe, &handle) == DOCA_SUCCESS)
		eventfd_write(handle, 1);
	return result;
}

/* ---- attachments ---- */

/* Not in the process that fork() made: the core's contexts are the parent's. */
static inline bool belongs_to_process(const struct workq_attachment *attachment)
{
	return attachment->generation == shim_fork_generation;
}

static inline struct workq_attachment *find_attachment(const struct doca_workq *workq, const struct workq_ctx *ctx)
{
	struct workq_attachment *attachment = workq->attachments;

	while (attachment && attachment->ctx != ctx)
		attachment = attachment->next_of_workq;
	return attachment;
}

static doca_error_t start_core_ctx(struct workq_attachment *attachment)
{
	doca_error_t result = attachment->ctx->ops->create_core(attachment, attachment->workq->depth);

	if (result == DOCA_SUCCESS)
		result = core_pe_connect_ctx(attachment->workq->pe, attachment->core_ctx);
	if (result == DOCA_SUCCESS)
		result = core_ctx_start(attachment->core_ctx);
	if (result != DOCA_SUCCESS)
		attachment->ctx->ops->destroy_core(attachment);
	return result;
}

doca_error_t workq_attach(struct workq_ctx *ctx, struct doca_workq *workq)
{
	struct workq_attachment *attachment;
	doca_error_t result;

	if (find_attachment(workq, ctx)) {
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
		.generation = shim_fork_generation,
		.next_of_ctx = ctx->attachments,
		.next_of_workq = workq->attachments,
	};
	result = start_core_ctx(attachment);
	if (result != DOCA_SUCCESS) {
		free(attachment);
		return result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_INITIALIZATION;
	}
	ctx->attachments = workq->attachments = attachment;
	return workq->armed ? arm_notification(workq) : DOCA_SUCCESS;
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
static void progress_until_idle(struct workq_attachment *attachment)
{
	enum doca_ctx_states state;

	while (core_ctx_get_state(attachment->core_ctx, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_STOPPING)
		shim_pe_progress_one(attachment->workq->pe);
}

/* In a forked child: the jobs that are in flight end in the parent. Events that came stay. */
static void drop_inherited_jobs(struct workq_attachment *attachment)
{
	struct doca_workq *workq = attachment->workq;

	workq->in_flight -= attachment->in_flight;
	attachment->in_flight = 0;
	for (uint32_t i = 0; i < workq->num_queued; i++) {
		struct queued_event *queued = &workq->event_ring[(workq->ring_head + i) % workq->depth];

		if (queued->attachment == attachment) {
			queued->attachment = NULL;
			workq->in_flight++;
		}
	}
}

doca_error_t workq_detach(struct workq_ctx *ctx, struct doca_workq *workq)
{
	struct workq_attachment *attachment = find_attachment(workq, ctx);

	if (!attachment) {
		sim_err("doca_ctx_workq_rm: the work queue was not added to this context");
		return DOCA_ERROR_NOT_FOUND;
	}
	if (!belongs_to_process(attachment))
		drop_inherited_jobs(attachment);
	if (attachment->in_flight > 0) {
		sim_err("doca_ctx_workq_rm: %u job(s) are in flight, or have events that were not retrieved; retrieve them first",
			attachment->in_flight);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (core_ctx_stop(attachment->core_ctx) == DOCA_ERROR_IN_PROGRESS)
		progress_until_idle(attachment);
	ctx->ops->destroy_core(attachment);
	unlink_attachment(attachment);
	free(attachment);
	return DOCA_SUCCESS;
}

/* A job that fails stops the core's context; here the next job finds it well. */
static doca_error_t restart_core_ctx(struct workq_attachment *attachment)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	doca_error_t result;

	if (!belongs_to_process(attachment)) {
		sim_err("doca_workq_submit: the work queue is of the process before fork(); make one in the child");
		return DOCA_ERROR_BAD_STATE;
	}
	core_ctx_get_state(attachment->core_ctx, &state);
	if (state == DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE; /* for another reason, which was said */
	progress_until_idle(attachment);
	result = core_ctx_start(attachment->core_ctx);
	if (result == DOCA_ERROR_INITIALIZATION) /* nor will it ever again: its function was reset */
		return DOCA_ERROR_BAD_STATE;
	return result == DOCA_SUCCESS && attachment->workq->armed ? arm_notification(attachment->workq) : result;
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
	attachment = find_attachment(workq, (const struct workq_ctx *)job->ctx);
	if (doca_unlikely(!attachment))
		return refuse_ctx(job->ctx);
	if (workq->in_flight == workq->depth) /* a program may well wait for that: no word in the log */
		return DOCA_ERROR_NO_MEMORY;
	result = doca_likely(belongs_to_process(attachment)) ? attachment->submit(attachment, job) :
							       DOCA_ERROR_BAD_STATE;
	if (doca_unlikely(result == DOCA_ERROR_BAD_STATE)) {
		result = restart_core_ctx(attachment);
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
static inline void fill_event(struct doca_event *ev, int type, union doca_data user_data, union doca_data result)
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

void shim_workq_complete(struct workq_attachment *attachment, int type, union doca_data user_data,
			 union doca_data result, bool failed)
{
	struct doca_workq *workq = attachment->workq;
	struct queued_event *queued;
	uint32_t tail;

	if (doca_likely(workq->retrieve_into)) {
		fill_event(workq->retrieve_into, type, user_data, result);
		workq->retrieve_into = NULL;
		workq->retrieved_failed = failed;
		count_retrieved(workq, attachment);
		return;
	}
	tail = workq->ring_head + workq->num_queued++;
	queued = &workq->event_ring[tail < workq->depth ? tail : tail - workq->depth];
	fill_event(&queued->event, type, user_data, result);
	queued->attachment = attachment;
	queued->failed = failed;
}

static doca_error_t pop_event(struct doca_workq *workq, struct doca_event *ev)
{
	const struct queued_event *oldest = &workq->event_ring[workq->ring_head];

	if (++workq->ring_head == workq->depth)
		workq->ring_head = 0;
	workq->num_queued--;
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
	if (doca_unlikely(workq->num_queued > 0))
		return pop_event(workq, ev);
	workq->retrieve_into = ev;
	while (workq->retrieve_into && shim_pe_progress_one(workq->pe))
		;
	if (doca_unlikely(workq->retrieve_into)) {
		workq->retrieve_into = NULL;
		return DOCA_ERROR_AGAIN;
	}
	return doca_unlikely(workq->retrieved_failed) ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
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

#define NEED_EVENT_DRIVEN(workq)                                                                                        \
	do {                                                                                                            \
		NEED_WORKQ(workq);                                                                                      \
		if (!(workq)->event_driven)                                                                             \
			return SHIM_REFUSE(                                                                             \
				DOCA_ERROR_BAD_STATE,                                                                   \
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
	return arm_notification(workq);
}

doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
{
	NEED_EVENT_DRIVEN(workq);
	workq->armed = false;
	return core_pe_clear_notification(workq->pe, handle);
}
