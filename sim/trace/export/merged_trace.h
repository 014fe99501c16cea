/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/merged_trace.h - the recordings of all processes of a session on one time axis, and their export.
 *
 *   add the recording of each process --> sort --> export in a format
 *
 * Exported times count from the session's begin. An export writes as it goes, since traces may be large.
 */
#ifndef SIM_TRACE_MERGED_TRACE_H
#define SIM_TRACE_MERGED_TRACE_H

#include <stdio.h>

#include "sim/trace/recording.h"

/* A rule of the session's fault plan. */
struct sim_trace_rule {
	uint32_t id;
	char *text;
	uint64_t fired;    /* faults injected */
	uint64_t added_ns; /* session time */
	bool removed;
};

/* The PCIe link of a device. */
struct sim_trace_link {
	char side[64], device[64];
	uint64_t to_card_bps, to_host_bps; /* payload capacity, bits per second */
};

/* A card of the session, as texts: "card0", "BlueField-3 ...", "Gen5 x16", "dpu". */
struct sim_trace_card {
	char name[64], model[128], link[32], mode[16];
};

/* Another machine of the session, whose recordings are in the trace: how its clock differs from that of the machine that wrote it. */
struct sim_trace_machine {
	char name[64];
	int64_t offset_ns; /* it is ahead by so much; the trace has corrected that */
	uint64_t error_ns; /* of that, at the most */
	uint64_t
		due_error_ns; /* of due times of messages between it and that machine, in timed mode; 0 = unknown, or another mode */
};

struct sim_merged_trace {
	uint64_t zero_ns;
	const char *clock;      /* name of the clock's mode (sim/clock/clock.h); NULL = unknown */
	uint64_t session_ns;    /* session time of the reading, if the clock is known */
	uint64_t begin_unix_ns; /* UNIX time of the session's begin */
	char boot[64];          /* a text that no other boot or machine has; "" = unknown */
	uint64_t num_dropped;   /* processes that ended too long ago: the daemon has dropped their recordings */
	struct sim_trace_card *cards;
	uint32_t num_cards;
	struct sim_trace_link *links;
	uint32_t num_links;
	struct sim_trace_recording *recordings;
	uint32_t num_recordings;
	struct sim_trace_rule *rules;
	uint32_t num_rules;
	struct sim_trace_machine *machines; /* none = of one machine */
	uint32_t num_machines;
	struct sim_trace_event *events; /* of all recordings, sorted by time; their texts belong to the recordings */
	size_t num_events;
};

/* A merged trace that is zero except for zero_ns is empty. The functions return 0 or -ENOMEM.
 * sim_merged_trace_add() consumes @recording, also on failure. */
int sim_merged_trace_add(struct sim_merged_trace *merged, struct sim_trace_recording *recording);
int sim_merged_trace_add_rule(struct sim_merged_trace *merged, uint32_t id, const char *text);
int sim_merged_trace_add_card(struct sim_merged_trace *merged, const struct sim_trace_card *card);
int sim_merged_trace_add_machine(struct sim_merged_trace *merged, const struct sim_trace_machine *machine);
int sim_merged_trace_add_link(struct sim_merged_trace *merged, const char *side, const char *device,
			      uint64_t to_card_bps, uint64_t to_host_bps);
int sim_merged_trace_sort(struct sim_merged_trace *merged);

/* Number processes, threads and streams by their order instead of by what the machine gave them: the commands of
 * "bfsim run" in their order, other processes by side, program and first event, threads and streams by their first
 * event. So runs with the same events, as virtual time has them, give the same files. Sorts. */
int sim_merged_trace_renumber(struct sim_merged_trace *merged);

void sim_merged_trace_free(struct sim_merged_trace *merged);

/* The process id of each recording, as an array that the caller frees; NULL without memory. Processes of several
 * pid namespaces may share a number: all ids but the first are changed so that no two are equal. */
int64_t *sim_merged_trace_pids(const struct sim_merged_trace *merged);

/* Session time of the first record of a process; 0 without records. */
uint64_t sim_merged_trace_first_ns(const struct sim_merged_trace *merged, uint32_t process);

/* How many tasks of all processes ended later than the model's time, in timed mode, and the worst of them. */
void sim_merged_trace_count_late(const struct sim_merged_trace *merged, uint64_t *ret_count, uint64_t *ret_max_ns);

/* At how many sites the checker found the process to break the rule; @rule is the number of its name. */
uint64_t sim_merged_trace_count_hits(const struct sim_merged_trace *merged, uint32_t process, uint32_t rule);

/* The text of the rule that injected a fault. */
const char *sim_merged_trace_rule_text(const struct sim_merged_trace *merged, const struct sim_trace_event *event);

/* Export in the Trace Event Format, which Perfetto and chrome://tracing load (perfetto.c gives the mapping), or as
 * comma-separated values (csv.c). Return 0 or -ENOMEM; ferror(@out) reports errors of writing. */
int sim_trace_export_perfetto(const struct sim_merged_trace *merged, FILE *out);
int sim_trace_export_csv(const struct sim_merged_trace *merged, FILE *out);

#endif
