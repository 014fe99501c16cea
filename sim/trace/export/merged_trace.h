/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/merged_trace.h - what all processes of a session recorded, on one time axis, and its telling.
 *
 *   add a recording of each process --> sort --> tell, in one format or another
 *
 * Time is told since the session began. Telling writes as it goes: a trace may be large.
 */
#ifndef SIM_TRACE_MERGED_TRACE_H
#define SIM_TRACE_MERGED_TRACE_H

#include <stdio.h>

#include "sim/trace/recording.h"

/* A rule of the session's fault plan. */
struct sim_trace_rule {
	uint32_t id;
	char *text;
	uint64_t fired;    /* how many faults it injected */
	uint64_t added_ns; /* session time */
	bool removed;      /* it was taken out */
};

/* The link that a device's bytes take. */
struct sim_trace_link {
	char side[64], device[64];
	uint64_t to_card_bps, to_host_bps; /* payload that it can carry, in bits per second */
};

struct sim_merged_trace {
	uint64_t zero_ns;
	const char *clock;   /* how time passes: a mode's name (sim/clock/clock.h); NULL = not known */
	uint64_t session_ns; /* session time when it was read, if the clock is known */
	struct sim_trace_link *links;
	uint32_t num_links;
	struct sim_trace_recording *recordings;
	uint32_t num_recordings;
	struct sim_trace_rule *rules;
	uint32_t num_rules;
	struct sim_trace_event *events; /* of all, by time, once sorted; texts stay the recordings' */
	size_t num_events;
};

/* Zeroed but for its zero_ns, a merged trace is empty. Takes the recording, also when it fails. 0 or -ENOMEM. */
int sim_merged_trace_add(struct sim_merged_trace *merged, struct sim_trace_recording *recording);
int sim_merged_trace_add_rule(struct sim_merged_trace *merged, uint32_t id, const char *text);
int sim_merged_trace_add_link(struct sim_merged_trace *merged, const char *side, const char *device,
			      uint64_t to_card_bps, uint64_t to_host_bps);
int sim_merged_trace_sort(struct sim_merged_trace *merged);
void sim_merged_trace_free(struct sim_merged_trace *merged);

/* The process id of each recording, as an array that the caller frees; NULL without memory. Processes of several
 * pid namespaces may share a number: all ids but the first are changed so that no two are equal. */
int64_t *sim_merged_trace_pids(const struct sim_merged_trace *merged);

/* Session time of the first record of a process; 0 without records. */
uint64_t sim_merged_trace_first_ns(const struct sim_merged_trace *merged, uint32_t process);

/* What the rule says that a fault's event is of. */
const char *sim_merged_trace_rule_text(const struct sim_merged_trace *merged, const struct sim_trace_event *event);

/* The Trace Event Format, which Perfetto and chrome://tracing load (perfetto.c says what becomes of what),
 * and comma-separated values (csv.c). Whether all was written, @out says (ferror()). 0 or -ENOMEM. */
int sim_trace_export_perfetto(const struct sim_merged_trace *merged, FILE *out);
int sim_trace_export_csv(const struct sim_merged_trace *merged, FILE *out);

#endif
