/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_add.h - filling a report.
 *
 *   cli_report_init --> cli_report_add_...() --> cli_report_finish
 *
 * Texts are copied. A function that runs out of memory sets report->has_failed and adds nothing.
 */
#ifndef SIM_CLI_REPORT_REPORT_ADD_H
#define SIM_CLI_REPORT_REPORT_ADD_H

#include "report.h"

void cli_report_init(struct cli_report *report);

/* End the filling. Returns 0; or -1 when memory ran out, after a message that begins with @name. The report stays
 * the caller's in both cases. */
int cli_report_finish(struct cli_report *report, const char *name);

/* A copy of @text that lives as long as the report; "" without memory. */
const char *cli_report_copy_text(struct cli_report *report, const char *text);

/* Something happened at @time_ns: the report's time includes it. */
void cli_report_add_time(struct cli_report *report, uint64_t time_ns);

/* The operation's index; a new operation is added. SIZE_MAX without memory. */
size_t cli_report_add_op(struct cli_report *report, int64_t pid, const char *context, const char *device,
			 const char *name);

/* Set the exact counts of an operation. An operation that did nothing and has no recorded tasks is not added. */
void cli_report_add_counts(struct cli_report *report, int64_t pid, const char *context, const char *device,
			   const char *name, const struct cli_report_counts *counts);

void cli_report_add_task(struct cli_report *report, const struct cli_report_task *task);
void cli_report_add_incident(struct cli_report *report, struct cli_report_incidents *incidents,
			     const struct cli_report_incident *incident);
void cli_report_add_process(struct cli_report *report, const struct cli_report_process *process);
void cli_report_add_rule(struct cli_report *report, const struct cli_report_rule *rule);

/* The command that writes the report, which it outlives: its findings of the checker take the place of the recorded ones, as they have
 * place and remedy; if it has failed, the report's time is that of the run. */
void cli_report_set_run(struct cli_report *report, const struct cli_report_run *run);

void cli_report_add_machine(struct cli_report *report, const struct cli_report_machine *machine);
void cli_report_add_card(struct cli_report *report, const struct cli_report_card *card);

/* A link and the payload that it can carry, in bits per second. */
void cli_report_add_link(struct cli_report *report, const char *side, const char *device, uint64_t to_card_bps,
			 uint64_t to_host_bps);

#endif
