/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report.h - a report: the tasks and messages of a run, in numbers.
 *
 *   recordings of a session, or of a file --report_recordings.c--> struct cli_report --count--> figures --> one HTML page
 *
 * An operation is one kind of task of one context of one
 * process, or the messages that one end of a connection sent. The latency of a message is the time from its
 * sending to its receipt. Times are in ns since the session began. Texts belong to the report and are
 * never NULL unless said otherwise; the code that prints them escapes them.
 */
#ifndef SIM_CLI_REPORT_REPORT_H
#define SIM_CLI_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>
#include <sys/queue.h>

#include "sim/cli/base/fields.h"

#define CLI_REPORT_SLICES 60 /* parts of the run's time */
#define CLI_REPORT_DECADE 8  /* bins of a factor of ten: 10 ns, 13, 18, 24, 32, 42, 56, 75, 100, ... */
#define CLI_REPORT_BINS   (1 + 13 * CLI_REPORT_DECADE) /* of latencies; the first is below 10 ns */

/* Directions of a link. */
enum cli_report_direction { CLI_REPORT_TO_CARD, CLI_REPORT_TO_HOST, CLI_REPORT_NUM_DIRECTIONS };

/* A task or a message that was recorded. */
struct cli_report_task {
	uint32_t op;
	uint32_t directions; /* of its bytes over the link: bits 1 << enum cli_report_direction */
	bool is_timed;       /* the submission was recorded */
	uint32_t in_flight;  /* tasks in flight at its submission, this one included; 0 = not known */
	uint64_t begin_ns, latency_ns, bytes;
};

/* Exact counts of an operation, of all its tasks. */
struct cli_report_counts {
	uint64_t submitted, completed, failed, bytes;
};

struct cli_report_op {
	int64_t pid;
	const char *context, *device, *name;
	bool is_messages;
	bool has_counts; /* messages have none */
	struct cli_report_counts counts;
	/* Tasks and messages that were recorded one by one. */
	uint64_t recorded, recorded_failed, timed;
	uint64_t first_ns, last_ns; /* from the first submission to the last end of these */
	uint64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
	uint64_t bins[CLI_REPORT_BINS];
	uint32_t first_bin, end_bin;           /* range of the bins that are not empty */
	uint64_t bytes[CLI_REPORT_SLICES];     /* that moved in the slice, as evenly as they can have (report_flow.c) */
	uint64_t tasks[CLI_REPORT_SLICES];     /* that ended in the slice */
	uint32_t in_flight[CLI_REPORT_SLICES]; /* most tasks in flight at one time of the slice */
};

/* A fault that was injected, a warning or error of the log, or a finding of the checker. */
struct cli_report_incident {
	uint64_t time_ns;
	int64_t pid;
	bool is_error;                         /* of log lines */
	uint64_t rule, match, bytes, delay_ns; /* of faults */
	uint32_t severity;                     /* of findings: enum sim_check_severity */
	uint64_t count;                        /* of findings: how often at this place; 0 = not known */
	const char *place, *remedy;            /* of findings: "app.c:45", "" = not known; NULL in what is added = "" */
	const char *text, *operation, *context; /* operation: of hits, the rule's id */
};

struct cli_report_incidents {
	struct cli_report_incident *list;
	size_t count;
};

struct cli_report_process {
	int64_t pid;
	const char *side, *program, *level; /* level: how much it recorded */
	const char *paths;                  /* data paths of its imports, "cma, mapped" */
	uint64_t first_ns;                  /* time of its first record */
	uint64_t num_records, num_lost, num_bad;
};

/* A rule of the fault plan. */
struct cli_report_rule {
	uint64_t id, fired, added_ns;
	const char *text;
	bool is_removed; /* from the plan */
};

/* A card of the session: its name, model, link to the host, and mode. */
struct cli_report_card {
	const char *name, *model, *link, *mode;
};

/* Another machine of the session, whose times were put on the axis of the machine that read the recordings. */
struct cli_report_machine {
	const char *name;
	int64_t clock_ahead_ns;
	uint64_t clock_error_ns; /* of that, at the most */
	uint64_t due_error_ns;   /* of due times of messages in timed mode; 0 = unknown, or another mode */
};

