/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim function: reset, remove, add or fail a PCIe function of a live session. */
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

/* The actions, and the operation of the rule that injects each. */
static const struct {
	const char *name, *op;
} actions[] = {
	{ "reset", "function" },
	{ "remove", "function" },
	{ "add", "function" },
	{ "fatal", "link" },
};

struct options {
	struct cli_session_opt session;
	char **args;
	size_t num_args;
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		return 0;
	case ARGP_KEY_ARGS:
		options->args = state->argv + state->next;
		options->num_args = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_END:
		if (options->num_args != 2)
			argp_error(state, "give reset, remove, add or fatal, and a PCI address or an RDMA device");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *find_op(const char *name)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].name, name) == 0)
			return actions[i].op;
	return NULL;
}

int cli_function(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_opt,
		.args_doc = "reset ADDRESS\nremove ADDRESS\nadd ADDRESS\nfatal ADDRESS",
		.doc = "Reset, remove, add or fail a PCIe function while programs use it.\v"
		       "reset: a function-level reset. remove, add: hot-unplug and hot-plug. fatal: the function fails until "
		       "it is reset. ADDRESS is a PCI address or an RDMA device, and may contain * and ?; bfsim devs lists "
		       "them. bfsim fault add injects the same at a time or by chance, see doc/faults.md.",
		.children = cli_session_children,
	};
	static const char *const names[] = { "reset", "remove", "add", "fatal" };
	struct options options = { 0 };
	const char *op;

	cli_args_parse(&argp, argc, argv, 0, &options);
	op = find_op(options.args[0]);
	if (!op)
		return cli_args_fail_action("function", options.args[0], names, sizeof(names) / sizeof(names[0]));
	return cli_faults_inject_at_device(options.session.dir, op, options.args[1], options.args[0], NULL);
}
