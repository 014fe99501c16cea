/* SPDX-License-Identifier: BSD-3-Clause */
/* Work queues: jobs are submitted, events are retrieved. workq_calls.c has the entries with the public names. */
#pragma redefine_extname doca_workq_submit shim_doca_workq_submit
#pragma redefine_extname doca_workq_progress_retrieve shim_doca_workq_progress_retrieve

#include <stdlib.h>
#include <string.h>

#include "shim/common/base/check.h"
#include "sim/base/memory_guard.h"
#include "workq_priv.h"

#define MAX_DEPTH (1u << 20) /* the reference documents none */

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
	created->depth = created->ring_size = depth;
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
	if (!LIST_EMPTY(&workq->attachments))
		return SHIM_REFUSE(DOCA_ERROR_IN_USE,
				   "it is still added to a %s context; call doca_ctx_workq_rm() first",
				   LIST_FIRST(&workq->attachments)->ctx->ops->name);
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

/* The queue is not added to the context of the job: log the reason, return its code. */
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

static doca_error_t grow_ring(struct doca_workq *workq)
{
	struct queued_event *grown = calloc(2 * (size_t)workq->ring_size, sizeof(*grown));

	if (!grown)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < workq->num_queued; i++)
		grown[i] = workq->event_ring[(workq->ring_head + i) % workq->ring_size];
	free(workq->event_ring);
	workq->event_ring = grown;
	workq->ring_size *= 2;
	workq->ring_head = 0;
	return DOCA_SUCCESS;
}

/* As many jobs as the queue's depth are in flight. A refusal is not logged: programs submit until the queue is full. */
static doca_error_t exceed_depth(struct doca_workq *workq, const struct workq_attachment *attachment)
{
	if (!attachment->ctx->ops->exceeds_depth)
		return DOCA_ERROR_NO_MEMORY;
	return workq->in_flight < workq->ring_size ? DOCA_SUCCESS : grow_ring(workq);
}

static void warn_of_depth(struct doca_workq *workq)
{
	if (workq->has_warned)
		return;
	workq->has_warned = true;
	sim_warn(
		"doca_workq_submit: more jobs are in flight than the depth of %u that the work queue was created with; they are accepted up to the device's limit, as cards were seen to do",
		workq->depth);
}

static inline void count_submitted(struct doca_workq *workq, struct workq_attachment *attachment)
{
	workq->in_flight++;
	attachment->in_flight++;
}

/* Submit to a queue that has as many jobs in flight as its depth, or of a context that belongs to the parent process, or was
 * refused with @result because a failed job has stopped the context. */
static __attribute__((noinline)) doca_error_t submit_rarely(struct workq_attachment *attachment,
							    const struct doca_job *job, doca_error_t result)
{
	struct doca_workq *workq = attachment->workq;
	bool exceeds_depth = workq->in_flight >= workq->depth;

	if (exceeds_depth && result == DOCA_SUCCESS) {
		result = exceed_depth(workq, attachment);
		if (result != DOCA_SUCCESS)
			return result;
	}
	if (!workq_attachment_is_of_process(attachment))
		result = DOCA_ERROR_BAD_STATE;
	else if (result == DOCA_SUCCESS)
		result = attachment->submit(attachment, job);
	if (result == DOCA_ERROR_BAD_STATE) {
		result = workq_restart_core_ctx(attachment);
		if (result == DOCA_SUCCESS)
			result = attachment->submit(attachment, job);
	}
	if (result != DOCA_SUCCESS)
		return result;
	count_submitted(workq, attachment);
	if (exceeds_depth)
		warn_of_depth(workq);
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job)
{
	struct workq_attachment *attachment;
	doca_error_t result;

	SHIM_NEED_FAST(workq, SHIM_WORKQ);
	SHIM_NEED_OUT(job);
	attachment = workq_find_attachment(workq, (const struct workq_ctx *)job->ctx);
	if (doca_unlikely(!attachment))
		return refuse_ctx(job->ctx);
	if (doca_unlikely(workq->in_flight >= workq->depth || !workq_attachment_is_of_process(attachment)))
		return submit_rarely(attachment, job, DOCA_SUCCESS);
	result = attachment->submit(attachment, job);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result == DOCA_ERROR_BAD_STATE ? submit_rarely(attachment, job, result) : result;
	count_submitted(attachment->workq, attachment);
	return DOCA_SUCCESS;
}

/* Field by field: a struct copy would stall the reads of single fields that follow. */
static inline void fill_event(struct doca_event *ev, int type, union doca_data user_data, union doca_data result)
{
	ev->type = type;
	ev->user_data = user_data;
	ev->result = result;
}

