/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of a report: one HTML file that runs no script and loads nothing. */
#include <inttypes.h>
#include <string.h>

#include "html.h"
#include "report_page.h"
#include "report_run.h"
#include "sim/cli/base/human_format.h"

/* ---- summary ---- */

static void put_tile(FILE *out, const char *name, const char *text, bool is_bad)
{
	fprintf(out, "<div><dt>%s</dt><dd%s>", name, is_bad ? " class=\"bad\"" : "");
	cli_html_put_escaped(out, text);
	fputs("</dd></div>\n", out);
}

static void put_number_tile(FILE *out, const char *name, uint64_t count, bool is_bad)
{
	char text[CLI_HUMAN_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64, count);
	put_tile(out, name, text, is_bad && count > 0);
}

static void put_tiles(const struct cli_report *report, FILE *out)
{
	const struct cli_report_totals totals = cli_report_count_totals(report);
	char duration[CLI_HUMAN_SIZE];

	cli_human_time(report->last_ns - report->first_ns, duration);
	fputs("<dl>\n", out);
	put_tile(out, "Duration", duration, false);
	put_tile(out, "Clock", report->clock ? report->clock : "", false);
	put_number_tile(out, "Processes", report->num_processes, false);
	put_number_tile(out, "Tasks completed", totals.completed, false);
	put_number_tile(out, "Tasks failed", totals.failed, true);
	put_number_tile(out, "Messages recorded", totals.messages, false);
	put_number_tile(out, "Faults injected", report->faults.count, false);
	if (report->findings.count || (report->run && report->run->is_checked))
		put_number_tile(out, "Rules broken", report->findings.count, true);
	put_number_tile(out, "Warnings and errors", report->warnings.count, true);
	fputs("</dl>\n", out);
}

static void put_cards(const struct cli_report *report, FILE *out)
{
	static const char *const headings[] = { "Name", "Model", "Link to the host", "Mode", NULL };

	if (report->num_cards == 0)
		return;
	fputs("<h2 id=\"cards\">Cards</h2>\n", out);
	cli_html_put_table(out, "Cards", headings, cli_report_card_fields, report->cards, report->num_cards,
			   sizeof(*report->cards));
}

static void put_machines(const struct cli_report *report, FILE *out)
{
	static const char *const headings[] = { "Machine", ">Error of its times, at most", NULL };
	static const char *const timed[] = { "Machine", ">Error of its times, at most", ">Error of due times, at most",
					     NULL };
	bool is_timed = false;

	if (report->num_machines == 0)
		return;
	for (size_t i = 0; i < report->num_machines; i++)
		is_timed |= report->machines[i].due_error_ns > 0;
	fputs("<h2 id=\"machines\">Machines</h2>\n<p class=\"soft\">The clocks of these machines were compared with that of the machine"
	      " that read the recordings, and their times corrected. Half of the shortest round trip is the bound of the error at that"
	      " moment; clocks that run apart during a long run add to it.</p>\n",
	      out);
	if (is_timed)
		fputs("<p class=\"soft\">Model time between machines: a message arrives at the model's time, with the error of due times"
		      " at most (of both machines, if neither is the one that read the recordings), and a task ends at the model's"
		      " time; both are later where the real network was slower than the model's.</p>\n",
		      out);
	cli_html_put_table(out, "Machines", is_timed ? timed : headings, cli_report_machine_fields, report->machines,
			   report->num_machines, sizeof(*report->machines));
}

static void put_processes(const struct cli_report *report, FILE *out)
{
	static const char *const headings[] = { "Side",     "Program",  "Data paths",   "Recorded",
						">Process", ">Records", ">Overwritten", NULL };

	fputs("<h2 id=\"processes\">Processes</h2>\n", out);
	cli_html_put_table(out, "Processes", headings, cli_report_process_fields, report->processes,
			   report->num_processes, sizeof(*report->processes));
}

/* Notes on data that the plots lack. */
static void put_lateness(const struct cli_report *report, FILE *out)
{
	char latest[CLI_HUMAN_SIZE];

	cli_human_time(report->max_late_ns, latest);
	if (report->num_late)
		fprintf(out,
			"<p class=\"bad\">%" PRIu64
			" task%s ended later than the card's model says, by more than a tenth of its time: the latest by %s."
			" This machine, or a program that polls rarely, made them late.</p>\n",
			report->num_late, report->num_late == 1 ? "" : "s", latest);
	fputs("<p class=\"soft\">A task took at least as long as the card's model says, and longer where this machine was"
	      " late: its latencies are upper bounds of a card's. <code>--clock virtual</code> shows those of the model alone.</p>\n",
	      out);
}

static void put_caveats(const struct cli_report *report, FILE *out)
{
	bool is_sampled = false, has_lost = false;

	for (size_t i = 0; i < report->num_processes; i++) {
		is_sampled |= strcmp(report->processes[i].level, "sampled") == 0;
		has_lost |= report->processes[i].num_lost > 0;
	}
	if (has_lost)
		fputs("<p class=\"bad\">Old records were overwritten: the plots do not show what happened before.</p>\n",
		      out);
	if (is_sampled)
		fputs("<p class=\"soft\">Only a sample of fast tasks and messages was recorded: counts are exact, times are of the sample,"
		      " and throughput is lower than it was. <code>--trace-level full</code> records all.</p>\n",
		      out);
	if (report->clock && strcmp(report->clock, "timed") == 0)
		put_lateness(report, out);
	if (report->clock && strcmp(report->clock, "virtual") == 0)
		fputs("<p class=\"soft\">Time was virtual: the times of this page are those of the card's model, not of this machine.</p>\n",
		      out);
}

