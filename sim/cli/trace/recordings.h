/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/trace/recordings.h - the recordings of a session's processes, from its daemon. */
#ifndef SIM_CLI_TRACE_RECORDINGS_H
#define SIM_CLI_TRACE_RECORDINGS_H

#include "sim/trace/export/merged_trace.h"

/* Read all recordings of the live session in @dir, of all of its machines (far_recordings.h). Returns 0 and a sorted trace that the caller frees, or -1 with a message. */
int cli_recordings_fetch(const char *dir, struct sim_merged_trace *ret_merged);

/* The same, cheaper: only counts and faults, not sorted, without links. @dir_fd is the open directory. */
int cli_recordings_fetch_counts(int dir_fd, const char *dir, struct sim_merged_trace *ret_merged);

/* The same two of this machine alone. */
int cli_recordings_fetch_here(const char *dir, struct sim_merged_trace *ret_merged);
int cli_recordings_fetch_counts_here(int dir_fd, const char *dir, struct sim_merged_trace *ret_merged);

#endif
