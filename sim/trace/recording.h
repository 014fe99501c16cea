/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/recording.h - reads a recording (format.h) into a checked copy.
 *
 * The writer is not trusted and may write while we read. So everything is copied first, records before
 * the tables that they refer to, and then checked. A number of no entry becomes 0, or the record is
 * dropped. Texts are terminated and valid UTF-8. Times are neither before the session nor in
 * the future, and those of a task are in order. Records that were overwritten during
 * the copy are left out. Time and memory depend on the sizes in the head, which are bounded.
 */
#ifndef SIM_TRACE_RECORDING_H
#define SIM_TRACE_RECORDING_H

#include <stdbool.h>

#include "format.h"

/* The process that wrote a recording, as the session's daemon knows it. */
struct sim_trace_process {
	int32_t pid;
	bool is_alive;
	char side[64], program[64];
};

/* A record after the check; a log line has its whole text. */
struct sim_trace_event {
	uint64_t time_ns; /* begin; for a task without a known submission: when it was reaped */
	uint8_t kind, direction;
	union {
		uint16_t in_flight, log_level, severity;
	};
	uint32_t thread, subject, reason, process;
	uint32_t text_bytes; /* of @text, in a file (sim/cli/trace/recording_file.h) */
	union sim_trace_data data;
	uint64_t seq; /* position in its recording */
	char *text;   /* of log lines and hits; else NULL */
};

struct sim_trace_recording {
	struct sim_trace_process owner;
	uint32_t level;
	uint64_t began_ns;
	uint32_t command; /* of "bfsim run", from 1; 0 = none */
	/* Numbers count from 1: number n is at [n - 1]. */
	char (*names)[SIM_TRACE_NAME_SIZE];
	struct sim_trace_object *objects;
	struct sim_trace_op *ops;
	struct sim_trace_thread *threads;
	uint32_t num_names, num_objects, num_ops, num_threads;
	uint32_t num_open[SIM_TRACE_NUM_OPEN];
	uint32_t paths;                 /* of imports: bits 1 << enum sim_trace_path */
	struct sim_trace_event *events; /* ring by ring */
	size_t num_events;
	uint64_t num_lost; /* records overwritten before or during the copy */
	uint64_t num_bad;  /* records that failed the check */
};

/* Read the recording of @bytes at @memory, whose times are by @clock. Returns 0 (the caller frees
 * *ret_recording), -EPROTO (not a recording) or -ENOMEM. */
int sim_trace_recording_read(const void *memory, size_t bytes, const struct sim_trace_clock *clock,
			     struct sim_trace_recording *ret_recording);

/* The same for a segment. Also returns -EPROTO or another -errno if it can't be mapped. */
int sim_trace_recording_read_fd(int fd, const struct sim_trace_clock *clock, struct sim_trace_recording *ret_recording);

/* Read only the tables with their counters and the records of faults: for callers that poll. */
int sim_trace_recording_read_counts_fd(int fd, const struct sim_trace_clock *clock,
				       struct sim_trace_recording *ret_recording);

/* Check a recording whose tables come from a file, as those functions check what they read: entries that are wrong are mended or
 * left out. Texts are terminated. */
void sim_trace_recording_check(struct sim_trace_recording *recording, const struct sim_trace_clock *clock);

void sim_trace_recording_free(struct sim_trace_recording *recording);

/* The text of a name; "" for number 0. */
const char *sim_trace_name_of(const struct sim_trace_recording *recording, uint32_t number);

/* Display label of an object, "dma #3", and the name of its device; both "" for number 0. */
#define SIM_TRACE_LABEL_SIZE (SIM_TRACE_NAME_SIZE + 16)
void sim_trace_label_object(const struct sim_trace_recording *recording, uint32_t number,
			    char label[SIM_TRACE_LABEL_SIZE]);
const char *sim_trace_device_of(const struct sim_trace_recording *recording, uint32_t number);

/* The operation of a task's event, else NULL. */
const struct sim_trace_op *sim_trace_op_of(const struct sim_trace_recording *recording,
					   const struct sim_trace_event *event);

/* The object of any event; 0 = none. */
uint32_t sim_trace_object_of(const struct sim_trace_recording *recording, const struct sim_trace_event *event);

/* Display name of a direction; "" for none. */
const char *sim_trace_direction_name(uint32_t direction);

/* The names of data paths, "cma, shm"; "" without any. */
#define SIM_TRACE_PATHS_SIZE 48
void sim_trace_paths_text(uint32_t paths, char text[SIM_TRACE_PATHS_SIZE]);

/* The data path with that name; SIM_TRACE_NUM_PATHS for another name. */
enum sim_trace_path sim_trace_path_of_name(const char *name);

/* Display name of a context's state. */
const char *sim_trace_state_name(uint64_t state);

#endif
