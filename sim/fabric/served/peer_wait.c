/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for the target: spin, yield, sleep, give up. */
#include <errno.h>
#include <poll.h>
#include <sched.h>

#include "served_priv.h"
#include "sim/base/monotonic.h"
#include "sim/clock/call_mark.h"

#define ROUNDS_PER_CLOCK_READ 16           /* reading the clock costs more than looking at a ring */
#define SPIN_NS               20000u       /* a served request is done by then; yield afterwards */
#define YIELD_NS              2000000u     /* sleep afterwards */
#define MAX_SLEEP_NS          1000000u     /* between looks at a ring, which does not end a sleep */
#define SILENCE_NS            10000000000u /* without progress: as long as the daemon waits for an exporter's answer */
#define SLOWEST_NS_PER_BYTE   1000u        /* 1 MB/s: beyond any load; for the length of a whole call */

void served_wait_restart(struct served_wait *wait)
{
	wait->start_ns = 0;
	wait->rounds = 0;
}

/* Whether the target was silent for too long, or the call takes too long in all. */
static bool is_overdue(struct served_wait *wait, uint64_t now_ns)
{
	const uint64_t limit_ns = SILENCE_NS + wait->len_bytes * SLOWEST_NS_PER_BYTE;

	if (wait->begin_ns == 0)
		wait->begin_ns = now_ns;
	return now_ns - wait->start_ns >= SILENCE_NS || now_ns - wait->begin_ns >= limit_ns;
}

/* Sleep for a part of the time waited so far. */
static int sleep_and_look(const struct served_wait *wait, uint64_t waited_ns)
{
	uint64_t sleep_ns = waited_ns / 32 < MAX_SLEEP_NS ? waited_ns / 32 : MAX_SLEEP_NS;
	const struct timespec timeout = sim_timespec_from_ns(sleep_ns);
	struct pollfd sock = { .fd = wait->sock, .events = wait->events };
	bool marked = sim_clock_begin_wait();
	int rc = ppoll(&sock, 1, &timeout, NULL);

	sim_clock_end_wait(marked);
	if (rc > 0 && sock.revents & (POLLHUP | POLLERR | POLLNVAL))
		return -ECONNRESET;
	return 0;
}

int served_wait_round(struct served_wait *wait)
{
	uint64_t now_ns, waited_ns;

	if (wait->revoked && atomic_load_explicit(wait->revoked, memory_order_acquire))
		return -EIO;
	if (++wait->rounds % ROUNDS_PER_CLOCK_READ != 1)
		return 0;
	now_ns = sim_monotonic_ns();
	if (wait->start_ns == 0)
		wait->start_ns = now_ns;
	waited_ns = now_ns - wait->start_ns;
	if (is_overdue(wait, now_ns))
		return -ETIMEDOUT;
	if (waited_ns >= YIELD_NS)
		return sleep_and_look(wait, waited_ns);
	if (waited_ns >= SPIN_NS)
		sched_yield();
	return 0;
}
