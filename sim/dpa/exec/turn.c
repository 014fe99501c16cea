/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns of threads of a DPA process. */
#include "turn.h"

#include "sim/clock/vclock_sched.h"

void sim_dpa_turn_begin(struct sim_dpa_turn *turn, struct sim_vclock_sched *vclock)
{
	struct sim_vclock_source_cfg cfg = { 0 };

	*turn = (struct sim_dpa_turn){ .vclock = vclock };
	if (!vclock)
		return;
	cfg.engine = turn->engine = sim_vclock_sched_add_engine(vclock);
	if (sim_vclock_source_create(vclock, &cfg, &turn->source) == 0)
		return;
	sim_vclock_sched_remove_engine(vclock, turn->engine);
	*turn = (struct sim_dpa_turn){ 0 };
}

void sim_dpa_turn_end(struct sim_dpa_turn *turn)
{
	if (!turn->source)
		return;
	sim_vclock_source_destroy(turn->source);
	sim_vclock_sched_remove_engine(turn->vclock, turn->engine);
	turn->source = NULL;
}

bool sim_dpa_turn_sleep(struct sim_dpa_turn *turn, uint64_t until_ns)
{
	return sim_vclock_source_wait_turn(turn->source, until_ns);
}

bool sim_dpa_turn_take_outside(struct sim_dpa_turn *turn)
{
	if (!sim_vclock_source_is_quiet(turn->source))
		return false;
	sim_vclock_source_mark_busy(turn->source);
	return true;
}

bool sim_dpa_turn_wait(struct sim_dpa_turn *turn, pthread_cond_t *condition, pthread_mutex_t *lock)
{
	bool has_turn = true;

	if (!turn->source) {
		pthread_cond_wait(condition, lock);
		return true;
	}
	pthread_mutex_unlock(lock);
	has_turn = sim_dpa_turn_sleep(turn, SIM_CLOCK_NEVER_NS);
	pthread_mutex_lock(lock);
	return has_turn;
}

void sim_dpa_turn_signal(struct sim_dpa_turn *turn, pthread_cond_t *condition)
{
	if (turn->source)
		sim_vclock_sched_post(turn->vclock, turn->engine, 0);
	pthread_cond_signal(condition);
}

void sim_dpa_turn_interrupt(struct sim_dpa_turn *turn, pthread_cond_t *condition)
{
	if (turn->source)
		sim_vclock_source_interrupt(turn->source);
	pthread_cond_signal(condition);
}

void sim_dpa_turn_hear_sync(struct sim_dpa_turn *turn)
{
	if (turn->source)
		sim_vclock_source_hear_sync(turn->source);
}