struct cli_report_link {
	const char *side, *device;
	struct cli_report_link_traffic {
		uint64_t payload_bps; /* that the link can carry in this direction */
		uint64_t total_bytes;
		uint64_t bytes[CLI_REPORT_SLICES]; /* that crossed the link in the slice */
	} traffic[CLI_REPORT_NUM_DIRECTIONS];
};

struct cli_report_run;

struct cli_report {
	const struct cli_report_run *run; /* that wrote it (report_run.h), the caller's; NULL = another command did */
	const char *clock;                /* mode of the session's clock; NULL = not known */
	uint64_t session_ns;              /* session time at the end; 0 = not known */
	uint64_t num_late, max_late_ns; /* tasks that ended later than the model's time, in timed mode; and the worst */
	struct cli_report_process *processes;
	size_t num_processes;
	struct cli_report_card *cards;
	size_t num_cards;
	struct cli_report_machine *machines;
	size_t num_machines;
	struct cli_report_rule *rules;
	size_t num_rules;
	struct cli_report_task *tasks;
	size_t num_tasks;
	struct cli_report_op *ops;
	size_t num_ops, last_op; /* last_op: index of the operation that was added or found last */
	struct cli_report_incidents faults, warnings, findings;
	struct cli_report_link *links; /* after cli_report_compute_stats(), those that carried something */
	size_t num_links;
	uint64_t first_ns, last_ns, slice_ns;
	uint64_t last_event_ns; /* at most last_ns, which is the end of a run that failed */
	SLIST_HEAD(, cli_report_text) texts;
	bool has_failed; /* out of memory while the report was filled */
};

/* Sums of all operations. Messages are those that were recorded. */
struct cli_report_totals {
	uint64_t completed, failed, messages;
};

struct cli_report_totals cli_report_count_totals(const struct cli_report *report);

/* Tasks or messages of the operation that ended, and their bytes: exact, but for messages, which are those recorded. */
uint64_t cli_report_op_ended(const struct cli_report_op *op);
uint64_t cli_report_op_bytes(const struct cli_report_op *op);

/* Work out the figures. Returns 0, or -1 without memory, with a message. */
int cli_report_compute_stats(struct cli_report *report);

void cli_report_fini(struct cli_report *report);

/* The first latency of bin @number; the bin ends where the next begins. */
uint64_t cli_report_bin_start_ns(uint32_t number);

/* The remedy of a finding: its own, else that of its rule; "" if neither is known. */
const char *cli_report_finding_remedy(const struct cli_report_incident *finding);

/* The process with that number, or NULL. */
const struct cli_report_process *cli_report_find_process(const struct cli_report *report, int64_t pid);

/* Compute each operation's bytes and queue depth over time. Returns 0, or -1 without memory. */
int cli_report_compute_flows(struct cli_report *report);

/* Add @bytes to the slices, spread evenly from @begin_ns to @end_ns. */
void cli_report_spread(const struct cli_report *report, uint64_t begin_ns, uint64_t end_ns, uint64_t bytes,
		       uint64_t slices[CLI_REPORT_SLICES]);

/* Compute the traffic of each link and drop the links without. Returns 0, or -1 without memory. */
int cli_report_compute_links(struct cli_report *report);

/* The slice that contains a time. */
uint32_t cli_report_slice_index(const struct cli_report *report, uint64_t time_ns);

/* @bytes in @ns as a share of the link's bandwidth, in thousandths. */
uint64_t cli_report_link_utilization(const struct cli_report_link_traffic *traffic, uint64_t bytes, uint64_t ns);

/* The processes and cards, for JSON and for the page (sim/cli/base/fields.h). */
extern const struct cli_field cli_report_process_fields[], cli_report_card_fields[], cli_report_machine_fields[];

/* The figures as JSON; the caller releases them with json_object_put(). */
json_object *cli_report_json(const struct cli_report *report);

/* Print the page. Test ferror(@out) for errors. */
void cli_report_print(const struct cli_report *report, FILE *out);

#endif
