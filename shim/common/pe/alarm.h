/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/alarm.h - a context's alarm: it has something to do at a time that no job knows of.
 *
 *   [not set] --set--> [set] --its time comes, progress asks--> [not set]
 *
 * What faults or the model hold back (messages, ends of tasks) is due at some time. Progress
 * asks whether that has come, and then looks at all that is held back; what is
 * not due yet sets the alarm anew. An owner that sleeps on its progress engine's
 * handle is woken then: when it goes to sleep, a job that ends at that time is
 * given to the session's engine. Times are session time.
 */
#ifndef SHIM_ALARM_H
#define SHIM_ALARM_H

#include <doca_common_defines.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/common/base/object.h"
#include "sim/engine/queue.h"

struct doca_ctx;

struct shim_alarm {
	uint64_t due_ns;         /* 0 = not set */
	struct sim_queue *queue; /* with the job; NULL = the owner has not slept since it was set */
	struct sim_job job;
};

/* The context has something to do then, if not before. SIM_JOB_NEVER_DUE sets nothing. */
SHIM_INTERNAL_API void shim_alarm_set(struct doca_ctx *ctx, uint64_t due_ns);

/* Whether its time has come; then it is not set any more. */
SHIM_INTERNAL_API bool shim_alarm_check_expired(struct shim_alarm *alarm);

static inline bool shim_alarm_expired(struct shim_alarm *alarm)
{
	return doca_unlikely(alarm->due_ns != 0) && shim_alarm_check_expired(alarm);
}

/* The owner is about to sleep: shim_pe_notify() is called when the time comes. Whether that is now. */
bool shim_alarm_arm(struct doca_ctx *ctx);

/* The context is idle. */
void shim_alarm_clear(struct shim_alarm *alarm);

#endif
