/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/scenario.h - a test in YAML: sides with their commands, what is injected, what is expected.
 *
 *   scenario --one for each seed--> cases (case.h)
 *
 * bfsim-test(1) explains the fields. Text is kept as written, except for what has a number here. File names are relative to
 * the folder of the scenario.
 */
#ifndef SIM_CLI_TEST_SCENARIO_H
#define SIM_CLI_TEST_SCENARIO_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_texts {
	char **list;
	size_t count;
};

/* What a command's output, or that of all, must and must not have: a line that matches. */
struct cli_expected {
	struct cli_texts output, no_output; /* extended regular expressions, which compile */
};

struct cli_scenario_side {
	char *name;
	char *command;
	char *generation; /* of bfsim run; NULL = by the program's symbols */
	char *after;      /* a service that must be offered before it starts, or NULL */
	char *delay;      /* a time before its start, or NULL */
	struct cli_expected expected;
};

struct cli_scenario_file {
	char *name;    /* in the case's directory */
	char *same_as; /* in the case's directory, else in the scenario's folder */
};

struct cli_scenario {
	char *path, *folder;
	char *name;
	char *topology, *clock, *check, *fault_plan, *before, *until; /* NULL = not given */
	struct cli_texts faults, copy;
	struct cli_expected expected;
	struct cli_scenario_side *sides;
	size_t num_sides;
	struct cli_scenario_file *files;
	size_t num_files;
	bool has_seeds, require_faults, shuffle;
	uint64_t first_seed, last_seed;
	uint32_t timeout_s;
	uint32_t status; /* of bfsim run */
};

#define CLI_SCENARIO_TIMEOUT_S 60

/* Read a scenario. @folder: that of its files; NULL = the file's own. Returns 0 (the caller ends it with
 * cli_scenario_fini()), or -1 with a message that names file and line. */
int cli_scenario_read(const char *path, const char *folder, struct cli_scenario *ret_scenario);
void cli_scenario_fini(struct cli_scenario *scenario);

#endif
