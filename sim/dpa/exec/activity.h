/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/exec/activity.h - a DPA thread: a kernel that events run, each time from its beginning.
 *
 *                 event (kept)                        event
 *   [started] --------------> [started, pending]      .---.
 *       | run                      | run              |   v
 *       v            event         v      EU takes    |
 *    [armed] ------------------> [queued] ------> [running] --event--> [running, pending]
 *       ^                          ^   reschedule  |    |                |     |
 *       '--------------------------|---------------'    | finish, return |     |
 *                                  '--------------------|----------------'     |
 *                                     reschedule        v                      |
 *                                                  [finished] <----------------'
 *   stop: from each state to [stopped]; a kernel that runs is ended first.
 *
 * One event is remembered, however many come. Several sources may activate one activity: notifications, completions.
 */
#ifndef SIM_DPA_ACTIVITY_H
#define SIM_DPA_ACTIVITY_H

#include "process.h"

#define SIM_DPA_RELAXED UINT32_MAX /* instead of an EU: any */

struct sim_dpa_activity;

struct sim_dpa_activity_cfg {
	const struct sim_dpa_kernel *kernel;
	uint64_t arg;           /* the kernel's one argument; not used if it has none */
	uint64_t local_storage; /* an address of the heap, or 0 */
	uint32_t eu;            /* or SIM_DPA_RELAXED */
	uint32_t rank, num_ranks;
};

/* Returns 0 or -ENOMEM. The caller ends it before the process. */
int sim_dpa_activity_start(struct sim_dpa_process *process, const struct sim_dpa_activity_cfg *cfg,
			   struct sim_dpa_activity **ret_activity);

/* Stop, wait until its kernel does not run, free. Its sources are gone already. NULL is fine. */
void sim_dpa_activity_stop(struct sim_dpa_activity *activity);

/* From now on, events run the kernel. Returns 0 or -EIO: the process is fatal. */
int sim_dpa_activity_run(struct sim_dpa_activity *activity);

/* From 1 on, in the order of starts. */
uint32_t sim_dpa_activity_id(const struct sim_dpa_activity *activity);

/* Its place in a group. */
void sim_dpa_activity_set_rank(struct sim_dpa_activity *activity, uint32_t rank, uint32_t num_ranks);

/* An event. Under the process's lock. */
void sim_dpa_activity_wake(struct sim_dpa_activity *activity);

/* The run that the next event leads to begins @ns later. Under the process's lock. */
void sim_dpa_activity_delay(struct sim_dpa_activity *activity, uint64_t ns);

/* Whether it has finished; whether it waits for an event; whether an event is kept, and it is not run. Under the process's lock. */
bool sim_dpa_activity_has_finished(const struct sim_dpa_activity *activity);
bool sim_dpa_activity_sleeps(const struct sim_dpa_activity *activity);
bool sim_dpa_activity_waits_for_run(const struct sim_dpa_activity *activity);

/* For port functions on an EU: 0 = none. */
uint64_t sim_dpa_activity_local_storage(const struct sim_dpa_activity *activity);

#endif
