/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim function: reset, remove, add or fail a PCIe function of a live session. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
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
	const char *on;
	struct cli_words words;
};

static const struct cli_option option_list[] = {
	CLI_TEXT('o', "on", "SIDE", struct options, on,
		 "The side, or the machine, whose device it is (default: any that has one of that name)"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->words.count != 2)
		argp_error(state, "give reset, remove, add or fatal, and a PCI address or an RDMA device");
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
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, words),
		.max_words = CLI_MANY_WORDS,
		.check = check_options,
		.args_doc = "reset ADDRESS\nremove ADDRESS\nadd ADDRESS\nfatal ADDRESS",
		.doc = "Reset, remove, add or fail a PCIe function while programs use it.\v"
		       "reset: a function-level reset. remove, add: hot-unplug and hot-plug. fatal: the function fails until "
		       "it is reset. ADDRESS is a PCI address or an RDMA device, and may contain * and ?; bfsim devs lists "
		       "them. bfsim fault add injects the same at a time or by chance, see doc/faults.md.",
	};
	struct options options = { 0 };
	const char *op;

	cli_args_parse(&args, argc, argv, 0, &options);
	op = find_op(options.words.list[0]);
	if (!op)
		return cli_args_fail_action("function", options.words.list[0], CLI_FUNCTION_ACTIONS);
	return cli_faults_inject_at_device(options.session.dir, op, options.on, options.words.list[1],
					   options.words.list[0], NULL);
}
