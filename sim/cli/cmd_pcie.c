/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim pcie: the bandwidth of a PCI Express link, by payload size. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/view/pcie_curve.h"
#include "pcie_model/profile.h"

#define DEFAULT_PROFILE "bluefield-3"

enum {
	KEY_MPS = 256,
	KEY_MRRS,
	KEY_RCB,
	KEY_ADDR32,
	KEY_ECRC,
	KEY_NO_ACK,
	KEY_NO_FLOW_CONTROL,
	KEY_NO_SKIP,
	KEY_CUT_AT_RCB,
	KEY_OWN_COMPLETIONS,
	KEY_WHOLE_DWORDS,
	KEY_CSV,
	KEY_SVG,
};

enum format {
	TABLE,
	CSV,
	JSON,
};

struct options {
	const char *profile;
	struct pcie_link requested; /* 0 = the default of the profile */
	enum format format;
	const char *svg;
	uint64_t *sizes;
	size_t num_sizes;
};

static const uint64_t default_sizes[] = { 64, 128, 256, 512, 1024, 2048, 4096 };

static const struct argp_option option_list[] = {
	{ "profile", 'p', "NAME", 0, "The host link of bluefield-2, bluefield-3 (the default) or connectx-7", 1 },
	{ "gen", 'g', "N", 0, "Generation: 1 to 6", 1 },
	{ "lanes", 'l', "N", 0, "Number of lanes: 1, 2, 4, 8, 12, 16 or 32", 1 },
	{ "mps", KEY_MPS, "BYTES", 0, "Maximum payload size: 128 to 4096", 1 },
	{ "mrrs", KEY_MRRS, "BYTES", 0, "Maximum read request size: 128 to 4096", 1 },
	{ "rcb", KEY_RCB, "BYTES", 0, "Read completion boundary: 64 to 512", 1 },
	{ "addr32", KEY_ADDR32, NULL, 0, "Addresses of 32 bits", 2 },
	{ "ecrc", KEY_ECRC, NULL, 0, "End-to-end CRC on each packet", 2 },
	{ "cut-at-rcb", KEY_CUT_AT_RCB, NULL, 0, "Split completions at RCB, not at MPS", 2 },
	{ "own-completions", KEY_OWN_COMPLETIONS, NULL, 0, "No completion answers two requests", 2 },
	{ "whole-dwords", KEY_WHOLE_DWORDS, NULL, 0, "Pad payload to words of 4 bytes", 2 },
	{ "no-ack", KEY_NO_ACK, NULL, 0, "Leave out acknowledgements", 2 },
	{ "no-flow-control", KEY_NO_FLOW_CONTROL, NULL, 0, "Leave out updates of credits", 2 },
	{ "no-skip", KEY_NO_SKIP, NULL, 0, "Leave out skip ordered sets", 2 },
	{ "csv", KEY_CSV, NULL, 0, "Print CSV", 3 },
	{ "json", 'j', NULL, 0, "Print JSON", 3 },
	{ "svg", KEY_SVG, "FILE", 0, "Draw the curve too (needs gnuplot)", 3 },
	{ 0 },
};

static uint32_t parse_number(struct argp_state *state, const char *option, const char *text)
{
	uint64_t number = 0;

	if (cli_number_parse(text, 10, 1, 65536, &number, NULL) < 0)
		argp_error(state, "%s %s: give a whole number from 1 on", option, text);
	return (uint32_t)number;
}

/* The power of 1024 of the letter behind a number; 0 for another letter. */
static uint64_t suffix_multiplier(const char *text)
{
	static const char letters[] = "KMGT";
	const char *letter;

	if (!*text)
		return 1;
	letter = strchr(letters, *text >= 'a' ? *text - 'a' + 'A' : *text);
	if (!letter || text[1])
		return 0;
	return UINT64_C(1024) << (10 * (letter - letters));
}

static uint64_t parse_size(struct argp_state *state, const char *text)
{
	uint64_t number = 0, unit = 0;
	const char *suffix;

	if (cli_number_parse(text, 10, 1, UINT64_MAX, &number, &suffix) == 0)
		unit = suffix_multiplier(suffix);
	if (unit == 0 || number > PCIE_LINK_MAX_BYTES / unit)
		argp_error(state,
			   "\"%s\" is not a size: give bytes, from 1 to 1T, with K, M, G or T for powers of 1024",
			   text);
	return number * unit;
}

static void set_format(struct argp_state *state, struct options *options, enum format format)
{
	if (options->format != TABLE && options->format != format)
		argp_error(state, "--csv and --json are two formats; give one of them");
	options->format = format;
}

