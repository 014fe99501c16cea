/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows the calls on progress engines, and the tasks of their contexts. */
#include <stdlib.h>
#include <string.h>

#include "pe_rules.h"
#include "shim/check/history/tasks_in_flight.h"
#include "watchdog.h"

#define SAMPLE_EVERY 256 /* tasks */

/* The thread that is in a call may be in a callback, in which it may wait for this thread. */
static bool may_be_in_callback(const struct check_pe *engine, const struct check_thread *other)
{
	return atomic_load_explicit(&other->callback, memory_order_relaxed) != CHECK_NO_CALLBACK ||
	       (engine->has_events && check_last_function(other) == SHIM_FN_doca_pe_progress);
}

static inline struct check_pe *begin_use(const struct shim_call *call, const struct doca_pe *pe)
{
	struct check_thread *self = check_this_thread, *other;
	struct check_pe *engine = self->engine;

	if (doca_unlikely(self->engine_call)) /* in a callback */
		return engine;
	if (doca_unlikely(!engine || engine->pe != pe))
		self->engine = engine = check_pe_get(pe);
	if (doca_unlikely(!engine))
		return NULL;
	other = atomic_load_explicit(&engine->user, memory_order_relaxed);
	if (doca_unlikely(other && other != self) && !may_be_in_callback(engine, other))
		check_pe_shared(call, engine, other);
	self->engine_call = call;
	atomic_store_explicit(&self->callback, CHECK_NO_CALLBACK, memory_order_relaxed);
	atomic_store_explicit(&engine->user, self, memory_order_relaxed);
	return engine;
}

static void leave_use(struct shim_call *call)
{
	struct check_thread *self = check_this_thread;

	if (self->engine_call != call)
		return;
	self->engine_call = NULL;
	atomic_store_explicit(&self->engine->user, NULL, memory_order_relaxed);
}

static inline const struct doca_pe *pe_of(const struct doca_ctx *ctx)
{
	return ctx ? ctx->pe : NULL;
}

static void enter_task(struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);

	if (doca_unlikely(!shim_object_is(task, SHIM_TASK)))
		return;
	if (doca_likely(task->ctx->pe))
		begin_use(call, task->ctx->pe);
	if (doca_unlikely(atomic_load_explicit(&check_num_unread, memory_order_relaxed) > 0))
		check_unread_status(call, task);
}

static void enter_ctx(struct shim_call *call)
{
	const struct doca_pe *pe = pe_of(check_arg_ctx(call, 0));

	if (pe)
		begin_use(call, pe);
}

static void enter_pe(struct shim_call *call)
{
	const struct doca_pe *pe = check_arg(call, 0);

	if (shim_handle_is(pe, SHIM_PE))
		begin_use(call, pe);
}

static void enter_progress(struct shim_call *call)
{
	const struct doca_pe *pe = check_arg(call, 0);
	struct check_pe *engine = shim_object_is(pe, SHIM_PE) ? begin_use(call, pe) : NULL;

	if (!engine || engine->pe != pe)
		return;
	check_count(&engine->num_progress);
	atomic_store_explicit(&engine->progressed_at, call->caller, memory_order_relaxed);
	atomic_store_explicit(&engine->progressed_by, check_this_thread, memory_order_relaxed);
	if (doca_unlikely(atomic_load_explicit(&engine->pending_check, memory_order_relaxed) != NULL))
		check_stop_pending(call, engine);
}

static void count_empty(const struct shim_call *call, struct check_pe *engine, uint64_t num_submitted)
{
	if (check_load(&engine->empty_submitted) != num_submitted) { /* meanwhile there were tasks */
		engine->empty_submitted = num_submitted;
		engine->num_empty = 0;
	}
	check_count(&engine->num_empty);
	if (doca_unlikely(check_load(&engine->num_empty) % CHECK_EMPTY_CALLS == 0))
		check_empty_polls(call, engine);
}

