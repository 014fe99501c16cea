/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/top.h - a session that runs, seen again and again: what changed since the last snapshot.
 *
 *   snapshot --> counts of each context and connection --+-- minus those of the snapshot before --> rows, the busiest first
 *
 * A row is a context with all its tasks, or a connection with its messages. Of
 * processes and objects that have gone there are none.
 */
#ifndef SIM_CLI_VIEW_TOP_H
#define SIM_CLI_VIEW_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/trace/export/merged_trace.h"

struct cli_top_row {
	/* Who it is; the same at each snapshot. */
	int32_t pid;
	uint64_t process_began_ns;
	uint32_t number;
	char side[16], program[32], object[40];
	/* Since it began. */
	uint64_t tasks, bytes, messages, failed, faults;
	uint64_t in_flight;
	/* A second, since the snapshot before. */
	uint64_t task_rate, byte_rate, message_rate;
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

/* Look at a session. Rates are those since *before, NULL = 0. Returns 0, or -1 (said). *ret_snapshot is the caller's. */
int cli_top_snapshot_take(int dir_fd, const char *dir, const struct cli_top_snapshot *before,
			  struct cli_top_snapshot *ret_snapshot);
void cli_top_snapshot_fini(struct cli_top_snapshot *snapshot);

/* Print it in so many columns, lines no longer than these, and so many lines (0 = as many as it takes).
 * @bold: headings stand out by the terminal's means. */
void cli_top_print(const struct cli_top_snapshot *snapshot, const char *dir, unsigned int columns, unsigned int lines,
		   bool bold, FILE *out);

#endif
