/* SPDX-License-Identifier: BSD-3-Clause */
/* The section of a report about the command that wrote it: how it ended, its commands, seed, version and date. */
#include "report_run.h"

#include <inttypes.h>
#include <time.h>

#include "html.h"
#include "report.h"
#include "sim/check/rules.h"
#include "sim/cli/base/human_format.h"
#include "sim/cli/base/json.h"

#define DATE_SIZE    32
#define MAX_MESSAGES 200 /* on the page; the JSON has all */
#define GAP_SHARE    10  /* a gap of more than this part of the run is told */

static void format_date(char text[DATE_SIZE])
{
	time_t now = time(NULL);
	struct tm parts;

	if (!gmtime_r(&now, &parts) || strftime(text, DATE_SIZE, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
		text[0] = '\0';
}

static void put_command(const struct cli_report_command *command, FILE *out)
{
	fputs("<tr>", out);
	cli_html_put_cell(out, command->label);
	cli_html_put_code_cell(out, command->text);
	if (command->status < 0)
		cli_html_put_number_cell(out, "<span class=\"bad\">none</span>");
	else
		fprintf(out, "<td class=\"n%s\">%d</td>", command->status ? " bad" : "", command->status);
	fputs("</tr>\n", out);
}

bool cli_report_run_failed(const struct cli_report_run *run)
{
	return run->status != 0 || run->was_signalled;
}

/* How it ended, in a sentence. */
static void put_end(const struct cli_report *report, FILE *out)
{
	const struct cli_report_run *run = report->run;

	fprintf(out, "<p%s>", cli_report_run_failed(run) ? " class=\"bad\"" : "");
	if (run->timed_out_s)
		fprintf(out, "Timed out after %u s (status %d).", run->timed_out_s, run->status);
	else if (run->was_signalled)
		fputs("Ended by a signal.", out);
	else if (run->status == SIM_CHECK_EXIT_STATUS && report->findings.count)
		fprintf(out, "Ended with status %d: the checker found <a href=\"#hits\">%zu broken rule%s</a>.",
			run->status, report->findings.count, report->findings.count == 1 ? "" : "s");
	else
		fprintf(out, "Ended with status %d.", run->status);
	fputs("</p>\n", out);
}

/* The time without events before the end, if it is much of the run. */
static void put_gap(const struct cli_report *report, FILE *out)
{
	uint64_t end_ns = report->run->ended_ns, last_ns = report->last_event_ns;
	char gap[CLI_HUMAN_SIZE], last[CLI_HUMAN_SIZE];

	if (!cli_report_run_failed(report->run) || end_ns <= last_ns || (end_ns - last_ns) < end_ns / GAP_SHARE)
		return;
	cli_human_time(end_ns - last_ns, gap);
	cli_human_time(last_ns, last);
	fprintf(out, "<p class=\"bad\">Nothing was recorded in the last %s of the run, after %s.</p>\n", gap, last);
}

/* What bfsim run printed: the cause, what was in flight, which faults hit. */
static void put_messages(const struct cli_report_run *run, FILE *out)
{
	static const char *const headings[] = { "Messages of bfsim run", NULL };

	if (run->num_messages == 0)
		return;
	cli_html_put_table_begin(out, "Messages of bfsim run", headings);
	for (size_t i = 0; i < run->num_messages && i < MAX_MESSAGES; i++) {
		fputs("<tr>", out);
		cli_html_put_code_cell(out, run->messages[i]);
		fputs("</tr>\n", out);
	}
	cli_html_put_table_end(out);
	if (run->num_messages > MAX_MESSAGES)
		fprintf(out, "<p class=\"soft\">%zu more are not listed.</p>\n", run->num_messages - MAX_MESSAGES);
}

void cli_report_put_run(const struct cli_report *report, FILE *out)
{
	static const char *const headings[] = { "Side", "Command", ">Exit status", NULL };
	const struct cli_report_run *run = report->run;
	char date[DATE_SIZE];

	format_date(date);
	fputs("<h2 id=\"run\">Run</h2>\n", out);
	put_end(report, out);
	put_gap(report, out);
	fprintf(out, "<p class=\"soft\">bfsim " BFSIM_VERSION ", seed %" PRIu64 ", %s</p>\n", run->seed, date);
	cli_html_put_table_begin(out, "Commands", headings);
	for (size_t i = 0; i < run->num_commands; i++)
		put_command(&run->commands[i], out);
	cli_html_put_table_end(out);
	put_messages(run, out);
}

static json_object *messages_json(const struct cli_report_run *run)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < run->num_messages; i++)
		json_object_array_add(list, json_object_new_string(run->messages[i]));
	return list;
}

json_object *cli_report_run_json(const struct cli_report_run *run)
{
	json_object *json = json_object_new_object(), *commands = json_object_new_array();
	char date[DATE_SIZE];

	format_date(date);
	cli_json_add_text(json, "bfsim", BFSIM_VERSION);
	cli_json_add_text(json, "date", date);
	cli_json_add_number(json, "status", (uint64_t)run->status);
	cli_json_add_number(json, "timed_out_s", run->timed_out_s);
	cli_json_add_number(json, "ended_ns", run->ended_ns);
	cli_json_add_number(json, "seed", run->seed);
	for (size_t i = 0; i < run->num_commands; i++) {
		json_object *command = json_object_new_object();

		cli_json_add_text(command, "side", run->commands[i].label);
		cli_json_add_text(command, "command", run->commands[i].text);
		json_object_object_add(command, "status", json_object_new_int(run->commands[i].status));
		json_object_array_add(commands, command);
	}
	json_object_object_add(json, "commands", commands);
	json_object_object_add(json, "messages", messages_json(run));
	return json;
}
