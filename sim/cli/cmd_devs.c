/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim devs: list the PCIe functions of a card, their representors and capabilities. */
#include <stdbool.h>

#include "commands.h"
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

static const struct cli_option option_list[] = {
	CLI_TEXT('t', "topology", "FILE", struct options, topology, "Show this file's cards instead of a session's"),
	CLI_TEXT('o', "on", "SIDE", struct options, side, "Only the functions of SIDE"),
	CLI_FLAG('j', "json", struct options, json, "Print all properties as JSON"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->topology && options->session.is_from_option)
		argp_error(state, "--topology and --session name two topologies; give one of them");
}

int cli_devs(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.check = check_options,
		.doc = "List PCIe functions, the representors they hold, and their capabilities.\v"
		       "Shows the file of --topology, else the session, else the built-in topology.",
	};
	struct options options = { .session.is_optional = true };
	struct pcie_topology *topology;
	struct cli_live live = { 0 };
	const char *source;
	int rc = -1;

	cli_args_parse(&args, argc, argv, 0, &options);
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
