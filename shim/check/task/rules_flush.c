/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules that a task without the flush flag is followed by one that has it, and a task whose report is optimized by one
 * whose report is not, before the program waits. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "shim/check/report/hit.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/pe/task_priv.h"
#include "sim/base/monotonic.h"

#define MAX_WAITING   16  /* contexts */
#define EMPTY_STEPS   400 /* of an engine, until the program counts as waiting */
#define EMPTY_TIME_NS 5000000

/* Tasks of a running context that nothing but a further submission completes. */
struct stuck {
	uint32_t num_staged;   /* they wait for a flush */
	uint32_t num_withheld; /* they wait for a task that is not marked, if none are staged */
};

/* A context whose engine found nothing to do while tasks are stuck. */
struct waiting {
	const struct doca_ctx *ctx;
	struct stuck stuck;
	uint32_t num_submitted, num_empty;
	uint64_t first_empty_ns;
	bool is_reported;
};

static struct {
	pthread_mutex_t lock;
	uint32_t num_entries, next; /* next: to be replaced */
	struct waiting entries[MAX_WAITING];
} waiting = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The last submission without the flush flag, and the last with the mark for reports. */
static struct {
	_Atomic(const void *) ctx, caller;
} unflushed, marked;

/* With the lock. */
static struct waiting *get(const struct doca_ctx *ctx)
{
	struct waiting *entry;

	for (uint32_t i = 0; i < waiting.num_entries; i++)
		if (waiting.entries[i].ctx == ctx)
			return &waiting.entries[i];
	entry = &waiting.entries[waiting.next++ % MAX_WAITING];
	if (waiting.num_entries < MAX_WAITING)
		waiting.num_entries++;
	*entry = (struct waiting){ .ctx = ctx };
	return entry;
}

static void report_staged(const struct shim_call *call, const struct doca_ctx *ctx, uint32_t num_tasks)
{
	const struct check_stack stack = check_stack_of(unflushed.caller);
	const char *plural = num_tasks > 1 ? "s" : "";
	struct check_hit *hit = check_hit_begin(
		BFC_FLUSH_MISSING, call,
		"%s: found nothing %u times, while %" PRIu32 " task%s of the %s context wait%s for a flush",
		check_call_name(call), EMPTY_STEPS, num_tasks, plural, ctx->ops->name, *plural ? "" : "s");

	if (unflushed.ctx == ctx)
		check_hit_add_party(hit, 0, &stack,
				    "the last of them was submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH");
	check_hit_add_ctx(hit, ctx);
	check_hit_add_object(hit, "progress engine", ctx->pe, NULL);
	check_hit_end(hit);
}

static void report_withheld(const struct shim_call *call, const struct doca_ctx *ctx, uint32_t num_tasks)
{
	const struct check_stack stack = check_stack_of(marked.caller);
	bool sleeps = call->function == SHIM_FN_doca_pe_request_notification;
	struct check_hit *hit = check_hit_begin(
		BFC_REPORTS_NEVER_DELIVERED, call,
		"%s: %s; %" PRIu32
		" task%s of the %s context %s done, with DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS, and no task without it is behind %s",
		check_call_name(call), sleeps ? "the program is about to sleep" : "found nothing for long", num_tasks,
		num_tasks > 1 ? "s" : "", ctx->ops->name, num_tasks > 1 ? "are" : "is", num_tasks > 1 ? "them" : "it");

	if (marked.ctx == ctx)
		check_hit_add_party(
			hit, 0, &stack,
			"the last of them was submitted here; the task behind it, without the flag, is missing");
	check_hit_add_ctx(hit, ctx);
	check_hit_add_object(hit, "progress engine", ctx->pe, NULL);
	check_hit_end(hit);
}

/* Returns whether all tasks in flight of the context are stuck. */
static bool find_stuck(const struct doca_ctx *ctx, struct stuck *ret_stuck)
{
	if (!ctx->queue || !shim_ctx_is_same_process(ctx) || ctx->state != DOCA_CTX_STATE_RUNNING)
		return false;
	ret_stuck->num_staged = sim_queue_num_staged(ctx->queue);
	ret_stuck->num_withheld = sim_queue_num_withheld(ctx->queue);
	return doca_unlikely(ret_stuck->num_staged + ret_stuck->num_withheld > 0) &&
	       sim_queue_in_flight(ctx->queue) == ret_stuck->num_staged + ret_stuck->num_withheld;
}

/* With the lock: the engine found nothing to do. */
static void count_empty(const struct shim_call *call, struct waiting *entry, const struct stuck *stuck)
{
	uint32_t num_submitted, num_returned;

	sim_queue_count(entry->ctx->queue, &num_submitted, &num_returned);
	if (memcmp(&entry->stuck, stuck, sizeof(*stuck)) != 0 || entry->num_submitted != num_submitted)
		*entry = (struct waiting){ .ctx = entry->ctx, .stuck = *stuck, .num_submitted = num_submitted };
	if (entry->num_empty++ == 0)
		entry->first_empty_ns = sim_monotonic_ns();
	if (entry->is_reported || entry->num_empty < EMPTY_STEPS ||
	    sim_monotonic_ns() - entry->first_empty_ns < EMPTY_TIME_NS)
		return;
	entry->is_reported = true;
	if (stuck->num_staged)
		report_staged(call, entry->ctx, stuck->num_staged);
	else
		report_withheld(call, entry->ctx, stuck->num_withheld);
}

static void leave_submit_ex(struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);

	if (doca_unlikely(check_result(call) != DOCA_SUCCESS))
		return;
	if (!(call->args[1] & DOCA_TASK_SUBMIT_FLAG_FLUSH)) {
		atomic_store_explicit(&unflushed.ctx, task->ctx, memory_order_relaxed);
		atomic_store_explicit(&unflushed.caller, call->caller, memory_order_relaxed);
	}
	if (call->args[1] & DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS) {
		atomic_store_explicit(&marked.ctx, task->ctx, memory_order_relaxed);
		atomic_store_explicit(&marked.caller, call->caller, memory_order_relaxed);
	}
}

static void leave_progress(struct shim_call *call)
{
	const struct doca_pe *pe = check_arg(call, 0);
	struct stuck stuck;

	if (call->result || !shim_object_is(pe, SHIM_PE))
		return;
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe) {
		if (doca_likely(!find_stuck(ctx, &stuck)))
			continue;
		pthread_mutex_lock(&waiting.lock);
		count_empty(call, get(ctx), &stuck);
		pthread_mutex_unlock(&waiting.lock);
	}
}

/* The call has run all jobs. Something else that is in flight may wake the thread, which submits more then. */
static void leave_request_notification(struct shim_call *call)
{
	const struct doca_pe *pe = check_arg(call, 0);
	const struct doca_ctx *found = NULL;
	struct stuck stuck = { 0 }, other;
	size_t num_in_flight = 0;

	if (check_result(call) != DOCA_SUCCESS)
		return;
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe) {
		num_in_flight += shim_ctx_num_in_flight(ctx);
		if (find_stuck(ctx, &other) && other.num_staged == 0) {
			found = ctx;
			stuck = other;
		}
	}
	if (doca_unlikely(found != NULL) && num_in_flight == stuck.num_withheld)
		report_withheld(call, found, stuck.num_withheld);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_task_submit_ex, NULL, leave_submit_ex },
	{ SHIM_FN_doca_pe_progress, NULL, leave_progress },
	{ SHIM_FN_doca_pe_request_notification, NULL, leave_request_notification },
};

const struct check_part check_flush = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.lock = &waiting.lock,
};
