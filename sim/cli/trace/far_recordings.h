/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/trace/far_recordings.h - the recordings of the session's other machines, on this machine's time axis.
 *
 * The clock of each machine is compared with this one's when its recordings are fetched: a question and its answer, several times.
 * The shortest round trip tells best, and half of it is the bound of the error at that moment.
 */
#ifndef SIM_CLI_TRACE_FAR_RECORDINGS_H
#define SIM_CLI_TRACE_FAR_RECORDINGS_H

#include "sim/trace/export/merged_trace.h"

/* Add the recordings of the other machines that have joined the session in @dir; one that can't be read is left out, with a message.
 * @counts_only: only counts and faults, whose times stay as they are. Returns 0, or -1 with a message. The caller sorts. */
int cli_far_recordings_add(const char *dir, bool counts_only, struct sim_merged_trace *merged);

#endif
