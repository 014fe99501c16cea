/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking a program against the libraries of each provider. */
#include "check_binary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "generation.h"
#include "machine.h"

/* Remove all symbols but those of DOCA. */
static void keep_doca_symbols(struct cli_imports *imports)
{
	size_t kept = 0;

	for (size_t i = 0; i < imports->num; i++) {
		struct cli_import *import = &imports->list[i], other;

		if (!cli_is_doca_symbol(import->symbol))
			continue;
		other = imports->list[kept];
		imports->list[kept++] = *import;
		*import = other;
	}
	for (size_t i = kept; i < imports->num; i++) {
		free(imports->list[i].symbol);
		free(imports->list[i].version);
		free(imports->list[i].library);
	}
	imports->num = kept;
}

static void keep_doca_libraries(struct cli_imports *imports)
{
	size_t kept = 0;

	for (size_t i = 0; i < imports->num_needed; i++) {
		if (cli_is_doca_library(imports->needed[i]))
			imports->needed[kept++] = imports->needed[i];
		else
			free(imports->needed[i]);
	}
	imports->num_needed = kept;
}

static int compare_imports(const void *a, const void *b)
{
	return strcmp(((const struct cli_import *)a)->symbol, ((const struct cli_import *)b)->symbol);
}

/* Returns whether bfsim has the function with the parameters of 2.5 and 2.6, for the program. */
static bool has_types_of_2_5(const struct cli_check *check, const struct cli_import *import)
{
	return check->bfsim_provider == CLI_BFSIM_TASK_2_5 && strcmp(cli_check_library(import), "libdoca_rdma") == 0;
}

/* The task generation has the headers of the newest release, which releases.h compares with. The workq generation has
 * those of 2.2, and task-2.5 some of 2.6: a function that differs from the newest release both there and in @provider counts as
 * changed. */
bool cli_check_changed(const struct cli_check *check, const struct cli_import *import, enum cli_provider provider)
{
	bool changed = cli_has_changed(import->symbol, provider), is_2_5 = has_types_of_2_5(check, import);
	enum cli_provider own = is_2_5 ? CLI_RELEASE_2_6 : CLI_RELEASE_2_2;

	if (check->bfsim_provider != CLI_BFSIM_WORKQ && !is_2_5)
		return changed;
	if (provider <= own || provider == check->bfsim_provider ||
	    cli_symbol_status(import->symbol, NULL, provider) <= CLI_UNKNOWN)
		return false;
	return changed || cli_has_changed(import->symbol, own);
}

static struct cli_check_counts count_problems(const struct cli_check *check, enum cli_provider provider)
{
	const struct cli_imports *imports = &check->imports;
	struct cli_check_counts counts = { 0 };

	for (size_t i = 0; i < imports->num; i++) {
		const struct cli_import *import = &imports->list[i];
		enum cli_symbol_status status = cli_symbol_status(import->symbol, import->version, provider);

		counts.absent += status == CLI_ABSENT;
		counts.unknown += status == CLI_UNKNOWN;
		counts.known += status > CLI_UNKNOWN;
		counts.other_version += status == CLI_OTHER_VERSION;
		counts.changed += cli_check_changed(check, import, provider);
		counts.not_simulated += cli_is_not_simulated(import->symbol, provider);
	}
	for (size_t i = 0; i < imports->num_needed; i++)
		counts.libraries_absent += !cli_provider_has_library(imports->needed[i], provider);
	return counts;
}

static enum cli_provider provider_of(enum cli_generation generation)
{
	static const enum cli_provider providers[] = { [CLI_GENERATION_TASK] = CLI_BFSIM_TASK,
						       [CLI_GENERATION_WORKQ] = CLI_BFSIM_WORKQ,
						       [CLI_GENERATION_TASK_2_5] = CLI_BFSIM_TASK_2_5 };

	return providers[generation];
}

int cli_check_read(const char *path, struct cli_check *ret)
{
	struct cli_check check = { .path = path };
	int rc = cli_imports_read(path, &check.imports);

	if (rc < 0)
		return rc;
	keep_doca_symbols(&check.imports);
	keep_doca_libraries(&check.imports);
	if (check.imports.num > 0)
		qsort(check.imports.list, check.imports.num, sizeof(*check.imports.list), compare_imports);
	check.generation = cli_generation_of_imports(&check.imports);
	check.bfsim_provider = provider_of(check.generation);
	for (enum cli_provider i = 0; i < CLI_NUM_PROVIDERS; i++)
		check.counts[i] = count_problems(&check, i);
	*ret = check;
	return 0;
}

void cli_check_free(struct cli_check *check)
{
	cli_imports_free(&check->imports);
}

static enum cli_check_result make_result(const struct cli_check_counts *counts, bool misses_something)
{
	if (misses_something || (counts->unknown && counts->known == 0))
		return CLI_CHECK_FALSE;
	return counts->unknown ? CLI_CHECK_PERHAPS : CLI_CHECK_TRUE;
}

enum cli_check_result cli_check_starts(const struct cli_check *check, enum cli_provider provider)
{
	const struct cli_check_counts *counts = &check->counts[provider];

	return make_result(counts, counts->absent || counts->other_version || counts->libraries_absent);
}

enum cli_check_result cli_check_links(const struct cli_check *check, enum cli_provider provider)
{
	return make_result(&check->counts[provider], check->counts[provider].absent);
}

/* bfsim's task generation has the parameters of the newest release. The workq generation has those of 2.2, and task-2.5 those
 * of 2.6, like the programs for them. */
bool cli_check_has_abi_mismatch(const struct cli_check *check, const struct cli_import *import)
{
	bool starts_somewhere = false;

	if (check->bfsim_provider == CLI_BFSIM_WORKQ || has_types_of_2_5(check, import))
		return false;
	for (enum cli_provider i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++) {
		if (cli_check_starts(check, i) != CLI_CHECK_TRUE)
			continue;
		if (!cli_has_changed(import->symbol, i))
			return false;
		starts_somewhere = true;
	}
	return starts_somewhere;
}

size_t cli_check_num_abi_mismatches(const struct cli_check *check)
{
	size_t num = 0;

	for (size_t i = 0; i < check->imports.num; i++)
		num += cli_check_has_abi_mismatch(check, &check->imports.list[i]);
	return num;
}

const char *cli_check_library(const struct cli_import *import)
{
	const struct cli_symbol *symbol = cli_symbol_find(import->symbol);

	if (symbol)
		return symbol->library;
	return import->library ? import->library : "";
}

const char *cli_check_other_machine(const struct cli_check *check)
{
	if (CLI_OWN_MACHINE == EM_NONE || check->imports.machine == CLI_OWN_MACHINE)
		return NULL;
	switch (check->imports.machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "aarch64";
	default:
		return "another processor";
	}
}
