/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/notification.h - a source of events for one activity: device code notifies it by its handle. */
#ifndef SIM_DPA_NOTIFICATION_H
#define SIM_DPA_NOTIFICATION_H

#include "sim/dpa/exec/activity.h"

/* Notifications that ran nothing. */
struct sim_dpa_unheard {
	uint64_t num_without_feature; /* the application's attributes do not allow any */
	uint64_t num_finished;        /* the activity had finished */
	bool was_never_run;           /* one is kept for an activity that is not run */
};

struct sim_dpa_notification {
	struct sim_dpa_process *process;
	struct sim_dpa_activity *activity;
	uint64_t handle;
	struct sim_dpa_unheard unheard;
};

/* Returns 0 or -ENOMEM. */
int sim_dpa_notification_start(struct sim_dpa_process *process, struct sim_dpa_activity *activity,
			       struct sim_dpa_notification *notification);

void sim_dpa_notification_stop(struct sim_dpa_notification *notification);

/* For the checker. */
void sim_dpa_notification_get_unheard(const struct sim_dpa_notification *notification,
				      struct sim_dpa_unheard *ret_unheard);

/* For the port: device code notifies. */
void sim_dpa_port_notify(uint64_t handle);

#endif
