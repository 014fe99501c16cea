/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/recording.h - a recording (format.h), read: a copy in our own memory that makes sense.
 *
 * Whoever wrote it is not trusted, and may be writing on. So all is copied first,
 * records before the tables that they speak of, and then checked: a number that
 * names nothing becomes 0 or costs the record, texts end and are UTF-8, times are neither
 * before the session nor to come, a task's are in order. What was written over
 * while it was copied is left out. Reading takes time and memory by the sizes in the head, which are bounded.
 */
#ifndef SIM_TRACE_RECORDING_H
#define SIM_TRACE_RECORDING_H

#include <stdbool.h>

#include "format.h"

/* Whose it is, as the session's daemon knows. */
struct sim_trace_process {
	int32_t pid;
	bool is_alive;
	char side[64], program[64];
};

/* A record, of a log line with its text. */
struct sim_trace_event {
	uint64_t time_ns; /* when it began; of a task without submission, when it was reaped */
	uint8_t kind, direction;
	union {
		uint16_t in_flight, log_level;
	};
	uint32_t thread, subject, reason, process;
	union sim_trace_data data;
	uint64_t seq; /* among those of its recording */
	char *text;   /* of log lines; else NULL */
};

struct sim_trace_recording {
	struct sim_trace_process owner;
	uint32_t level;
	uint64_t began_ns;
	/* Numbers count from 1: number n is at [n - 1]. */
	char (*names)[SIM_TRACE_NAME_SIZE];
	struct sim_trace_object *objects;
	struct sim_trace_op *ops;
	struct sim_trace_thread *threads;
	uint32_t num_names, num_objects, num_ops, num_threads;
	struct sim_trace_event *events; /* ring by ring */
	size_t num_events;
	uint64_t num_lost; /* overwritten, here or while we read */
	uint64_t num_bad;  /* made no sense */
};

/* Read one of @bytes at @memory. @clock says by what its times are. Returns 0, -EPROTO
 * (it is none) or -ENOMEM; *ret_recording is the caller's then (free). */
int sim_trace_recording_read(const void *memory, size_t bytes, const struct sim_trace_clock *clock,
			     struct sim_trace_recording *ret_recording);

/* The same of a segment. -EPROTO or another -errno when it can't be mapped. */
int sim_trace_recording_read_fd(int fd, const struct sim_trace_clock *clock, struct sim_trace_recording *ret_recording);

/* Little of it: the tables with their counts, and of the records those of faults. For whoever looks often. */
int sim_trace_recording_read_counts_fd(int fd, const struct sim_trace_clock *clock,
				       struct sim_trace_recording *ret_recording);

void sim_trace_recording_free(struct sim_trace_recording *recording);

/* The text of a name's number; "" of none. */
const char *sim_trace_name_of(const struct sim_trace_recording *recording, uint32_t number);

/* Label of an object for people, "dma #3", and the name of its device; both "" for number 0. */
#define SIM_TRACE_LABEL_SIZE (SIM_TRACE_NAME_SIZE + 16)
void sim_trace_label_object(const struct sim_trace_recording *recording, uint32_t number,
			    char label[SIM_TRACE_LABEL_SIZE]);
const char *sim_trace_device_of(const struct sim_trace_recording *recording, uint32_t number);

/* Of a task's event: its operation, and of any: the object it is about, or 0. */
const struct sim_trace_op *sim_trace_op_of(const struct sim_trace_recording *recording,
					   const struct sim_trace_event *event);
uint32_t sim_trace_object_of(const struct sim_trace_recording *recording, const struct sim_trace_event *event);

/* The direction of a task's bytes, for people; "" of none. */
const char *sim_trace_direction_name(uint32_t direction);

/* A context's state, for people. */
const char *sim_trace_state_name(uint64_t state);

#endif
