/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/fault/fault_replay.h - the plan that repeats the faults of a recorded run.
 *
 *   dma.memcpy p=1% fail=IO_FAILED    struck a process at its 17th and 203rd match, so:
 *
 *   dma.memcpy side=dpu program=app nth=17 fail=IO_FAILED
 *   dma.memcpy side=dpu program=app nth=203 fail=IO_FAILED
 *
 * What a rule looks for stays, when it strikes is told by number, and delays that
 * were drawn are fixed. Rules for events are kept as they are: the clock tells when.
 */
#ifndef SIM_CLI_FAULT_FAULT_REPLAY_H
#define SIM_CLI_FAULT_FAULT_REPLAY_H

#include "sim/cli/report/report.h"

/* Print the plan of a report to @out; messages begin with @name, the trace's. Returns 0, or -1 when the plan does not
 * repeat everything; messages say what it lacks. */
int cli_fault_replay(const struct cli_report *report, const char *name, FILE *out);

#endif
