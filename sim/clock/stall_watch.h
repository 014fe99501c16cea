/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/stall_watch.h - detects a busy participant that has stopped calling, and detaches it.
 *
 *   the thread or its process has ended        at the next check
 *   it sleeps or is stopped, outside of bfsim  after a short patience: it waits for something else than virtual time
 *   it runs                                    after a long patience: its next call may come at any moment
 *
 * A participant that holds time (participant.h) is waited for likewise; one that calls meanwhile, or a process that has
 * been started and has not attached, has the long patience.
 *
 * The long patience leaves out the time in which the thread waited for a CPU, up to nine times the patience: nothing hangs
 * on a machine that never gives it one.
 *
 * "Sleeps" is the kernel's account: the thread neither ran nor was ready to run for most of the time. So a machine that
 * gives the thread no CPU does not count as a sleep. Without an account (another pid namespace), every participant runs.
 * While more threads want CPUs than there are, no sleep counts: the thread may wait for a lock whose owner has no CPU.
 *
 * The number of checks matters because a machine that was suspended keeps every process from calling.
 */
#ifndef SIM_CLOCK_STALL_WATCH_H
#define SIM_CLOCK_STALL_WATCH_H

#include "participant.h"
#include "thread_account.h"

/* How long a busy participant is waited for. */
struct sim_stall_patience {
	uint64_t running_ns, sleeping_ns;
	uint32_t num_cpus; /* that the process may run on */
};

/* The longest that a busy participant is waited for, most of it as it has no CPU. */
static inline uint64_t sim_stall_longest_ns(const struct sim_stall_patience *patience)
{
	return 10 * patience->running_ns;
}

/* From the environment: BFSIM_CLOCK_PATIENCE, a duration (1s), is for a thread that runs; one that sleeps has a fiftieth. */
void sim_stall_patience_init(struct sim_stall_patience *patience);

/* A participant that was seen busy, and since when its heartbeat has not changed. */
struct sim_stall_watch {
	const struct sim_clock_participant *shared; /* NULL = none */
	bool holds;                                 /* not busy: it holds time */
	bool is_woken; /* once more, as the one that made it busy may not have come to it */
	uint32_t heartbeats, checks, in_call;
	uint64_t now_ns; /* virtual time */
	uint64_t owner, since_ns;
	uint64_t calm_ns;                   /* since then there were CPUs for all threads */
	struct sim_thread_account account;  /* at @calm_ns */
	struct sim_thread_account last;     /* at the last check, @last_ns */
	uint64_t last_ns, ready_ns, ran_ns; /* so long the thread was ready, and ran meanwhile */
};

enum sim_stall {
	SIM_STALL_NONE = 0,
	SIM_STALL_ENDED,
	SIM_STALL_STOPPED,
	SIM_STALL_SLEEPS,
	SIM_STALL_RUNS,
	SIM_STALL_HOLDS, /* it has held time for the long patience */
};

/* A participant that was detached. */
struct sim_stalled {
	enum sim_stall reason; /* NONE = none was */
	uint64_t owner;
	uint64_t for_ns; /* how long it had not called */
	int system_call; /* SLEEPS: the number of the system call that it waits in; -1 = unknown */
};

/* Check the busy participant, or the one that holds time while others could go on, on behalf of @self, which is not
 * checked if it is busy. Detach it, or end its hold, if it has stalled. Returns whether there is such a one. */
bool sim_stall_watch_check(struct sim_stall_watch *watch, const struct sim_participant *self,
			   const struct sim_stall_patience *patience, struct sim_stalled *ret_stalled);

/* For how long @self may sleep until its next check: @ns for one participant of the session, longer for the others. If each
 * checked after @ns, many would leave the busy one no CPU. Another takes over when the checks of that one stop. */
uint64_t sim_stall_check_interval_ns(const struct sim_participant *self, uint64_t ns);

#endif
