/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress engines: steps of their contexts, and notification of a sleeping owner. */
#include "pe_progress.h"

#include <string.h>

#include "ctx_life.h"
#include "pe_priv.h"
#include "pe_vclock.h"
#include "shim/common/base/check.h"
#include "task_submit.h"

#define PROGRESS_ALL_MAX_EVENTS 64 /* besides tasks, in the mode that progresses all */

/* A child has no part in its parent's contexts, whose completions it never gets: say so, once a fork. Returns false. */
static __attribute__((noinline)) bool ignore_parents_ctx(const struct doca_ctx *ctx)
{
	static _Atomic uint32_t said_in; /* generation */

	if (atomic_exchange(&said_in, shim_fork_generation) != shim_fork_generation)
		sim_warn(
			"doca_pe_progress: the engine's %s context is of the process before fork(), and a child can't use it: nothing of it ever completes here; make contexts in the child",
			ctx->ops->name);
	return false;
}

/* One step of one context: a completion, or a change of its state. */
static inline bool progress_ctx(struct doca_ctx *ctx)
{
	struct sim_job *job;

	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return false;
	if (doca_unlikely(!shim_ctx_is_same_process(ctx)))
		return ignore_parents_ctx(ctx);
	if (doca_unlikely(shim_ctx_is_stale(ctx)) && shim_ctx_stop_stale(ctx))
		return true;
	job = ctx->queue ? sim_queue_poll(ctx->queue) : NULL;
	if (job) {
		shim_task_complete_job(job);
		return true;
	}
	return ctx->ops->progress(ctx) || shim_ctx_try_idle(ctx);
}

static inline struct doca_ctx *next_of(const struct doca_pe *pe, const struct doca_ctx *ctx)
{
	return ctx->next_in_pe ? ctx->next_in_pe : pe->ctxs;
}

/* The contexts from the cursor on, up to @first, excluded. */
static __attribute__((noinline)) bool step_rest(struct doca_pe *pe, const struct doca_ctx *first, bool skips_parked)
{
	struct doca_ctx *ctx = pe->cursor;

	while (ctx && ctx != first) {
		struct doca_ctx *next = next_of(pe, ctx);

		pe->cursor = next; /* before a callback may destroy either */
		if (!(skips_parked && ctx->is_parked) && progress_ctx(ctx))
			return true;
		ctx = next;
	}
	return false;
}

static inline __attribute__((always_inline)) bool step(struct doca_pe *pe, bool skips_parked)
{
	struct doca_ctx *first = doca_likely(pe->cursor != NULL) ? pe->cursor : pe->ctxs;

	if (!first)
		return false;
	pe->cursor = next_of(pe, first);
	if (!(skips_parked && first->is_parked) && progress_ctx(first))
		return true;
	return pe->cursor != first && step_rest(pe, first, skips_parked);
}

/* For pe_vclock.c, and for the rarer cases. */
static __attribute__((noinline)) bool step_out_of_line(struct doca_pe *pe, bool skips_parked)
{
	return step(pe, skips_parked);
}

bool shim_pe_progress_one(struct doca_pe *pe)
{
	return doca_likely(!pe->vclock_handle) ? step(pe, false) : shim_pe_vclock_step(pe, step_out_of_line, false);
}

static size_t num_in_flight(const struct doca_pe *pe)
{
	size_t count = 0;

	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		count += shim_ctx_num_in_flight(ctx);
	return count;
}

/* NULL, or an engine that does more than one step. */
static __attribute__((noinline)) uint8_t progress_rarely(struct doca_pe *pe)
{
	size_t limit;

	if (!shim_object_is(pe, SHIM_PE)) {
		sim_err("doca_pe_progress: the progress engine is NULL or destroyed");
		return 0;
	}
	if (pe->progress == SHIM_PE_PROGRESS_UNPARKED)
		return pe->vclock_handle ? shim_pe_vclock_step(pe, step_out_of_line, true) : step_out_of_line(pe, true);
	/* Later calls complete what callbacks submit and peers send meanwhile, so that this call ends. */
	limit = num_in_flight(pe) + PROGRESS_ALL_MAX_EVENTS;
	if (!shim_pe_progress_one(pe))
		return 0;
	while (limit-- > 1 && shim_pe_progress_one(pe))
		;
	return 1;
}

uint8_t doca_pe_progress(struct doca_pe *pe)
{
	if (doca_likely(shim_object_is(pe, SHIM_PE) && pe->progress == SHIM_PE_PROGRESS_ONE))
		return shim_pe_progress_one(pe);
	return progress_rarely(pe);
}

