/* SPDX-License-Identifier: BSD-3-Clause */
/* A participant waits for its turn: it spins for a moment, then sleeps. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "participant_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/base/perturb.h"

#define SPIN_NS UINT64_C(50000) /* some times what a sleep and a wake-up take */
#define SPINS   32              /* between two looks at the machine's clock */

#define MAX_VAIN_SPINS 8 /* after so many, 256 turns are waited for without a spin */

void sim_clock_page_wake(const struct sim_clock_participant *shared)
{
	if (shared && atomic_load_explicit(&shared->asleep, memory_order_seq_cst) > 0)
		syscall(SYS_futex, &shared->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	sim_perturb();
}

void sim_participant_wake(const struct sim_participant *participant)
{
	if (participant->shared)
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

void sim_participant_hand_over(const struct sim_participant *participant, struct sim_clock_choice choice)
{
	struct sim_clock_page *page = participant->page;
	struct sim_clock_participant *after = choice.after ? choice.after : participant->shared;

	if (participant->spins)
		atomic_store_explicit(&page->on_deck, sim_clock_page_number_of(page, after), memory_order_seq_cst);
	sim_clock_page_wake(choice.next);
	if (participant->spins && participant->num_vain_spins < MAX_VAIN_SPINS && after != participant->shared &&
	    atomic_load_explicit(&after->wants_deck, memory_order_relaxed))
		sim_clock_page_wake(after);
}

static bool is_on_deck(const struct sim_participant *participant)
{
	return participant->spins && atomic_load_explicit(&participant->page->on_deck, memory_order_relaxed) ==
					     sim_clock_page_number_of(participant->page, participant->shared);
}

/* Whether spins have paid off lately. Where other programs want the CPUs they do not: the participant that runs does not
 * get one while this one spins. */
static bool should_spin(const struct sim_participant *participant)
{
	return participant->num_unspun == 0 && is_on_deck(participant);
}

static void spin(struct sim_participant *participant)
{
	uint64_t until_ns = sim_monotonic_ns() + SPIN_NS;

	do
		for (unsigned int i = 0; i < SPINS && waits(participant); i++)
			relax();
	while (waits(participant) && is_on_deck(participant) && sim_monotonic_ns() < until_ns);
	if (!waits(participant)) {
		participant->num_vain_spins = 0;
		return;
	}
	participant->num_vain_spins = min_u32(participant->num_vain_spins + 1, MAX_VAIN_SPINS);
	participant->num_unspun = 1u << participant->num_vain_spins;
}

/* Returns whether the thread was woken, before @ns had passed. */
static bool sleep_once(struct sim_participant *participant, uint64_t ns)
{
	const struct timespec timeout = sim_timespec_from_ns(ns);
	struct sim_clock_participant *shared = participant->shared;
	long rc;

	atomic_store_explicit(&shared->wants_deck, participant->spins && participant->num_unspun == 0,
			      memory_order_relaxed);
	atomic_fetch_add_explicit(&shared->asleep, 1, memory_order_seq_cst); /* before the futex looks at the state */
	rc = syscall(SYS_futex, &shared->state, FUTEX_WAIT, SIM_PARTICIPANT_WAITING, &timeout, NULL, 0);
	participant->was_interrupted = rc < 0 && errno == EINTR;
	atomic_fetch_sub_explicit(&shared->asleep, 1, memory_order_relaxed);
	return rc == 0;
}

bool sim_participant_sleep(struct sim_participant *participant, uint64_t ns)
{
	participant->was_early = false;
	if (should_spin(participant))
		spin(participant);
	if (!waits(participant))
		return false;
	participant->num_unspun -= participant->num_unspun > 0;
	participant->was_early = sleep_once(participant, ns) && is_on_deck(participant) && waits(participant);
	if (waits(participant) && should_spin(participant))
		spin(participant);
	return waits(participant);
}
