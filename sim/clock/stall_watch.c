/* SPDX-License-Identifier: BSD-3-Clause */
/* Stall detection: one look at the busy participant at a time. */
#include "stall_watch.h"

#include <stddef.h>

#include "sim/base/monotonic.h"
#include "vclock_sched.h"

#define MIN_STALL_CHECKS 10

bool sim_stall_watch_check(struct sim_stall_watch *watch, const struct sim_participant *self, uint64_t *ret_stalled)
{
	const struct sim_clock_participant *busy = sim_clock_page_find_busy(self->page);
	struct sim_stall_watch seen = { .shared = busy };

	*ret_stalled = 0;
	if (!busy || busy == self->shared) {
		watch->shared = NULL;
		return false;
	}
	seen.heartbeats = atomic_load_explicit(&busy->heartbeats, memory_order_relaxed);
	seen.owner = atomic_load_explicit(&busy->owner, memory_order_relaxed);
	seen.since_ns = sim_monotonic_ns();
	if (watch->shared != busy || watch->heartbeats != seen.heartbeats || watch->owner != seen.owner)
		*watch = seen;
	else if (++watch->checks >= MIN_STALL_CHECKS &&
		 seen.since_ns - watch->since_ns > SIM_VCLOCK_STALL_TIMEOUT_MS * SIM_NS_PER_MS &&
		 sim_clock_page_detach_busy(self->page, busy, watch->owner))
		*ret_stalled = watch->owner;
	return true;
}
