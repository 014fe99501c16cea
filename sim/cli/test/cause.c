/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the cause in the output of a run, and in the hits of the checker. */
#include "cause.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/printable.h"
#include "sim/check/rules.h"
#include "sim/cli/base/json.h"

#define PREFIX "bfsim: "

void cli_case_each_message(const struct cli_case *test, void (*see)(void *arg, const char *text), void *arg)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/output.log", test->dir ? test->dir : "");
	log = fopen(path, "re");
	while (log && getline(&line, &size, log) > 0) {
		if (strncmp(line, PREFIX, strlen(PREFIX)) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		sim_make_printable(line);
		see(arg, line + strlen(PREFIX));
	}
	free(line);
	if (log)
		fclose(log);
}

/* The first message that is a cause, and the first of those behind it that say what a program was doing. */
struct cause {
	char *headline, *doing;
};

/* Messages that are no cause: faults that hit as wanted, and how the programs were. */
static bool is_news(const char *text)
{
	unsigned int id;
	int len = 0;

	if (sscanf(text, "fault %u %n", &id, &len) == 1 && len > 0)
		return strncmp(text + len, "strikes ", 8) == 0 || strncmp(text + len, "hit ", 4) == 0;
	return false;
}

static bool is_doing(const char *text)
{
	return strstr(text, ": in flight: ") || strstr(text, ": without tasks in flight: ") ||
	       strstr(text, " not attached to the session");
}

static void see_message(void *arg, const char *text)
{
	struct cause *cause = arg;

	if (text[0] == ' ') {
		text += strspn(text, " ");
		if (cause->headline && !cause->doing && is_doing(text))
			cause->doing = strdup(text);
	} else if (!cause->headline && !is_news(text)) {
		cause->headline = strdup(text);
	}
}

static char *cause_of_messages(const struct cli_case *test)
{
	struct cause cause = { NULL, NULL };
	char *text = NULL;

	cli_case_each_message(test, see_message, &cause);
	if (!cause.headline || !cause.doing)
		return cause.headline;
	if (asprintf(&text, "%s; %s", cause.headline, cause.doing) < 0)
		text = NULL;
	free(cause.doing);
	if (!text)
		return cause.headline;
	free(cause.headline);
	return text;
}

/* "BFC-DEV-005 at app.c:45: MESSAGE" of the most severe hit, the first of several; NULL = there is none. */
static char *cause_of_hits(const struct cli_case *test)
{
	enum sim_check_severity worst = SIM_CHECK_NUM_SEVERITIES;
	char path[PATH_MAX], *text = NULL;
	json_object *report, *list, *frame, *found = NULL;

	snprintf(path, sizeof(path), "%s/hits.json", test->dir);
	report = json_object_from_file(path);
	list = cli_json_list(report, "hits");
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *hit = json_object_array_get_idx(list, i);
		enum sim_check_severity severity;

		if (cli_json_member(hit, "muted") ||
		    sim_check_severity_parse(cli_json_text(hit, "severity"), &severity) < 0 || severity >= worst)
			continue;
		worst = severity;
		found = hit;
	}
	list = cli_json_list(found, "stack");
	frame = list ? json_object_array_get_idx(list, 0) : NULL;
	if (found && asprintf(&text, "%s%s%s%s%.0llu: %s", cli_json_text(found, "rule"),
			      cli_json_text(frame, "file")[0] ? " at " : "", cli_json_text(frame, "file"),
			      cli_json_text(frame, "file")[0] ? ":" : "",
			      (unsigned long long)cli_json_number(frame, "line"), cli_json_text(found, "message")) < 0)
		text = NULL;
	json_object_put(report);
	if (text)
		sim_make_printable(text);
	return text;
}

char *cli_case_cause(const struct cli_case *test)
{
	char *cause = test->status == SIM_CHECK_EXIT_STATUS ? cause_of_hits(test) : NULL;

	return cause ? cause : cause_of_messages(test);
}
