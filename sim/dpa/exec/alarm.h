/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/exec/alarm.h - a call at a session time, for queues whose messages and completions a fault holds back.
 *
 *   init --> [quiet] --set--> [waits for the time] --> the owner is called, and may set it again
 *                                      stop: no call comes afterwards
 *
 * The thread is made at the first set; in virtual time it is a participant.
 */
#ifndef SIM_DPA_ALARM_H
#define SIM_DPA_ALARM_H

#include <pthread.h>

#include "process.h"
#include "turn.h"

struct sim_dpa_alarm {
	struct sim_dpa_process *process;
	void (*ring)(void *arg); /* without a lock of the alarm's */
	void *arg;
	pthread_mutex_t lock; /* of what follows; no other is taken under it */
	pthread_cond_t wake;
	uint64_t due_ns; /* SIM_CLOCK_NEVER_NS = it is quiet */
	bool has_thread, has_begun, is_stopping;
	pthread_t thread;
	struct sim_dpa_turn turn; /* the thread's */
};

void sim_dpa_alarm_init(struct sim_dpa_alarm *alarm, struct sim_dpa_process *process, void (*ring)(void *arg),
			void *arg);

/* Call at @due_ns, or earlier, if it is set to an earlier time. SIM_CLOCK_NEVER_NS is fine. Any thread. */
void sim_dpa_alarm_set(struct sim_dpa_alarm *alarm, uint64_t due_ns);

/* The caller holds no lock that the call takes. */
void sim_dpa_alarm_stop(struct sim_dpa_alarm *alarm);

#endif
