/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress engines in virtual time: an engine without work lets time pass (sim/clock/vclock_sched.h). */
#include "pe_vclock.h"

#include "pe_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/base/log.h"

struct sim_vclock_source *shim_vclock_begin_participation(void)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct sim_vclock_source *source = NULL;

	if (shim_vclock && sim_vclock_source_create(shim_vclock, &cfg, &source) == 0)
		sim_vclock_source_mark_busy(source);
	return source;
}

static bool has_active_ctx(const struct doca_pe *pe)
{
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		if (ctx->state != DOCA_CTX_STATE_IDLE && shim_ctx_is_same_process(ctx))
			return true;
	return false;
}

static void wake(void *pe)
{
	shim_pe_wake(pe);
}

static bool hears_sync(const struct doca_pe *pe)
{
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		if (ctx->ops->hears_sync && ctx->state != DOCA_CTX_STATE_IDLE)
			return true;
	return false;
}

uint32_t shim_pe_vclock_engine(struct doca_pe *pe)
{
	if (!shim_vclock)
		return 0;
	if (pe->engine_sched != shim_vclock || pe->vclock_fork_generation != shim_fork_generation) {
		pe->engine_sched = shim_vclock;
		pe->vclock_fork_generation = shim_fork_generation;
		pe->vclock_engine = sim_vclock_sched_add_engine(shim_vclock);
	}
	return pe->vclock_engine;
}

static void vclock_join(struct doca_pe *pe)
{
	struct sim_session *session = shim_session();
	struct sim_vclock_sched *scheduler = session ? sim_session_vclock(session) : NULL;
	struct sim_vclock_source_cfg cfg = { .wake = wake, .arg = pe };

	if (!scheduler || !has_active_ctx(pe))
		return;
	cfg.engine = shim_pe_vclock_engine(pe);
	cfg.hears_sync = hears_sync(pe);
	if (sim_vclock_source_create(scheduler, &cfg, &pe->vclock_handle) < 0)
		sim_err("no memory to take part in virtual time: it does not wait for this progress engine");
}

void shim_pe_vclock_leave_if_idle(struct doca_pe *pe)
{
	if (!has_active_ctx(pe))
		shim_pe_vclock_leave(pe);
}

void shim_pe_vclock_update(struct doca_ctx *ctx)
{
	struct doca_pe *pe = ctx->pe;

	if (!shim_pe_vclock_handle(pe) || !has_active_ctx(pe))
		shim_pe_vclock_leave(pe);
	if (!pe->vclock_handle)
		vclock_join(pe);
	else if (ctx->ops->hears_sync)
		sim_vclock_source_hear_sync(pe->vclock_handle);
}

void shim_pe_vclock_mark_busy(void *arg)
{
	const struct doca_ctx *ctx = arg;

	if (shim_pe_vclock_handle(ctx->pe))
		sim_vclock_source_mark_busy(ctx->pe->vclock_handle);
}

bool shim_pe_vclock_is_own(void *arg)
{
	const struct doca_ctx *ctx = arg;
	const struct sim_vclock_source *vclock_handle = shim_pe_vclock_handle(ctx->pe);

	return vclock_handle && sim_vclock_source_is_own(vclock_handle);
}

uint64_t shim_pe_vclock_patience_ns(void *arg)
{
	const struct doca_ctx *ctx = arg;
	const struct sim_vclock_source *vclock_handle = shim_pe_vclock_handle(ctx->pe);

	return vclock_handle ? sim_vclock_source_patience_ns(vclock_handle) : 0;
}

static void update_hold(const struct doca_pe *pe)
{
	bool holds = false;

	for (struct doca_ctx *ctx = pe->ctxs; ctx && !holds; ctx = ctx->next_in_pe)
		holds = ctx->ops->holds_time && ctx->state != DOCA_CTX_STATE_IDLE && ctx->ops->holds_time(ctx);
	sim_vclock_source_hold(pe->vclock_handle, holds);
}

