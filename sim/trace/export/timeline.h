/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/timeline.h - what a story's events did when: a task is one event, but was submitted, ran and ended at
 * three moments.
 *
 * Moments are in the order of their times. At one time, as there is much in virtual time, they are in the order of
 * enum sim_trace_part: whatever follows from another comes behind it. Those of one part then are as their events are.
 */
#ifndef SIM_TRACE_MOMENTS_H
#define SIM_TRACE_MOMENTS_H

#include "merged_trace.h"

#define SIM_TRACE_THREADS_BELOW UINT32_C(0x40000000) /* numbers of threads are */
#define SIM_TRACE_SHORT_NS 1000                      /* how long what takes no time is told to be, at most */

enum sim_trace_part {
	SIM_TRACE_PART_STATE,    /* a context's, a connection's begin and end */
	SIM_TRACE_PART_SUBMIT,
	SIM_TRACE_PART_JOB,      /* its begin */
	SIM_TRACE_PART_SENT,
	SIM_TRACE_PART_RECEIVED,
	SIM_TRACE_PART_DONE,     /* the program was told that its task ended */
	SIM_TRACE_PART_FAULT,
	SIM_TRACE_PART_LOG,
};

struct sim_trace_moment {
	uint64_t time_ns;
	uint32_t event;          /* in the sorted story */
	uint16_t short_ns;       /* of what takes no time: until the next one of its context or thread */
	uint8_t part;            /* enum sim_trace_part */
};

/* All moments of a sorted story. The caller frees them; NULL without memory. Of those that happen at one
 * moment in one place none has a length. */
struct sim_trace_moment *sim_trace_moments(const struct sim_trace_story *story, size_t *ret_count);

/* Whether an event is a task's whose submission and end are both known, and where they were. */
bool sim_trace_task_is_whole(const struct sim_trace_story *story, const struct sim_trace_event *event);

#endif
