/* SPDX-License-Identifier: BSD-3-Clause */
/* The message about a participant that has stalled. */
#include <stdio.h>
#include <sys/syscall.h>

#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "vclock_priv.h"

static const char *const reasons[] = {
	[SIM_STALL_STOPPED] = "is stopped",
	[SIM_STALL_SLEEPS] = "sleeps outside of bfsim",
	[SIM_STALL_RUNS] = "runs",
	[SIM_STALL_HOLDS] = "starts, or connects,",
};

/* Those that programs sleep in. Numbers are the machine's; a library for Arm may run under emulation, on another one. */
static const char *system_call_name(int number)
{
#ifdef __x86_64__
	static const struct {
		int number;
		const char *name;
	} names[] = {
		{ SYS_read, "read" },
		{ SYS_write, "write" },
		{ SYS_poll, "poll" },
		{ SYS_ppoll, "ppoll" },
		{ SYS_select, "select" },
		{ SYS_pselect6, "pselect" },
		{ SYS_epoll_wait, "epoll_wait" },
		{ SYS_epoll_pwait, "epoll_wait" },
		{ SYS_futex, "futex: a lock, a join or a condition" },
		{ SYS_nanosleep, "nanosleep" },
		{ SYS_clock_nanosleep, "clock_nanosleep" },
		{ SYS_wait4, "wait" },
		{ SYS_waitid, "waitid" },
		{ SYS_connect, "connect" },
		{ SYS_accept, "accept" },
		{ SYS_accept4, "accept" },
		{ SYS_recvfrom, "recv" },
		{ SYS_recvmsg, "recvmsg" },
		{ SYS_sendto, "send" },
		{ SYS_sendmsg, "sendmsg" },
		{ SYS_flock, "flock" },
		{ SYS_pause, "pause" },
		{ SYS_rt_sigtimedwait, "sigwait" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
#endif
	(void)number;
	return NULL;
}

/* " (in recv)", or nothing. */
static void name_system_call(int number, char *text, size_t size)
{
	const char *name = system_call_name(number);

	text[0] = '\0';
	if (name)
		snprintf(text, size, " (in %s)", name);
	else if (number >= 0)
		snprintf(text, size, " (in system call %d)", number);
}

/* A process or thread that has ended is no reason to warn. */
static void warn_once(struct sim_vclock_sched *sched, const struct sim_stalled *stalled)
{
	char where[64];
	bool warned;

	if (stalled->reason == SIM_STALL_ENDED)
		return;
	pthread_mutex_lock(&sched->lock);
	warned = sched->warned;
	sched->warned = true;
	pthread_mutex_unlock(&sched->lock);
	name_system_call(stalled->system_call, where, sizeof(where));
	if (!warned)
		sim_warn(
			"virtual time no longer waits for process %u, which %s%s and has not called bfsim for %llu ms while others wait: from here on the run is not repeatable; have it poll its progress engine, or stop its contexts before it sleeps; BFSIM_CLOCK_PATIENCE=TIME waits longer",
			(unsigned int)(stalled->owner >> 32), reasons[stalled->reason], where,
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
