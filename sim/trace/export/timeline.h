/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/timeline.h - the entries of a merged trace in order of time. A task is one event but has up to three
 * entries: its submission, the begin of its job and its completion.
 *
 * Entries with one time, frequent in virtual time, are in the order of enum sim_timeline_kind, so that an effect
 * follows its cause. Entries of one kind are then in the order of their events.
 */
#ifndef SIM_TRACE_TIMELINE_H
#define SIM_TRACE_TIMELINE_H

#include "merged_trace.h"

#define SIM_TRACE_THREAD_ID_LIMIT UINT32_C(0x40000000) /* numbers of threads are below */
#define SIM_TIMELINE_MAX_SLICE_NS 1000                 /* longest drawn length of an entry without duration */

enum sim_timeline_kind {
	SIM_TIMELINE_STATE, /* of a context; begin and end of a connection */
	SIM_TIMELINE_SUBMIT,
	SIM_TIMELINE_JOB, /* begin of a task's job */
	SIM_TIMELINE_SENT,
	SIM_TIMELINE_RECEIVED,
	SIM_TIMELINE_DONE, /* the program was told of its task's end */
	SIM_TIMELINE_FAULT,
	SIM_TIMELINE_LOG,
	SIM_TIMELINE_HIT,
};

struct sim_timeline_entry {
	uint64_t time_ns;
	uint32_t event;    /* in the sorted merged trace */
	uint16_t slice_ns; /* drawn length of an entry without duration: until the next one of its context or thread */
	uint8_t kind;      /* enum sim_timeline_kind */
};

/* All entries of a sorted merged trace. The caller frees the array. NULL if out of memory. */
struct sim_timeline_entry *sim_timeline_build(const struct sim_merged_trace *merged, size_t *ret_count);

/* Whether an event is a task with a known submission, context and completing thread. */
bool sim_trace_task_is_complete(const struct sim_merged_trace *merged, const struct sim_trace_event *event);

#endif