static void leave_progress(struct shim_call *call)
{
	struct check_pe *engine = check_this_thread->engine;
	struct check_jobs jobs = { 0 };

	if (check_this_thread->engine_call != call)
		return;
	if (doca_unlikely(engine->pe->progress == SHIM_PE_PROGRESS_UNPARKED) && !call->result)
		check_parked_progress(call, engine);
	if (!call->result)
		jobs = check_pe_jobs(engine);
	if (call->result || jobs.num_submitted != jobs.num_ended)
		atomic_store_explicit(&engine->num_empty, 0, memory_order_relaxed);
	else
		count_empty(call, engine, jobs.num_submitted);
	leave_use(call);
}

static void leave_create(struct shim_call *call)
{
	struct check_pe *engine =
		check_result(call) == DOCA_SUCCESS ? check_pe_get(*(struct doca_pe **)check_arg(call, 0)) : NULL;

	if (engine)
		check_pe_renew(engine);
}

static void leave_get_handle(struct shim_call *call)
{
	struct check_pe *engine = check_result(call) == DOCA_SUCCESS ? check_pe_get(check_arg(call, 0)) : NULL;

	if (!engine)
		return;
	engine->handle = *(const doca_notification_handle_t *)check_arg(call, 1);
	engine->handle_at = call->caller;
}

/* The engine's thread may be about to sleep. */
static void leave_request(struct shim_call *call)
{
	const struct doca_pe *pe = check_arg(call, 0);

	if (check_this_thread->engine_call == call && check_result(call) == DOCA_SUCCESS)
		check_this_thread->engine->armed_handle = pe->wake.handle_fd;
	leave_use(call);
}

static void leave_clear(struct shim_call *call)
{
	if (check_this_thread->engine_call == call) {
		check_this_thread->engine->armed_handle = 0;
		check_this_thread->engine->num_uncleared = 0;
		check_this_thread->engine->uncleared_since_ns = 0;
	}
	leave_use(call);
}

/* The engine may be gone behind the call. */
static void enter_destroy(struct shim_call *call)
{
	struct check_thread *self = check_thread_self();

	enter_pe(call);
	if (self->engine_call != call)
		return;
	check_perf_inspect(self->engine);
}

/* Graphs call the user in their nodes. */
static void enter_graph(struct shim_call *call)
{
	const struct doca_pe *pe = check_arg(call, 0);
	struct check_pe *engine = shim_handle_is(pe, SHIM_PE) ? check_pe_get(pe) : NULL;

	if (engine)
		engine->has_events = true;
}

/* ---- tasks ---- */

static inline struct check_pe *engine_of(const struct doca_task *task)
{
	struct check_pe *engine = check_thread_self()->engine;

	if (doca_likely(engine && engine->pe == task->ctx->pe))
		return engine;
	return task->ctx->pe ? check_pe_get(task->ctx->pe) : NULL;
}

/* Of receives and waits, the other side decides when they end: they have no job. */
static inline bool ends_alone(const struct doca_task *task)
{
	return task->job.run != NULL;
}

static void task_posted(struct doca_task *task)
{
	struct check_pe *engine = doca_likely(ends_alone(task)) ? engine_of(task) : NULL;
	const struct check_thread *self = check_this_thread;
	uint64_t depth;

	if (!engine)
		return;
	depth = check_pe_in_flight(engine) + 1;
	if (doca_unlikely(depth > check_load(&engine->max_in_flight)))
		atomic_store_explicit(&engine->max_in_flight, depth, memory_order_relaxed);
	if (doca_likely(self->call))
		atomic_store_explicit(&engine->submitted_at, self->caller, memory_order_relaxed);
	atomic_store_explicit(&engine->owner, check_this_thread, memory_order_relaxed);
	atomic_store_explicit(&engine->ctx_name, task->ctx->ops->name, memory_order_relaxed);
}

