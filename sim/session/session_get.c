/* SPDX-License-Identifier: BSD-3-Clause */
/* What a session is asked for. */
#include "session_priv.h"
#include "sim/clock/link_state.h"

const struct pcie_topology *sim_session_topology(const struct sim_session *session)
{
	return session->topology;
}

const char *sim_session_side(const struct sim_session *session)
{
	return session->side;
}

const uint8_t *sim_session_id(const struct sim_session *session)
{
	return session->id;
}

const struct sim_clock *sim_session_clock(const struct sim_session *session)
{
	return session->clock;
}

struct sim_vclock_sched *sim_session_vclock(const struct sim_session *session)
{
	return session->turns;
}

struct sim_shared_ledger *sim_session_ledger(const struct sim_session *session)
{
	return &sim_shared_state_of(&session->shared)->ledger;
}

struct sim_clock_lock *sim_session_atomics_lock(const struct sim_session *session)
{
	return &sim_shared_state_of(&session->shared)->atomics;
}

uint64_t sim_session_process_id(const struct sim_session *session)
{
	return session->self.id;
}

uint64_t sim_session_pid_ns(const struct sim_session *session)
{
	return session->pid_ns;
}

bool sim_session_has_forced_path(const struct sim_session *session)
{
	return session->forced_path != NULL;
}

struct sim_engine *sim_session_engine(struct sim_session *session)
{
	return session->engine;
}

struct sim_injector *sim_session_faults(const struct sim_session *session)
{
	return session->faults;
}

const _Atomic uint64_t *sim_session_function_status(const struct sim_session *session, uint32_t function)
{
	return &sim_shared_state_of(&session->shared)
			->functions.status_words[function < SIM_MAX_FUNCTIONS ? function : 0];
}

uint64_t sim_session_link_down_ns(const struct sim_session *session, uint32_t function)
{
	uint64_t up_ns = sim_clock_link_up_ns(sim_clock_card(session->clock, function));
	uint64_t now_ns = sim_clock_now_ns(session->clock);

	return up_ns > now_ns ? up_ns - now_ns : 0;
}

void sim_session_on_functions_changed(struct sim_session *session, void (*hook)(void))
{
	atomic_store(&session->on_functions_changed, hook);
}

uint64_t sim_session_now_ns(const struct sim_session *session)
{
	return sim_shared_state_now_ns(sim_shared_state_of(&session->shared));
}
