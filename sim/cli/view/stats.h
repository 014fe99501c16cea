/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/stats.h - what bfsim stats prints. man/bfsim-stats.1 documents the names. */
#ifndef SIM_CLI_VIEW_STATS_H
#define SIM_CLI_VIEW_STATS_H

#include "sim/trace/export/merged_trace.h"

void cli_stats_print_json(const struct sim_merged_trace *merged, const char *dir, uint64_t num_dropped);

/* As tables. Returns 0, or -1 without memory (said). */
int cli_stats_print_tables(const struct sim_merged_trace *merged);

#endif
