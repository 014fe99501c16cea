/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim coverage: which functions of the vendor's libraries bfsim has. */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "pcie_model/did_you_mean.h"
#include "sim/cli/abi/coverage.h"
#include "sim/cli/abi/unlisted.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/table.h"
#include "sim/cli/view/coverage_page.h"

struct options {
	struct cli_words words; /* the name; without one, the libraries' sums */
	bool json, html;
};

static const struct cli_option option_list[] = {
	CLI_FLAG('j', "json", struct options, json, "Print JSON: an object for each function"),
	CLI_FLAG(0, "html", struct options, html, "Print a page of HTML that searches itself"),
	{ 0 },
};

/* A function's name, a library's ("dma", "libdoca_dma"), or a pattern. */
static bool is_chosen(const char *name, const struct cli_symbol *symbol)
{
	if (!name || strcmp(name, symbol->name) == 0 || strcmp(name, symbol->library) == 0)
		return true;
	if (strncmp(symbol->library, "libdoca_", 8) == 0 && strcmp(name, symbol->library + 8) == 0)
		return true;
	return strpbrk(name, "*?") && fnmatch(name, symbol->name, 0) == 0;
}

static json_object *symbol_json(const struct cli_symbol *symbol)
{
	const struct cli_coverage_note *note = cli_coverage_note(symbol);
	json_object *json = json_object_new_object();
	char releases[CLI_COVERAGE_RELEASES_SIZE];

	cli_coverage_releases(symbol, releases);
	cli_json_add_text(json, "function", symbol->name);
	cli_json_add_text(json, "library", symbol->library);
	cli_json_add_text(json, "state", cli_coverage_state_name(cli_coverage_state(symbol)));
	cli_json_add_text(json, "releases", releases);
	cli_json_add_number(json, "num-tests", note->num_tests);
	cli_json_add_text(json, "tests", note->tests);
	cli_json_add_text(json, "difference", note->difference);
	return json;
}

static int print_json(const char *name)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < cli_num_symbols; i++)
		if (is_chosen(name, &cli_symbols[i]))
			json_object_array_add(list, symbol_json(&cli_symbols[i]));
	return cli_json_print(list, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE) < 0 ? CLI_FAILED : CLI_OK;
}

static void print_details(const struct cli_symbol *symbol)
{
	const struct cli_coverage_note *note = cli_coverage_note(symbol);
	char releases[CLI_COVERAGE_RELEASES_SIZE];

	cli_coverage_releases(symbol, releases);
	printf("%s (%s): %s\n", symbol->name, symbol->library, cli_coverage_state_name(cli_coverage_state(symbol)));
	printf("  releases    %s\n", releases);
	printf("  tests       %s\n", note->num_tests ? note->tests : "none names it");
	if (note->difference)
		printf("  difference  %s\n", note->difference);
}

static int print_functions(const char *name, size_t count)
{
	static const char *const headings[] = { "FUNCTION", "STATE", ">TESTS", "RELEASES" };
	struct cli_table table = CLI_TABLE(headings);

	for (size_t i = 0; i < cli_num_symbols; i++) {
		const struct cli_symbol *symbol = &cli_symbols[i];
		char releases[CLI_COVERAGE_RELEASES_SIZE];

		if (!is_chosen(name, symbol))
			continue;
		if (count == 1) {
			print_details(symbol);
			return CLI_OK;
		}
		cli_coverage_releases(symbol, releases);
		cli_table_add(&table, "%s", symbol->name);
		cli_table_add(&table, "%s", cli_coverage_state_name(cli_coverage_state(symbol)));
		cli_table_add(&table, "%u", cli_coverage_note(symbol)->num_tests);
		cli_table_add(&table, "%s", releases);
	}
	return cli_table_print(&table) < 0 ? CLI_FAILED : CLI_OK;
}

static void add_sum(struct cli_table *table, const char *name, const char *library)
{
	size_t counts[CLI_NUM_COVERAGE_STATES];

	cli_coverage_count(library, counts);
	cli_table_add(table, "%s", name);
	for (size_t state = 0; state < CLI_NUM_COVERAGE_STATES; state++)
		cli_table_add(table, "%zu", counts[state]);
}

static int print_libraries(void)
{
	static const char *const headings[] = { "LIBRARY", ">WORKS",         ">UNTESTED",
						">PARTLY", ">NOT_SUPPORTED", ">MISSING" };
	struct cli_table table = CLI_TABLE(headings);
	const char *libraries[CLI_COVERAGE_MAX_LIBRARIES];
	size_t count = cli_coverage_libraries(libraries);

	for (size_t i = 0; i < count; i++)
		add_sum(&table, libraries[i], libraries[i]);
	add_sum(&table, "all", NULL);
	return cli_table_print(&table) < 0 ? CLI_FAILED : CLI_OK;
}

static const char *symbol_name(const void *arg, size_t i)
{
	(void)arg;
	return cli_symbols[i].name;
}

static int fail_unknown(const char *name)
{
	const char *closest = pcie_did_you_mean(name, strlen(name), symbol_name, NULL, cli_num_symbols),
		   *library = cli_unlisted_library(name);

	if (library)
		return cli_fail("%s: bfsim has no list of %s, and does not simulate it", name, library);
	return cli_fail("no release from 1.5 to 3.3 that is known has %s%s%s; bfsim coverage lists the libraries", name,
			closest ? "; did you mean " : "", closest ? closest : "");
}

int cli_coverage(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.words = offsetof(struct options, words),
		.max_words = 1,
		.many_words = "give one name",
		.args_doc = "[NAME]",
		.doc = "Show which functions of the vendor's libraries bfsim has, by release, with the tests that call them.\v"
		       "NAME is a function, a library (dma), or a pattern ('doca_*_cap_*'). Without it, the libraries are summed up. "
		       "The exit status is 1 if no function has that name, or the one that has it is missing.",
	};
	struct options options = { 0 };
	const struct cli_symbol *last = NULL;
	const char *name;
	size_t count = 0;
	int status;

	cli_args_parse(&args, argc, argv, 0, &options);
	name = cli_word(&options.words, 0);
	for (size_t i = 0; i < cli_num_symbols; i++)
		if (is_chosen(name, &cli_symbols[i])) {
			last = &cli_symbols[i];
			count++;
		}
	if (count == 0)
		return fail_unknown(name);
	if (options.html) {
		cli_coverage_print_page();
		return CLI_OK;
	}
	if (options.json)
		status = print_json(name);
	else
		status = name ? print_functions(name, count) : print_libraries();
	if (status == CLI_OK && count == 1 && cli_coverage_state(last) == CLI_COVERAGE_MISSING)
		status = CLI_FAILED;
	return status;
}
