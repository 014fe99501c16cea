/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim pcie: the bandwidth of a PCI Express link, by payload size. */
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

struct options {
	const char *profile;
	struct pcie_link requested; /* 0 = the default of the profile */
	struct cli_words words;     /* sizes */
	bool csv, json;
	const char *svg;
	uint64_t *sizes;
	size_t num_sizes;
};

static const uint64_t default_sizes[] = { 64, 128, 256, 512, 1024, 2048, 4096 };

static uint64_t parse_size(struct argp_state *state, const char *text)
{
	uint64_t size = 0;

	if (cli_size_parse(text, PCIE_LINK_MAX_BYTES, &size) < 0)
		argp_error(state,
			   "\"%s\" is not a size: give bytes, from 1 to 1T, with K, M, G or T for powers of 1024",
			   text);
	return size;
}

static void set_profile(void *to, char *text, struct argp_state *state)
{
	if (!pcie_profile_find(text))
		argp_error(state, "--profile %s: there are bluefield-2, bluefield-3 and connectx-7", text);
	*(const char **)to = text;
}

#define LINK_NUMBER(letter, name, value, member, help) \
	CLI_NUMBER(letter, name, value, struct options, requested.member, 1, 65536, "a whole number", help)
#define LINK_FLAG(name, member, help) CLI_FLAG(0, name, struct options, requested.member, help)

static const struct cli_option option_list[] = {
	CLI_SECTION(NULL, 1),
	CLI_CALL('p', "profile", "NAME", struct options, profile, set_profile,
		 "The host link of bluefield-2, bluefield-3 (the default) or connectx-7"),
	LINK_NUMBER('g', "gen", "N", generation, "Generation: 1 to 6"),
	LINK_NUMBER('l', "lanes", "N", lanes, "Number of lanes: 1, 2, 4, 8, 12, 16 or 32"),
	LINK_NUMBER(0, "mps", "BYTES", mps_bytes, "Maximum payload size: 128 to 4096"),
	LINK_NUMBER(0, "mrrs", "BYTES", mrrs_bytes, "Maximum read request size: 128 to 4096"),
	LINK_NUMBER(0, "rcb", "BYTES", rcb_bytes, "Read completion boundary: 64 to 512"),
	CLI_SECTION(NULL, 2),
	LINK_FLAG("addr32", addr32, "Addresses of 32 bits"),
	LINK_FLAG("ecrc", ecrc, "End-to-end CRC on each packet"),
	LINK_FLAG("cut-at-rcb", cut_at_rcb, "Split completions at RCB, not at MPS"),
	LINK_FLAG("own-completions", own_completions, "No completion answers two requests"),
	LINK_FLAG("whole-dwords", whole_dwords, "Pad payload to words of 4 bytes"),
	LINK_FLAG("no-ack", no_ack, "Leave out acknowledgements"),
	LINK_FLAG("no-flow-control", no_flow_control, "Leave out updates of credits"),
	LINK_FLAG("no-skip", no_skip, "Leave out skip ordered sets"),
	CLI_SECTION(NULL, 3),
	CLI_FLAG(0, "csv", struct options, csv, "Print CSV"),
	CLI_FLAG('j', "json", struct options, json, "Print JSON"),
	CLI_TEXT(0, "svg", "FILE", struct options, svg, "Draw the curve too (needs gnuplot)"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	struct options *options = all;

	if (options->csv && options->json)
		argp_error(state, "--csv and --json are two formats; give one of them");
	options->num_sizes = options->words.count;
	options->sizes = calloc(options->num_sizes + 1, sizeof(*options->sizes));
	if (!options->sizes)
		argp_failure(state, CLI_FAILED, ENOMEM, "cannot take so many sizes");
	for (size_t i = 0; i < options->num_sizes; i++)
		options->sizes[i] = parse_size(state, options->words.list[i]);
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
	const uint64_t *sizes = options->num_sizes > 0 ? options->sizes : default_sizes;
	size_t num = options->num_sizes > 0 ? options->num_sizes : sizeof(default_sizes) / sizeof(default_sizes[0]);

	if ((options->csv  ? cli_pcie_print_csv(link, sizes, num) :
	     options->json ? cli_pcie_print_json(link, sizes, num) :
			     cli_pcie_print_table(link, sizes, num)) < 0)
		return CLI_FAILED;
	if (options->svg && cli_pcie_draw(link, sizes, num, options->svg) < 0)
		return CLI_FAILED;
	return CLI_OK;
}

int cli_pcie(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.words = offsetof(struct options, words),
		.max_words = CLI_MANY_WORDS,
		.check = check_options,
		.args_doc = "[SIZE...]",
		.doc = "Print the payload bandwidth of a PCI Express link, in Gb/s: of writes, of reads, and of as many of both "
		       "at once (each way), for transfers of SIZE bytes.\v"
		       "Sizes may end in K, M, G or T. Without any: powers of two from 64 to 4096.",
	};
	struct options options = { .profile = DEFAULT_PROFILE };
	struct pcie_link link;
	int status;

	cli_args_parse(&args, argc, argv, 0, &options);
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