/* Fill the memory to which the program's event points. */
static void give_result(const struct doca_event *ev, const struct workq_result *result)
{
	struct sim_range_guard guard;

	if (!ev->result.ptr) {
		sim_err("doca_workq_progress_retrieve: result.ptr of the event is NULL: the job's result is lost; let it point to a struct for it");
		return;
	}
	sim_range_guard_begin(&guard, ev->result.ptr, sizeof(*result), NULL);
	memcpy(ev->result.ptr, result, sizeof(*result));
	if (sim_range_guard_end(&guard))
		sim_err("doca_workq_progress_retrieve: result.ptr of the event, %p, points to no memory: the job's result is lost",
			ev->result.ptr);
	if (guard.guard.has_faulted)
		sim_guard_settle(&guard.guard);
}

static inline void count_retrieved(struct doca_workq *workq, struct workq_attachment *attachment)
{
	workq->in_flight--;
	if (doca_likely(attachment))
		attachment->in_flight--;
}

/* The event of the retrieval that goes on was filled. */
static inline void end_retrieval(struct doca_workq *workq, struct workq_attachment *attachment, bool failed)
{
	workq->retrieve_into = NULL;
	workq->retrieved_failed = failed;
	count_retrieved(workq, attachment);
}

static inline struct queued_event *push_event(struct doca_workq *workq, struct workq_attachment *attachment,
					      bool failed)
{
	uint32_t tail = workq->ring_head + workq->num_queued++;
	struct queued_event *queued = &workq->event_ring[tail < workq->ring_size ? tail : tail - workq->ring_size];

	queued->attachment = attachment;
	queued->failed = failed;
	queued->has_result = false;
	return queued;
}

void shim_workq_complete(struct workq_attachment *attachment, int type, union doca_data user_data,
			 union doca_data result, bool failed)
{
	struct doca_workq *workq = attachment->workq;

	if (doca_likely(workq->retrieve_into)) {
		fill_event(workq->retrieve_into, type, user_data, result);
		end_retrieval(workq, attachment, failed);
	} else {
		fill_event(&push_event(workq, attachment, failed)->event, type, user_data, result);
	}
}

void shim_workq_complete_with(struct workq_attachment *attachment, int type, union doca_data user_data,
			      const struct workq_result *result, bool failed)
{
	struct doca_workq *workq = attachment->workq;
	struct queued_event *queued;

	if (workq->retrieve_into) {
		give_result(workq->retrieve_into, result);
		fill_event(workq->retrieve_into, type, user_data, workq->retrieve_into->result);
		end_retrieval(workq, attachment, failed);
		return;
	}
	queued = push_event(workq, attachment, failed);
	fill_event(&queued->event, type, user_data, (union doca_data){ 0 });
	queued->has_result = true;
	queued->result = *result;
}

static doca_error_t pop_event(struct doca_workq *workq, struct doca_event *ev)
{
	const struct queued_event *oldest = &workq->event_ring[workq->ring_head];

	if (++workq->ring_head == workq->ring_size)
		workq->ring_head = 0;
	workq->num_queued--;
	count_retrieved(workq, oldest->attachment);
	if (oldest->has_result)
		give_result(ev, &oldest->result);
	fill_event(ev, oldest->event.type, oldest->event.user_data,
		   oldest->has_result ? ev->result : oldest->event.result);
	return oldest->failed ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

/* One step of each engine. Returns whether there was one. Further events go to the ring. */
static __attribute__((noinline)) bool progress_all_engines(struct doca_workq *workq)
{
	const struct workq_attachment *attachment;
	bool has_progressed = shim_pe_progress_one(workq->pe);

	LIST_FOREACH(attachment, &workq->attachments, of_workq)
		if (attachment->own_pe)
			has_progressed |= shim_pe_progress_one(attachment->own_pe);
	return has_progressed;
}

static inline bool progress_engines(struct doca_workq *workq)
{
	return doca_likely(workq->num_own_pes == 0) ? shim_pe_progress_one(workq->pe) : progress_all_engines(workq);
}

doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int flags)
{
	SHIM_NEED_FAST(workq, SHIM_WORKQ);
	SHIM_NEED_OUT(ev);
	if (doca_unlikely(flags != DOCA_WORKQ_RETRIEVE_FLAGS_NONE))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "flags %#x; there are none", (unsigned int)flags);
	if (doca_unlikely(workq->num_queued > 0))
		return pop_event(workq, ev);
	workq->retrieve_into = ev;
	while (workq->retrieve_into && progress_engines(workq))
		;
	if (doca_unlikely(workq->retrieve_into)) {
		workq->retrieve_into = NULL;
		return DOCA_ERROR_AGAIN;
	}
	return doca_unlikely(workq->retrieved_failed) ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}
