/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers the last change of each context's state, and the task that failed before it. */
#include "ctx_history.h"

#include <doca_common_defines.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim/common/pe/task_priv.h"
#include "sim/base/monotonic.h"

#define NUM_BUCKETS 256

struct entry {
	struct check_ctx_history history;
	struct entry *next;
};

static struct {
	pthread_mutex_t lock;
	struct entry *buckets[NUM_BUCKETS];
} histories = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* With the lock. NULL without memory. */
static struct entry *get(const struct doca_ctx *ctx)
{
	struct entry **bucket = &histories.buckets[(uintptr_t)ctx / 64 % NUM_BUCKETS], *entry = *bucket;

	while (entry && entry->history.ctx != ctx)
		entry = entry->next;
	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (entry) {
		entry->history.ctx = ctx;
		entry->next = *bucket;
		*bucket = entry;
	}
	return entry;
}

bool check_ctx_history_find(const struct doca_ctx *ctx, struct check_ctx_history *ret_history)
{
	const struct entry *entry;

	pthread_mutex_lock(&histories.lock);
	entry = get(ctx);
	if (entry)
		*ret_history = entry->history;
	pthread_mutex_unlock(&histories.lock);
	return entry && ret_history->changed_ns;
}

static void forget_failure(struct check_ctx_history *history)
{
	history->failed_status = DOCA_SUCCESS;
	history->was_failure_stop = false;
}

static void take_stack(const struct shim_call *call, struct check_stack *ret_stack)
{
	if (call)
		check_stack_take(call->caller, ret_stack);
	else
		check_stack_take_unwatched(ret_stack);
}

static void note_change(struct check_ctx_history *history, struct doca_ctx *ctx, enum doca_ctx_states from)
{
	const struct shim_call *call = check_watched_call();

	if (from == DOCA_CTX_STATE_IDLE)
		forget_failure(history);
	history->was_failure_stop = false; /* note_failure() follows */
	history->from = from;
	history->to = ctx->state;
	history->changed_ns = sim_monotonic_ns();
	history->tid = gettid();
	history->function = call ? call->function : SHIM_NUM_FUNCTIONS;
	take_stack(call, &history->stack);
}

static void ctx_changed(struct doca_ctx *ctx, enum doca_ctx_states from)
{
	struct entry *entry;

	pthread_mutex_lock(&histories.lock);
	entry = get(ctx);
	if (entry)
		note_change(&entry->history, ctx, from);
	pthread_mutex_unlock(&histories.lock);
}

static void note_failure(struct check_ctx_history *history, const struct doca_task *task, doca_error_t status)
{
	const struct shim_call *call = check_watched_call();

	history->failed_status = status;
	history->failed_task = task;
	history->failed_kind = task->pool->type->name;
	history->failed_ns = sim_monotonic_ns();
	take_stack(call, &history->failed_stack);
}

/* The context of a job that failed is stopping already. */
bool check_task_was_flushed(const struct doca_task *task)
{
	return task->job.run ? task->job.status == -ECANCELED : task->ctx->state != DOCA_CTX_STATE_RUNNING;
}

/* A job that fails stops its context right before its end is told; a reset of the function stops it as well. */
static bool is_failure_stop(const struct check_ctx_history *history, const struct doca_task *task)
{
	return !history->was_failure_stop && task->job.run && task->ctx->state == DOCA_CTX_STATE_STOPPING &&
	       history->to == DOCA_CTX_STATE_STOPPING && history->function != SHIM_FN_doca_ctx_stop &&
	       !shim_ctx_is_stale(task->ctx);
}

static void task_failed(struct doca_task *task, doca_error_t status)
{
	struct entry *entry;
	bool has_stopped;

	if (check_task_was_flushed(task))
		return;
	pthread_mutex_lock(&histories.lock);
	entry = get(task->ctx);
	has_stopped = entry && is_failure_stop(&entry->history, task);
	if (entry && (has_stopped || entry->history.failed_status == DOCA_SUCCESS))
		note_failure(&entry->history, task, status);
	if (has_stopped)
		entry->history.was_failure_stop = true;
	pthread_mutex_unlock(&histories.lock);
}

const char *check_ctx_state_name(enum doca_ctx_states state)
{
	static const char *const names[] = { [DOCA_CTX_STATE_IDLE] = "idle",
					     [DOCA_CTX_STATE_STARTING] = "starting",
					     [DOCA_CTX_STATE_RUNNING] = "running",
					     [DOCA_CTX_STATE_STOPPING] = "stopping" };

	return names[state];
}

const struct check_part check_ctx_history = {
	.mode = SIM_CHECK_API,
	.ctx_changed = ctx_changed,
	.task_failed = task_failed,
	.lock = &histories.lock,
};
