/* SPDX-License-Identifier: BSD-3-Clause */
/* The own time of kernels, and what it is in session time. */
#include <assert.h>
#include <time.h>

#include "pcie_model/arith.h"
#include "process_priv.h"
#include "sim/base/monotonic.h"
#include "sim/clock/clock.h"
#include "sim/clock/vclock_sched.h"

/* Own time is in tenths of a cycle of 1.8 GHz: 18 of them are a nanosecond.
 *   a basic block                    4 cycles, our choice
 *   an access to stack or globals    2 ns, our choice
 *   the first access to a line of 64 bytes of the heap: 50 ns. Published are 54 and 57 ns a record, blocks included, for a walk of dependent
 *   records (a BlueField-3, "buddy" RDMA fabric). Random accesses to a large table took 465 ns there (DPA-Store, arXiv
 *   2601.06231), which is not modelled: it depends on the caches. */
#define TENTHS_PER_NS 18
#define BLOCK_TENTHS  40
#define ACCESS_TENTHS 36
static_assert((1 + SIM_DPA_LINE_ACCESSES) * ACCESS_TENTHS == 50 * TENTHS_PER_NS, "an access to a line");

/* A wait of timed mode that is shorter is a spin: a sleep would take longer. */
#define SPIN_NS UINT64_C(60000)

struct sim_dpa_eu *sim_dpa_eu_current(void)
{
	return (struct sim_dpa_eu *)sim_dpa_thread_current();
}

static uint64_t own_tenths(const struct sim_dpa_eu *eu)
{
	const struct sim_dpa_thread *thread = &eu->guarded.thread;

	return __atomic_load_n(&thread->blocks, __ATOMIC_RELAXED) * BLOCK_TENTHS +
	       (__atomic_load_n(&thread->accesses[false], __ATOMIC_RELAXED) +
		__atomic_load_n(&thread->accesses[true], __ATOMIC_RELAXED)) *
		       ACCESS_TENTHS +
	       __atomic_load_n(&eu->spent_tenths, __ATOMIC_RELAXED);
}

uint64_t sim_dpa_eu_cycles(const struct sim_dpa_eu *eu)
{
	return own_tenths(eu) / 10;
}

void sim_dpa_eu_spend(struct sim_dpa_eu *eu, uint64_t ns)
{
	__atomic_store_n(&eu->spent_tenths, eu->spent_tenths + ns * TENTHS_PER_NS, __ATOMIC_RELAXED);
}

uint64_t sim_dpa_eu_run_ns(const struct sim_dpa_eu *eu)
{
	uint64_t begin = __atomic_load_n(&eu->begin_tenths, __ATOMIC_RELAXED), now = own_tenths(eu);

	return now > begin ? (now - begin) / TENTHS_PER_NS : 0;
}

static bool is_modelled(const struct sim_dpa_process *process)
{
	return process->cfg.clock && sim_clock_mode(process->cfg.clock) != SIM_CLOCK_FUNCTIONAL;
}

/* Real time may pass meanwhile. */
static void pause_until(uint64_t until_ns, uint64_t now_ns)
{
	uint64_t left_ns = until_ns - now_ns;
	struct timespec pause;

	if (left_ns < SPIN_NS)
		return;
	pause = sim_timespec_from_ns(min_u64(left_ns - SPIN_NS / 2, 5 * SIM_NS_PER_MS));
	nanosleep(&pause, NULL);
}

/* Wait on the machine's clock. Returns false if the kernel was told to end. */
static bool wait_real(const struct sim_dpa_eu *eu, uint64_t ns)
{
	uint64_t until_ns = ns ? add_saturating_u64(sim_monotonic_ns(), ns) : 0, now_ns;

	while (ns > 0 && (now_ns = sim_monotonic_ns()) < until_ns) {
		if (sim_dpa_thread_is_stopped(&eu->guarded))
			return false;
		pause_until(until_ns, now_ns);
	}
	return true;
}

bool sim_dpa_eu_begin_time(struct sim_dpa_eu *eu, uint64_t delay_ns, uint64_t fault_ns)
{
	__atomic_store_n(&eu->begin_tenths, own_tenths(eu), __ATOMIC_RELAXED);
	if (!is_modelled(eu->process))
		return wait_real(eu, fault_ns);
	delay_ns = add_saturating_u64(delay_ns, fault_ns);
	eu->local_ns = add_saturating_u64(sim_clock_now_ns(eu->process->cfg.clock), delay_ns);
	eu->settled_tenths = own_tenths(eu);
	return sim_dpa_eu_settle(eu);
}

bool sim_dpa_eu_settle(struct sim_dpa_eu *eu)
{
	const struct sim_dpa_process *process = eu->process;
	bool has_turn = true;
	uint64_t gone_ns, now_ns;

	if (!is_modelled(process))
		return true;
	gone_ns = (own_tenths(eu) - eu->settled_tenths) / TENTHS_PER_NS;
	eu->settled_tenths += gone_ns * TENTHS_PER_NS;
	eu->local_ns = add_saturating_u64(eu->local_ns, gone_ns);
	while ((now_ns = sim_clock_now_ns(process->cfg.clock)) < eu->local_ns || !has_turn) {
		if (sim_dpa_thread_is_stopped(&eu->guarded))
			return false;
		if (eu->turn.source)
			has_turn = sim_dpa_turn_sleep(&eu->turn, eu->local_ns);
		else
			pause_until(eu->local_ns, now_ns);
	}
	eu->local_ns = now_ns;
	return true;
}

struct sim_dpa_process *sim_dpa_enter(void)
{
	struct sim_dpa_eu *eu = sim_dpa_eu_current();

	if (!sim_dpa_eu_settle(eu))
		sim_dpa_leave(SIM_DPA_STOPPED);
	return eu->process;
}
