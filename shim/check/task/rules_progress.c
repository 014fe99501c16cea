/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that engines are progressed while something waits for it. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "shim/check/history/ctx_history.h"
#include "pe_rules.h"
#include "shim/check/history/tasks_in_flight.h"
#include "shim/check/report/hit.h"
#include "sim/base/monotonic.h"

/* A thread that is silent may compute, and progress later: it gets more time than one that calls other functions. */
#define SILENT_FACTOR 5

static bool is_readable(int handle_fd)
{
	struct pollfd handle = { .fd = handle_fd, .events = POLLIN };

	return poll(&handle, 1, 0) == 1;
}

/* The engine's thread sleeps on the notification handle, and nothing has happened. */
static bool is_asleep(const struct check_pe *engine)
{
	int handle_fd = engine->armed_handle;

	return handle_fd && !is_readable(handle_fd);
}

static bool has_waiting(struct check_pe *engine)
{
	return check_pe_in_flight(engine) > 0 || engine->transitional;
}

/* Returns whether the engine was used as it should since the last tick, or a thread is in a call on it. */
static bool was_used(struct check_pe *engine)
{
	struct check_pe_watch *watch = &engine->watch;
	uint64_t num_progress = check_load(&engine->num_progress);
	uint64_t num_submitted = check_pe_jobs(engine).num_submitted;
	bool used = num_progress != watch->num_progress || num_submitted != watch->num_submitted || engine->user;

	watch->num_progress = num_progress;
	watch->num_submitted = num_submitted;
	return used;
}

static void count_time(struct check_pe *engine, uint64_t ns)
{
	struct check_pe_watch *watch = &engine->watch;
	const struct check_thread *owner = engine->owner;
	uint64_t num_calls = owner ? check_load(&owner->num_calls) : 0;

	if (owner && owner->call) /* in a call that takes long, such as a wait for a sync event */
		return;
	watch->stalled_ns += ns;
	if (num_calls != watch->num_calls)
		watch->busy_ns += ns;
	watch->num_calls = num_calls;
}

/* ---- the report ---- */

static uint64_t to_ms(uint64_t ns)
{
	return ns / SIM_NS_PER_MS;
}

static const char *never(const struct check_pe *engine)
{
	return engine->progressed_by ? "" : ", which was never progressed";
}

#define WHAT_SIZE 160

/* What the threads did meanwhile. */
static const char *describe(const struct check_pe *engine, enum sim_check_rule rule, char what[WHAT_SIZE])
{
	uint64_t ms = to_ms(engine->watch.stalled_ns);

	if (rule == BFC_NOTIFICATION_NOT_ARMED)
		snprintf(
			what, WHAT_SIZE,
			"for %" PRIu64
			" ms, a thread sleeps on the engine's notification handle, for which no notification is requested",
			ms);
	else
		snprintf(what, WHAT_SIZE, "for %" PRIu64 " ms, no thread has progressed the engine%s", ms,
			 never(engine));
	return what;
}

static struct check_hit *begin_tasks(struct check_pe *engine, enum sim_check_rule rule)
{
	const char *name = engine->ctx_name;
	struct check_stack stack = check_stack_of(engine->submitted_at);
	char what[WHAT_SIZE];

	return check_hit_begin_at(rule, &stack,
				  "%s; tasks of the %s context in flight: %" PRIu64
				  ", the last of which was submitted here",
				  describe(engine, rule, what), name ? name : "?", check_pe_in_flight(engine));
}

static struct check_hit *begin_ctx(const struct check_pe *engine, enum sim_check_rule rule, const struct doca_ctx *ctx)
{
	const char *name = engine->transitional_name;
	struct check_ctx_history history = { 0 };
	char what[WHAT_SIZE];

	check_ctx_history_find(ctx, &history);
	return check_hit_begin_at(rule, &history.stack, "%s; the %s context is %s since here",
				  describe(engine, rule, what), name ? name : "?",
				  check_ctx_state_name(engine->transitional_state));
}

static void add_last_progress(struct check_hit *hit, const struct check_pe *engine)
{
	const struct check_thread *by = engine->progressed_by;
	struct check_stack stack = check_stack_of(engine->progressed_at);

	if (by)
		check_hit_add_party(hit, by->tid, &stack, "the engine was last progressed here, after which %s",
				    by->has_ended ? "the thread ended" : "the thread went on");
}

