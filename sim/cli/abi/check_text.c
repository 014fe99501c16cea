/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a program as text: a verdict of a few lines, then a table. */
#include <stdio.h>
#include <string.h>

#include "check_binary.h"
#include "coverage.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/table.h"

#define MAX_NAMED 3 /* symbols in a reason */

static const char *plural_suffix(size_t num)
{
	return num == 1 ? "" : "s";
}

typedef enum cli_check_result (*check_func)(const struct cli_check *check, enum cli_provider provider);

/* ": doca_a, doca_b, ...", of the symbols with that status at @provider. */
static void print_symbols(const struct cli_check *check, enum cli_provider provider, enum cli_symbol_status status)
{
	size_t num = 0;

	for (size_t i = 0; i < check->imports.num; i++) {
		const struct cli_import *import = &check->imports.list[i];

		if (cli_symbol_status(import->symbol, import->version, provider) != status)
			continue;
		if (num++ == MAX_NAMED) {
			printf(", ...");
			return;
		}
		printf("%s%s", num == 1 ? ": " : ", ", import->symbol);
	}
}

static void print_absent_libraries(const struct cli_check *check, enum cli_provider provider, const char *before)
{
	for (size_t i = 0; i < check->imports.num_needed; i++) {
		if (!cli_provider_has_library(check->imports.needed[i], provider))
			printf("%sthere is no %s", before, check->imports.needed[i]);
	}
}

/* Why @provider is not among the releases: "; 3.0 lacks 2: doca_a, doca_b". */
static void print_reason(const struct cli_check *check, enum cli_provider provider, const char *before,
			 bool needs_versions)
{
	const struct cli_check_counts *counts = &check->counts[provider];

	printf("%s%s", before, cli_provider_name(provider));
	if (counts->absent) {
		printf(" lacks %zu", counts->absent);
		print_symbols(check, provider, CLI_ABSENT);
	} else if (needs_versions && counts->other_version) {
		printf(" has %zu in another version", counts->other_version);
		print_symbols(check, provider, CLI_OTHER_VERSION);
	} else {
		print_absent_libraries(check, provider, ": ");
	}
}

/* Releases beyond the table have none, and neither do those of which nothing is known. */
static bool has_reason(const struct cli_check *check, int provider, bool needs_versions)
{
	const struct cli_check_counts *counts;

	if (provider < CLI_FIRST_RELEASE || provider > CLI_LAST_RELEASE)
		return false;
	counts = &check->counts[provider];
	return counts->absent || (needs_versions && (counts->other_version || counts->libraries_absent));
}

/* Why the releases before @first and behind @last are not listed. */
static void print_reasons(const struct cli_check *check, int first, int last, bool needs_versions)
{
	const char *before = "                (";

	if (has_reason(check, first - 1, needs_versions)) {
		print_reason(check, (enum cli_provider)(first - 1), before, needs_versions);
		before = "; ";
	}
	if (has_reason(check, last + 1, needs_versions)) {
		print_reason(check, (enum cli_provider)(last + 1), before, needs_versions);
		before = "; ";
	}
	if (before[0] == ';')
		printf(")\n");
}

/* Print the releases for which @func is true, as "2.5, 2.7?, 2.10"; and why the ones before and behind them are not there. */
static void print_releases(const struct cli_check *check, const char *heading, check_func func, bool needs_versions)
{
	int first = -1, last = -1;
	bool is_uncertain = false;

	printf("  %-13s ", heading);
	for (enum cli_provider i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++) {
		enum cli_check_result result = func(check, i);
		bool is_certain = result == CLI_CHECK_TRUE && !cli_release_is_assumed(i);

		if (result == CLI_CHECK_FALSE)
			continue;
		printf("%s%s%s", first < 0 ? "" : ", ", cli_provider_name(i), is_certain ? "" : "?");
		is_uncertain |= !is_certain;
		first = first < 0 ? (int)i : first;
		last = (int)i;
	}
	if (first < 0)
		printf("no known release");
	if (is_uncertain)
		printf("  (?: not all of its symbols are known)");
	printf("\n");
	if (first < 0) /* the newest one is the one that a reader wants */
		first = last = CLI_LAST_RELEASE + 1;
	print_reasons(check, first, last, needs_versions);
}

