/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/scenario.h - a test in YAML: sides with their commands, what is injected, what is expected.
 *
 *   read --> options of the command line applied --> checked --one for each seed--> cases (case.h)
 *
 * bfsim-test(1) explains the fields. Text is kept as written, except for what has a number here. File names are relative to
 * the folder of the scenario. Each error is one line, with the scenario's file and line; all errors of a file are told.
 */
#ifndef SIM_CLI_TEST_SCENARIO_H
#define SIM_CLI_TEST_SCENARIO_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie_model/yaml_doc.h"

struct cli_texts {
	char **list;
	size_t *lines; /* of the file, from 1; 0 = given on the command line */
	size_t count;
};

/* What a command's output, or that of all, must and must not have: a line that matches. */
struct cli_expected {
	struct cli_texts output, no_output; /* extended regular expressions, which compile */
};

struct cli_scenario_side {
	const char *name;
	const char *command;
	const char *generation; /* of bfsim run; NULL = by the program's symbols */
	const char *after;      /* a service that must be offered before it starts, or NULL */
	const char *delay;      /* a time before its start, or NULL */
	struct cli_expected expected;
	size_t line;
};

struct cli_scenario_file {
	const char *name;    /* in the case's directory */
	const char *same_as; /* in the case's directory, else in the scenario's folder */
};

/* Lines of single fields; 0 = not in the file. */
struct cli_scenario_lines {
	size_t topology, clock, check, until, require_faults;
};

struct cli_scenario {
	const char *path, *name;
	char *folder;
	const char *topology, *clock, *check, *before, *until; /* NULL = not given */
	struct cli_texts faults, fault_plans, copy;
	struct cli_expected expected;
	struct cli_scenario_side *sides;
	size_t num_sides;
	struct cli_scenario_file *files;
	uint32_t num_files;
	bool has_seeds, shuffle, nodes;
	bool require_faults; /* a fault rule that never hit is a failure */
	uint64_t first_seed, last_seed;
	uint32_t timeout_s;
	uint32_t status; /* that the programs must end with */
	struct cli_scenario_lines lines;
	struct pcie_yaml_doc doc; /* has the memory of the texts that are not in lists */
};

#define CLI_SCENARIO_TIMEOUT_S 60
#define CLI_SCENARIO_MAX_SIDES 256 /* commands */

/* Read a scenario. @folder: that of its files; NULL = the file's own. Returns 0 (the caller ends it with
 * cli_scenario_fini()), or -1 with messages. */
int cli_scenario_read(const char *path, const char *folder, struct cli_scenario *ret_scenario);
void cli_scenario_fini(struct cli_scenario *scenario);

/* Append a copy of @text. Returns 0 or -1 without memory. */
int cli_texts_add(struct cli_texts *texts, const char *text, size_t line);
void cli_texts_fini(struct cli_texts *texts);

/* Print an error of the scenario at @line; 0 = of the options that were applied to it. Returns -1. */
int cli_scenario_fail(const char *path, size_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The path of a file of the scenario, which the caller frees; NULL without memory. */
char *cli_scenario_file_path(const struct cli_scenario *scenario, const char *file);

/* Check what can be checked before a run: the card, its sides, the clock, the fault rules, the files and programs. Returns 0, or
 * -1 with messages. */
int cli_scenario_check(const struct cli_scenario *scenario);

#endif
