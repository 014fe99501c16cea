/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/fault/fault_replay.h - the plan that repeats the faults of a recorded run.
 *
 *   dma.memcpy p=1% fail=IO_FAILED    hit a process at its 17th and 203rd match, so the plan is:
 *
 *   dma.memcpy side=dpu program=app nth=17 fail=IO_FAILED
 *   dma.memcpy side=dpu program=app nth=203 fail=IO_FAILED
 *
 * The conditions of a rule stay. The number of the match replaces every, p and the like; the delay that was
 * drawn becomes a fixed delay. Rules for events stay as they are, as the clock decides when they apply.
 */
#ifndef SIM_CLI_FAULT_FAULT_REPLAY_H
#define SIM_CLI_FAULT_FAULT_REPLAY_H

#include "sim/cli/report/report.h"

/* Print the plan of a report to @out; messages begin with @name, the trace's. Returns 0, or -1 when the plan does not
 * repeat everything; messages say what it lacks. */
int cli_fault_replay(const struct cli_report *report, const char *name, FILE *out);

#endif
