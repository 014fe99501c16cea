/* SPDX-License-Identifier: BSD-3-Clause */
/* The checker's findings in a report: the checker's own list, if bfsim run has it. */
#include <stdlib.h>
#include <string.h>

#include "report_add.h"
#include "report_run.h"
#include "sim/check/rules.h"
#include "sim/cli/base/json.h"

#define PLACE_SIZE 512

/* The source line of the finding's innermost frame: "app.c:45"; "" if it is not known. */
static void write_place(json_object *finding, char place[PLACE_SIZE])
{
	json_object *stack = cli_json_list(finding, "stack");
	json_object *frame = stack ? json_object_array_get_idx(stack, 0) : NULL;
	const char *file = cli_json_text(frame, "file");

	place[0] = '\0';
	if (file[0])
		snprintf(place, PLACE_SIZE, "%s:%llu", file, (unsigned long long)cli_json_number(frame, "line"));
}

static void add_finding(struct cli_report *report, json_object *finding)
{
	enum sim_check_severity severity = SIM_CHECK_ERROR;
	char place[PLACE_SIZE];

	if (cli_json_member(finding, "muted"))
		return;
	write_place(finding, place);
	sim_check_severity_parse(cli_json_text(finding, "severity"), &severity);
	cli_report_add_incident(report, &report->findings,
				&(struct cli_report_incident){ .time_ns = cli_json_number(finding, "time_ns"),
							       .pid = json_object_get_int64(cli_json_member(
								       cli_json_member(finding, "process"), "pid")),
							       .severity = severity,
							       .count = cli_json_number(finding, "count"),
							       .text = cli_json_text(finding, "message"),
							       .operation = cli_json_text(finding, "rule"),
							       .context = "",
							       .place = place,
							       .remedy = cli_json_text(finding, "remedy") });
}

static void set_findings(struct cli_report *report, json_object *list)
{
	free(report->findings.list);
	report->findings = (struct cli_report_incidents){ 0 };
	for (size_t i = 0; i < json_object_array_length(list); i++)
		add_finding(report, json_object_array_get_idx(list, i));
}

void cli_report_set_run(struct cli_report *report, const struct cli_report_run *run)
{
	report->run = run;
	report->last_event_ns = report->last_ns;
	if (run->hits)
		set_findings(report, run->hits);
	if (cli_report_run_failed(run) && run->ended_ns > 0) {
		cli_report_add_time(report, 0);
		cli_report_add_time(report, run->ended_ns);
	}
}

/* A recorded finding has none of its own. */
const char *cli_report_finding_remedy(const struct cli_report_incident *finding)
{
	const struct sim_check_rule_entry *rule = sim_check_rule_find(finding->operation);

	return finding->remedy[0] || !rule ? finding->remedy : rule->remedy;
}
