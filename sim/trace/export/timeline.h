/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/timeline.h - what a merged trace's events did when: a task is one event, but was submitted, ran and ended at
 * three moments.
 *
 * Moments are in the order of their times. At one time, as there is much in virtual time, they are in the order of
 * enum sim_timeline_kind: whatever follows from another comes behind it. Those of one part then are as their events are.
 */
#ifndef SIM_TRACE_TIMELINE_H
#define SIM_TRACE_TIMELINE_H

#include "merged_trace.h"

#define SIM_TRACE_THREAD_ID_LIMIT UINT32_C(0x40000000) /* numbers of threads are */
#define SIM_TIMELINE_MAX_SLICE_NS 1000                 /* how long what takes no time is told to be, at most */

enum sim_timeline_kind {
	SIM_TIMELINE_STATE, /* a context's, a connection's begin and end */
	SIM_TIMELINE_SUBMIT,
	SIM_TIMELINE_JOB, /* its begin */
	SIM_TIMELINE_SENT,
	SIM_TIMELINE_RECEIVED,
	SIM_TIMELINE_DONE, /* the program was told that its task ended */
	SIM_TIMELINE_FAULT,
	SIM_TIMELINE_LOG,
};

struct sim_timeline_entry {
	uint64_t time_ns;
	uint32_t event;    /* in the sorted merged trace */
	uint16_t slice_ns; /* of what takes no time: until the next one of its context or thread */
	uint8_t kind;      /* enum sim_timeline_kind */
};

/* All moments of a sorted merged trace. The caller frees them; NULL without memory. Of those that happen at one
 * moment in one place none has a length. */
struct sim_timeline_entry *sim_timeline_build(const struct sim_merged_trace *merged, size_t *ret_count);

/* Whether an event is a task's whose submission and end are both known, and where they were. */
bool sim_trace_task_is_complete(const struct sim_merged_trace *merged, const struct sim_trace_event *event);

#endif
