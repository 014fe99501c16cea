/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "ofi_priv.h"

#define ROUNDS_PER_LOOK 16       /* looks at the clock cost as much as a look at shm's queue */
#define SPIN_NS 20000u           /* a served operation is over by then: let others run afterwards */
#define YIELD_NS 2000000u        /* then sleep between looks */
#define FIRST_NUDGE_NS 100000u
#define MAX_NUDGE_GAP_NS 100000000u
#define MAX_SLEEP_NS 1000000u

uint64_t sim_ofi_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sim_ofi_wait_reset(struct sim_ofi_wait *wait)
{
	wait->start_ns = 0;
	wait->rounds = 0;
}

/* The time between nudges is what has passed so far: it doubles. */
static void nudge(struct sim_ofi_wait *wait, uint64_t now, uint64_t waited)
{
	uint64_t gap = waited < MAX_NUDGE_GAP_NS ? waited : MAX_NUDGE_GAP_NS;

	wait->next_nudge_ns = now + gap;
	if (wait->nudge)
		wait->nudge(wait->nudge_arg);
}

static void pause_for(uint64_t waited)
{
	uint64_t sleep_ns = waited / 32 < MAX_SLEEP_NS ? waited / 32 : MAX_SLEEP_NS;

	if (waited >= YIELD_NS)
		nanosleep(&(struct timespec){.tv_nsec = (long)sleep_ns}, NULL);
	else if (waited >= SPIN_NS)
		sched_yield();
}

int sim_ofi_wait_round(struct sim_ofi_wait *wait)
{
	uint64_t now, waited;

	if (wait->gone && atomic_load_explicit(wait->gone, memory_order_acquire))
		return -EIO;
	if (++wait->rounds % ROUNDS_PER_LOOK != 1)
		return 0;
	now = sim_ofi_now_ns();
	if (wait->start_ns == 0) {
		wait->start_ns = now;
		wait->next_nudge_ns = now + FIRST_NUDGE_NS;
	}
	if (wait->deadline_ns && now >= wait->deadline_ns)
		return -ETIMEDOUT;
	waited = now - wait->start_ns;
	if (now >= wait->next_nudge_ns)
		nudge(wait, now, waited);
	pause_for(waited);
	return 0;
}
