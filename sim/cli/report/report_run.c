/* SPDX-License-Identifier: BSD-3-Clause */
/* The section of a report about the command that wrote it: how it ended, its commands, seed, version and date. */
#include "report_run.h"

#include <inttypes.h>
#include <time.h>

#include "html.h"
#include "sim/cli/base/json.h"

#define DATE_SIZE 32

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
	fputs("<td class=\"wide\"><code>", out);
	cli_html_put_escaped(out, command->text);
	fputs("</code></td>", out);
	if (command->status < 0)
		cli_html_put_number_cell(out, "<span class=\"bad\">none</span>");
	else
		fprintf(out, "<td class=\"n%s\">%d</td>", command->status ? " bad" : "", command->status);
	fputs("</tr>\n", out);
}

void cli_report_put_run(const struct cli_report_run *run, FILE *out)
{
	static const char *const headings[] = { "Side", "Command", ">Exit status", NULL };
	char date[DATE_SIZE];

	format_date(date);
	fputs("<h2 id=\"run\">Run</h2>\n", out);
	fprintf(out, "<p%s>Ended with status %d", run->status ? " class=\"bad\"" : "", run->status);
	if (run->timed_out_s)
		fprintf(out, ", as its time of %u s had passed", run->timed_out_s);
	fprintf(out, ".</p>\n<p class=\"soft\">bfsim " BFSIM_VERSION ", seed %" PRIu64 ", %s</p>\n", run->seed, date);
	cli_html_put_table_begin(out, "Commands", headings);
	for (size_t i = 0; i < run->num_commands; i++)
		put_command(&run->commands[i], out);
	cli_html_put_table_end(out);
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
	cli_json_add_number(json, "seed", run->seed);
	for (size_t i = 0; i < run->num_commands; i++) {
		json_object *command = json_object_new_object();

		cli_json_add_text(command, "side", run->commands[i].label);
		cli_json_add_text(command, "command", run->commands[i].text);
		json_object_object_add(command, "status", json_object_new_int(run->commands[i].status));
		json_object_array_add(commands, command);
	}
	json_object_object_add(json, "commands", commands);
	return json;
}
