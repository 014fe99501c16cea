/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a program as text: a verdict of a few lines, then a table. */
#include <stdio.h>

#include "check_binary.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/table.h"

static const char *plural_suffix(size_t num)
{
	return num == 1 ? "" : "s";
}

typedef enum cli_check_result (*check_func)(const struct cli_check *check, enum cli_provider provider);

/* Print the releases for which @func is true, as "2.5, 2.7?, 2.10". */
static void print_releases(const struct cli_check *check, const char *heading, check_func func)
{
	size_t num = 0, num_partly_known = 0;

	printf("  %-13s ", heading);
	for (enum cli_provider i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++) {
		enum cli_check_result result = func(check, i);

		if (result == CLI_CHECK_FALSE)
			continue;
		printf("%s%s%s", num++ ? ", " : "", cli_provider_name(i), result == CLI_CHECK_PERHAPS ? "?" : "");
		num_partly_known += result == CLI_CHECK_PERHAPS;
	}
	if (num == 0)
		printf("no known release");
	printf("%s\n", num_partly_known ? "  (?: not all of its symbols are known)" : "");
}

static void print_program(const struct cli_check *check)
{
	const struct cli_imports *imports = &check->imports;

	if (imports->num)
		printf("%s: %zu symbol%s of DOCA", check->path, imports->num, plural_suffix(imports->num));
	else
		printf("%s: no symbols of DOCA", check->path);
	for (size_t i = 0; i < imports->num_needed; i++)
		printf("%s%s", i ? ", " : "; needs ", imports->needed[i]);
	printf("\n");
	if (cli_check_other_machine(check))
		printf("  it is a program for %s: the results below apply there\n", cli_check_other_machine(check));
}

static void print_absent_libraries(const struct cli_check *check, enum cli_provider provider)
{
	for (size_t i = 0; i < check->imports.num_needed; i++) {
		if (!cli_provider_has_library(check->imports.needed[i], provider))
			printf("; there is no %s", check->imports.needed[i]);
	}
}

static void print_bfsim(const struct cli_check *check)
{
	const struct cli_check_counts *counts = &check->counts[check->bfsim_provider];
	bool starts = cli_check_starts(check, check->bfsim_provider);
	size_t mismatches = cli_check_num_abi_mismatches(check);

	printf("  bfsim:        %s on its %s generation", starts ? "starts" : "does not start",
	       cli_generation_name(check->generation));
	if (counts->absent)
		printf("; %zu symbol%s missing", counts->absent, counts->absent == 1 ? " is" : "s are");
	if (counts->other_version)
		printf("; %zu in another version: relink it", counts->other_version);
	print_absent_libraries(check, check->bfsim_provider);
	if (mismatches)
		printf("; %zu with other parameters than it was built with", mismatches);
	if (counts->not_simulated)
		printf("; %zu not simulated", counts->not_simulated);
	else if (starts && check->imports.num)
		printf("; all of its symbols are simulated");
	printf("\n");
}

static void print_against(const struct cli_check *check, enum cli_provider release)
{
	const struct cli_check_counts *counts = &check->counts[release];

	static const char *const verdicts[] = { [CLI_CHECK_FALSE] = "does not link",
						[CLI_CHECK_PERHAPS] = "links, as far as is known",
						[CLI_CHECK_TRUE] = "links" };

	printf("  against %-4s  %s", cli_provider_name(release), verdicts[cli_check_links(check, release)]);
	if (counts->absent)
		printf("; %zu symbol%s missing", counts->absent, counts->absent == 1 ? " is" : "s are");
	if (counts->unknown)
		printf("; %zu symbol%s not known to be there", counts->unknown, counts->unknown == 1 ? " is" : "s are");
	if (counts->changed)
		printf("; %zu with other parameters than %s: its source does not compile there unchanged",
		       counts->changed, check->bfsim_provider == CLI_BFSIM_TASK ? "now" : "in 2.2");
	printf("\n");
}

