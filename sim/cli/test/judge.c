/* SPDX-License-Identifier: BSD-3-Clause */
/* What a case did, compared with what its scenario expects. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case_priv.h"
#include "cause.h"
#include "sim/base/printable.h"
#include "sim/check/rules.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"

void cli_case_add_reason(struct cli_case *test, const char *format, ...)
{
	char **list = reallocarray(test->reasons.list, test->reasons.count + 1, sizeof(*list));
	va_list args;

	if (!list)
		return; /* the case may pass wrongly without memory for its reason: what comes next says so, too */
	test->reasons.list = list;
	va_start(args, format);
	if (vasprintf(&list[test->reasons.count], format, args) >= 0)
		sim_make_printable(list[test->reasons.count++]);
	va_end(args);
}

/* A pattern, and what was found. */
struct pattern {
	regex_t regex;
	const char *text;
	const char *label; /* of a program; NULL = any line */
	bool is_unwanted;
	bool was_found;
};

struct patterns {
	struct pattern *list;
	size_t count;
};

static void add_patterns(struct patterns *patterns, const struct cli_texts *texts, const char *label, bool is_unwanted)
{
	for (size_t i = 0; i < texts->count; i++) {
		struct pattern *list = reallocarray(patterns->list, patterns->count + 1, sizeof(*list));

		if (!list)
			return;
		patterns->list = list;
		list[patterns->count] =
			(struct pattern){ .text = texts->list[i], .label = label, .is_unwanted = is_unwanted };
		if (regcomp(&list[patterns->count].regex, texts->list[i], REG_EXTENDED | REG_NOSUB) == 0)
			patterns->count++;
	}
}

static void look_at_line(struct cli_case *test, struct patterns *patterns, const char *line)
{
	for (size_t i = 0; i < patterns->count; i++) {
		struct pattern *pattern = &patterns->list[i];
		const char *text = pattern->label ? cli_case_line_of(line, pattern->label) : line;

		if (!text || pattern->was_found || regexec(&pattern->regex, text, 0, NULL, 0) != 0)
			continue;
		pattern->was_found = true;
		if (pattern->is_unwanted)
			cli_case_add_reason(test, "a line%s%s matches \"%s\": %s", pattern->label ? " of " : "",
					    pattern->label ? pattern->label : "", pattern->text, text);
	}
}

static void judge_output(struct cli_case *test, struct patterns *patterns)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *log;

	snprintf(path, sizeof(path), "%s/output.log", test->dir);
	log = fopen(path, "re");
	while (log && (len = getline(&line, &size, log)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		look_at_line(test, patterns, line);
	}
	free(line);
	if (log)
		fclose(log);
	for (size_t i = 0; i < patterns->count; i++) {
		const struct pattern *pattern = &patterns->list[i];

		if (!pattern->is_unwanted && !pattern->was_found)
			cli_case_add_reason(test, "no line%s%s matches \"%s\"", pattern->label ? " of " : "",
					    pattern->label ? pattern->label : "", pattern->text);
	}
}

static void check_patterns(struct cli_case *test)
{
	const struct cli_scenario *scenario = test->scenario;
	char **labels = calloc(scenario->num_sides, sizeof(*labels));
	struct patterns patterns = { 0 };

	add_patterns(&patterns, &scenario->expected.output, NULL, false);
	add_patterns(&patterns, &scenario->expected.no_output, NULL, true);
	for (size_t i = 0; labels && i < scenario->num_sides; i++) {
		labels[i] = cli_case_label(scenario, i);
		add_patterns(&patterns, &scenario->sides[i].expected.output, labels[i], false);
		add_patterns(&patterns, &scenario->sides[i].expected.no_output, labels[i], true);
	}
	judge_output(test, &patterns);
	for (size_t i = 0; i < patterns.count; i++)
		regfree(&patterns.list[i].regex);
	for (size_t i = 0; labels && i < scenario->num_sides; i++)
		free(labels[i]);
	free(labels);
	free(patterns.list);
}

/* The file of the case's directory, or of the scenario's folder if there is none. */
static FILE *open_file(const struct cli_case *test, const char *name, bool may_be_in_folder)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", name[0] == '/' ? "" : test->dir, name);
	if (may_be_in_folder && access(path, F_OK) < 0)
		snprintf(path, sizeof(path), "%s/%s", test->scenario->folder, name);
	return fopen(path, "re");
}

