/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim devs: list the PCIe functions of a card, their representors and capabilities. */
#include <argp.h>
#include <stdbool.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/view/devs.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"

struct options {
	struct cli_session_opt session;
	const char *topology;
	const char *side;
	bool json;
};

static const struct argp_option option_list[] = {
	{ "topology", 't', "FILE", 0, "Show this file's cards instead of a session's", 0 },
	{ "on", 'o', "SIDE", 0, "Only the functions of SIDE", 0 },
	{ "json", 'j', NULL, 0, "Print all properties as JSON", 0 },
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		return 0;
	case 't':
		options->topology = arg;
		return 0;
	case 'o':
		options->side = arg;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (options->topology && options->session.is_from_option)
			argp_error(state, "--topology and --session name two topologies; give one of them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_devs(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.doc = "List PCIe functions, the representors they hold, and their capabilities.\v"
		       "Shows the file of --topology, else the session, else the built-in topology.",
		.children = cli_session_children,
	};
	struct options options = { .session.is_optional = true };
	struct pcie_topology *topology;
	struct cli_live live = { 0 };
	const char *source;
	int rc = -1;

	cli_args_parse(&argp, argc, argv, 0, &options);
	topology = cli_topology_choose(options.topology, &options.session, &source);
	if (!topology)
		return CLI_FAILED;
	if ((!options.side || cli_check_side(topology, source, options.side)) &&
	    cli_live_open(source == options.session.dir ? source : NULL, &live) == 0)
		rc = options.json ? cli_devs_print_json(topology, &live, options.side, source) :
				    cli_devs_print_tables(topology, &live, options.side);
	cli_live_close(&live);
	pcie_topology_destroy(topology);
	return rc < 0 ? CLI_FAILED : CLI_OK;
}
