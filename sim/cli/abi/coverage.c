/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of functions. */
#include "coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cli_coverage_state_name(enum cli_coverage_state state)
{
	static const char *const names[] = {
		[CLI_COVERAGE_WORKS] = "works",     [CLI_COVERAGE_UNTESTED] = "untested",
		[CLI_COVERAGE_PARTLY] = "partly",   [CLI_COVERAGE_NOT_SUPPORTED] = "NOT_SUPPORTED",
		[CLI_COVERAGE_MISSING] = "missing",
	};

	return names[state];
}

static int compare_names(const void *name, const void *note)
{
	return strcmp(name, ((const struct cli_coverage_note *)note)->name);
}

const struct cli_coverage_note *cli_coverage_note(const struct cli_symbol *symbol)
{
	static const struct cli_coverage_note none = { .tests = "" };
	const struct cli_coverage_note *note = bsearch(symbol->name, cli_coverage_notes, cli_num_coverage_notes,
						       sizeof(cli_coverage_notes[0]), compare_names);

	return note ? note : &none;
}

static bool has(const struct cli_symbol *symbol, enum cli_provider provider)
{
	return !strchr("-?", symbol->nodes[provider]);
}

enum cli_coverage_state cli_coverage_state(const struct cli_symbol *symbol)
{
	bool has_task = has(symbol, CLI_BFSIM_TASK);
	bool has_workq = has(symbol, CLI_BFSIM_WORKQ);
	bool has_task_2_5 = has(symbol, CLI_BFSIM_TASK_2_5);
	enum cli_provider provider = has_task ? CLI_BFSIM_TASK : has_task_2_5 ? CLI_BFSIM_TASK_2_5 : CLI_BFSIM_WORKQ;

	if (!has_task && !has_task_2_5 && !has_workq)
		return CLI_COVERAGE_MISSING;
	if (cli_is_not_simulated(symbol->name, provider))
		return CLI_COVERAGE_NOT_SUPPORTED;
	if (cli_has_changed(symbol->name, provider) || cli_coverage_note(symbol)->difference)
		return CLI_COVERAGE_PARTLY;
	return cli_coverage_note(symbol)->num_tests ? CLI_COVERAGE_WORKS : CLI_COVERAGE_UNTESTED;
}

void cli_coverage_releases(const struct cli_symbol *symbol, char text[CLI_COVERAGE_RELEASES_SIZE])
{
	size_t used = 0;

	text[0] = '\0';
	for (enum cli_provider i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++)
		if (has(symbol, i) && used < CLI_COVERAGE_RELEASES_SIZE)
			used += (size_t)snprintf(text + used, CLI_COVERAGE_RELEASES_SIZE - used, "%s%s",
						 used ? " " : "", cli_provider_name(i));
	if (used == 0)
		snprintf(text, CLI_COVERAGE_RELEASES_SIZE, "not known");
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

size_t cli_coverage_libraries(const char *names[CLI_COVERAGE_MAX_LIBRARIES])
{
	size_t count = 0;

	for (size_t i = 0; i < cli_num_symbols && count < CLI_COVERAGE_MAX_LIBRARIES; i++) {
		size_t known = 0;

		while (known < count && strcmp(names[known], cli_symbols[i].library) != 0)
			known++;
		if (known == count)
			names[count++] = cli_symbols[i].library;
	}
	qsort(names, count, sizeof(names[0]), compare_texts);
	return count;
}

size_t cli_coverage_count(const char *library, size_t counts[CLI_NUM_COVERAGE_STATES])
{
	size_t sum = 0;

	memset(counts, 0, CLI_NUM_COVERAGE_STATES * sizeof(counts[0]));
	for (size_t i = 0; i < cli_num_symbols; i++) {
		if (library && strcmp(cli_symbols[i].library, library) != 0)
			continue;
		counts[cli_coverage_state(&cli_symbols[i])]++;
		sum++;
	}
	return sum;
}
