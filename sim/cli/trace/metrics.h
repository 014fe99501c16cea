/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/trace/metrics.h - the counts of a session as OpenMetrics text, which Prometheus and Grafana read.
 *
 * Families of counters, each with its type, unit and help, a sample for each process and object, and the mark of the end.
 * A process that has ended keeps its samples.
 */
#ifndef SIM_CLI_TRACE_METRICS_H
#define SIM_CLI_TRACE_METRICS_H

#include <stdio.h>

#include "sim/cli/reach/reach.h"
#include "sim/trace/export/merged_trace.h"

/* Returns 0, or -1 without memory, with a message. Test ferror(@out) for errors. */
int cli_metrics_print(const struct sim_merged_trace *merged, const struct cli_machines *machines, FILE *out);

/* Write those of a live session to a file, which is replaced as a whole: a reader sees the old one or the new one. Returns an
 * exit status; a failure comes with a message. */
int cli_metrics_write_session(const char *dir, const char *path);

#endif
