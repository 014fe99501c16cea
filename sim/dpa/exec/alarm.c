/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls at a session time. */
#include "alarm.h"

#include <string.h>
#include <time.h>

#include "pcie_model/arith.h"
#include "process_priv.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/thread.h"
#include "sim/clock/call_mark.h"
#include "sim/clock/clock.h"

#define MAX_WAIT_NS UINT64_C(1000000000)

void sim_dpa_alarm_init(struct sim_dpa_alarm *alarm, struct sim_dpa_process *process, void (*ring)(void *arg),
			void *arg)
{
	*alarm = (struct sim_dpa_alarm){ .process = process, .ring = ring, .arg = arg, .due_ns = SIM_CLOCK_NEVER_NS };
	pthread_mutex_init(&alarm->lock, NULL);
	pthread_cond_init(&alarm->wake, NULL);
}

/* Wait for the time that is set, or for a change. Returns whether it has come. Under the lock, which is released meanwhile. */
static bool wait_for_time(struct sim_dpa_alarm *alarm)
{
	const struct sim_clock *clock = alarm->process->cfg.clock;
	uint64_t now_ns = sim_clock_now_ns(clock);
	struct timespec until;
	bool has_turn = true;

	if (alarm->turn.source) {
		uint64_t due_ns = alarm->due_ns;

		pthread_mutex_unlock(&alarm->lock);
		has_turn = sim_dpa_turn_sleep(&alarm->turn, due_ns);
		pthread_mutex_lock(&alarm->lock);
	} else if (alarm->due_ns == SIM_CLOCK_NEVER_NS) {
		pthread_cond_wait(&alarm->wake, &alarm->lock);
	} else if (now_ns < alarm->due_ns) {
		until = sim_timespec_from_ns(sim_monotonic_ns() + min_u64(alarm->due_ns - now_ns, MAX_WAIT_NS));
		pthread_cond_clockwait(&alarm->wake, &alarm->lock, CLOCK_MONOTONIC, &until);
	}
	return has_turn && sim_clock_now_ns(clock) >= alarm->due_ns;
}

static void *run(void *arg)
{
	struct sim_dpa_alarm *alarm = arg;

	pthread_mutex_lock(&alarm->lock);
	sim_dpa_turn_begin(&alarm->turn, alarm->process->cfg.vclock);
	alarm->has_begun = true;
	pthread_cond_broadcast(&alarm->wake);
	while (!alarm->is_stopping) {
		if (!wait_for_time(alarm) || alarm->is_stopping)
			continue;
		alarm->due_ns = SIM_CLOCK_NEVER_NS;
		pthread_mutex_unlock(&alarm->lock);
		alarm->ring(alarm->arg);
		pthread_mutex_lock(&alarm->lock);
	}
	pthread_mutex_unlock(&alarm->lock);
	sim_dpa_turn_end(&alarm->turn);
	return NULL;
}

/* In virtual time, threads take part in the order of their starts. The lock is held. */
static void start_thread(struct sim_dpa_alarm *alarm)
{
	int rc = sim_thread_start(&alarm->thread, "bfsim-dpa-alarm", run, alarm);
	bool marked;

	if (rc < 0) {
		sim_err("no thread for a fault that delays: it holds back for ever: %s", strerror(-rc));
		return;
	}
	alarm->has_thread = true;
	marked = sim_clock_begin_wait();
	while (sim_dpa_is_virtual(alarm->process) && !alarm->has_begun)
		pthread_cond_wait(&alarm->wake, &alarm->lock);
	sim_clock_end_wait(marked);
}

void sim_dpa_alarm_set(struct sim_dpa_alarm *alarm, uint64_t due_ns)
{
	pthread_mutex_lock(&alarm->lock);
	if (due_ns < alarm->due_ns && !alarm->is_stopping) {
		alarm->due_ns = due_ns;
		if (!alarm->has_thread)
			start_thread(alarm);
		sim_dpa_turn_signal(&alarm->turn, &alarm->wake);
	}
	pthread_mutex_unlock(&alarm->lock);
}

void sim_dpa_alarm_stop(struct sim_dpa_alarm *alarm)
{
	bool marked;

	pthread_mutex_lock(&alarm->lock);
	alarm->is_stopping = true;
	sim_dpa_turn_interrupt(&alarm->turn, &alarm->wake);
	pthread_mutex_unlock(&alarm->lock);
	marked = sim_clock_begin_wait();
	if (alarm->has_thread)
		pthread_join(alarm->thread, NULL);
	sim_clock_end_wait(marked);
	pthread_cond_destroy(&alarm->wake);
	pthread_mutex_destroy(&alarm->lock);
}