static bool is_remote(const struct doca_task *task)
{
	const struct shim_buf_task *memcpy = shim_to_buf_task(task);

	return !check_is_memcpy(task) || !shim_object_is(memcpy->src, SHIM_BUF) ||
	       !shim_object_is(memcpy->dst, SHIM_BUF) || shim_mmap_is_imported(memcpy->src->mmap) ||
	       shim_mmap_is_imported(memcpy->dst->mmap);
}

static void task_ended(struct doca_task *task, doca_error_t status)
{
	struct check_pe *engine = doca_likely(ends_alone(task)) ? engine_of(task) : NULL;

	(void)status;
	atomic_store_explicit(&check_thread_self()->callback, CHECK_TASK_CALLBACK, memory_order_relaxed);
	if (!engine)
		return;
	check_count(&engine->num_ended);
	if (task->bytes < CHECK_SMALL_BYTES)
		check_count(&engine->num_small);
	if (doca_unlikely(check_load(&engine->num_ended) % SAMPLE_EVERY == 0) && is_remote(task))
		check_count(&engine->num_remote);
}

/* ---- states ---- */

static void ctx_changed(struct doca_ctx *ctx, enum doca_ctx_states from)
{
	struct check_pe *engine = ctx->pe ? check_pe_get(ctx->pe) : NULL;
	const struct doca_ctx *transitional = NULL;

	(void)from;
	atomic_store_explicit(&check_thread_self()->callback, CHECK_STATE_CALLBACK, memory_order_relaxed);
	if (!engine)
		return;
	for (struct doca_ctx *one = ctx->pe->ctxs; one; one = one->next_in_pe) {
		if (one->state == DOCA_CTX_STATE_STARTING || one->state == DOCA_CTX_STATE_STOPPING)
			transitional = one;
		if (strncmp(one->ops->name, "comch", 5) == 0)
			engine->has_events = true;
	}
	engine->transitional_state = transitional ? transitional->state : DOCA_CTX_STATE_IDLE;
	engine->transitional_name = transitional ? transitional->ops->name : NULL;
	engine->transitional = transitional;
	engine->owner = check_this_thread;
	if (transitional)
		check_watchdog_kick();
}

static void forget(struct check_pe *engine, void *unused)
{
	(void)unused;
	check_pe_renew(engine);
}

/* The engines are the parent's. */
static void forked(void)
{
	check_pes_forked();
	check_pes_each(forget, NULL);
}

static void inspect(struct check_pe *engine, void *unused)
{
	(void)unused;
	check_perf_inspect(engine);
}

static void at_exit(void)
{
	check_pes_each(inspect, NULL);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_pe_create, NULL, leave_create },
	{ SHIM_FN_doca_pe_destroy, enter_destroy, leave_use },
	{ SHIM_FN_doca_pe_progress, enter_progress, leave_progress },
	{ SHIM_FN_doca_pe_get_notification_handle, NULL, leave_get_handle },
	{ SHIM_FN_doca_pe_request_notification, enter_pe, leave_request },
	{ SHIM_FN_doca_pe_clear_notification, enter_pe, leave_clear },
	{ SHIM_FN_doca_ctx_start, enter_ctx, leave_use },
	{ SHIM_FN_doca_ctx_stop, enter_ctx, leave_use },
	{ SHIM_FN_doca_ctx_flush_tasks, enter_ctx, leave_use },
	{ SHIM_FN_doca_task_submit, enter_task, leave_use },
	{ SHIM_FN_doca_task_submit_ex, enter_task, leave_use },
	{ SHIM_FN_doca_task_try_submit, enter_task, leave_use },
	{ SHIM_FN_doca_task_free, enter_task, leave_use },
	{ SHIM_FN_doca_dma_task_memcpy_alloc_init, enter_ctx, leave_use },
	{ SHIM_FN_doca_graph_create, enter_graph, NULL },
};

const struct check_part check_pe_calls = {
	CHECK_WATCHES(watches),   .mode = SIM_CHECK_API,      .task_posted = task_posted,
	.task_ended = task_ended, .ctx_changed = ctx_changed, .forked = forked,
	.exit = at_exit,
};
