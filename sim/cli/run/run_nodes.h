/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_nodes.h - a run whose nodes are machines: each has a daemon and a gateway of its own (bfsim run --nodes).
 *
 *   open (the directories, a token) --> start (home's daemon is there: the others join over loopback) --> ended by the worker --> close
 *
 * The first machine of the topology is home, and its daemon is the run's. All functions take a struct that is zeroed: a run
 * without --nodes, which has one machine.
 */
#ifndef SIM_CLI_RUN_RUN_NODES_H
#define SIM_CLI_RUN_RUN_NODES_H

#include <stdint.h>
#include <sys/types.h>

#include "pcie_model/topology/topology.h"
#include "sim/cli/base/session_start.h"
#include "sim/shm/segment.h"

struct cli_run_node {
	char name[PCIE_SIDE_SIZE];
	struct sim_session_dir dir;
	pid_t daemon;                    /* 0 = not started, or ended */
	struct sim_segment shared_state; /* stays when the daemon does not */
};

struct cli_run_nodes {
	char home[PCIE_SIDE_SIZE];
	struct cli_run_node *list; /* besides home */
	size_t count;
	char *token_file; /* in home's directory */
};

/* The machines of the topology in @file. Returns 0, or -1 with a message. */
int cli_run_nodes_open(struct cli_run_nodes *nodes, const char *file, const struct sim_session_dir *home);
void cli_run_nodes_close(struct cli_run_nodes *nodes);

/* What home's daemon is started with besides. */
void cli_run_nodes_set_home(const struct cli_run_nodes *nodes, struct sim_launch_cfg *cfg);

/* Let the others join the session of @home. Returns 0, or -1 with a message. */
int cli_run_nodes_start(struct cli_run_nodes *nodes, const char *home, uint32_t trace_level);

/* The machine of the side; NULL = home. */
const struct cli_run_node *cli_run_nodes_of_side(const struct cli_run_nodes *nodes, const char *side);

/* The session's directory on the machine of the side. */
const char *cli_run_nodes_dir(const struct cli_run_nodes *nodes, const char *side, const char *home);

/* Put the daemons into a list that ends with 0 and has room for count + 2; home's is the first, as it ends the session for all. */
void cli_run_nodes_daemons(const struct cli_run_nodes *nodes, pid_t home, pid_t *list);

#endif
