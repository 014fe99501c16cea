/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/top.h - snapshots of a live session, and the changes between them.
 *
 *   snapshot --> counts of each context and connection --+-- minus those of the last snapshot --> rows, the busiest first
 *
 * A row is a context with all its tasks, or a connection with its messages. Processes and objects that have ended
 * have no row.
 */
#ifndef SIM_CLI_VIEW_TOP_H
#define SIM_CLI_VIEW_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/trace/export/merged_trace.h"

struct cli_top_row {
	/* Identity: the same in each snapshot. */
	int32_t pid;
	uint64_t process_began_ns;
	uint32_t number;
	char side[16], program[32], object[40];
	/* Totals. */
	uint64_t tasks, bytes, messages, failed, faults;
	uint64_t num_timed, latency_ns; /* tasks of which the time is known, and its sum */
	uint64_t in_flight;
	/* Per second, since the last snapshot. */
	uint64_t task_rate, byte_rate, message_rate;
	uint64_t mean_ns; /* latency of tasks since then; 0 = not known */
};

struct cli_top_snapshot {
	uint64_t time_ns; /* by CLOCK_MONOTONIC */
	uint64_t session_ns;
	const char *clock; /* NULL = not known */
	uint64_t num_rules, num_hits, hit_rate;
	uint32_t num_alive, num_ended;
	struct cli_top_row *rows;
	size_t num_rows;
};

/* Take a snapshot of a session. Rates are since @before; 0 if that is NULL. Returns 0, or -1 with a message. The caller
 * releases *ret_snapshot. */
int cli_top_snapshot_take(int dir_fd, const char *dir, const struct cli_top_snapshot *before,
			  struct cli_top_snapshot *ret_snapshot);
void cli_top_snapshot_fini(struct cli_top_snapshot *snapshot);

/* Print at most @lines lines of at most @columns characters. @lines 0: no limit. @bold: highlight headings with control
 * sequences. */
void cli_top_print(const struct cli_top_snapshot *snapshot, const char *dir, unsigned int columns, unsigned int lines,
		   bool bold, FILE *out);

/* Print what the columns mean and which keys there are, within the same limits. */
void cli_top_print_help(unsigned int columns, unsigned int lines, FILE *out);

#endif