SHIM_DEFINE_GETTER(doca_pe_get_num_inflight_tasks, const struct doca_pe, pe, SHIM_PE, size_t, num_inflight_tasks,
		   num_in_flight(pe))

static void choose_progress(struct doca_pe *pe)
{
	if (pe->event_mode == DOCA_PE_EVENT_MODE_PROGRESS_ALL)
		pe->progress = SHIM_PE_PROGRESS_ALL;
	else
		pe->progress = pe->armed ? SHIM_PE_PROGRESS_UNPARKED : SHIM_PE_PROGRESS_ONE;
}

doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode)
{
	SHIM_NEED(pe, SHIM_PE);
	if (event_mode != DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE && event_mode != DOCA_PE_EVENT_MODE_PROGRESS_ALL)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no event mode", (int)event_mode);
	pe->event_mode = event_mode;
	if (event_mode == DOCA_PE_EVENT_MODE_PROGRESS_ALL)
		shim_pe_unpark_all(pe);
	choose_progress(pe);
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_pe_get_notification_handle, const struct doca_pe, pe, SHIM_PE, doca_notification_handle_t,
		   handle, pe->wake.handle_fd)

static doca_error_t clear_handle(const char *func, struct doca_pe *pe)
{
	int rc = shim_pe_wake_clear(&pe->wake);

	if (rc == 0)
		return DOCA_SUCCESS;
	sim_err("%s: the notification handle can't be read: %s; it is the library's, don't close it", func,
		strerror(-rc));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

/* Run the queued jobs, and request notification of later completions. Returns whether progress would find an event. */
static bool arm_ctx(struct doca_ctx *ctx)
{
	bool has_events;

	if (doca_unlikely(ctx->is_silent))
		return false;
	has_events = ctx->ops->arm(ctx) || shim_ctx_can_idle(ctx) || shim_ctx_is_stale(ctx);

	has_events |= shim_alarm_arm(&ctx->alarm, shim_pe_notify, ctx);
	if (!ctx->queue)
		return has_events;
	sim_queue_set_notify(ctx->queue, true);
	sim_queue_drain(ctx->queue);
	sim_queue_arm_timer(ctx->queue);
	return sim_queue_has_done(ctx->queue) || has_events;
}

/* In the selective mode, an armed engine progresses the contexts alone that had tasks or events when it was armed, until the
 * notification is cleared (the vendor's doca_pe.h, enum doca_pe_event_mode). Contexts that give no notice, or that stop, are
 * progressed too: our choice. */
static bool may_park(const struct doca_pe *pe, const struct doca_ctx *ctx)
{
	return pe->event_mode == DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE && !ctx->is_silent &&
	       ctx->state != DOCA_CTX_STATE_STOPPING && shim_ctx_num_in_flight(ctx) == 0;
}

static bool arm_or_park(const struct doca_pe *pe, struct doca_ctx *ctx)
{
	bool may_be_parked = may_park(pe, ctx), has_events = arm_ctx(ctx); /* which runs tasks */

	ctx->is_parked = may_be_parked && !has_events;
	return has_events;
}

/* The caller is about to sleep. Queued jobs run in this call, so that the common case needs no wakeup. Jobs that the
 * engine's thread runs meanwhile notify. */
doca_error_t doca_pe_request_notification(struct doca_pe *pe)
{
	bool has_events = false;

	SHIM_NEED(pe, SHIM_PE);
	if (pe->event_mode == DOCA_PE_EVENT_MODE_PROGRESS_ALL)
		clear_handle(__func__, pe);
	pe->armed = true;
	choose_progress(pe);
	for (struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		if (ctx->state != DOCA_CTX_STATE_IDLE && shim_ctx_is_same_process(ctx))
			has_events |= arm_or_park(pe, ctx);
	if (doca_unlikely(pe->vclock_handle))
		has_events = shim_pe_vclock_sleep(pe, has_events);
	if (has_events)
		shim_pe_wake(pe);
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle)
{
	(void)handle; /* used on Windows only */
	SHIM_NEED(pe, SHIM_PE);
	pe->armed = false;
	shim_pe_unpark_all(pe);
	choose_progress(pe);
	if (doca_unlikely(shim_pe_vclock_handle(pe)))
		sim_vclock_source_end_sleep(pe->vclock_handle);
	for (struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		if (ctx->queue)
			sim_queue_set_notify(ctx->queue, false);
	return clear_handle(__func__, pe);
}
