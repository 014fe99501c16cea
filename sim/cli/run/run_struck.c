/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs and machines that rules have killed. */
#include <signal.h>

#include "run_priv.h"
#include "sim/cli/base/cli.h"

const struct sim_plan *cli_run_plan(const struct run *run, const struct cli_run_node *node)
{
	return &sim_shared_state_of(node ? &node->shared_state : &run->shared_state)->plan;
}

const struct cli_run_node *cli_run_node_of(const struct run *run, const struct cli_program *program)
{
	return cli_run_nodes_of_side(&run->cfg->nodes, run->cfg->commands[program - run->programs].side);
}

bool cli_run_machine_was_struck(const struct run *run, const struct cli_run_node *node)
{
	return cli_faults_num_kills(cli_run_plan(run, node), SIM_OP_MACHINE) > 0;
}

bool cli_run_was_struck(const struct run *run, const struct cli_program *program)
{
	const struct cli_run_node *node = cli_run_node_of(run, program);
	uint64_t num_others = 0;

	if (cli_run_machine_was_struck(run, node))
		return true;
	if (program->status != CLI_SIGNAL + SIGKILL)
		return false;
	for (size_t i = 0; i < run->num_programs; i++)
		num_others += run->programs[i].was_struck && cli_run_node_of(run, &run->programs[i]) == node;
	return cli_faults_num_kills(cli_run_plan(run, node), SIM_OP_PEER) > num_others;
}
