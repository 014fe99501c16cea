/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that wait. */
#include <sched.h>

#include "pcie_model/arith.h"
#include "process_priv.h"
#include "sim/base/monotonic.h"

/* Published for a BlueField-3 (jukebox03/thrift_dpumesh_extended, transport benchmark notes): an empty poll of a consumer. */
#define EMPTY_POLL_NS 60

/* Empty polls before the first yield, and before the first sleep; of those behind, one of so many sleeps. */
#define SPINNING_POLLS  64
#define YIELDING_POLLS  128
#define POLLS_PER_SLEEP 4
#define MAX_SLEEP_NS    UINT64_C(200000)

void sim_dpa_eu_poll_empty(struct sim_dpa_eu *eu)
{
	struct sim_dpa_process *process = eu->process;
	uint32_t round = ++eu->num_empty_polls;
	struct timespec until;

	sim_dpa_eu_share(eu);
	sim_dpa_eu_spend(eu, EMPTY_POLL_NS);
	if (eu->turn.source) /* others have their turns as this kernel's time goes on */
		return;
	if (round <= SPINNING_POLLS)
		return;
	if (round <= YIELDING_POLLS) {
		sched_yield();
		return;
	}
	if (round % POLLS_PER_SLEEP)
		return;
	round = min_u32((round - YIELDING_POLLS) / POLLS_PER_SLEEP, 10);
	until = sim_timespec_from_ns(sim_monotonic_ns() + min_u64(MAX_SLEEP_NS, UINT64_C(1000) << round));
	pthread_mutex_lock(&process->lock);
	process->num_polling++;
	if (!sim_dpa_thread_is_stopped(&eu->guarded))
		pthread_cond_clockwait(&process->doorbell, &process->lock, CLOCK_MONOTONIC, &until);
	process->num_polling--;
	pthread_mutex_unlock(&process->lock);
}
