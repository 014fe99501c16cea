/* SPDX-License-Identifier: BSD-3-Clause */
/* The page: one file, without a script and without anything from elsewhere. */
#include <inttypes.h>
#include <string.h>

#include "report_page.h"

#define MAX_LISTED 200 /* hits, and warnings */

/* ---- parts ---- */

void cli_report_put_process(const struct cli_report *report, int64_t pid, FILE *out)
{
	json_object *process = cli_report_find_process(report, pid);

	cli_html_put_escaped(out, cli_json_text(process, "side"));
	fputs(": ", out);
	cli_html_put_escaped(out, cli_json_text(process, "program"));
	fprintf(out, " (%" PRId64 ")", pid);
}

void cli_report_put_table_begin(FILE *out, const char *name, const char *const *headings)
{
	fprintf(out, "<div class=\"frame\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n<table>\n<thead><tr>",
		name);
	for (; *headings; headings++) {
		bool is_number = (*headings)[0] == '>';

		fprintf(out, "<th scope=\"col\"%s>%s</th>", is_number ? " class=\"n\"" : "", *headings + is_number);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
}

void cli_report_put_table_end(FILE *out)
{
	fputs("</tbody>\n</table>\n</div>\n", out);
}

void cli_report_put_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	cli_html_put_escaped(out, text ? text : "");
	fputs("</td>", out);
}

void cli_report_put_number_cell(FILE *out, const char *text)
{
	fprintf(out, "<td class=\"n\">%s</td>", text);
}

static void put_count(FILE *out, uint64_t count)
{
	char text[CLI_HUMAN_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64, count);
	cli_report_put_number_cell(out, text);
}

static void put_time_offset(const struct cli_report *report, uint64_t time_ns, FILE *out)
{
	char text[CLI_HUMAN_SIZE];

	cli_human_time(time_ns - report->first_ns, text);
	cli_report_put_number_cell(out, text);
}

static void put_num_omitted(FILE *out, size_t count)
{
	if (count > MAX_LISTED)
		fprintf(out, "<p class=\"soft\">%zu more are not listed.</p>\n", count - MAX_LISTED);
}

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
	uint64_t completed = 0, failed = 0, messages = 0;
	char duration[CLI_HUMAN_SIZE];

	for (size_t i = 0; i < report->num_ops; i++) {
		const struct cli_report_op *op = &report->ops[i];

		messages += op->is_messages ? op->recorded : 0;
		completed += op->has_counts ? op->completed : op->is_messages ? 0 : op->recorded - op->recorded_failed;
		failed += op->has_counts ? op->failed : op->recorded_failed;
	}
	cli_human_time(report->last_ns - report->first_ns, duration);
	fputs("<dl>\n", out);
	put_tile(out, "Duration", duration, false);
	put_tile(out, "Clock", cli_json_text(report->summary, "clock"), false);
	put_number_tile(out, "Processes", cli_json_len(cli_json_list(report->summary, "processes")), false);
	put_number_tile(out, "Tasks completed", completed, false);
	put_number_tile(out, "Tasks failed", failed, true);
	put_number_tile(out, "Messages recorded", messages, false);
	put_number_tile(out, "Faults struck", report->faults.count, false);
	put_number_tile(out, "Warnings and errors", report->warnings.count, true);
	fputs("</dl>\n", out);
}

static void put_processes(const struct cli_report *report, FILE *out)
{
	static const char *const headings[] = { "Side",     "Program",      ">Process", "Recorded",
						">Records", ">Overwritten", NULL };
	json_object *list = cli_json_list(report->summary, "processes");

	fputs("<h2 id=\"processes\">Processes</h2>\n", out);
	cli_report_put_table_begin(out, "Processes", headings);
	for (size_t i = 0; i < cli_json_len(list); i++) {
		json_object *process = json_object_array_get_idx(list, i);

		fputs("<tr>", out);
		cli_report_put_cell(out, cli_json_text(process, "side"));
		cli_report_put_cell(out, cli_json_text(process, "program"));
		put_count(out, cli_json_number(process, "pid"));
		cli_report_put_cell(out, cli_json_text(process, "level"));
		put_count(out, cli_json_number(process, "records"));
		put_count(out, cli_json_number(process, "lost_records"));
		fputs("</tr>\n", out);
	}
	cli_report_put_table_end(out);
}

