/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of cases as JUnit XML. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cause.h"
#include "results.h"
#include "sim/base/printable.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/output.h"
#include "sim/cli/report/html.h"

#define MAX_OUTPUT (1 << 20) /* bytes of a failure's output, its end */

static void put_line(void *out, const char *text)
{
	cli_html_put_escaped(out, text);
	fputc('\n', out);
}

static void put_property(FILE *out, const char *name, const char *value)
{
	fprintf(out, "      <property name=\"%s\" value=\"", name);
	cli_html_put_escaped(out, value);
	fputs("\"/>\n", out);
}

/* What it takes to run the case again. */
static void put_properties(FILE *out, const struct cli_case *test)
{
	const struct cli_scenario *scenario = test->scenario;
	char number[24];

	fputs("    <properties>\n", out);
	if (test->has_seed) { /* else that of a plan, or 0 */
		snprintf(number, sizeof(number), "%" PRIu64, test->seed);
		put_property(out, "seed", number);
	}
	put_property(out, "clock", scenario->clock ? scenario->clock : "functional");
	if (scenario->check)
		put_property(out, "check", scenario->check);
	if (test->is_done) {
		snprintf(number, sizeof(number), "%d", test->status);
		put_property(out, "status", number);
	}
	fputs("    </properties>\n", out);
}

/* All reasons, what bfsim run said of the programs and the faults, and the bundle. */
static void put_failure(FILE *out, const struct cli_case *test)
{
	fputs("    <failure message=\"", out);
	cli_html_put_escaped(out, test->reasons.list[0]);
	fputs("\">", out);
	for (size_t i = 0; i < test->reasons.count; i++)
		put_line(out, test->reasons.list[i]);
	cli_case_each_message(test, put_line, out);
	if (test->bundle)
		cli_html_put_escaped(out, test->bundle);
	fputs("</failure>\n", out);
}

static void put_output(FILE *out, const struct cli_case *test)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/output.log", test->dir ? test->dir : "");
	log = fopen(path, "re");
	if (!log)
		return;
	if (fseek(log, -MAX_OUTPUT, SEEK_END) == 0) /* else it is shorter */
		fputs("    <system-out>(the end of the output)\n", out);
	else
		fputs("    <system-out>", out);
	while (getline(&line, &size, log) > 0) {
		line[strcspn(line, "\n")] = '\0';
		sim_make_printable(line);
		put_line(out, line);
	}
	fputs("</system-out>\n", out);
	free(line);
	fclose(log);
}

static void put_case(FILE *out, const struct cli_case *test)
{
	fputs("  <testcase classname=\"bfsim\" name=\"", out);
	cli_html_put_escaped(out, test->name);
	fprintf(out, "\" file=\"");
	cli_html_put_escaped(out, test->scenario->path);
	fprintf(out, "\" time=\"%.3f\">\n", (double)test->took_ms / 1000);
	put_properties(out, test);
	if (!test->is_done)
		fputs("    <skipped message=\"was not run\"/>\n", out);
	if (test->is_done && test->reasons.count) {
		put_failure(out, test);
		put_output(out, test);
	}
	fputs("  </testcase>\n", out);
}

struct results {
	const struct cli_case *tests;
	size_t count;
};

static int put_results(const void *arg, FILE *out)
{
	const struct results *results = arg;
	size_t failures = 0, skipped = 0;

	for (size_t i = 0; i < results->count; i++) {
		failures += results->tests[i].is_done && results->tests[i].reasons.count > 0;
		skipped += !results->tests[i].is_done;
	}
	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	fprintf(out, "<testsuite name=\"bfsim\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", results->count,
		failures, skipped);
	for (size_t i = 0; i < results->count; i++)
		put_case(out, &results->tests[i]);
	fputs("</testsuite>\n", out);
	return 0;
}

int cli_results_write_junit(const char *path, const struct cli_case *tests, size_t count)
{
	return cli_output_write("the results", path, put_results, &(struct results){ tests, count }) == CLI_OK ? 0 : -1;
}
