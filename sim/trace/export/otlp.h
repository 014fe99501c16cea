/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/otlp.h - export as spans of OpenTelemetry: OTLP/JSON, in the lines that its file exporters write.
 *
 *   process        a resource, on one or more lines
 *   context        a span from its first event to its last, the parent of the spans of its tasks and faults
 *   task           a span from its submission until the program got it back, with events where its job began and ended
 *   fault          a span without length: a recording does not name the task
 *
 * Ids are hashes: of the boot and the session's begin for the trace, of the process and its events for the spans. So
 * several exports of a session have the same ids.
 */
#ifndef SIM_TRACE_OTLP_H
#define SIM_TRACE_OTLP_H

#include "merged_trace.h"

/* @version: of bfsim. Returns 0 or -ENOMEM; ferror(@out) reports errors of writing. */
int sim_trace_export_otlp(const struct sim_merged_trace *merged, const char *version, FILE *out);

#endif