/* ---- faults ---- */

static uint64_t num_hits(const struct cli_report *report, uint64_t rule)
{
	uint64_t count = 0;

	for (size_t i = 0; i < report->faults.count; i++)
		count += report->faults.list[i].rule == rule;
	return count;
}

static void put_rule(const struct cli_report *report, const struct cli_report_rule *rule, FILE *out)
{
	uint64_t hits = num_hits(report, rule->id);

	fputs("<tr>", out);
	cli_html_put_count_cell(out, rule->id);
	cli_html_put_code_cell(out, rule->text);
	if (hits)
		cli_html_put_count_cell(out, hits);
	else
		cli_html_put_number_cell(out, "<span class=\"bad\">never</span>");
	fputs("</tr>\n", out);
}

static void put_hit(const struct cli_report *report, const struct cli_report_incident *fault, FILE *out)
{
	char text[CLI_HUMAN_SIZE];

	fputs("<tr>", out);
	cli_report_put_time_offset(report, fault->time_ns, out);
	cli_html_put_count_cell(out, fault->rule);
	cli_report_put_process_cell(report, fault->pid, out);
	cli_html_put_cell(out, fault->context);
	cli_html_put_cell(out, fault->operation);
	cli_html_put_count_cell(out, fault->match);
	cli_human_bytes(fault->bytes, text);
	cli_html_put_number_cell(out, text);
	cli_human_time(fault->delay_ns, text);
	cli_html_put_number_cell(out, fault->delay_ns ? text : "\u2013");
	fputs("</tr>\n", out);
}

static void put_faults(const struct cli_report *report, FILE *out)
{
	static const char *const rule_headings[] = { ">Rule", "Text", ">Hits", NULL };
	static const char *const hit_headings[] = { ">After", ">Rule", "Process", "Context", "Operation",
						    ">Match", ">Size", ">Delay",  NULL };

	fputs("<h2 id=\"faults\">Faults</h2>\n", out);
	if (report->num_rules == 0 && report->faults.count == 0) {
		fputs("<p>None were injected.</p>\n", out);
		return;
	}
	cli_html_put_table_begin(out, "Rules", rule_headings);
	for (size_t i = 0; i < report->num_rules; i++)
		put_rule(report, &report->rules[i], out);
	cli_html_put_table_end(out);
	if (report->faults.count == 0)
		return;
	fputs("<h3>Hits</h3>\n", out);
	cli_report_put_incidents("Hits of faults", hit_headings, report, &report->faults, put_hit, out);
}

/* ---- warnings ---- */

static void put_warning(const struct cli_report *report, const struct cli_report_incident *warning, FILE *out)
{
	fputs("<tr>", out);
	cli_report_put_time_offset(report, warning->time_ns, out);
	cli_report_put_process_cell(report, warning->pid, out);
	cli_html_put_cell(out, warning->is_error ? "error" : "warning");
	cli_html_put_code_cell(out, warning->text);
	fputs("</tr>\n", out);
}

static void put_warnings(const struct cli_report *report, FILE *out)
{
	static const char *const headings[] = { ">After", "Process", "Level", "Text", NULL };

	fputs("<h2 id=\"warnings\">Warnings and errors</h2>\n", out);
	if (report->warnings.count == 0) {
		fputs("<p>None were logged.</p>\n", out);
		return;
	}
	cli_report_put_incidents("Warnings and errors", headings, report, &report->warnings, put_warning, out);
}

/* ---- the whole ---- */

/* Links to the sections that the page has. */
static void put_navigation(const struct cli_report *report, FILE *out)
{
	const struct cli_html_section sections[] = { { report->run, "run", "Run" },
						     { report->num_cards, "cards", "Cards" },
						     { true, "processes", "Processes" },
						     { true, "operations", "Operations" },
						     { report->num_links, "links", "Links" },
						     { true, "faults", "Faults" },
						     { report->findings.count, "hits", "Rules" },
						     { true, "warnings", "Warnings" },
						     { 0 } };

	cli_html_put_navigation(out, sections);
}

void cli_report_put_page_begin(const char *title, FILE *out)
{
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n<style>\n",
		title);
	fputs(cli_report_style, out);
	fprintf(out, "</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n", title);
}

/* A script element must not contain a "<". */
void cli_report_put_page_end(json_object *json, FILE *out)
{
	const char *text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);

	fputs("</main>\n<script type=\"application/json\" id=\"bfsim-report\">", out);
	for (; *text; text++) {
		if (*text == '<')
			fputs("\\u003c", out);
		else
			fputc(*text, out);
	}
	fputs("</script>\n</body>\n</html>\n", out);
	json_object_put(json);
}

void cli_report_print(const struct cli_report *report, FILE *out)
{
	cli_report_put_page_begin("bfsim report", out);
	put_tiles(report, out);
	put_navigation(report, out);
	put_caveats(report, out);
	if (report->run)
		cli_report_put_run(report, out);
	put_machines(report, out);
	put_cards(report, out);
	put_processes(report, out);
	cli_report_put_operations(report, out);
	cli_report_put_links(report, out);
	put_faults(report, out);
	cli_report_put_findings(report, out);
	put_warnings(report, out);
	cli_report_put_page_end(cli_report_json(report), out);
}
