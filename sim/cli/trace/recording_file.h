/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/trace/recording_file.h - the recordings of a session as a file: what bfsim report and bfsim fault replay read.
 *
 *   head | cards | links | machines | rules, each with its text | recordings, each: its struct, its tables, its events, their texts
 *
 * All parts are structs in the byte order of the machine; the head has the version and their sizes. A file is not trusted: its
 * reader checks sizes, texts and, as of a recording in memory, each entry.
 */
#ifndef SIM_CLI_TRACE_RECORDING_FILE_H
#define SIM_CLI_TRACE_RECORDING_FILE_H

#include "sim/trace/export/merged_trace.h"

#define CLI_RECORDING_EXTENSION ".bfsim"

/* Write a trace that has the machine's numbers. ferror(@out) reports errors. */
void cli_recording_write(const struct sim_merged_trace *merged, FILE *out);

/* Read a file; @name is its name in messages. Returns 0 and a sorted trace that the caller frees, or -1 with a message. */
int cli_recording_read(FILE *in, const char *name, struct sim_merged_trace *ret_merged);

/* The same of the file at @path. */
int cli_recording_open(const char *path, struct sim_merged_trace *ret_merged);

#endif
