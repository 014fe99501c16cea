/* SPDX-License-Identifier: BSD-3-Clause */
/* The warning about a participant that has stalled. */
#include <errno.h>
#include <signal.h>

#include "sim/base/log.h"
#include "vclock_priv.h"

static bool is_dead(uint64_t owner)
{
	return kill((pid_t)(owner >> 32), 0) < 0 && errno == ESRCH;
}

/* A dead process is no reason to warn. */
static void warn_once(struct sim_vclock_sched *sched, uint64_t owner)
{
	bool warned;

	if (is_dead(owner))
		return;
	pthread_mutex_lock(&sched->lock);
	warned = sched->warned;
	sched->warned = true;
	pthread_mutex_unlock(&sched->lock);
	if (!warned)
		sim_warn(
			"virtual time no longer waits for process %u, which has not called bfsim for %d ms while others wait: from here on the run is not repeatable; have it poll its progress engine, or stop its contexts before it sleeps",
			(unsigned int)(owner >> 32), SIM_VCLOCK_STALL_TIMEOUT_MS);
}

bool sim_vclock_check_stall(struct sim_vclock_sched *sched, const struct sim_participant *self,
			    struct sim_stall_watch *watch)
{
	uint64_t stalled;
	bool busy = sim_stall_watch_check(watch, self, &stalled);

	if (stalled)
		warn_once(sched, stalled);
	return busy;
}
