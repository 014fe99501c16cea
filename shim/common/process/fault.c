/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "shim/common/base/check.h"
#include "sim/clock/vclock_sched.h"
#include "sim/engine/queue.h"

#define NS_PER_S 1000000000u

/* The job of a task that is struck. */
static int run_struck(struct sim_job *job)
{
	struct doca_task *task = shim_task_of(job);
	const struct sim_strike *strike = task->strike;

	if (SHIM_STRIKE_DOES(strike, HANG)) {
		job->held = true;
		job->due_ns = SIM_JOB_NEVER_DUE;
		return 0;
	}
	if (SHIM_STRIKE_DOES(strike, DELAY)) {
		job->held = true;
		job->due_ns = sim_queue_now_ns(task->ctx->queue) + strike->delay_ns;
	}
	return task->pool->type->strike->run(job, strike);
}

/* Each rule that struck, so that the run can be repeated. */
static void record(uint32_t object, const struct sim_site *site, const struct sim_strike *strike)
{
	for (uint32_t i = 0; i < strike->num_rules && i < SIM_STRIKE_RULES; i++) {
		struct sim_trace_hit hit = {.rule = strike->rules[i], .operation = sim_op_name(site->op),
					    .match = strike->matches[i], .bytes = site->size,
					    .delay_ns = strike->delays_ns[i]};

		sim_trace_fault(object, &hit);
	}
}

bool shim_strikes(struct sim_faults *faults, struct sim_site *site, uint32_t object, struct sim_strike *ret_strike)
{
	if (sim_faults_timed(faults, site->op))
		site->now_ns = sim_session_now_ns(shim_session());
	if (!sim_faults_strike(faults, site, ret_strike))
		return false;
	record(object, site, ret_strike);
	sim_info("fault %u strikes: %s of %llu bytes", ret_strike->rules[0], sim_op_name(site->op),
		 (unsigned long long)site->size);
	return true;
}

/* ---- tasks ---- */

void shim_strike_site_nothing(const struct doca_task *task, struct sim_site *ret_site)
{
	(void)task;
	(void)ret_site;
}

/* For how long the link holds the task up; what the model times waits in the model. */
static uint64_t link_down_ns(const struct doca_task *task)
{
	struct sim_session *session = shim_session();

	if (!shim_ctx_link_is_down(task->ctx))
		return 0;
	if (task->pool->type->work && sim_clock_mode(sim_session_clock(session)) != SIM_CLOCK_FUNCTIONAL)
		return 0;
	return sim_session_link_down_ns(session, shim_dev_function(task->ctx->dev)->id);
}

static void delay(struct sim_strike *strike, uint64_t ns)
{
	if (ns == 0 || strike->actions & (SIM_ACT_BIT(SIM_ACT_HANG) | SIM_ACT_BIT(SIM_ACT_DROP)))
		return;
	strike->actions |= SIM_ACT_BIT(SIM_ACT_DELAY);
	strike->delay_ns = ns < UINT64_MAX - strike->delay_ns ? strike->delay_ns + ns : UINT64_MAX;
}

static struct sim_site site_of(const struct doca_task *task)
{
	const struct shim_strike_ops *ops = task->pool->type->strike;
	struct sim_site site = {.op = ops->op, .function = SIM_NO_FUNCTION};

	if (task->ctx->dev)
		site.function = shim_dev_function(task->ctx->dev)->id;
	ops->site(task, &site);
	return site;
}

bool shim_strike_is_quiet(const struct doca_task *task, struct sim_quiet *ret_quiet)
{
	const struct sim_site site = site_of(task);

	return sim_faults_quiet(task->ctx->faults, &site, ret_quiet);
}

doca_error_t shim_strike_ask(struct doca_task *task)
{
	const struct shim_strike_ops *ops = task->pool->type->strike;
	struct sim_site site = site_of(task);
	struct sim_strike strike;

	if (!shim_strikes(task->ctx->faults, &site, task->ctx->recorded_as, &strike))
		strike = (struct sim_strike){0};
	delay(&strike, link_down_ns(task));
	if (strike.actions == 0)
		return DOCA_SUCCESS;
	if (SHIM_STRIKE_DOES(&strike, REFUSE))
		return (doca_error_t)strike.refuse_status;
	task->strike = malloc(sizeof(strike));
	if (!task->strike)
		return DOCA_ERROR_NO_MEMORY;
	*task->strike = strike;
	if (ops->run)
		task->job.run = run_struck;
	return DOCA_SUCCESS;
}

doca_error_t shim_strike_end(struct doca_task *task)
{
	/* Whatever went wrong, a card reports one thing: the job's I/O failed. */
	doca_error_t status = DOCA_ERROR_IO_FAILED;

	if (doca_likely(!task->strike))
		return status;
	if (SHIM_STRIKE_DOES(task->strike, FAIL))
		status = (doca_error_t)task->strike->status;
	else if (SHIM_STRIKE_DOES(task->strike, BREAK))
		status = DOCA_ERROR_CONNECTION_ABORTED;
	free(task->strike);
	task->strike = NULL;
	task->job.run = task->pool->type->run;
	return status;
}

/* ---- calls ---- */

static void never_asleep(void *arg)
{
	(void)arg;
}

/* The calling thread takes part in virtual time, whether it drives an engine or not, until so much of it
 * has passed. Whether it did. */
static bool pass_virtual_time(uint64_t ns)
{
	uint64_t now_ns = shim_now_ns(), due_ns = ns < SIM_CLOCK_NEVER_NS - now_ns ? now_ns + ns : SIM_CLOCK_NEVER_NS - 1;
	struct sim_turn *turn;

	if (sim_turn_begin(shim_turns, never_asleep, NULL, &turn) < 0)
		return false;
	sim_turn_hand_in(turn);
	for (;;) {
		if (!sim_turn_may_look(turn))
			continue; /* has slept for a moment */
		if (shim_now_ns() >= due_ns)
			break;
		sim_turn_wait(turn, due_ns);
	}
	sim_turn_end(turn);
	return true;
}

static void sleep_for(uint64_t ns)
{
	struct timespec left = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

void shim_strike_delay(const struct sim_strike *strike)
{
	if (!SHIM_STRIKE_DOES(strike, DELAY) || strike->delay_ns == 0)
		return;
	if (!shim_turns || !pass_virtual_time(strike->delay_ns))
		sleep_for(strike->delay_ns);
}

doca_error_t shim_strike_verdict(const struct sim_strike *strike)
{
	if (SHIM_STRIKE_DOES(strike, HANG) && shim_turns)
		sim_turns_block(shim_turns); /* nobody waits for it */
	while (SHIM_STRIKE_DOES(strike, HANG))
		pause();
	if (SHIM_STRIKE_DOES(strike, REFUSE))
		return (doca_error_t)strike->refuse_status;
	return SHIM_STRIKE_DOES(strike, FAIL) ? (doca_error_t)strike->status : DOCA_SUCCESS;
}

doca_error_t shim_strike_call(struct sim_faults *faults, struct sim_site *site, uint32_t object)
{
	struct sim_strike strike;

	if (!shim_strikes(faults, site, object, &strike))
		return DOCA_SUCCESS;
	shim_strike_delay(&strike);
	return shim_strike_verdict(&strike);
}

doca_error_t shim_strike_start(const struct doca_dev *dev)
{
	return shim_strike_call_at(SIM_OP_CTX_START, dev, 0, 0);
}
