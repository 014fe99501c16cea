/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim caps: the capabilities of functions, as the vendor's doca_caps shows them. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "sim/cli/abi/coverage.h"
#include "sim/cli/abi/unlisted.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/view/caps.h"
#include "sim/cli/view/live.h"

enum kind { SHOW_CAPS = 0, SHOW_DEVS, SHOW_REPS, SHOW_LIBS, SHOW_LOGGERS };

#define REMOVED "removed" /* as cli_live_function_mark() and cli_live_rep() say it */

struct options {
	struct cli_session_opt session;
	struct cli_words words;
	const char *topology, *side, *address, *lib;
	enum kind kind;
	bool json;
	struct cli_live live; /* what the session changed */
};

/* Libraries that bfsim knows, and which have no capabilities here. */
static void refuse_other_lib(const char *name, struct argp_state *state)
{
	const char *libraries[CLI_COVERAGE_MAX_LIBRARIES], *unlisted = cli_unlisted_library(name);
	size_t count = cli_coverage_libraries(libraries);

	if (unlisted)
		argp_error(state, "--lib %s: bfsim does not simulate %s; --list-libs names the libraries", name,
			   unlisted);
	for (size_t i = 0; i < count; i++) {
		size_t counts[CLI_NUM_COVERAGE_STATES], all = cli_coverage_count(libraries[i], counts);

		if (strcmp(libraries[i] + strlen("libdoca_"), name) == 0)
			argp_error(state, "--lib %s: %s; --list-libs names the libraries", name,
				   counts[CLI_COVERAGE_MISSING] == all ? "bfsim does not simulate this library" :
									 "this library has no capabilities of its own");
	}
}

static void set_lib(void *to, char *name, struct argp_state *state)
{
	const char *names[16];
	size_t count = 0;

	for (; cli_caps_lib_at(count); count++) {
		names[count] = cli_caps_lib_at(count);
		if (strcmp(names[count], name) != 0)
			continue;
		*(const char **)to = name;
		return;
	}
	refuse_other_lib(name, state);
	argp_error(state, "--lib %s: bfsim has no such library%s; --list-libs names them", name,
		   cli_hint(name, names, count).text);
}

/* What the argument may have been meant as. */
static void fail_argument(const char *text, struct argp_state *state)
{
	for (size_t i = 0; cli_caps_lib_at(i); i++)
		if (strcmp(cli_caps_lib_at(i), text) == 0)
			argp_error(state, "%s: give a library as --lib %s", text, text);
	argp_error(state, "%s: there are no arguments; give a device as --pci-addr, a library as --lib, a side as --on",
		   text);
}

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->words.count > 0)
		fail_argument(options->words.list[0], state);
	if (options->topology && options->session.is_from_option)
		argp_error(state, "--topology and --session name two topologies; give one of them");
}

static const struct cli_option option_list[] = {
	CLI_CONSTANT(0, "list-devs", struct options, kind, SHOW_DEVS, "Only the devices and their attributes"),
	CLI_CONSTANT(0, "list-rep-devs", struct options, kind, SHOW_REPS, "Only the devices' representors"),
	CLI_CONSTANT(0, "list-libs", struct options, kind, SHOW_LIBS, "Only the names of the libraries"),
	CLI_CONSTANT(0, "list-loggers", struct options, kind, SHOW_LOGGERS, "Only the names of the libraries' loggers"),
	CLI_TEXT('p', "pci-addr", "ADDRESS", struct options, address, "Only this device"),
	CLI_CALL('b', "lib", "LIB", struct options, lib, set_lib, "Only the capabilities of this library"),
	CLI_TEXT('o', "on", "SIDE", struct options, side,
		 "The side whose devices are shown (default: $BFSIM_SIDE, else all sides in turn)"),
	CLI_TEXT('t', "topology", "FILE", struct options, topology, "Show this file's cards instead of a session's"),
	CLI_FLAG('j', "json", struct options, json, "Print JSON"),
	{ 0 },
};

/* Whether @address is the function's, with or without the domain. */
static bool has_address(const struct pcie_function *function, const char *address)
{
	char text[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, text);
	return strcmp(text, address) == 0 || (strncmp(text, "0000:", 5) == 0 && strcmp(text + 5, address) == 0);
}

/* ---- text ---- */

#define NAME_WIDTH 46 /* of an attribute or capability; its value follows */

struct text_output {
	const char *lib;    /* that was printed last */
	const char *indent; /* before names */
};

static void print_cap(void *arg, const char *lib, const char *name, const char *text, uint64_t number, bool is_flag)
{
	struct text_output *out = arg;

	if (lib[0] && (!out->lib || strcmp(out->lib, lib) != 0))
		printf("    %s\n", lib);
	out->lib = lib;
	printf("%s%-*s", out->indent, NAME_WIDTH, name);
	if (text)
		printf("%s\n", text);
	else if (is_flag && lib[0])
		printf("%s\n", number ? "supported" : "unsupported");
	else if (is_flag)
		printf("%s\n", number ? "yes" : "no");
	else
		printf("%" PRIu64 "\n", number);
}

/* @mark: how the session changed it, or "". It has a line of its own, since programs read the address. */
static void print_address(const char *indent, const char *key, const struct pcie_function *function, const char *mark)
{
	char text[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, text);
	if (mark[0])
		printf("%s# %s: %s %s\n", indent, key, text, mark);
	if (strcmp(mark, REMOVED) != 0)
		printf("%s%s: %s\n", indent, key, text);
}

