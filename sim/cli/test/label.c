/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of programs before their lines. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "case.h"

char *cli_case_label(const struct cli_scenario *scenario, size_t i)
{
	size_t number = 1, count = 0;
	char *label = NULL;

	for (size_t other = 0; other < scenario->num_sides; other++) {
		bool is_same = strcmp(scenario->sides[other].name, scenario->sides[i].name) == 0;

		count += is_same;
		number += is_same && other < i;
	}
	if ((count > 1 ? asprintf(&label, "%s#%zu", scenario->sides[i].name, number) :
			 asprintf(&label, "%s", scenario->sides[i].name)) < 0)
		return NULL;
	return label;
}

const char *cli_case_line_of(const char *line, const char *label)
{
	size_t len = strlen(label);

	if (strncmp(line, label, len) != 0)
		return NULL;
	line += len + strspn(line + len, " ");
	return strncmp(line, "| ", 2) == 0 ? line + 2 : NULL;
}
