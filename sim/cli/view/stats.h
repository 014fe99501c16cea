/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/stats.h - the output of bfsim stats. man/bfsim-stats.1 documents the names. */
#ifndef SIM_CLI_VIEW_STATS_H
#define SIM_CLI_VIEW_STATS_H

#include "sim/cli/reach/reach.h"
#include "sim/trace/export/merged_trace.h"

/* Print the counts, and those of links to other machines, as JSON or as tables. Return 0, or -1 without memory, with a message. */
int cli_stats_print_json(const struct sim_merged_trace *merged, const struct cli_machines *machines, const char *dir);
int cli_stats_print_tables(const struct sim_merged_trace *merged, const struct cli_machines *machines);

#endif
