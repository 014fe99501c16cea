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

void sim_dpa_port_notify(uint64_t handle)
{
	struct sim_dpa_process *process = sim_dpa_eu_current()->process;
	bool has_feature = sim_dpa_image_has_feature(process->image, FEATURE);
	struct sim_dpa_notification *notification;
	static atomic_flag has_warned = ATOMIC_FLAG_INIT;

	pthread_mutex_lock(&process->lock);
	notification = sim_dpa_handle_find(&process->handles, SIM_DPA_NOTIFICATION, handle);
	if (notification && has_feature)
		sim_dpa_activity_wake(notification->activity);
	pthread_mutex_unlock(&process->lock);
	if (!notification)
		sim_dpa_refuse("%#llx is no notification completion that is started", (unsigned long long)handle);
	if (!has_feature && !atomic_flag_test_and_set(&has_warned))
		sim_warn(
			"application %s notifies a DPA thread, which has no effect: its process attributes lack " FEATURE
			"; give dpacc --dpa-proc-attr",
			sim_dpa_image_name(process->image));
}
