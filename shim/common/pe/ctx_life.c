/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: states, start and stop. */
#include "ctx_life.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "pe_priv.h"
#include "pe_vclock.h"
#include "shim/common/base/call_hooks.h"
#include "shim/common/base/check.h"
#include "sim/base/memory_signals.h"
#include "task_memory.h"
#include "task_priv.h"

enum edge {
	EDGE_NONE,
	EDGE_STEP,   /* the context's life, as the user sees it */
	EDGE_FORKED, /* a forked child stops a copy of its parent's context */
};

static const enum edge edges[4][4] = {
	/* [from][to] */
	[DOCA_CTX_STATE_IDLE] = { [DOCA_CTX_STATE_STARTING] = EDGE_STEP, [DOCA_CTX_STATE_RUNNING] = EDGE_STEP },
	[DOCA_CTX_STATE_STARTING] = { [DOCA_CTX_STATE_RUNNING] = EDGE_STEP,
				      [DOCA_CTX_STATE_STOPPING] = EDGE_STEP,
				      [DOCA_CTX_STATE_IDLE] = EDGE_FORKED },
	[DOCA_CTX_STATE_RUNNING] = { [DOCA_CTX_STATE_STOPPING] = EDGE_STEP, [DOCA_CTX_STATE_IDLE] = EDGE_FORKED },
	[DOCA_CTX_STATE_STOPPING] = { [DOCA_CTX_STATE_IDLE] = EDGE_STEP },
};

/* The only writer of a context's state. */
static void write_state(struct doca_ctx *ctx, enum doca_ctx_states to, bool is_forked)
{
	enum edge edge = edges[ctx->state][to];

	assert(edge == EDGE_STEP || (is_forked && edge == EDGE_FORKED));
	(void)edge;
	(void)is_forked;
	ctx->state = to;
}

/* Go to another state, record that and tell the user. A context that goes idle does this before its engine ceases to take
 * part in virtual time: until then time stands still. The callback may destroy both. */
static void set_state(struct doca_ctx *ctx, enum doca_ctx_states to)
{
	enum doca_ctx_states from = ctx->state;
	struct doca_pe *pe = ctx->pe;

	write_state(ctx, to, false);
	if (to != DOCA_CTX_STATE_IDLE && pe)
		shim_pe_vclock_update(ctx);
	sim_trace_state(ctx->trace_id, from, to);
	if (doca_unlikely(shim_call_hooks != NULL))
		shim_call_hooks->ctx_changed(ctx, from);
	if (ctx->state_changed) {
		ctx->is_in_state_callback = true;
		ctx->state_changed(ctx->user_data, ctx, from, to);
		if (shim_ctx_is(ctx))
			ctx->is_in_state_callback = false;
	}
	if (to == DOCA_CTX_STATE_IDLE && shim_object_is(pe, SHIM_PE))
		shim_pe_vclock_leave_if_idle(pe);
}

/* For contexts without a device or not started yet: never changes. */
static const _Atomic uint64_t no_function_status;

void shim_ctx_init(struct doca_ctx *ctx, const struct shim_ctx_ops *ops, struct doca_dev *dev)
{
	ctx->ops = ops;
	ctx->dev = dev;
	ctx->fork_generation = shim_fork_generation;
	ctx->status_word = &no_function_status;
	ctx->trace_id =
		sim_trace_object_new(SIM_TRACE_CONTEXT, 0, ops->name, dev ? shim_dev_function(dev)->ibdev : NULL);
	if (dev)
		shim_dev_hold(dev);
}

void shim_ctx_init_running(struct doca_ctx *ctx, const struct shim_ctx_ops *ops)
{
	shim_ctx_init(ctx, ops, NULL);
	write_state(ctx, DOCA_CTX_STATE_RUNNING, false);
}

doca_error_t shim_ctx_fini(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_IDLE) {
		sim_err("doca_%s_destroy: the context is not idle; stop it, free its tasks and progress its engine first",
			ctx->ops->name);
		return DOCA_ERROR_IN_USE;
	}
	shim_pe_disconnect(ctx);
	if (shim_ctx_is_same_process(ctx))
		sim_trace_object_end(ctx->trace_id);
	if (ctx->dev)
		shim_dev_release(ctx->dev);
	return DOCA_SUCCESS;
}

/* Follow the function's status from now on. Returns false if the device is stale. */
static bool track_function_status(struct doca_ctx *ctx)
{
	ctx->status_word = ctx->dev ? ctx->dev->status_word : &no_function_status;
	ctx->function_generation = ctx->dev ? ctx->dev->function_generation : 0;
	return !shim_ctx_is_stale(ctx);
}

static void close_queue(struct doca_ctx *ctx)
{
	if (ctx->queue && shim_call_hooks)
		shim_call_hooks->queue_closing(ctx);
	sim_queue_destroy(ctx->queue);
	ctx->queue = NULL;
}

static doca_error_t start_ctx(struct doca_ctx *ctx)
{
	doca_error_t result = ctx->ops->start(ctx);

	if (result == DOCA_ERROR_IN_PROGRESS) {
		set_state(ctx, DOCA_CTX_STATE_STARTING);
		return result;
	}
	if (result != DOCA_SUCCESS) {
		shim_task_pools_free(ctx);
		close_queue(ctx);
		shim_alarm_clear(&ctx->alarm);
		return result;
	}
	set_state(ctx, DOCA_CTX_STATE_RUNNING);
	return DOCA_SUCCESS;
}

