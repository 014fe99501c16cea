/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing the results of cases. */
#include "results.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/output_file.h"
#include "sim/base/shell_quote.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/color.h"
#include "sim/base/printable.h"

#define TAIL_LINES 15 /* of the output of a failure */

void cli_results_print_line(const struct cli_case *test)
{
	bool passed = test->reasons.count == 0;

	printf("%s%-4s%s  %-40s %6.2f s%s%s\n", cli_color(stdout, passed ? CLI_GREEN : CLI_RED), passed ? "ok" : "FAIL",
	       cli_color(stdout, CLI_NO_COLOR), test->name, (double)test->took_ms / 1000, passed ? "" : "  ",
	       passed ? "" : test->reasons.list[0]);
	fflush(stdout);
}

/* The last lines of the output, each behind @prefix. */
static void print_tail(const struct cli_case *test, const char *prefix)
{
	char path[PATH_MAX], *lines[TAIL_LINES] = { NULL }, *line = NULL;
	size_t size = 0, count = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/output.log", test->dir ? test->dir : "");
	log = fopen(path, "re");
	while (log && getline(&line, &size, log) > 0) {
		line[strcspn(line, "\n")] = '\0';
		sim_make_printable(line);
		free(lines[count % TAIL_LINES]);
		lines[count++ % TAIL_LINES] = strdup(line);
	}
	for (size_t i = count > TAIL_LINES ? count - TAIL_LINES : 0; i < count; i++)
		printf("%s%s\n", prefix, lines[i % TAIL_LINES] ? lines[i % TAIL_LINES] : "");
	for (size_t i = 0; i < TAIL_LINES; i++)
		free(lines[i]);
	free(line);
	if (log)
		fclose(log);
}

static void print_details(const struct cli_case *test, const char *prefix)
{
	char *quoted = test->bundle ? sim_shell_quote(test->bundle) : NULL;

	for (size_t i = 0; i < test->reasons.count; i++)
		printf("%s%s\n", prefix, test->reasons.list[i]);
	printf("%slast lines of its output:\n", prefix);
	print_tail(test, prefix);
	if (test->bundle)
		printf("%sagain: bfsim replay %s\n", prefix, quoted ? quoted : test->bundle);
	free(quoted);
}

void cli_results_print_failure(const struct cli_case *test)
{
	printf("\n%s%s%s (%s)\n", cli_color(stdout, CLI_BOLD), test->name, cli_color(stdout, CLI_NO_COLOR),
	       test->scenario->path);
	print_details(test, "  ");
}

void cli_results_print_tap(const struct cli_case *test, size_t number)
{
	printf("%s %zu - %s\n", test->reasons.count ? "not ok" : "ok", number, test->name);
	if (test->reasons.count)
		print_details(test, "# ");
	fflush(stdout);
}
