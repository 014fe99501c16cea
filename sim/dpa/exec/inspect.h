/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/exec/inspect.h - what the checker asks about a DPA process. Any thread. */
#ifndef SIM_DPA_INSPECT_H
#define SIM_DPA_INSPECT_H

#include "activity.h"

/* The kernel that was fatal. */
struct sim_dpa_failure_record {
	uint64_t number; /* from 1, of this program; 0 = none was */
	uint32_t eu;
	char kernel[64];
	struct sim_dpa_crash crash;
};

/* A kernel that runs. */
struct sim_dpa_running {
	uint32_t eu;
	char kernel[64];
	bool waits;      /* for a sync event */
	uint64_t own_ns; /* that it has run, in its own time */
	bool is_virtual; /* it runs when the calling thread waits */
};

/* Returns false if no kernel was. */
bool sim_dpa_process_get_failure(struct sim_dpa_process *process, struct sim_dpa_failure_record *ret_failure);

/* The first kernel that runs, of @activity unless that is NULL. Returns false if none does. */
bool sim_dpa_process_find_running(struct sim_dpa_process *process, const struct sim_dpa_activity *activity,
				  struct sim_dpa_running *ret_running);

#endif
