/* SPDX-License-Identifier: BSD-3-Clause */
/* Alarms of contexts. */
#include "alarm.h"

#include "shim/common/process/runtime.h"
#include "sim/base/log.h"

static void destroy_queue(struct shim_alarm *alarm)
{
	sim_queue_destroy(alarm->queue);
	alarm->queue = NULL;
}

void shim_alarm_clear(struct shim_alarm *alarm)
{
	destroy_queue(alarm);
	alarm->due_ns = 0;
}

bool shim_alarm_set(struct shim_alarm *alarm, uint64_t due_ns)
{
	if (due_ns == SIM_JOB_NEVER_DUE || (alarm->due_ns != 0 && alarm->due_ns <= due_ns))
		return false;
	destroy_queue(alarm);
	alarm->due_ns = due_ns ? due_ns : 1;
	return true;
}

bool shim_alarm_check_expired(struct shim_alarm *alarm)
{
	if (shim_now_ns() < alarm->due_ns)
		return false;
	shim_alarm_clear(alarm);
	return true;
}

static int hold_until_due(struct sim_job *job)
{
	job->held = true; /* until due_ns, which is set before */
	return 0;
}

/* Submit the job to the session's engine. Returns false without memory. */
static bool submit_alarm_job(struct shim_alarm *alarm, void (*notify)(void *arg), void *arg)
{
	uint64_t now_ns = shim_now_ns();

	if (sim_queue_create(sim_session_engine(shim_session()), 1, notify, arg, &alarm->queue) < 0) {
		sim_err("doca_pe_request_notification: no memory for an alarm; the engine's handle stays readable meanwhile");
		return false;
	}
	alarm->job = (struct sim_job){ .run = hold_until_due };
	alarm->job.due_ns = sim_queue_now_ns(alarm->queue) + (alarm->due_ns > now_ns ? alarm->due_ns - now_ns : 0);
	sim_queue_submit(alarm->queue, &alarm->job);
	sim_queue_doorbell(alarm->queue);
	return true;
}

bool shim_alarm_arm(struct shim_alarm *alarm, void (*notify)(void *arg), void *arg)
{
	if (doca_likely(alarm->due_ns == 0))
		return false;
	if (shim_vclock) /* virtual time: the participant that lets it pass wakes the owner (pe_vclock.c) */
		return shim_now_ns() >= alarm->due_ns;
	if (!alarm->queue && !submit_alarm_job(alarm, notify, arg))
		return true;
	sim_queue_set_notify(alarm->queue, true);
	sim_queue_drain(alarm->queue);
	sim_queue_arm_timer(alarm->queue);
	return sim_queue_has_done(alarm->queue) || shim_now_ns() >= alarm->due_ns;
}
