/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that write a merged trace for Perfetto: the writer and its tracks. */
#ifndef SIM_TRACE_PERFETTO_PRIV_H
#define SIM_TRACE_PERFETTO_PRIV_H

#include "timeline.h"

/* Of a context or a connection. */
enum perfetto_track { TRACK_JOBS, TRACK_STATES, TRACK_SENT, TRACK_RECEIVED, TRACK_SUBMITTED, NUM_TRACKS };

struct perfetto_object {
	uint64_t jobs_free_ns; /* where a next slice of the track may begin */
	uint32_t used;         /* bit of each track that has something */
	size_t next_state;     /* the number of its event; 0 = none */
};

struct perfetto_writer {
	const struct sim_merged_trace *merged;
	FILE *out;
	bool has_begun;
	int64_t *pids;                   /* of each process; no two are the same */
	uint32_t *first_object;          /* of each process, in @objects */
	struct perfetto_object *objects; /* of all processes */
	uint32_t *flows;                 /* of messages; 0 = none */
	uint32_t *tasks;                 /* of messages: the task's event, from 1 on; 0 = none */
	uint32_t num_flows;              /* of messages; those of tasks have numbers above */
	uint64_t *until_ns;              /* of states: when the next one began */
	struct sim_timeline_entry *entries;
	size_t num_entries;
};

/* What every event begins with; at which time, if it has one. What is open at the end is closed by "}". */
void sim_perfetto_begin(struct perfetto_writer *writer, char phase, uint32_t process, uint32_t tid);
void sim_perfetto_begin_at(struct perfetto_writer *writer, char phase, uint32_t process, uint32_t tid,
			   uint64_t time_ns);
void sim_perfetto_end(struct perfetto_writer *writer);

/* "dma #3", or of what else. */
void sim_perfetto_put_object_name(FILE *out, const struct sim_trace_recording *recording, uint32_t number,
				  const char *more);

/* A track's number, that no thread has; and its object. */
uint32_t sim_perfetto_track_id(const struct perfetto_writer *writer, uint32_t process, uint32_t object,
			       enum perfetto_track track);
struct perfetto_object *sim_perfetto_object_at(const struct perfetto_writer *writer, uint32_t process, uint32_t object);

/* Metadata: processes, threads, and tracks as far as something is on them. */
void sim_perfetto_put_names(struct perfetto_writer *writer);

/* The object that stands beside the events, on one line: what the session is, what each
 * process did in sum, the rules of its plan. @pids are the processes' in the events. */
void sim_perfetto_put_summary(FILE *out, const struct sim_merged_trace *merged, const int64_t *pids);

#endif
