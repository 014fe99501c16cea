/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about calls that a program repeats until they succeed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shim/check/base/sampling.h"
#include "shim/check/history/pe_records.h"
#include "shim/check/report/hit.h"
#include "shim/common/pe/task_priv.h"
#include "sim/base/monotonic.h"
#include "shim/check/base/thread.h"

#define NUM_RETRIES       4   /* loops of a thread that are followed at once */
#define MIN_RETRIES       100 /* equal failures that are a loop */
#define MAX_CALLS_BETWEEN 16  /* from one failure to the next */

/* A call that fails in the same way each time. */
struct retry {
	const void *caller;
	uint32_t function;
	doca_error_t result;
	uint64_t args[SHIM_MAX_PARAMS];
	uint64_t count;
	uint64_t num_calls; /* of the thread, at the last failure */
	uint64_t first_ns;
};

/* Calls in a row that were refused for lack of room, without progress of the engine between them. */
struct refusals {
	const struct check_pe *engine;
	uint64_t num_progress; /* of the engine */
	uint64_t count, first_ns;
};

struct check_retries {
	struct refusals refusals;
	struct retry retries[NUM_RETRIES];
	uint32_t next; /* to be replaced */
};

static size_t num_args(uint32_t function)
{
	size_t count = 0;

	while (count < SHIM_MAX_PARAMS && shim_function_names[function].params[count])
		count++;
	return count;
}

static bool is_same(const struct retry *retry, const struct shim_call *call)
{
	return retry->count && retry->caller == call->caller && retry->function == call->function &&
	       retry->result == check_result(call) &&
	       memcmp(retry->args, call->args, num_args(call->function) * sizeof(call->args[0])) == 0;
}

static struct retry *find(struct check_retries *retries, const struct shim_call *call)
{
	for (uint32_t i = 0; i < NUM_RETRIES; i++)
		if (is_same(&retries->retries[i], call))
			return &retries->retries[i];
	return NULL;
}

static struct retry *replace(struct check_retries *retries)
{
	return &retries->retries[retries->next++ % NUM_RETRIES];
}

static void begin(struct retry *retry, const struct shim_call *call)
{
	*retry = (struct retry){ .caller = call->caller,
				 .function = call->function,
				 .result = check_result(call),
				 .first_ns = sim_monotonic_ns() };
	memcpy(retry->args, call->args, num_args(call->function) * sizeof(call->args[0]));
}

/* NULL without memory. */
static struct check_retries *retries_of(struct check_thread *thread)
{
	if (!thread->retries)
		thread->retries = calloc(1, sizeof(*thread->retries));
	return thread->retries;
}

/* Returns the loop that the failed call belongs to, or NULL without memory. */
static struct retry *note_failure(const struct shim_call *call)
{
	struct check_thread *thread = check_thread_self();
	uint64_t now = atomic_load_explicit(&thread->num_calls, memory_order_relaxed);
	struct retry *retry;

	if (!retries_of(thread))
		return NULL;
	retry = find(thread->retries, call);
	if (!retry || now - retry->num_calls > MAX_CALLS_BETWEEN) {
		retry = retry ? retry : replace(thread->retries);
		begin(retry, call);
	}
	retry->num_calls = now;
	retry->count++;
	return retry;
}

/* Returns whether a call that failed so fails again, unless something else is changed. Queries are no attempts. */
static bool is_hopeless(const struct shim_call *call)
{
	const char *name = check_call_name(call);

	switch (check_result(call)) {
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_NOT_SUPPORTED:
	case DOCA_ERROR_NOT_PERMITTED:
	case DOCA_ERROR_BAD_STATE:
	case DOCA_ERROR_DRIVER:
		return !strstr(name, "_cap_") && !strstr(name, "_get_") && !strstr(name, "_is_");
	default:
		return false;
	}
}

/* Another thread may change the state of an object: such a retry must last. */
static bool has_lasted(const struct retry *retry, uint64_t lasted_ns)
{
	return retry->result != DOCA_ERROR_BAD_STATE || lasted_ns >= check_stall_timeout_ns();
}

/* ---- no room ---- */

/* The context that had no room for the task, or NULL: another kind of call, or another error. */
static const struct doca_ctx *refusing_ctx(const struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);

	switch (call->function) {
	case SHIM_FN_doca_task_submit:
	case SHIM_FN_doca_task_submit_ex:
	case SHIM_FN_doca_task_try_submit:
		return check_result(call) == DOCA_ERROR_AGAIN && shim_object_is(task, SHIM_TASK) ? task->ctx : NULL;
	default:
		return check_result(call) == DOCA_ERROR_NO_MEMORY && strstr(check_call_name(call), "_alloc_init") ?
			       check_arg_ctx(call, 0) :
			       NULL;
	}
}

static void report_refusals(const struct shim_call *call, const struct doca_ctx *ctx, const struct refusals *refusals)
{
	struct check_hit *hit = check_hit_begin(
		BFC_RETRY_WITHOUT_PROGRESS, call,
		"%s has returned %s for %" PRIu64
		" ms, and the engine was not progressed meanwhile: %u tasks of the %s context are allocated, %zu of them in flight",
		check_call_name(call), doca_error_get_name(check_result(call)),
		(uint64_t)((sim_monotonic_ns() - refusals->first_ns) / SIM_NS_PER_MS), ctx->num_allocated,
		ctx->ops->name, shim_ctx_num_in_flight(ctx));

	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

static void check_refusal(const struct shim_call *call, const struct doca_ctx *ctx)
{
	const struct check_pe *engine = ctx->pe ? check_pe_get(ctx->pe) : NULL;
	struct check_retries *retries = retries_of(check_thread_self());
	struct refusals *refusals;

	if (!engine || !retries)
		return;
	refusals = &retries->refusals;
	if (refusals->engine != engine || refusals->num_progress != check_load(&engine->num_progress))
		*refusals = (struct refusals){ .engine = engine,
					       .num_progress = check_load(&engine->num_progress),
					       .first_ns = sim_monotonic_ns() };
	check_sampling_resume(); /* progress must not be missed */
	if (++refusals->count % MIN_RETRIES == 0 && shim_ctx_num_in_flight(ctx) > 0 &&
	    sim_monotonic_ns() - refusals->first_ns >= check_stall_timeout_ns())
		report_refusals(call, ctx, refusals);
}

static void call_failed(const struct shim_call *call)
{
	struct retry *retry = doca_unlikely(is_hopeless(call)) ? note_failure(call) : NULL;
	const struct doca_ctx *ctx = refusing_ctx(call);
	uint64_t lasted_ns;

	if (ctx)
		check_refusal(call, ctx);

	if (!retry || retry->count < MIN_RETRIES)
		return;
	lasted_ns = sim_monotonic_ns() - retry->first_ns;
	if (!has_lasted(retry, lasted_ns))
		return;
	check_hit_end(check_hit_begin(
		BFC_RETRY_CANNOT_SUCCEED, call,
		"%s returned %s %" PRIu64 " times within %" PRIu64 " us, each time with the same arguments",
		check_call_name(call), doca_error_get_name(retry->result), retry->count, lasted_ns / 1000));
	retry->count = 0; /* the loop is counted as another hit if it goes on */
}

const struct check_part check_retry = {
	.mode = SIM_CHECK_API,
	.call_failed = call_failed,
};
