/* SPDX-License-Identifier: BSD-3-Clause */
/* The checker's report as JUnit XML: one test case a rule. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "hit.h"
#include "hit_list.h"
#include "report.h"

/* XML 1.0 has no control characters but tab and newline; bytes that are no UTF-8 are hardly legal elsewhere. */
static void print_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '&')
			fputs("&amp;", out);
		else if (byte == '<')
			fputs("&lt;", out);
		else if (byte == '>')
			fputs("&gt;", out);
		else if (byte == '"')
			fputs("&quot;", out);
		else if ((byte < ' ' && byte != '\n' && byte != '\t') || byte >= 0x7f)
			fputc('?', out);
		else
			fputc(byte, out);
	}
}

static bool is_failure(const struct sim_check_report *report, const struct sim_check_rule_entry *rule)
{
	return report->fails && rule->severity <= report->fail_severity;
}

/* Print the rule's hits as text. Returns how many. */
static size_t print_hits(const struct sim_check_report *report, const struct sim_check_rule_entry *rule, bool muted,
			 FILE *out)
{
	size_t count = 0;

	for (size_t i = 0; i < json_object_array_length(report->hits); i++) {
		struct json_object *hit = json_object_array_get_idx(report->hits, i);
		const char *id = json_object_get_string(json_object_object_get(hit, "rule"));

		if (!id || strcmp(id, rule->id) != 0 || (json_object_object_get(hit, "muted") != NULL) != muted)
			continue;
		sim_hit_print(hit, out);
		count++;
	}
	return count;
}

static void print_case_body(const struct sim_check_report *report, const struct sim_check_rule_entry *rule,
			    struct sim_hit_count count, FILE *out)
{
	const char *element = is_failure(report, rule) ? "failure" : "system-out";
	char *hits = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&hits, &len);

	if (!memory)
		return;
	if (print_hits(report, rule, false, memory) > 0) {
		fflush(memory);
		fprintf(out, "\n      <%s", element);
		if (is_failure(report, rule)) {
			fprintf(out, " type=\"%s\" message=\"", sim_check_severity_name(rule->severity));
			print_escaped(rule->rule, out);
			fprintf(out, " (%" PRIu64 " hits at %zu sites)\"", count.num_hits, count.num_sites);
		}
		fputs(">", out);
		print_escaped(hits, out);
		fprintf(out, "</%s>\n    ", element);
	} else if (print_hits(report, rule, true, memory) > 0) {
		fflush(memory);
		fputs("\n      <skipped message=\"all hits are muted\"/>\n      <system-out>", out);
		print_escaped(hits, out);
		fputs("</system-out>\n    ", out);
	}
	fclose(memory);
	free(hits);
}

static void print_case(const struct sim_check_report *report, const struct sim_check_rule_entry *rule, FILE *out)
{
	char group[16];

	snprintf(group, sizeof(group), "%.*s", (int)strcspn(rule->id + strlen("BFC-"), "-"), rule->id + strlen("BFC-"));
	fprintf(out, "    <testcase classname=\"bfsim.check.%s\" name=\"%s %s\">", group, rule->id, rule->name);
	if (rule->mode > report->mode)
		fprintf(out, "<skipped message=\"checked by --check=%s\"/>", sim_check_mode_name(rule->mode));
	else
		print_case_body(report, rule, sim_hit_list_count(report->hits, rule->id), out);
	fputs("</testcase>\n", out);
}

static void count_cases(const struct sim_check_report *report, size_t *ret_failed, size_t *ret_skipped)
{
	*ret_failed = *ret_skipped = 0;
	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++) {
		const struct sim_check_rule_entry *rule = &sim_check_rules[i];
		struct sim_hit_count count = sim_hit_list_count(report->hits, rule->id);

		if (rule->mode > report->mode || (count.num_sites == 0 && count.num_muted > 0))
			++*ret_skipped;
		else if (count.num_sites > 0 && is_failure(report, rule))
			++*ret_failed;
	}
}

void sim_check_report_print_junit(const struct sim_check_report *report, FILE *out)
{
	size_t num_failed, num_skipped;

	count_cases(report, &num_failed, &num_skipped);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	fprintf(out,
		"<testsuites>\n  <testsuite name=\"bfsim check\" tests=\"%d\" failures=\"%zu\" errors=\"%d\" "
		"skipped=\"%zu\">\n",
		SIM_CHECK_NUM_RULES + !report->is_complete, num_failed, !report->is_complete, num_skipped);
	if (!report->is_complete)
		fputs("    <testcase classname=\"bfsim.check\" name=\"the run\"><error message=\"the programs have not "
		      "ended: the report holds what was found until now\"/></testcase>\n",
		      out);
	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++)
		print_case(report, &sim_check_rules[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
}
