/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that a task without the flush flag is followed by one that has it, before the program waits. */
#include <inttypes.h>
#include <pthread.h>

#include "shim/check/report/hit.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/pe/task_priv.h"
#include "sim/base/monotonic.h"

#define MAX_WAITING   16  /* contexts */
#define EMPTY_STEPS   400 /* of an engine, until the program counts as waiting */
#define EMPTY_TIME_NS 5000000

/* A context whose engine found nothing to do while tasks wait for a flush. */
struct waiting {
	const struct doca_ctx *ctx;
	uint32_t num_tasks, num_submitted, num_empty;
	uint64_t first_empty_ns;
	bool is_reported;
};

static struct {
	pthread_mutex_t lock;
	uint32_t num_entries, next; /* next: to be replaced */
	struct waiting entries[MAX_WAITING];
} waiting = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The last submission without the flag. */
static _Atomic(const void *) last_ctx, last_caller;

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

static void report(const struct shim_call *call, const struct waiting *entry)
{
	const struct check_stack stack = check_stack_of(last_caller);
	const char *plural = entry->num_tasks > 1 ? "s" : "";
	struct check_hit *hit = check_hit_begin(BFC_FLUSH_MISSING, call,
						"%s: found nothing %u times, while %" PRIu32
						" task%s of the %s context wait%s for a flush",
						shim_function_names[call->function].name, EMPTY_STEPS, entry->num_tasks,
						plural, entry->ctx->ops->name, *plural ? "" : "s");

	if (last_ctx == entry->ctx)
		check_hit_add_party(hit, 0, &stack,
				    "the last of them was submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH");
	check_hit_add_object(hit, "context", entry->ctx, entry->ctx->ops->name);
	check_hit_add_object(hit, "progress engine", entry->ctx->pe, NULL);
	check_hit_end(hit);
}

/* With the lock: the engine found nothing to do. */
static void count_empty(const struct shim_call *call, struct waiting *entry, uint32_t num_tasks)
{
	uint32_t num_submitted, num_returned;

	sim_queue_count(entry->ctx->queue, &num_submitted, &num_returned);
	if (entry->num_tasks != num_tasks || entry->num_submitted != num_submitted) {
		entry->num_tasks = num_tasks;
		entry->num_submitted = num_submitted;
		entry->num_empty = 0;
		entry->is_reported = false;
	}
	if (entry->num_empty++ == 0)
		entry->first_empty_ns = sim_monotonic_ns();
	if (entry->is_reported || entry->num_empty < EMPTY_STEPS ||
	    sim_monotonic_ns() - entry->first_empty_ns < EMPTY_TIME_NS)
		return;
	entry->is_reported = true;
	report(call, entry);
}

static void leave_submit_ex(struct shim_call *call)
{
	if (call->args[1] & DOCA_TASK_SUBMIT_FLAG_FLUSH || doca_unlikely(check_result(call) != DOCA_SUCCESS))
		return;
	atomic_store_explicit(&last_ctx, ((const struct doca_task *)check_arg(call, 0))->ctx, memory_order_relaxed);
	atomic_store_explicit(&last_caller, call->caller, memory_order_relaxed);
}

static void leave_progress(struct shim_call *call)
{
	const struct doca_pe *pe = check_arg(call, 0);

	if (call->result || !shim_object_is(pe, SHIM_PE))
		return;
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe) {
		uint32_t num_tasks = ctx->queue && shim_ctx_is_same_process(ctx) ? sim_queue_num_staged(ctx->queue) : 0;

		if (doca_likely(num_tasks == 0) || ctx->state != DOCA_CTX_STATE_RUNNING ||
		    sim_queue_in_flight(ctx->queue) != num_tasks)
			continue;
		pthread_mutex_lock(&waiting.lock);
		count_empty(call, get(ctx), num_tasks);
		pthread_mutex_unlock(&waiting.lock);
	}
}

static void forked(void)
{
	pthread_mutex_init(&waiting.lock, NULL);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_task_submit_ex, NULL, leave_submit_ex },
	{ SHIM_FN_doca_pe_progress, NULL, leave_progress },
};

const struct check_part check_flush = {
	.watches = watches,
	.num_watches = sizeof(watches) / sizeof(watches[0]),
	.mode = SIM_CHECK_API,
	.forked = forked,
};
