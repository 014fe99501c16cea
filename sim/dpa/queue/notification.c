/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications of activities. */
#include "notification.h"

#include <errno.h>

#include "sim/base/log.h"
#include "sim/dpa/exec/process_priv.h"

/* A feature that the process attributes of the application list. Without it a card's kernel notifies nobody. */
#define FEATURE "Generating_Empty_CQE"

int sim_dpa_notification_start(struct sim_dpa_process *process, struct sim_dpa_activity *activity,
			       struct sim_dpa_notification *notification)
{
	notification->process = process;
	notification->activity = activity;
	notification->handle = sim_dpa_process_export(process, SIM_DPA_NOTIFICATION, notification);
	return notification->handle ? 0 : -ENOMEM;
}

void sim_dpa_notification_stop(struct sim_dpa_notification *notification)
{
	sim_dpa_process_withdraw(notification->process, SIM_DPA_NOTIFICATION, notification);
	notification->handle = 0;
}

/* Under the process's lock. */
static void count_unheard(struct sim_dpa_notification *notification, bool has_feature)
{
	notification->unheard.num_without_feature += !has_feature;
	notification->unheard.num_finished += sim_dpa_activity_has_finished(notification->activity);
}

void sim_dpa_notification_get_unheard(const struct sim_dpa_notification *notification,
				      struct sim_dpa_unheard *ret_unheard)
{
	struct sim_dpa_process *process = notification->process;

	pthread_mutex_lock(&process->lock);
	*ret_unheard = notification->unheard;
	ret_unheard->was_never_run = sim_dpa_activity_waits_for_run(notification->activity);
	pthread_mutex_unlock(&process->lock);
}

void sim_dpa_port_notify(uint64_t handle)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	struct sim_fault_hit hit = sim_dpa_find_fault(process, SIM_OP_DPA_NOTIFY);
	bool is_lost = hit.actions & SIM_ACT_BIT(SIM_ACT_DROP);
	bool has_feature = sim_dpa_image_has_feature(process->image, FEATURE);
	struct sim_dpa_notification *notification;
	static atomic_flag has_warned = ATOMIC_FLAG_INIT;

	pthread_mutex_lock(&process->lock);
	notification = sim_dpa_handle_find(&process->handles, SIM_DPA_NOTIFICATION, handle);
	if (notification && hit.delay_ns)
		sim_dpa_activity_delay(notification->activity, hit.delay_ns);
	if (notification)
		count_unheard(notification, has_feature);
	if (notification && has_feature && !is_lost)
		sim_dpa_activity_wake(notification->activity);
	pthread_mutex_unlock(&process->lock);
	if (!notification)
		sim_dpa_refuse_as(SIM_DPA_CRASH_HANDLE, handle, "%#llx is no notification completion that is started",
				  (unsigned long long)handle);
	if (!has_feature && !atomic_flag_test_and_set(&has_warned))
		sim_warn(
			"application %s notifies a DPA thread, which has no effect: its process attributes lack " FEATURE
			"; give dpacc --dpa-proc-attr",
			sim_dpa_image_name(process->image));
}
