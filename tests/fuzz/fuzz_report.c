/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a file of recordings for bfsim report or bfsim fault replay: the command refuses it with a message; or it
 * writes a page whose only script element is its JSON, and a plan that bfsim run --fault-plan accepts. Seeds are in
 * corpus/report. */
#include <errno.h>
#include <stdarg.h>

#include "fuzz_input.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/fault/fault_replay.h"
#include "sim/cli/report/report_compare.h"
#include "sim/cli/report/report_recordings.h"
#include "sim/faults/plan/plan_file.h"

#define FILE_NAME "fuzz.bfsim"

static unsigned int num_said;

/* The command's messages are counted and kept from standard error. */
int cli_fail(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	promise(vasprintf(&text, format, args) >= 0);
	va_end(args);
	promise(strncmp(text, FILE_NAME ":", strlen(FILE_NAME ":")) == 0);
	free(text);
	num_said++;
	return CLI_FAILED;
}

static size_t count(const char *text, const char *what)
{
	size_t found = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		found++;
	return found;
}

static void check_page_text(const char *page, size_t len)
{
	promise(strlen(page) == len);
	promise(count(page, "<script") == 1 && count(page, "</script") == 1);
	promise(len > 8 && strcmp(page + len - 8, "</html>\n") == 0);
}

static void check_page(const struct cli_report *report)
{
	char *page = NULL;
	size_t len;
	FILE *out = open_memstream(&page, &len);

	promise(out);
	cli_report_print(report, out);
	promise(fclose(out) == 0);
	check_page_text(page, len);
	free(page);
}

/* A report beside itself: each operation is paired with itself, unless the file has two processes with one number. */
static void check_comparison(struct cli_report *report)
{
	struct cli_report_comparison comparison;
	char *page = NULL;
	size_t len;
	FILE *out = open_memstream(&page, &len);

	promise(out && cli_report_compare(report, report, &comparison) == 0);
	comparison.before_name = comparison.now_name = FILE_NAME;
	cli_report_print_comparison(&comparison, out);
	promise(fclose(out) == 0 && comparison.num_common <= report->num_ops);
	check_page_text(page, len);
	free(page);
	cli_report_comparison_fini(&comparison);
}

static void check_json(const struct cli_report *report)
{
	json_object *figures = cli_report_json(report), *again;

	promise(figures);
	again = json_tokener_parse(json_object_to_json_string(figures));
	promise(again);
	json_object_put(again);
	json_object_put(figures);
}

/* Omissions of the plan were reported; the rest of the plan is valid. */
static void check_replay(const struct cli_report *report)
{
	struct sim_plan_file file = { .num_rules = 0 };
	char error[SIM_PLAN_FILE_ERROR_SIZE];
	unsigned int said = num_said;
	char *plan = NULL;
	size_t len;
	FILE *out = open_memstream(&plan, &len);
	int rc;

	promise(out);
	rc = cli_fault_replay(report, FILE_NAME, out);
	promise(fclose(out) == 0 && (rc == 0) == (num_said == said));
	promise(sim_plan_file_parse("plan.yaml", plan, len, &file, error) == 0);
	sim_plan_file_fini(&file);
	free(plan);
}

static void check_file(const void *text, size_t size)
{
	FILE *in = fmemopen((void *)text, size, "r");
	struct cli_report report;
	unsigned int said = num_said;
	int rc;

	promise(in);
	rc = cli_report_from_file(in, FILE_NAME, &report);
	fclose(in);
	promise(rc == 0 || num_said == said + 1);
	if (rc < 0)
		return;
	check_replay(&report);
	if (cli_report_compute_stats(&report) == 0) {
		check_page(&report);
		check_json(&report);
		check_comparison(&report);
	}
	cli_report_fini(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *text;

	if (size == 0)
		return 0;
	text = malloc(size); /* of the exact size, so that a read beyond it shows */
	promise(text);
	memcpy(text, data, size);
	check_file(text, size);
	free(text);
	return 0;
}
