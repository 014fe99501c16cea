/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a peer: spin, yield, sleep, and notify. */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "ofi_priv.h"
#include "sim/base/monotonic.h"

#define ROUNDS_PER_CLOCK_READ  16       /* reading the clock costs as much as polling shm's queue */
#define SPIN_NS                20000u   /* a served operation is over by then; yield afterwards */
#define YIELD_NS               2000000u /* sleep between polls afterwards */
#define FIRST_NOTIFY_NS        100000u
#define MAX_NOTIFY_INTERVAL_NS 100000000u
#define MAX_SLEEP_NS           1000000u

void sim_ofi_wait_reset(struct sim_ofi_wait *wait)
{
	wait->start_ns = 0;
	wait->rounds = 0;
}

/* The time until the next notification equals the time waited so far, so that it doubles. */
static void notify_peer_again(struct sim_ofi_wait *wait, uint64_t now, uint64_t waited)
{
	uint64_t interval_ns = waited < MAX_NOTIFY_INTERVAL_NS ? waited : MAX_NOTIFY_INTERVAL_NS;

	wait->next_notify_ns = now + interval_ns;
	if (wait->notify_peer)
		wait->notify_peer(wait->notify_arg);
}

static void back_off(uint64_t waited)
{
	uint64_t sleep_ns = waited / 32 < MAX_SLEEP_NS ? waited / 32 : MAX_SLEEP_NS;

	if (waited >= YIELD_NS)
		nanosleep(&(struct timespec){ .tv_nsec = (long)sleep_ns }, NULL);
	else if (waited >= SPIN_NS)
		sched_yield();
}

int sim_ofi_wait_round(struct sim_ofi_wait *wait)
{
	uint64_t now, waited;

	if (wait->revoked && atomic_load_explicit(wait->revoked, memory_order_acquire))
		return -EIO;
	if (++wait->rounds % ROUNDS_PER_CLOCK_READ != 1)
		return 0;
	now = sim_monotonic_ns();
	if (wait->start_ns == 0) {
		wait->start_ns = now;
		wait->next_notify_ns = now + FIRST_NOTIFY_NS;
	}
	if (wait->deadline_ns && now >= wait->deadline_ns)
		return -ETIMEDOUT;
	waited = now - wait->start_ns;
	if (now >= wait->next_notify_ns)
		notify_peer_again(wait, now, waited);
	back_off(waited);
	return 0;
}
