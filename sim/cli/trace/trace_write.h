/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/trace/trace_write.h - writing a trace to a file. */
#ifndef SIM_CLI_TRACE_TRACE_WRITE_H
#define SIM_CLI_TRACE_TRACE_WRITE_H

#include <stdbool.h>

enum cli_trace_format { CLI_TRACE_PERFETTO, CLI_TRACE_CSV, CLI_TRACE_OTLP, CLI_TRACE_RAW };

/* Their names, up to NULL. */
extern const char *const cli_trace_formats[];

/* The format for a file of that name: CSV for *.csv, OTLP for *.jsonl, a recording for *.bfsim, else Perfetto's. */
enum cli_trace_format cli_trace_format_of_file(const char *path);

/* Write the trace of @source to @path; NULL or "-" = standard output. @source: the directory of a live session, or a recording
 * (recording_file.h). Returns an exit status; a failure comes with a message. After a write error the incomplete file stays. */
int cli_trace_write(const char *source, enum cli_trace_format format, const char *path);

#endif