/* What is not in the plots is said before they are looked at. */
static void put_caveats(const struct cli_report *report, FILE *out)
{
	json_object *list = cli_json_list(report->summary, "processes");
	bool is_sampled = false;

	for (size_t i = 0; i < cli_json_len(list); i++)
		is_sampled |= strcmp(cli_json_text(json_object_array_get_idx(list, i), "level"), "sampled") == 0;
	if (cli_json_number(report->summary, "lost_records"))
		fputs("<p class=\"bad\">Records were overwritten by later ones: the plots lack what was before.</p>\n",
		      out);
	if (is_sampled)
		fputs("<p class=\"soft\">Of tasks and messages that come fast only some were recorded: counts are of all, times are of"
		      " those, and throughput is less than it was. With <code>--trace-level full</code> all are.</p>\n",
		      out);
	if (strcmp(cli_json_text(report->summary, "clock"), "virtual") == 0)
		fputs("<p class=\"soft\">Time was virtual: the times of this page are what the card's model says, whatever the machine took.</p>\n",
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

static void put_rule(const struct cli_report *report, json_object *rule, FILE *out)
{
	uint64_t id = cli_json_number(rule, "id"), hits = num_hits(report, id);

	fputs("<tr>", out);
	put_count(out, id);
	fputs("<td class=\"wide\"><code>", out);
	cli_html_put_escaped(out, cli_json_text(rule, "text"));
	fputs("</code></td>", out);
	if (hits)
		put_count(out, hits);
	else
		cli_report_put_number_cell(out, "<span class=\"bad\">never</span>");
	fputs("</tr>\n", out);
}

static void put_hit(const struct cli_report *report, const struct cli_report_incident *fault, FILE *out)
{
	char text[CLI_HUMAN_SIZE];

	fputs("<tr>", out);
	put_time_offset(report, fault->time_ns, out);
	put_count(out, fault->rule);
	fputs("<td>", out);
	cli_report_put_process(report, fault->pid, out);
	fputs("</td>", out);
	cli_report_put_cell(out, fault->context);
	cli_report_put_cell(out, fault->operation);
	put_count(out, fault->match);
	cli_human_bytes(fault->bytes, text);
	cli_report_put_number_cell(out, text);
	cli_human_time(fault->delay_ns, text);
	cli_report_put_number_cell(out, fault->delay_ns ? text : "\u2013");
	fputs("</tr>\n", out);
}

static void put_faults(const struct cli_report *report, FILE *out)
{
	static const char *const rule_headings[] = { ">Rule", "What it says", ">Struck", NULL };
	static const char *const hit_headings[] = { ">After", ">Rule", "Process", "Context", "Operation",
						    ">Match", ">Size", ">Delay",  NULL };
	json_object *rules = cli_json_list(report->summary, "rules");

	fputs("<h2 id=\"faults\">Faults</h2>\n", out);
	if (cli_json_len(rules) == 0 && report->faults.count == 0) {
		fputs("<p>None were injected.</p>\n", out);
		return;
	}
	cli_report_put_table_begin(out, "Rules", rule_headings);
	for (size_t i = 0; i < cli_json_len(rules); i++)
		put_rule(report, json_object_array_get_idx(rules, i), out);
	cli_report_put_table_end(out);
	if (report->faults.count == 0)
		return;
	fputs("<h3>What they hit</h3>\n", out);
	cli_report_put_table_begin(out, "What faults hit", hit_headings);
	for (size_t i = 0; i < report->faults.count && i < MAX_LISTED; i++)
		put_hit(report, &report->faults.list[i], out);
	cli_report_put_table_end(out);
	put_num_omitted(out, report->faults.count);
}

/* ---- warnings ---- */

static void put_warning(const struct cli_report *report, const struct cli_report_incident *warning, FILE *out)
{
	fputs("<tr>", out);
	put_time_offset(report, warning->time_ns, out);
	fputs("<td>", out);
	cli_report_put_process(report, warning->pid, out);
	fprintf(out, "</td><td>%s</td><td class=\"wide\"><code>", warning->is_error ? "error" : "warning");
	cli_html_put_escaped(out, warning->text ? warning->text : "");
	fputs("</code></td></tr>\n", out);
}

static void put_warnings(const struct cli_report *report, FILE *out)
{
	static const char *const headings[] = { ">After", "Process", "Level", "What the log says", NULL };

	fputs("<h2 id=\"warnings\">Warnings and errors</h2>\n", out);
	if (report->warnings.count == 0) {
		fputs("<p>None were logged.</p>\n", out);
		return;
	}
	cli_report_put_table_begin(out, "Warnings and errors", headings);
	for (size_t i = 0; i < report->warnings.count && i < MAX_LISTED; i++)
		put_warning(report, &report->warnings.list[i], out);
	cli_report_put_table_end(out);
	put_num_omitted(out, report->warnings.count);
}

/* ---- the whole ---- */

/* In a script element nothing may look like a tag. */
static void put_data(const struct cli_report *report, FILE *out)
{
	json_object *json = cli_report_json(report);
	const char *text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);

	fputs("<script type=\"application/json\" id=\"bfsim-report\">", out);
	for (; *text; text++) {
		if (*text == '<')
			fputs("\\u003c", out);
		else
			fputc(*text, out);
	}
	fputs("</script>\n", out);
	json_object_put(json);
}

void cli_report_print(const struct cli_report *report, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>bfsim report</title>\n<style>\n",
	      out);
	fputs(cli_report_style, out);
	fputs("</style>\n</head>\n<body>\n<main>\n<h1>bfsim report</h1>\n", out);
	put_tiles(report, out);
	fputs("<nav><a href=\"#processes\">Processes</a> <a href=\"#operations\">Operations</a> <a href=\"#faults\">Faults</a>"
	      " <a href=\"#warnings\">Warnings</a></nav>\n",
	      out);
	put_caveats(report, out);
	put_processes(report, out);
	cli_report_put_operations(report, out);
	cli_report_put_links(report, out);
	put_faults(report, out);
	put_warnings(report, out);
	fputs("</main>\n", out);
	put_data(report, out);
	fputs("</body>\n</html>\n", out);
}
