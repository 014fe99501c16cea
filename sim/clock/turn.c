/* SPDX-License-Identifier: BSD-3-Clause */
/* A participant waits for its turn: it spins for a moment, then sleeps. */
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "participant_priv.h"
#include "sim/base/monotonic.h"

/* About what a sleep and a wake-up take. One participant of a session spins at a time, since only one can be next. */
#define SPIN_NS UINT64_C(20000)
#define SPINS   32 /* between two looks at the machine's clock */

void sim_clock_page_wake(struct sim_clock_participant *shared)
{
	if (shared && atomic_load_explicit(&shared->asleep, memory_order_seq_cst) > 0)
		syscall(SYS_futex, &shared->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sim_participant_wake(const struct sim_participant *participant)
{
	syscall(SYS_futex, &participant->shared->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool waits(const struct sim_participant *participant)
{
	return sim_participant_state(participant) == SIM_PARTICIPANT_WAITING;
}

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void spin(const struct sim_participant *participant)
{
	_Atomic uint64_t *spin_until_ns = &participant->page->spin_until_ns;
	uint64_t now_ns = sim_monotonic_ns(), until_ns = now_ns + SPIN_NS;
	uint64_t other_ns = atomic_load_explicit(spin_until_ns, memory_order_relaxed);

	/* The end of a spinner that has died passes. One in the far future is of a page that is corrupt. */
	if ((other_ns > now_ns && other_ns - now_ns <= SPIN_NS) ||
	    !atomic_compare_exchange_strong_explicit(spin_until_ns, &other_ns, until_ns, memory_order_relaxed,
						     memory_order_relaxed))
		return;
	while (waits(participant) && sim_monotonic_ns() < until_ns)
		for (unsigned int i = 0; i < SPINS && waits(participant); i++)
			relax();
	atomic_compare_exchange_strong_explicit(spin_until_ns, &until_ns, 0, memory_order_relaxed,
						memory_order_relaxed);
}

bool sim_participant_sleep(const struct sim_participant *participant, uint64_t ns, bool may_spin)
{
	const struct timespec timeout = sim_timespec_from_ns(ns);
	struct sim_clock_participant *shared = participant->shared;

	if (may_spin)
		spin(participant);
	if (!waits(participant))
		return false;
	atomic_fetch_add_explicit(&shared->asleep, 1, memory_order_seq_cst); /* before the futex looks at the state */
	syscall(SYS_futex, &shared->state, FUTEX_WAIT, SIM_PARTICIPANT_WAITING, &timeout, NULL, 0);
	atomic_fetch_sub_explicit(&shared->asleep, 1, memory_order_relaxed);
	return waits(participant);
}
