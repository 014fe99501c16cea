/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim link: take down or slow down a card's PCIe link to the host, in a live session. */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/fault/faults.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"

enum {
	KEY_FOR = 0x100,
	KEY_TO,
	KEY_PART,
};

struct options {
	struct cli_session_opt session;
	const char *duration, *to, *part;
	char **args;
	size_t num_args;
};

static const struct argp_option option_list[] = {
	{ "for", KEY_FOR, "TIME", 0, "Duration, such as 200ms; required for down, else until the session ends", 0 },
	{ "to", KEY_TO, "genNxM", 0, "degrade: the generation and width that the link runs at, such as gen2x4", 0 },
	{ "part", KEY_PART, "PART", 0, "errors: the part of the packets that is repeated, such as 1%", 0 },
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		return 0;
	case KEY_FOR:
		options->duration = arg;
		return 0;
	case KEY_TO:
		options->to = arg;
		return 0;
	case KEY_PART:
		options->part = arg;
		return 0;
	case ARGP_KEY_ARGS:
		options->args = state->argv + state->next;
		options->num_args = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_END:
		if (options->num_args != 2)
			argp_error(state, "give down, degrade or errors, and a PCI address or an RDMA device");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int take_link_down(const struct options *options)
{
	char action[128];

	if (!options->duration) {
		cli_fail("link down: for how long? --for 200ms");
		return CLI_USAGE;
	}
	snprintf(action, sizeof(action), "down=%s", options->duration);
	return cli_faults_inject_at_device(options->session.dir, "link", options->args[1], action, NULL);
}

static int degrade_link(const struct options *options, const char *action, const char *option, const char *value)
{
	char text[128];

	if (!value) {
		cli_fail("link %s: to what? %s", options->args[0], option);
		return CLI_USAGE;
	}
	snprintf(text, sizeof(text), "%s=%s", action, value);
	return cli_faults_inject_at_device(options->session.dir, "link", options->args[1], text, options->duration);
}

static int run_action(const struct options *options)
{
	static const char *const names[] = { "down", "degrade", "errors" };
	const char *what = options->args[0];

	if (strcmp(what, "down") == 0)
		return take_link_down(options);
	if (strcmp(what, "degrade") == 0)
		return degrade_link(options, "degrade", "--to gen2x4", options->to);
	if (strcmp(what, "errors") == 0)
		return degrade_link(options, "errors", "--part 1%", options->part);
	if (strcmp(what, "up") != 0)
		return cli_args_fail_action("link", what, names, sizeof(names) / sizeof(names[0]));
	cli_fail("link up: a link comes up when its fault ends, after the time of --for, or by bfsim fault rm ID; "
		 "bfsim fault list shows the ids");
	return CLI_USAGE;
}

int cli_link(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc =
			"down ADDRESS --for TIME\ndegrade ADDRESS --to genNxM [--for TIME]\nerrors ADDRESS --part PART [--for TIME]",
		.doc = "Take down or slow down a card's link to the host while programs use it.\v"
		       "down: jobs that cross the link wait. degrade, errors: jobs take longer, if the session's clock is timed "
		       "or virtual (bfsim up --clock). ADDRESS is a PCI address or an RDMA device of the card, and may contain "
		       "* and ?; bfsim devs lists them. bfsim fault add injects the same at a time or by chance, see "
		       "doc/faults.md.",
		.children = cli_session_children,
	};
	struct options options = { 0 };

	cli_args_parse(&argp, argc, argv, 0, &options);
	return run_action(&options);
}