doca_error_t shim_ctx_inject_start_fault(const struct doca_dev *dev)
{
	return shim_fault_inject(dev ? shim_dev_function(dev) : NULL, SIM_OP_CTX_START, 0, 0);
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	struct sim_vclock_source *participation;
	doca_error_t result;

	SHIM_NEED_CTX(ctx);
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first");
	if (!shim_ctx_is_same_process(ctx))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "the context is of the process before fork(); make one in the child");
	if (!ctx->pe && !ctx->dpa)
		return SHIM_REFUSE(DOCA_ERROR_NOT_CONNECTED, "no progress engine; call doca_pe_connect_ctx() first");
	if (!track_function_status(ctx))
		return SHIM_REFUSE(DOCA_ERROR_INITIALIZATION,
				   "the function was reset, failed or was removed; close the device and open it again");
	ctx->faults = sim_session_faults(shim_session());
	participation = shim_vclock_begin_participation();
	sim_memory_signals_install();
	result = ctx->is_internal ? DOCA_SUCCESS : shim_ctx_inject_start_fault(ctx->dev);
	if (result == DOCA_SUCCESS)
		result = start_ctx(ctx);
	if (result == DOCA_ERROR_IN_PROGRESS && ctx->pe)
		shim_pe_unpark_all(ctx->pe);
	sim_vclock_source_destroy(participation);
	return result;
}

static void task_is_late(void *arg, uint64_t late_ns)
{
	const struct doca_ctx *ctx = arg;

	sim_trace_late(ctx->trace_id, late_ns);
}

static int set_clock(struct doca_ctx *ctx, const struct sim_clock *clock)
{
	const struct sim_queue_time time = {
		.clock = clock,
		.function = shim_dev_function(ctx->dev)->id,
		.work = shim_task_get_pcie_job,
		.mark_busy = shim_pe_vclock_mark_busy,
		.is_own = shim_pe_vclock_is_own,
		.patience_ns = shim_pe_vclock_patience_ns,
		.is_late = sim_clock_mode(clock) == SIM_CLOCK_TIMED ? task_is_late : NULL,
	};

	return sim_queue_set_clock(ctx->queue, &time);
}

doca_error_t shim_ctx_open_queue(struct doca_ctx *ctx, uint32_t max_jobs)
{
	struct sim_session *session = shim_session();
	int rc = sim_queue_create(sim_session_engine(session), max_jobs, shim_pe_notify, ctx, &ctx->queue);

	if (rc == 0)
		sim_queue_set_memory(ctx->queue, &shim_task_queue_memory);
	if (rc == 0 && ctx->dev)
		rc = set_clock(ctx, sim_session_clock(session));
	if (rc == 0) {
		if (shim_call_hooks)
			shim_call_hooks->queue_opened(ctx);
		return DOCA_SUCCESS;
	}
	sim_err("doca_ctx_start: a queue of %u tasks can't be made: %s%s", max_jobs, strerror(-rc),
		rc == -ENOMEM ? "; configure fewer" : "");
	return DOCA_ERROR_INITIALIZATION;
}

void shim_ctx_set_running(struct doca_ctx *ctx)
{
	set_state(ctx, DOCA_CTX_STATE_RUNNING);
}

void shim_ctx_begin_stop(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_STARTING && ctx->state != DOCA_CTX_STATE_RUNNING)
		return;
	if (ctx->queue)
		sim_queue_flush(ctx->queue);
	ctx->ops->begin_stop(ctx);
	if (ctx->pe)
		shim_pe_unpark_all(ctx->pe);
	set_state(ctx, DOCA_CTX_STATE_STOPPING);
}

bool shim_ctx_try_idle(struct doca_ctx *ctx)
{
	if (!shim_ctx_can_idle(ctx))
		return false;
	close_queue(ctx);
	shim_alarm_clear(&ctx->alarm);
	shim_task_pools_free(ctx);
	ctx->ops->stopped(ctx);
	set_state(ctx, DOCA_CTX_STATE_IDLE);
	return true;
}

/* In a forked child: forget the queue, which the thread of the parent's engine may have locked. */
static void reset_after_fork(struct doca_ctx *ctx)
{
	ctx->queue = NULL;
	ctx->alarm = (struct shim_alarm){ 0 };
	shim_task_pools_free(ctx);
	ctx->num_allocated = 0;
	ctx->num_posted = 0;
	write_state(ctx, DOCA_CTX_STATE_IDLE, true);
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	doca_error_t result;

	SHIM_NEED_CTX(ctx);
	if (!ctx->pe && !ctx->dpa)
		return SHIM_REFUSE(DOCA_ERROR_NOT_CONNECTED, "no progress engine: the context was never started");
	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_SUCCESS;
	if (!shim_ctx_is_same_process(ctx)) {
		reset_after_fork(ctx);
		return DOCA_SUCCESS;
	}
	if (ctx->state != DOCA_CTX_STATE_STOPPING) {
		result = ctx->ops->may_stop(ctx);
		if (result != DOCA_SUCCESS)
			return result;
		shim_vclock_begin_call();
		shim_ctx_begin_stop(ctx);
	}
	if (ctx->state == DOCA_CTX_STATE_IDLE) /* stopped by the callback */
		return DOCA_SUCCESS;
	return shim_ctx_try_idle(ctx) ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

void shim_ctx_stop_on_error(struct doca_ctx *ctx)
{
	if (ctx->state == DOCA_CTX_STATE_RUNNING) {
		sim_warn("a %s task failed: its context stops, and completes the tasks behind it with an error",
			 ctx->ops->name);
		shim_ctx_begin_stop(ctx);
	}
}

bool shim_ctx_stop_stale(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_STARTING && ctx->state != DOCA_CTX_STATE_RUNNING)
		return false;
	sim_warn(
		"the function of a %s context was reset, failed or was removed: the context stops; close the device and open it again",
		ctx->ops->name);
	shim_ctx_begin_stop(ctx);
	return true;
}
