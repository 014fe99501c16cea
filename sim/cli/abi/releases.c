/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries on the table of symbols. */
#include "releases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOL_PREFIX  "doca_"
#define LIBRARY_PREFIX "libdoca_"

static const char *const names[CLI_NUM_PROVIDERS] = {
	[CLI_RELEASE_1_5] = "1.5",   [CLI_RELEASE_2_2] = "2.2",  [CLI_RELEASE_2_5] = "2.5",
	[CLI_RELEASE_2_6] = "2.6",   [CLI_RELEASE_2_7] = "2.7",  [CLI_RELEASE_2_10] = "2.10",
	[CLI_RELEASE_3_0] = "3.0",   [CLI_RELEASE_3_1] = "3.1",  [CLI_RELEASE_3_3] = "3.3",
	[CLI_BFSIM_WORKQ] = "bfsim", [CLI_BFSIM_TASK] = "bfsim", [CLI_BFSIM_TASK_2_5] = "bfsim",
};

const char *cli_provider_name(enum cli_provider provider)
{
	return names[provider];
}

bool cli_release_is_assumed(enum cli_provider provider)
{
	return provider == CLI_RELEASE_3_1 || provider == CLI_RELEASE_3_3;
}

int cli_release_of_name(const char *name)
{
	for (int i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++) {
		size_t len = strlen(names[i]);

		if (strncmp(names[i], name, len) == 0 && (name[len] == '\0' || name[len] == '.'))
			return i;
	}
	return -1;
}

/* "2.10.3" -> 2010. Returns false if it is no version. */
static bool parse_release(const char *name, unsigned int *ret_number)
{
	unsigned int major, minor;

	if (sscanf(name, "%3u.%3u", &major, &minor) != 2)
		return false;
	*ret_number = major * 1000 + minor;
	return true;
}

int cli_release_before(const char *name)
{
	unsigned int wanted, number;
	int found = -1;

	if (!parse_release(name, &wanted))
		return -1;
	for (int i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++)
		if (parse_release(names[i], &number) && number < wanted)
			found = i;
	return found;
}

bool cli_is_doca_symbol(const char *name)
{
	return strncmp(name, SYMBOL_PREFIX, strlen(SYMBOL_PREFIX)) == 0;
}

bool cli_is_doca_library(const char *soname)
{
	return strncmp(soname, LIBRARY_PREFIX, strlen(LIBRARY_PREFIX)) == 0;
}

static int compare_symbol_name(const void *name, const void *symbol)
{
	return strcmp(name, ((const struct cli_symbol *)symbol)->name);
}

const struct cli_symbol *cli_symbol_find(const char *name)
{
	return bsearch(name, cli_symbols, cli_num_symbols, sizeof(cli_symbols[0]), compare_symbol_name);
}

static bool node_has_version(char node, const char *version)
{
	switch (node) {
	case 'D':
		return strcmp(version, "DOCA_2") == 0;
	case 'E':
		return strcmp(version, "EXPERIMENTAL") == 0;
	default:
		return false; /* the library has no versions; the loader fails */
	}
}

enum cli_symbol_status cli_symbol_status(const char *name, const char *version, enum cli_provider provider)
{
	const struct cli_symbol *symbol = cli_symbol_find(name);
	char node = symbol ? symbol->nodes[provider] : '-';

	if (node == '-' || node == 'S')
		return CLI_ABSENT;
	if (node == '?')
		return CLI_UNKNOWN;
	return !version || node_has_version(node, version) ? CLI_PRESENT : CLI_OTHER_VERSION;
}

/* In all releases, libraries have version 2. */
bool cli_provider_has_library(const char *soname, enum cli_provider provider)
{
	const char *end = strstr(soname, ".so");

	if (!end || (strcmp(end, ".so.2") != 0 && strcmp(end, ".so") != 0))
		return false;
	for (size_t i = 0; i < cli_num_symbols; i++) {
		const char *library = cli_symbols[i].library;

		if (!strchr("-S", cli_symbols[i].nodes[provider]) && strlen(library) == (size_t)(end - soname) &&
		    strncmp(library, soname, strlen(library)) == 0)
			return true;
	}
	return false;
}

static bool has_bit(const struct cli_symbol *symbol, unsigned bits, enum cli_provider provider)
{
	return symbol && (bits >> provider & 1);
}

bool cli_has_changed(const char *name, enum cli_provider provider)
{
	const struct cli_symbol *symbol = cli_symbol_find(name);

	return symbol && has_bit(symbol, symbol->changed, provider);
}

bool cli_is_not_simulated(const char *name, enum cli_provider provider)
{
	const struct cli_symbol *symbol = cli_symbol_find(name);

	return symbol && has_bit(symbol, symbol->not_simulated, provider);
}