static void print_reps(const struct options *options, const struct pcie_topology *topology,
		       const struct pcie_function *function)
{
	struct text_output out = { .indent = "            " };

	for (size_t i = 0; i < function->num_reps; i++) {
		const struct pcie_function *rep = &topology->functions[function->reps[i]];
		bool is_removed = strcmp(cli_live_rep(&options->live, rep), REMOVED) == 0;

		print_address("        ", "representor-PCI", rep, is_removed ? REMOVED : "");
		if (!is_removed)
			cli_caps_each_rep_attribute(topology, function, i, print_cap, &out);
	}
}

static void print_function(const struct options *options, const struct pcie_topology *topology,
			   const struct pcie_function *function)
{
	const char *mark = cli_live_function_mark(&options->live, function);
	struct text_output out = { .indent = "        " };

	print_address("", "PCI", function, mark);
	if (strcmp(mark, REMOVED) == 0)
		return;
	if (options->kind == SHOW_DEVS)
		cli_caps_each_attribute(topology, function, print_cap, &out);
	else if (options->kind == SHOW_REPS)
		print_reps(options, topology, function);
	else
		cli_caps_each(function, options->lib, print_cap, &out);
}

/* ---- JSON ---- */

static void add_cap(void *arg, const char *lib, const char *name, const char *text, uint64_t number, bool is_flag)
{
	json_object *to = arg, *of_lib = lib[0] ? cli_json_member(arg, lib) : NULL;

	if (lib[0] && !of_lib) {
		of_lib = json_object_new_object();
		json_object_object_add(to, lib, of_lib);
	}
	to = of_lib ? of_lib : to;
	if (text)
		cli_json_add_text(to, name, text);
	else if (is_flag)
		cli_json_add_bool(to, name, number);
	else
		cli_json_add_number(to, name, number);
}

static json_object *function_json(const struct options *options, const struct pcie_topology *topology,
				  const struct pcie_function *function)
{
	json_object *json = json_object_new_object(), *reps = json_object_new_array();
	char text[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, text);
	cli_json_add_text(json, "side", function->side);
	cli_json_add_text(json, "pci", text);
	cli_json_add_text(json, "state", cli_live_function(&options->live, function));
	cli_caps_each_attribute(topology, function, add_cap, json);
	if (options->kind == SHOW_CAPS)
		cli_caps_each(function, options->lib, add_cap, json);
	for (size_t i = 0; i < function->num_reps; i++) {
		json_object *rep = json_object_new_object();

		pcie_addr_format(&topology->functions[function->reps[i]].addr, text);
		cli_json_add_text(rep, "pci", text);
		cli_json_add_text(rep, "state", cli_live_rep(&options->live, &topology->functions[function->reps[i]]));
		cli_caps_each_rep_attribute(topology, function, i, add_cap, rep);
		json_object_array_add(reps, rep);
	}
	json_object_object_add(json, "representors", reps);
	return json;
}

/* ---- */

static bool is_chosen(const struct options *options, const struct pcie_function *function)
{
	return (!options->side || strcmp(options->side, function->side) == 0) &&
	       (!options->address || has_address(function, options->address));
}

static int print_functions(const struct options *options, const struct pcie_topology *topology)
{
	json_object *list = json_object_new_array();
	const char *side = NULL;
	size_t count = 0;

	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (!is_chosen(options, function))
			continue;
		count++;
		if (!options->json && !options->side && (!side || strcmp(side, function->side) != 0))
			printf("# side %s\n", function->side);
		side = function->side;
		if (options->json)
			json_object_array_add(list, function_json(options, topology, function));
		else
			print_function(options, topology, function);
	}
	if (count == 0 && options->address) {
		json_object_put(list);
		return cli_fail("there is no device %s%s%s; bfsim caps --list-devs names them", options->address,
				options->side ? " on " : "", options->side ? options->side : "");
	}
	if (options->json)
		return cli_json_print(list, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE) < 0 ? CLI_FAILED :
													    CLI_OK;
	json_object_put(list);
	return CLI_OK;
}

int cli_caps(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, words),
		.max_words = CLI_MANY_WORDS,
		.check = check_options,
		.doc = "Show the capabilities of a card's devices by library, in the shape of the vendor's doca_caps.\v"
		       "SDK trees have tools/doca_caps, which runs this for their side. bfsim devs shows the same card as tables.",
	};
	struct options options = { .session.is_optional = true };
	struct pcie_topology *topology;
	const char *source;
	int status = CLI_FAILED;

	cli_args_parse(&args, argc, argv, 0, &options);
	if (options.kind == SHOW_LOGGERS) {
		printf("DOCA\n"); /* the one name in all records of bfsim's libraries */
		return CLI_OK;
	}
	if (options.kind == SHOW_LIBS) {
		for (size_t i = 0; cli_caps_lib_at(i); i++)
			printf("%s\n", cli_caps_lib_at(i));
		return CLI_OK;
	}
	if (!options.side && getenv("BFSIM_SIDE") && getenv("BFSIM_SIDE")[0])
		options.side = getenv("BFSIM_SIDE");
	topology = cli_topology_choose(options.topology, &options.session, &source);
	if (topology && (!options.side || cli_check_side(topology, source, options.side)) &&
	    cli_live_open(source == options.session.dir ? source : NULL, &options.live) == 0)
		status = print_functions(&options, topology);
	cli_live_close(&options.live);
	pcie_topology_destroy(topology);
	return status;
}
