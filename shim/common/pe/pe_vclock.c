/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress engines in virtual time: they let it pass when they find nothing (sim/clock/vclock_sched.h). */
#include <sys/eventfd.h>

#include "shim/common/base/check.h"
#include "pe_priv.h"
#include "shim/common/process/runtime.h"

static bool has_running(const struct doca_pe *pe)
{
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		if (ctx->state != DOCA_CTX_STATE_IDLE && shim_ctx_is_ours(ctx))
			return true;
	return false;
}

static void wake(void *arg)
{
	const struct doca_pe *pe = arg;

	eventfd_write(pe->event_fd, 1);
}

static void begin(struct doca_pe *pe)
{
	struct sim_session *session = shim_session();
	struct sim_turns *turns = session ? sim_session_turns(session) : NULL;

	if (!turns || !has_running(pe))
		return;
	pe->turn_generation = shim_generation;
	if (sim_turn_begin(turns, wake, pe, &pe->turn) < 0)
		sim_err("no memory to take part in virtual time: it does not wait for this progress engine");
}

void shim_pe_leave_time(struct doca_pe *pe)
{
	if (shim_pe_turn(pe))
		sim_turn_end(pe->turn);
	pe->turn = NULL;
}

void shim_pe_take_part(struct doca_ctx *ctx)
{
	struct doca_pe *pe = ctx->pe;

	if (!shim_pe_turn(pe) || !has_running(pe))
		shim_pe_leave_time(pe);
	if (!pe->turn)
		begin(pe);
}

void shim_pe_hand_in(void *arg)
{
	const struct doca_ctx *ctx = arg;

	if (shim_pe_turn(ctx->pe))
		sim_turn_hand_in(ctx->pe->turn);
}

/* Run what is queued, and let go of what is due. When there is next something to do for the clock. */
static uint64_t settle(const struct doca_pe *pe)
{
	uint64_t next_ns = SIM_CLOCK_NEVER_NS;

	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe) {
		uint64_t ns = ctx->queue && shim_ctx_is_ours(ctx) ? sim_queue_settle(ctx->queue) : SIM_CLOCK_NEVER_NS;

		if (ns < next_ns)
			next_ns = ns;
		if (ctx->alarm.due_ns && ctx->alarm.due_ns < next_ns && shim_ctx_is_ours(ctx))
			next_ns = ctx->alarm.due_ns;
	}
	return next_ns;
}

/* A job that ended and is reported, or a context that may be idle. */
static bool has_ends(const struct doca_pe *pe)
{
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		if (shim_ctx_is_ours(ctx) && ((ctx->queue && sim_queue_has_done(ctx->queue)) || shim_ctx_may_idle(ctx)))
			return true;
	return false;
}

/* Whether a step would find something, as far as the clock knows. */
static bool has_come(const struct doca_pe *pe, uint64_t next_ns)
{
	return has_ends(pe) || next_ns <= sim_session_now_ns(shim_session());
}

bool shim_pe_has_turn(struct doca_pe *pe)
{
	return !shim_pe_turn(pe) || sim_turn_may_look(pe->turn);
}

bool shim_pe_step_in_time(struct doca_pe *pe)
{
	struct sim_turn *turn = shim_pe_turn(pe);
	uint64_t next_ns, before_ns = SIM_CLOCK_NEVER_NS;

	if (!turn)
		return shim_pe_step(pe);
	if (!sim_turn_may_look(turn))
		return false;
	for (;;) {
		if (shim_pe_step(pe)) /* it called the user, who may have destroyed the engine */
			return true;
		next_ns = settle(pe);
		if (has_ends(pe))
			continue;
		if (next_ns == before_ns) /* it has come, and nothing came of it: perhaps in the next call */
			next_ns = SIM_CLOCK_NEVER_NS;
		if (!sim_turn_wait(turn, next_ns))
			return false;
		before_ns = next_ns;
	}
}

bool shim_pe_sleep_in_time(struct doca_pe *pe, bool news)
{
	if (!shim_pe_turn(pe))
		return news;
	while (!news) {
		uint64_t next_ns = settle(pe);

		news = has_come(pe, next_ns);
		if (!news && !sim_turn_wait(pe->turn, next_ns))
			break;
	}
	sim_turn_sleep(pe->turn, news);
	return news;
}
