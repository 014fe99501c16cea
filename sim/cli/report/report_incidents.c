/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of what happened at a time, on a report's page: their common cells, and the section of the checker's findings. */
#include <inttypes.h>

#include "html.h"
#include "report_page.h"
#include "sim/check/rules.h"
#include "sim/cli/base/human_format.h"

void cli_report_put_time_offset(const struct cli_report *report, uint64_t time_ns, FILE *out)
{
	char text[CLI_HUMAN_SIZE];

	cli_human_time(time_ns > report->first_ns ? time_ns - report->first_ns : 0, text);
	cli_html_put_number_cell(out, text);
}

void cli_report_put_incidents(const char *name, const char *const *headings, const struct cli_report *report,
			      const struct cli_report_incidents *incidents, cli_report_put_incident *put, FILE *out)
{
	cli_html_put_table_begin(out, name, headings);
	for (size_t i = 0; i < incidents->count && i < CLI_REPORT_MAX_LISTED; i++)
		put(report, &incidents->list[i], out);
	cli_html_put_table_end(out);
	if (incidents->count > CLI_REPORT_MAX_LISTED)
		fprintf(out, "<p class=\"soft\">%zu more are not listed.</p>\n",
			incidents->count - CLI_REPORT_MAX_LISTED);
}

static void put_finding(const struct cli_report *report, const struct cli_report_incident *finding, FILE *out)
{
	const char *remedy = cli_report_finding_remedy(finding);

	fputs("<tr>", out);
	cli_report_put_time_offset(report, finding->time_ns, out);
	cli_report_put_process_cell(report, finding->pid, out);
	cli_html_put_cell(out, finding->severity < SIM_CHECK_NUM_SEVERITIES ?
				       sim_check_severity_name((enum sim_check_severity)finding->severity) :
				       "");
	cli_html_put_cell(out, finding->operation);
	fputs("<td><code>", out);
	cli_html_put_escaped(out, finding->place);
	fputs("</code></td><td class=\"wide\">", out);
	cli_html_put_escaped(out, finding->text);
	if (finding->count > 1)
		fprintf(out, " (%llu times)", (unsigned long long)finding->count);
	if (remedy[0]) {
		fputs("<br><span class=\"soft\">Remedy: ", out);
		cli_html_put_escaped(out, remedy);
		fputs("</span>", out);
	}
	fputs("</td></tr>\n", out);
}

/* Nothing for a run that was not checked: it has no findings, and the page can't tell. */
void cli_report_put_findings(const struct cli_report *report, FILE *out)
{
	static const char *const headings[] = {
		">After", "Process", "Severity", "Rule", "Where", "What happened", NULL
	};

	if (report->findings.count == 0)
		return;
	fputs("<h2 id=\"hits\">Rules that were broken</h2>\n", out);
	fputs("<p><code>bfsim rules ID</code> says more about each.</p>\n", out);
	cli_report_put_incidents("Hits of the checker", headings, report, &report->findings, put_finding, out);
}
