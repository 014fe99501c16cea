/* SPDX-License-Identifier: BSD-3-Clause */
/* The message about a participant that has stalled. */
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "vclock_priv.h"

static const char *const reasons[] = {
	[SIM_STALL_STOPPED] = "is stopped",
	[SIM_STALL_SLEEPS] = "sleeps outside of bfsim",
	[SIM_STALL_RUNS] = "runs",
	[SIM_STALL_HOLDS] = "starts, or connects,",
};

/* A process or thread that has ended is no reason to warn. */
static void warn_once(struct sim_vclock_sched *sched, const struct sim_stalled *stalled)
{
	bool warned;

	if (stalled->reason == SIM_STALL_ENDED)
		return;
	pthread_mutex_lock(&sched->lock);
	warned = sched->warned;
	sched->warned = true;
	pthread_mutex_unlock(&sched->lock);
	if (!warned)
		sim_warn(
			"virtual time no longer waits for process %u, which %s and has not called bfsim for %llu ms while others wait: from here on the run is not repeatable; have it poll its progress engine, or stop its contexts before it sleeps; BFSIM_CLOCK_PATIENCE=TIME waits longer (doc/time.md)",
			(unsigned int)(stalled->owner >> 32), reasons[stalled->reason],
			(unsigned long long)(stalled->for_ns / SIM_NS_PER_MS));
}

bool sim_vclock_check_stall(struct sim_vclock_sched *sched, const struct sim_participant *self,
			    struct sim_stall_watch *watch)
{
	struct sim_stalled stalled;
	bool busy = sim_stall_watch_check(watch, self, &sched->patience, &stalled);

	if (stalled.reason != SIM_STALL_NONE)
		warn_once(sched, &stalled);
	return busy;
}