static void print_verdict(const struct cli_check *check, int against)
{
	print_program(check);
	if (check->imports.num == 0 && check->imports.num_needed == 0)
		return; /* the program does not use DOCA, or loads it at run time */
	if (against >= 0)
		print_against(check, (enum cli_provider)against);
	print_bfsim(check);
	print_releases(check, "starts on:", cli_check_starts);
	print_releases(check, "links with:", cli_check_links);
}

static const char *bfsim_cell(const struct cli_check *check, const struct cli_import *import)
{
	if (cli_check_has_abi_mismatch(check, import))
		return "other parameters";
	switch (cli_symbol_status(import->symbol, import->version, check->bfsim_provider)) {
	case CLI_ABSENT:
		return "missing";
	case CLI_OTHER_VERSION:
		return "other version";
	default:
		return cli_is_not_simulated(import->symbol, check->bfsim_provider) ? "not simulated" : "simulated";
	}
}

static const char *release_cell(const struct cli_check *check, const struct cli_import *import,
				enum cli_provider release)
{
	static const char *const cells[2][4] = {
		{ [CLI_ABSENT] = "-", [CLI_UNKNOWN] = "?", [CLI_OTHER_VERSION] = "relink", [CLI_PRESENT] = "yes" },
		{ [CLI_ABSENT] = "-", [CLI_UNKNOWN] = "?", [CLI_OTHER_VERSION] = "relink*", [CLI_PRESENT] = "yes*" },
	};

	return cells[cli_check_changed(check, import, release)]
		    [cli_symbol_status(import->symbol, import->version, release)];
}

/* Returns whether the table lists the symbol without --all. */
static bool needs_row(const struct cli_check *check, const struct cli_import *import, int against)
{
	if (against >= 0)
		return cli_symbol_status(import->symbol, NULL, (enum cli_provider)against) <= CLI_UNKNOWN ||
		       cli_check_changed(check, import, (enum cli_provider)against);
	return cli_symbol_status(import->symbol, import->version, check->bfsim_provider) != CLI_PRESENT ||
	       cli_check_has_abi_mismatch(check, import) || cli_is_not_simulated(import->symbol, check->bfsim_provider);
}

static void add_row(struct cli_table *table, const struct cli_check *check, const struct cli_import *import)
{
	const char *library = cli_check_library(import);

	cli_table_add(table, "%s", import->symbol);
	cli_table_add(table, "%s", import->version ? import->version : "-");
	cli_table_add(table, "%s", library[0] ? library : "-");
	cli_table_add(table, "%s", bfsim_cell(check, import));
	for (enum cli_provider i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++)
		cli_table_add(table, "%s", release_cell(check, import, i));
}

static bool is_any_changed(const struct cli_check *check)
{
	for (enum cli_provider i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++) {
		if (check->counts[i].changed)
			return true;
	}
	return false;
}

int cli_check_print(const struct cli_check *check, int against, bool all)
{
	const char *headings[4 + CLI_NUM_RELEASES] = { "SYMBOL", "VERSION", "LIBRARY", "BFSIM" };
	struct cli_table table = CLI_TABLE(headings);

	for (int i = 0; i < CLI_NUM_RELEASES; i++)
		headings[4 + i] = cli_provider_name((enum cli_provider)(CLI_FIRST_RELEASE + i));
	print_verdict(check, against);
	for (size_t i = 0; i < check->imports.num; i++) {
		if (all || needs_row(check, &check->imports.list[i], against))
			add_row(&table, check, &check->imports.list[i]);
	}
	if (table.num_cells == 0)
		return 0;
	printf("\n");
	if (cli_table_print(&table) < 0)
		return -1;
	if (is_any_changed(check))
		printf("* parameters or result differ from those of %s\n",
		       check->bfsim_provider == CLI_BFSIM_TASK ? "the newest release" : "2.2");
	return 0;
}
