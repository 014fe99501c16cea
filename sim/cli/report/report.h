/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report.h - what a trace comes to: its tasks and messages by operation, in numbers.
 *
 *   trace file --read--> tasks, messages, faults, log lines --count--> figures --> one HTML page
 *
 * The trace is one that bfsim trace wrote for Perfetto, with an event on each line; it
 * is read line by line. An operation is a kind of task of one context of one
 * process, or the messages that one end of a connection sent and the other
 * received: these take from the one to the other. Times are ns since the
 * session began. Texts are the trace's, to be escaped by whoever prints them.
 */
#ifndef SIM_CLI_REPORT_REPORT_H
#define SIM_CLI_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#define CLI_REPORT_SLICES 60 /* of time */
#define CLI_REPORT_BINS   40 /* of latency: 1 ns to 2, 2 to 5, 5 to 10, 10 to 20, ... */

/* Over a link. */
enum cli_report_direction { CLI_REPORT_TO_CARD, CLI_REPORT_TO_HOST, CLI_REPORT_NUM_DIRECTIONS };

struct cli_report_task {
	uint32_t op;
	uint32_t directions; /* that its bytes took: bits 1 << enum cli_report_direction */
	bool is_timed;       /* submission was noted */
	uint32_t in_flight;  /* at its submission, with it; 0 = not known */
	uint64_t begin_ns, latency_ns, bytes;
};

struct cli_report_op {
	int64_t pid;
	char *context, *device, *name;
	bool is_messages;
	/* As the trace sums them up; of messages none. */
	bool has_counts;
	uint64_t submitted, completed, failed, sum_bytes;
	/* Of what was recorded one by one. */
	uint64_t recorded, recorded_failed, timed;
	uint64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
	uint64_t bins[CLI_REPORT_BINS];
	uint32_t first_bin, end_bin;       /* those with tasks */
	uint64_t bytes[CLI_REPORT_SLICES]; /* that ended there */
	uint64_t tasks[CLI_REPORT_SLICES];
	uint32_t in_flight[CLI_REPORT_SLICES]; /* most, of those submitted there */
};

/* A fault that struck, or a warning. */
struct cli_report_incident {
	uint64_t time_ns;
	int64_t pid;
	bool is_error; /* of log lines */
	uint32_t rule; /* of faults; with what follows */
	uint64_t match, bytes, delay_ns;
	char *text, *operation, *context;
};

struct cli_report_incidents {
	struct cli_report_incident *list;
	size_t count;
};

struct cli_report_link {
	const char *side, *device; /* in the summary */
	struct cli_report_link_traffic {
		uint64_t payload_bps; /* that it could carry */
		uint64_t total_bytes;
		uint64_t bytes[CLI_REPORT_SLICES]; /* that crossed it there */
	} traffic[CLI_REPORT_NUM_DIRECTIONS];
};

struct cli_report {
	struct cli_report_task *tasks;
	size_t num_tasks;
	struct cli_report_op *ops;
	size_t num_ops;
	struct cli_report_incidents faults, warnings;
	struct cli_report_link *links; /* that carried something */
	size_t num_links;
	json_object *summary; /* the trace's otherData */
	uint64_t first_ns, last_ns, slice_ns;
};

/* Read a trace; @name stands for it in messages. Returns 0, or -1 after it said why not.
 * *ret_report is the caller's then (fini). */
int cli_report_read(FILE *in, const char *name, struct cli_report *ret_report);

/* Work out the figures. Returns 0, or -1 without memory (said). */
int cli_report_compute_stats(struct cli_report *report);

void cli_report_fini(struct cli_report *report);

/* Where bin @number of latencies begins; it ends where the next begins. */
uint64_t cli_report_bin_start_ns(uint32_t number);

/* Members of an object that may be missing, or anything: then "" and 0. */
const char *cli_json_text(json_object *object, const char *key);
uint64_t cli_json_number(json_object *object, const char *key);
json_object *cli_json_list(json_object *object, const char *key); /* an array, or NULL; length by cli_json_len */
size_t cli_json_len(json_object *list);

/* The process of that number in the trace's summary, or NULL. */
json_object *cli_report_find_process(const struct cli_report *report, int64_t pid);

/* report_links.c: what links carried. Returns 0, or -1 without memory. */
int cli_report_compute_links(struct cli_report *report);

/* The slice that a time is in. */
uint32_t cli_report_slice_index(const struct cli_report *report, uint64_t time_ns);

/* Share of a link's bandwidth that way, in thousandths, that @bytes in @ns are. */
uint64_t cli_report_link_utilization(const struct cli_report_link_traffic *traffic, uint64_t bytes, uint64_t ns);

/* The figures as JSON, the caller's (json_object_put()). */
json_object *cli_report_json(const struct cli_report *report);

/* The page. Whether all was written, @out says (ferror()). */
void cli_report_print(const struct cli_report *report, FILE *out);

#endif