static bool is_partly(const struct cli_import *import)
{
	const struct cli_symbol *symbol = cli_symbol_find(import->symbol);

	return symbol && cli_coverage_state(symbol) == CLI_COVERAGE_PARTLY && cli_coverage_note(symbol)->difference;
}

static size_t count_partly(const struct cli_check *check)
{
	size_t num = 0;

	for (size_t i = 0; i < check->imports.num; i++)
		num += is_partly(&check->imports.list[i]);
	return num;
}

/* The functions that work with a difference from the vendor's. */
static void print_partly(const struct cli_check *check)
{
	const char *before = "  partly:       ";

	for (size_t i = 0; i < check->imports.num; i++) {
		if (!is_partly(&check->imports.list[i]))
			continue;
		printf("%s%s", before, check->imports.list[i].symbol);
		before = ", ";
	}
	printf("  (bfsim coverage NAME says how it differs)\n");
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

/* Nothing in the file tells a program of 2.5 or 2.6 from a later one, and it starts there. */
static bool may_be_of_task_2_5(const struct cli_check *check)
{
	if (check->generation != CLI_GENERATION_TASK ||
	    (!cli_check_starts(check, CLI_RELEASE_2_5) && !cli_check_starts(check, CLI_RELEASE_2_6)))
		return false;
	for (size_t i = 0; i < check->imports.num; i++) {
		if (strcmp(cli_check_library(&check->imports.list[i]), "libdoca_rdma") == 0)
			return true;
	}
	return false;
}

static void print_bfsim(const struct cli_check *check)
{
	const struct cli_check_counts *counts = &check->counts[check->bfsim_provider];
	bool starts = cli_check_starts(check, check->bfsim_provider);
	size_t mismatches = cli_check_num_abi_mismatches(check), num_partly = count_partly(check);

	printf("  bfsim:        %s on its %s generation", starts ? "starts" : "does not start",
	       cli_generation_name(check->generation));
	if (counts->absent)
		printf("; %zu symbol%s missing", counts->absent, counts->absent == 1 ? " is" : "s are");
	if (counts->other_version)
		printf("; %zu in another version: relink it", counts->other_version);
	print_absent_libraries(check, check->bfsim_provider, "; ");
	if (mismatches)
		printf("; %zu with other parameters than it was built with", mismatches);
	if (counts->not_simulated)
		printf("; %zu not simulated", counts->not_simulated);
	else if (starts && check->imports.num)
		printf("; all of its symbols are simulated");
	if (num_partly)
		printf(counts->not_simulated || !starts ? "; %zu partly simulated" : ", %zu of them partly",
		       num_partly);
	printf("\n");
	if (may_be_of_task_2_5(check))
		printf("  or:           on its task-2.5 generation, if it was built with 2.5 or 2.6 (--generation task-2.5)\n");
	if (num_partly)
		print_partly(check);
}

static void print_against(const struct cli_check *check, enum cli_provider release)
{
	const struct cli_check_counts *counts = &check->counts[release];

	static const char *const verdicts[] = { [CLI_CHECK_FALSE] = "does not link",
						[CLI_CHECK_PERHAPS] = "links, as far as is known",
						[CLI_CHECK_TRUE] = "links" };

	enum cli_check_result result = cli_check_links(check, release);

	if (result == CLI_CHECK_TRUE && cli_release_is_assumed(release))
		result = CLI_CHECK_PERHAPS;
	printf("  against %-4s  %s", cli_provider_name(release), verdicts[result]);
	if (counts->absent)
		printf("; %zu symbol%s missing", counts->absent, counts->absent == 1 ? " is" : "s are");
	if (counts->unknown)
		printf("; %zu symbol%s not known to be there", counts->unknown, counts->unknown == 1 ? " is" : "s are");
	if (counts->changed)
		printf("; %zu with other parameters than %s: its source does not compile there unchanged",
		       counts->changed, check->bfsim_provider == CLI_BFSIM_WORKQ ? "in 2.2" : "now");
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
	print_releases(check, "starts on:", cli_check_starts, true);
	print_releases(check, "links with:", cli_check_links, false);
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
		       check->bfsim_provider == CLI_BFSIM_WORKQ ? "2.2" :
		       check->bfsim_provider == CLI_BFSIM_TASK  ? "the newest release" :
								  "2.6 (libdoca_rdma) and of the newest release");
	return 0;
}