static void add_thread_to_act(struct check_hit *hit, const struct check_pe *engine)
{
	const struct check_thread *owner = engine->owner;
	uint32_t function = owner ? check_last_function(owner) : SHIM_NUM_FUNCTIONS;
	struct check_stack stack;

	if (function >= SHIM_NUM_FUNCTIONS)
		return;
	stack = check_stack_of(owner->caller);
	check_hit_add_party(hit, owner->tid, &stack,
			    "the thread that used the engine last, which is to call doca_pe_progress, %s %s",
			    owner->has_ended ? "has ended after" : "called last", shim_function_names[function].name);
}

/* The program may sleep on the handle in a way that is not seen. */
static void add_handle(struct check_hit *hit, const struct check_pe *engine)
{
	struct check_stack stack = check_stack_of(engine->handle_at);

	if (engine->handle && !engine->armed_handle)
		check_hit_add_party(
			hit, 0, &stack,
			"the program asked for the notification handle here; no notification is requested, so the handle wakes no thread");
}

static void report(struct check_pe *engine, enum sim_check_rule rule)
{
	const struct doca_ctx *ctx = engine->transitional;
	struct check_hit *hit =
		check_pe_in_flight(engine) || !ctx ? begin_tasks(engine, rule) : begin_ctx(engine, rule, ctx);

	add_last_progress(hit, engine);
	add_handle(hit, engine);
	add_thread_to_act(hit, engine);
	check_hit_add_object(hit, "engine", engine->pe, NULL);
	check_hit_end(hit);
}

struct hung {
	const struct doca_pe *pe;
	bool is_found;
};

static bool see_task(const struct shim_buf_task *task, void *arg)
{
	struct hung *hung = arg;

	hung->is_found =
		task->task.ctx->pe == hung->pe && task->task.job.held && task->task.job.due_ns == SIM_JOB_NEVER_DUE;
	return !hung->is_found;
}

/* A fault holds a task for ever, and those behind it; none is done. Progress would not help, so the program may give up. */
static bool is_hung(struct check_pe *engine)
{
	struct hung hung = { .pe = engine->pe };

	if (!engine->transitional && !check_pe_has_done(engine))
		check_tasks_in_flight(see_task, &hung);
	return hung.is_found;
}

/* Asks the kernel once for each time that the stall has lasted for the stall timeout. */
static bool sleeps_unarmed(struct check_pe *engine)
{
	uint32_t num_timeouts = (uint32_t)(engine->watch.stalled_ns / check_stall_timeout_ns());

	if (num_timeouts == engine->watch.num_asked)
		return false;
	engine->watch.num_asked = num_timeouts;
	return check_pe_sleeps_unarmed(engine);
}

/* The rule that the program breaks by now; SIM_CHECK_NUM_RULES = none yet. */
static enum sim_check_rule find_broken(struct check_pe *engine)
{
	const struct check_pe_watch *watch = &engine->watch;
	uint64_t timeout_ns = check_stall_timeout_ns();

	if (watch->stalled_ns < timeout_ns || is_hung(engine))
		return SIM_CHECK_NUM_RULES;
	if (sleeps_unarmed(engine))
		return BFC_NOTIFICATION_NOT_ARMED;
	return watch->busy_ns >= timeout_ns || watch->stalled_ns >= SILENT_FACTOR * timeout_ns ?
		       BFC_ENGINE_NOT_PROGRESSED :
		       SIM_CHECK_NUM_RULES;
}

static void forget_stall(struct check_pe_watch *watch)
{
	watch->stalled_ns = watch->busy_ns = 0;
	watch->num_asked = 0;
}

bool check_progress_inspect(struct check_pe *engine, uint64_t ns)
{
	struct check_pe_watch *watch = &engine->watch;
	enum sim_check_rule broken;

	if (!has_waiting(engine)) {
		forget_stall(watch);
		return false;
	}
	if (was_used(engine) || is_asleep(engine)) {
		forget_stall(watch);
		watch->is_reported = false;
		return true;
	}
	count_time(engine, ns);
	broken = watch->is_reported ? SIM_CHECK_NUM_RULES : find_broken(engine);
	/* The program may go on while the kernel is asked about its thread. */
	if (broken != SIM_CHECK_NUM_RULES && has_waiting(engine) && !was_used(engine)) {
		watch->is_reported = true;
		report(engine, broken);
	}
	return true;
}
