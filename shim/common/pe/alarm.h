/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/alarm.h - a context's alarm: the time of its next work besides jobs.
 *
 *   [not set] --set--> [set] --progress, when the time has come--> [not set]
 *
 * Faults and the timing model hold back messages and completions until a time. When the alarm expires, progress
 * checks all that is held back, and sets the alarm again for the rest (shim_ctx_set_alarm()). For an owner that sleeps
 * on its progress engine's handle, a job that ends at that time is submitted to the session's engine. Times are session
 * time.
 */
#ifndef SHIM_ALARM_H
#define SHIM_ALARM_H

#include <doca_common_defines.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/common/base/object.h"
#include "sim/engine/queue.h"

struct shim_alarm {
	uint64_t due_ns;         /* 0 = not set */
	struct sim_queue *queue; /* holds @job; NULL = the engine was not armed since the alarm was set */
	struct sim_job job;
};

/* Set the alarm to @due_ns unless it is set to an earlier time. SIM_JOB_NEVER_DUE changes nothing. Returns whether it
 * changed: an owner that armed the alarm must arm it again. */
bool shim_alarm_set(struct shim_alarm *alarm, uint64_t due_ns);

/* Returns whether the time of a set alarm has come, and clears the alarm then. */
SHIM_INTERNAL_API bool shim_alarm_check_expired(struct shim_alarm *alarm);

static inline bool shim_alarm_expired(struct shim_alarm *alarm)
{
	return doca_unlikely(alarm->due_ns != 0) && shim_alarm_check_expired(alarm);
}

/* The owner is about to sleep: have @notify called with @arg at the time. Returns whether the time has come. */
bool shim_alarm_arm(struct shim_alarm *alarm, void (*notify)(void *arg), void *arg);

/* The context goes idle: clear the alarm and free the job. */
void shim_alarm_clear(struct shim_alarm *alarm);

#endif
