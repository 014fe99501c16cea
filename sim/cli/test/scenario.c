/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a scenario, and its errors. */
#include "scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/base/cli.h"

int cli_scenario_fail(const char *path, size_t line, const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (line)
		cli_fail("%s:%zu: %s", path, line, text);
	else
		cli_fail("%s: %s", path, text);
	return -1;
}

char *cli_scenario_file_path(const struct cli_scenario *scenario, const char *file)
{
	char *path = NULL;

	if (file[0] == '/')
		return strdup(file);
	return asprintf(&path, "%s/%s", scenario->folder, file) < 0 ? NULL : path;
}

int cli_texts_add(struct cli_texts *texts, const char *text, size_t line)
{
	char **list = reallocarray(texts->list, texts->count + 1, sizeof(*list));
	size_t *lines;

	if (list)
		texts->list = list;
	lines = list ? reallocarray(texts->lines, texts->count + 1, sizeof(*lines)) : NULL;
	if (lines)
		texts->lines = lines;
	if (!lines || !(list[texts->count] = strdup(text)))
		return -1;
	lines[texts->count++] = line;
	return 0;
}

void cli_texts_fini(struct cli_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->list[i]);
	free(texts->list);
	free(texts->lines);
	*texts = (struct cli_texts){ 0 };
}

static void free_expected(struct cli_expected *expected)
{
	cli_texts_fini(&expected->output);
	cli_texts_fini(&expected->no_output);
}

void cli_scenario_fini(struct cli_scenario *scenario)
{
	for (size_t i = 0; i < scenario->num_sides; i++)
		free_expected(&scenario->sides[i].expected);
	cli_texts_fini(&scenario->faults);
	cli_texts_fini(&scenario->fault_plans);
	cli_texts_fini(&scenario->copy);
	free_expected(&scenario->expected);
	free(scenario->sides);
	free(scenario->folder);
	pcie_yaml_unload(&scenario->doc);
	*scenario = (struct cli_scenario){ 0 };
}