static void add_size(struct argp_state *state, struct options *options, const char *text)
{
	uint64_t size = parse_size(state, text);
	uint64_t *sizes = reallocarray(options->sizes, options->num_sizes + 1, sizeof(*sizes));

	if (!sizes)
		argp_failure(state, CLI_FAILED, ENOMEM, "cannot take so many sizes");
	options->sizes = sizes;
	sizes[options->num_sizes++] = size;
}

static error_t parse_flag(int key, struct pcie_link *link)
{
	switch (key) {
	case KEY_ADDR32:
		link->addr32 = true;
		return 0;
	case KEY_ECRC:
		link->ecrc = true;
		return 0;
	case KEY_NO_ACK:
		link->no_ack = true;
		return 0;
	case KEY_NO_FLOW_CONTROL:
		link->no_flow_control = true;
		return 0;
	case KEY_NO_SKIP:
		link->no_skip = true;
		return 0;
	case KEY_CUT_AT_RCB:
		link->cut_at_rcb = true;
		return 0;
	case KEY_OWN_COMPLETIONS:
		link->own_completions = true;
		return 0;
	case KEY_WHOLE_DWORDS:
		link->whole_dwords = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'p':
		if (!pcie_profile_find(arg))
			argp_error(state, "--profile %s: there are bluefield-2, bluefield-3 and connectx-7", arg);
		options->profile = arg;
		return 0;
	case 'g':
		options->requested.generation = parse_number(state, "--gen", arg);
		return 0;
	case 'l':
		options->requested.lanes = parse_number(state, "--lanes", arg);
		return 0;
	case KEY_MPS:
		options->requested.mps_bytes = parse_number(state, "--mps", arg);
		return 0;
	case KEY_MRRS:
		options->requested.mrrs_bytes = parse_number(state, "--mrrs", arg);
		return 0;
	case KEY_RCB:
		options->requested.rcb_bytes = parse_number(state, "--rcb", arg);
		return 0;
	case KEY_CSV:
		set_format(state, options, CSV);
		return 0;
	case 'j':
		set_format(state, options, JSON);
		return 0;
	case KEY_SVG:
		options->svg = arg;
		return 0;
	case ARGP_KEY_ARG:
		add_size(state, options, arg);
		return 0;
	default:
		return parse_flag(key, &options->requested);
	}
}

/* The link of the profile with the options applied. */
static struct pcie_link resolve_link(const struct options *options)
{
	const struct pcie_link *defaults = &pcie_profile_find(options->profile)->link;
	struct pcie_link link = options->requested;

	link.generation = link.generation ? link.generation : defaults->generation;
	link.lanes = link.lanes ? link.lanes : defaults->lanes;
	link.mps_bytes = link.mps_bytes ? link.mps_bytes : defaults->mps_bytes;
	link.mrrs_bytes = link.mrrs_bytes ? link.mrrs_bytes : defaults->mrrs_bytes;
	link.rcb_bytes = link.rcb_bytes ? link.rcb_bytes : defaults->rcb_bytes;
	return link;
}

static int print_and_draw(const struct options *options, const struct pcie_link *link)
{
	static int (*const print[])(const struct pcie_link *, const uint64_t *, size_t) = {
		[TABLE] = cli_pcie_print_table, [CSV] = cli_pcie_print_csv, [JSON] = cli_pcie_print_json
	};
	const uint64_t *sizes = options->num_sizes > 0 ? options->sizes : default_sizes;
	size_t num = options->num_sizes > 0 ? options->num_sizes : sizeof(default_sizes) / sizeof(default_sizes[0]);

	if (print[options->format](link, sizes, num) < 0)
		return CLI_FAILED;
	if (options->svg && cli_pcie_draw(link, sizes, num, options->svg) < 0)
		return CLI_FAILED;
	return CLI_OK;
}

int cli_pcie(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc = "[SIZE...]",
		.doc = "Print the payload bandwidth of a PCI Express link, in Gb/s: of writes, of reads, and of as many of both "
		       "at once (each way), for transfers of SIZE bytes.\v"
		       "Sizes may end in K, M, G or T. Without any: powers of two from 64 to 4096.",
	};
	struct options options = { .profile = DEFAULT_PROFILE };
	struct pcie_link link;
	int status;

	cli_args_parse(&argp, argc, argv, 0, &options);
	link = resolve_link(&options);
	if (pcie_link_config_error(&link)) {
		cli_fail("there is no such link: %s", pcie_link_config_error(&link));
		status = CLI_USAGE;
	} else {
		status = print_and_draw(&options, &link);
	}
	free(options.sizes);
	return status;
}
