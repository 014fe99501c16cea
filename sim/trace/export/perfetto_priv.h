/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/perfetto_priv.h - shared by the files of the Perfetto export. */
#ifndef SIM_TRACE_PERFETTO_PRIV_H
#define SIM_TRACE_PERFETTO_PRIV_H

#include "timeline.h"

/* The tracks of a context or a connection. */
enum perfetto_track { TRACK_JOBS, TRACK_STATES, TRACK_SENT, TRACK_RECEIVED, TRACK_SUBMITTED, NUM_TRACKS };

struct perfetto_object {
	uint64_t jobs_free_ns; /* end of the last slice on the track of jobs */
	uint32_t used;         /* a bit for each track that is not empty */
	size_t next_state;     /* event of the next state; 0 = none */
};

struct perfetto_writer {
	const struct sim_merged_trace *merged;
	FILE *out;
	bool has_begun;
	int64_t *pids;                   /* of each process; unique */
	uint32_t *first_object;          /* of each process, in @objects */
	struct perfetto_object *objects; /* of all processes */
	uint32_t *flows;                 /* of messages: number of the flow; 0 = none */
	uint32_t *tasks;                 /* of messages: event of the task, counted from 1; 0 = none */
	uint32_t num_flows;              /* of messages; flows of tasks have higher numbers */
	uint64_t *until_ns;              /* of states: begin of the next state */
	struct sim_timeline_entry *entries;
	size_t num_entries;
};

/* Fill the writer from @merged, which is set. Returns 0 or -ENOMEM; sim_perfetto_free() copes with both. */
int sim_perfetto_prepare(struct perfetto_writer *writer);
void sim_perfetto_free(struct perfetto_writer *writer);

/* Begin an event; sim_perfetto_end() closes it. */
void sim_perfetto_begin_at(struct perfetto_writer *writer, char phase, uint32_t process, uint32_t tid,
			   uint64_t time_ns);
void sim_perfetto_end(struct perfetto_writer *writer);

/* An object's name as a string, "dma #3", followed by @more. */
void sim_perfetto_put_object_name(FILE *out, const struct sim_trace_recording *recording, uint32_t number,
				  const char *more);

/* A track's number, which no thread has, and its object. */
uint32_t sim_perfetto_track_id(const struct perfetto_writer *writer, uint32_t process, uint32_t object,
			       enum perfetto_track track);
struct perfetto_object *sim_perfetto_object_at(const struct perfetto_writer *writer, uint32_t process, uint32_t object);

/* Write the metadata: names of processes, threads and of tracks that are not empty. */
void sim_perfetto_put_names(struct perfetto_writer *writer);

#endif
