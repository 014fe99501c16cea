/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/trace/recordings.h - what a session's processes have recorded, fetched from its daemon. */
#ifndef SIM_CLI_TRACE_RECORDINGS_H
#define SIM_CLI_TRACE_RECORDINGS_H

#include "sim/trace/export/merged_trace.h"

/* Read all recordings of a live session. @dir_fd is its directory, @dir its name for
 * messages. *ret_dropped is how many more there were, of processes that have long
 * gone. Returns 0 and a merged trace to be freed, or -1; then the reason was said. */
int cli_recordings_fetch(int dir_fd, const char *dir, struct sim_merged_trace *ret_merged, uint64_t *ret_dropped);

/* The same for whoever looks often: only counts and faults, not sorted, without links. */
int cli_recordings_fetch_counts(int dir_fd, const char *dir, struct sim_merged_trace *ret_merged,
				uint64_t *ret_dropped);

#endif
