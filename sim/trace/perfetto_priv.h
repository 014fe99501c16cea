/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that tell a story to Perfetto. */
#ifndef SIM_TRACE_PERFETTO_PRIV_H
#define SIM_TRACE_PERFETTO_PRIV_H

#include "story.h"

/* Printable UTF-8, as a JSON string. */
void sim_trace_put_text(FILE *out, const char *text);

/* The object that stands beside the events, on one line: what the session is, what each
 * process did in sum, the rules of its plan. @pids are the processes' in the events. */
void sim_trace_put_sum(FILE *out, const struct sim_trace_story *story, const int64_t *pids);

#endif
