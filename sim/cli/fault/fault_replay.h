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

#include <stdio.h>

/* Print the plan for a trace (as cli_report_read() reads it; @name stands for it in messages) to @out.
 * Returns 0; -1 when it can't be, or not be all of it, which was said. */
int cli_fault_replay(FILE *trace, const char *name, FILE *out);

#endif