/* Run queued jobs and release due completions. Returns the time of the next work. */
static uint64_t run_due_jobs(const struct doca_pe *pe)
{
	uint64_t next_ns = SIM_CLOCK_NEVER_NS;

	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe) {
		uint64_t ns = ctx->queue && shim_ctx_is_same_process(ctx) ? sim_queue_advance(ctx->queue) :
									    SIM_CLOCK_NEVER_NS;

		if (ns < next_ns)
			next_ns = ns;
		if (ctx->alarm.due_ns && ctx->alarm.due_ns < next_ns && shim_ctx_is_same_process(ctx))
			next_ns = ctx->alarm.due_ns;
	}
	return next_ns;
}

/* Returns whether a completion is reported, or a context can go idle. */
static bool has_completions(const struct doca_pe *pe, bool skips_parked)
{
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		if (!(skips_parked && ctx->is_parked) && shim_ctx_is_same_process(ctx) &&
		    ((ctx->queue && sim_queue_has_done(ctx->queue)) || shim_ctx_can_idle(ctx)))
			return true;
	return false;
}

/* Returns whether a step would find an event, as far as time decides. */
static bool has_due_work(const struct doca_pe *pe, uint64_t next_ns)
{
	return has_completions(pe, false) || next_ns <= sim_session_now_ns(shim_session());
}

void shim_pe_vclock_wait_credit(struct doca_pe *pe, uint32_t engine)
{
	uint64_t next_ns;

	if (!shim_pe_vclock_handle(pe))
		return;
	next_ns = run_due_jobs(pe);
	if (next_ns <= sim_session_now_ns(shim_session())) /* work that waits for a progress */
		next_ns = SIM_CLOCK_NEVER_NS;
	sim_vclock_source_wait_credit(pe->vclock_handle, engine, next_ns);
}

enum sim_vclock_retry shim_pe_vclock_may_retry(struct doca_pe *pe)
{
	struct sim_vclock_source *vclock_handle = shim_pe_vclock_handle(pe);

	return vclock_handle ? sim_vclock_source_may_retry(vclock_handle) : SIM_VCLOCK_RETRY;
}

void shim_pe_vclock_note_refusal(const struct doca_pe *pe)
{
	if (shim_pe_vclock_handle(pe))
		sim_vclock_source_note_refusal(pe->vclock_handle);
}

void shim_pe_vclock_post_credit(struct doca_pe *pe)
{
	if (shim_pe_vclock_handle(pe))
		sim_vclock_sched_post_credit(shim_vclock, pe->vclock_engine);
}

bool shim_pe_vclock_step(struct doca_pe *pe, shim_pe_step *step, bool skips_parked)
{
	struct sim_vclock_source *vclock_handle = shim_pe_vclock_handle(pe);
	uint64_t next_ns, before_ns = SIM_CLOCK_NEVER_NS;

	if (!vclock_handle)
		return step(pe, skips_parked);
	if (!sim_vclock_source_may_poll(vclock_handle))
		return false;
	for (;;) {
		if (step(pe, skips_parked)) /* the user's callback may have destroyed the engine */
			return true;
		next_ns = run_due_jobs(pe);
		if (has_completions(pe, skips_parked))
			continue;
		if (next_ns == before_ns &&
		    next_ns <= sim_session_now_ns(
				       shim_session())) /* the time came without an event: leave it to the next call */
			next_ns = SIM_CLOCK_NEVER_NS;
		update_hold(pe);
		if (!sim_vclock_source_wait_until(vclock_handle, next_ns))
			return false;
		before_ns = next_ns;
	}
}

bool shim_pe_vclock_sleep(struct doca_pe *pe, bool has_events)
{
	if (!shim_pe_vclock_handle(pe))
		return has_events;
	while (!has_events) {
		uint64_t next_ns = run_due_jobs(pe);

		update_hold(pe);
		has_events = has_due_work(pe, next_ns);
		if (!has_events && !sim_vclock_source_wait_until(pe->vclock_handle, next_ns))
			break;
	}
	sim_vclock_source_begin_sleep(pe->vclock_handle, has_events);
	return has_events;
}
