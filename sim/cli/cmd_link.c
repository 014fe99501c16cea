/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim link: take down or slow down a card's PCIe link to the host, or take down a network link, in a live session. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/fault/faults.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"

struct options {
	struct cli_session_opt session;
	const char *duration, *to, *part, *on;
	bool is_net;
	struct cli_words words;
};

static const struct cli_option option_list[] = {
	CLI_TEXT('o', "on", "SIDE", struct options, on,
		 "The side, or the machine, whose device it is (default: any that has one of that name)"),
	CLI_TEXT(0, "for", "TIME", struct options, duration,
		 "Duration, such as 200ms; required for down, else until the session ends"),
	CLI_TEXT(0, "to", "genNxM", struct options, to,
		 "degrade: the generation and width that the link runs at, such as gen2x4"),
	CLI_TEXT(0, "part", "PART", struct options, part,
		 "errors: the part of the packets that is repeated, such as 1%"),
	CLI_FLAG(0, "net", struct options, is_net,
		 "down: the network link of the function, in place of the card's link to the host"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->words.count != 2)
		argp_error(state, "give down, degrade or errors, and a PCI address or an RDMA device");
	else if (options->is_net && strcmp(options->words.list[0], "down") != 0)
		argp_error(state, "--net goes with down only");
}

static int take_link_down(const struct options *options)
{
	char action[128];

	if (!options->duration) {
		cli_fail("link down: for how long? --for 200ms");
		return CLI_USAGE;
	}
	snprintf(action, sizeof(action), "down=%s", options->duration);
	return cli_faults_inject_at_device(options->session.dir, options->is_net ? "net.link" : "link", options->on,
					   options->words.list[1], action, NULL);
}

static int degrade_link(const struct options *options, const char *action, const char *option, const char *value)
{
	char text[128];

	if (!value) {
		cli_fail("link %s: to what? %s", options->words.list[0], option);
		return CLI_USAGE;
	}
	snprintf(text, sizeof(text), "%s=%s", action, value);
	return cli_faults_inject_at_device(options->session.dir, "link", options->on, options->words.list[1], text,
					   options->duration);
}

static int run_action(const struct options *options)
{
	const char *what = options->words.list[0];

	if (strcmp(what, "down") == 0)
		return take_link_down(options);
	if (strcmp(what, "degrade") == 0)
		return degrade_link(options, "degrade", "--to gen2x4", options->to);
	if (strcmp(what, "errors") == 0)
		return degrade_link(options, "errors", "--part 1%", options->part);
	if (strcmp(what, "up") != 0)
		return cli_args_fail_action("link", what, CLI_LINK_ACTIONS);
	cli_fail("link up: a link comes up when its fault ends, after the time of --for, or by bfsim fault rm ID; "
		 "bfsim fault list shows the ids");
	return CLI_USAGE;
}

int cli_link(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, words),
		.max_words = CLI_MANY_WORDS,
		.check = check_options,
		.args_doc =
			"down ADDRESS [--net] --for TIME\ndegrade ADDRESS --to genNxM [--for TIME]\nerrors ADDRESS --part PART [--for TIME]",
		.doc = "Take down or slow down a card's link to the host, or take down a network link, while programs use it.\v"
		       "down: jobs that cross the link wait. down --net: RDMA's requests through the function, and those of the "
		       "functions that share its port if it is a physical function of the DPU, are repeated until the link is up, "
		       "or fail. degrade, errors: jobs take longer, if the session's clock is timed "
		       "or virtual (bfsim up --clock). ADDRESS is a PCI address or an RDMA device of the card, with --net also "
		       "a link between switches (leaf0/spine), and may contain * and ?; bfsim devs lists them. bfsim fault add "
		       "injects the same at a time or by chance, see doc/faults.md.",
	};
	struct options options = { 0 };

	cli_args_parse(&args, argc, argv, 0, &options);
	return run_action(&options);
}