static void compare_files(struct cli_case *test, const struct cli_scenario_file *file)
{
	FILE *got = open_file(test, file->name, false), *wanted = open_file(test, file->same_as, true);
	unsigned long long offset = 0;
	int a = 0, b = 0;

	if (!got)
		cli_case_add_reason(test, "file %s: %s", file->name, strerror(errno));
	if (!wanted)
		cli_case_add_reason(test, "file %s: %s", file->same_as, strerror(errno));
	for (; got && wanted && a == b && a != EOF; offset++) {
		a = getc_unlocked(got);
		b = getc_unlocked(wanted);
	}
	if (a != b && (a == EOF || b == EOF))
		cli_case_add_reason(test, "file %s is %s than %s (%llu bytes are equal)", file->name,
				    a == EOF ? "shorter" : "longer", file->same_as, offset - 1);
	else if (a != b)
		cli_case_add_reason(test, "file %s differs from %s at byte %llu (0x%02x instead of 0x%02x)", file->name,
				    file->same_as, offset - 1, (unsigned int)a, (unsigned int)b);
	if (got)
		fclose(got);
	if (wanted)
		fclose(wanted);
}

/* ---- the run's verdict ---- */

static json_object *read_verdict(const struct cli_case *test)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" CLI_CASE_VERDICT, test->dir);
	return json_object_from_file(path);
}

/* What the scenario's status is compared with: that of the programs. A status of the run that is about bfsim is none. */
static uint32_t status_of_programs(const struct cli_case *test, json_object *verdict)
{
	uint64_t status = cli_json_number(verdict, "status");
	bool is_about_bfsim = test->status == CLI_OWN_FAILURE || test->status == SIM_CHECK_EXIT_STATUS;

	return is_about_bfsim ? (uint32_t)status : (uint32_t)test->status;
}

static void add_miss(struct cli_case *test, json_object *fault)
{
	struct cli_case_miss *misses = reallocarray(test->misses, test->num_misses + 1, sizeof(*misses));

	if (!misses)
		return;
	test->misses = misses;
	misses[test->num_misses].rule = (uint32_t)cli_json_number(fault, "rule");
	misses[test->num_misses].text = strdup(cli_json_text(fault, "text"));
	if (misses[test->num_misses].text)
		test->num_misses++;
}

static void judge_faults(struct cli_case *test, json_object *verdict)
{
	json_object *list = cli_json_list(verdict, "unused-faults");

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *fault = json_object_array_get_idx(list, i);

		if (test->is_one_of_seeds && json_object_get_boolean(cli_json_member(fault, "is-random")))
			add_miss(test, fault);
		else
			cli_case_add_reason(test, "%s", cli_json_text(fault, "text"));
	}
}

/* The cause comes first: it is what annotations and lists of failures show. */
static void add_status(struct cli_case *test, uint32_t status, uint32_t wanted)
{
	char *cause = cli_case_cause(test);

	cli_case_add_reason(test, "%s%sexit status %u instead of %u", cause ? cause : "", cause ? "; " : "", status,
			    wanted);
	free(cause);
}

static void add_broken_rule(struct cli_case *test, const char *rule)
{
	char *cause = cli_case_cause(test);

	if (cause && strstr(cause, rule)) /* with its place and message */
		cli_case_add_reason(test, "%s", cause);
	else
		cli_case_add_reason(test, "the checker found %s broken; the log says where", rule);
	free(cause);
}

/* "status: 70" means that the programs end with 0, and a rule is broken. */
static void judge_check(struct cli_case *test, json_object *verdict)
{
	const struct cli_scenario *scenario = test->scenario;
	json_object *list = cli_json_list(verdict, "broken-rules");
	size_t count = list ? json_object_array_length(list) : 0;
	bool is_wanted = scenario->check && scenario->status == SIM_CHECK_EXIT_STATUS;

	for (size_t i = 0; !is_wanted && i < count; i++)
		add_broken_rule(test, json_object_get_string(json_object_array_get_idx(list, i)));
	if (is_wanted && count == 0)
		cli_case_add_reason(test, "the checker found no rule broken");
}

static void judge_status(struct cli_case *test, json_object *verdict)
{
	const struct cli_scenario *scenario = test->scenario;
	bool wants_broken_rule = scenario->check && scenario->status == SIM_CHECK_EXIT_STATUS;
	uint32_t status = status_of_programs(test, verdict), wanted = wants_broken_rule ? 0 : scenario->status;

	if (status != wanted)
		add_status(test, status, wanted);
}

static void judge_verdict(struct cli_case *test)
{
	json_object *verdict = read_verdict(test);
	json_object *failures = cli_json_list(verdict, "failures");

	if (!verdict) {
		cli_case_add_reason(test, "bfsim run failed with status %d, and left no verdict", test->status);
		return;
	}
	for (size_t i = 0; failures && i < json_object_array_length(failures); i++)
		cli_case_add_reason(test, "%s", json_object_get_string(json_object_array_get_idx(failures, i)));
	judge_faults(test, verdict);
	judge_status(test, verdict);
	judge_check(test, verdict);
	json_object_put(verdict);
}

void cli_case_judge(struct cli_case *test)
{
	const struct cli_scenario *scenario = test->scenario;

	judge_verdict(test);
	check_patterns(test);
	for (size_t i = 0; i < scenario->num_files; i++)
		compare_files(test, &scenario->files[i]);
}
