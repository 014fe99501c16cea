/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/live.h - what a live session has changed of the cards that its topology describes.
 *
 * Without a session (a file, the built-in topology) nothing is changed.
 */
#ifndef SIM_CLI_VIEW_LIVE_H
#define SIM_CLI_VIEW_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "pcie_model/topology/topology.h"
#include "sim/clock/net_slow.h"
#include "sim/shm/segment.h"

#define CLI_LIVE_TEXT_SIZE 128

struct cli_live {
	struct sim_segment shared; /* the session's shared state; base NULL = no session */
};

/* The state of a card's link now. */
struct cli_live_link {
	bool is_down;
	uint64_t up_in_ns;     /* if it is down: session time until it is up */
	struct pcie_link link; /* as it runs: the trained link, or slower, or with replays */
};

/* The state of a network link now. */
struct cli_live_net {
	uint64_t up_in_ns;              /* if it is down: session time until it is up; else 0 */
	struct sim_clock_net_slow slow; /* by rules; in functional sessions nothing is */
};

/* Look at the session in @dir; NULL = there is none. Returns 0, or -1 with a message. */
int cli_live_open(const char *dir, struct cli_live *ret_live);
void cli_live_close(struct cli_live *live);

/* "works", "removed", or "failed" (until a reset). */
const char *cli_live_function(const struct cli_live *live, const struct pcie_function *function);

/* The same of the function's representor: "works" or "removed", also with its function. */
const char *cli_live_rep(const struct cli_live *live, const struct pcie_function *function);

/* The network link of a function. */
struct cli_live_net cli_live_net(const struct cli_live *live, const struct pcie_function *function);

/* A link of the network that the topology describes, by its index there. That of a port is the link of the PF of the DPU. */
struct cli_live_net cli_live_net_link(const struct cli_live *live, const struct pcie_topology *topology, uint32_t link);

/* Whether a session has taken the link down or made it slow. */
bool cli_live_net_is_changed(const struct cli_live_net *net);

/* What a person reads of a function that changed: "removed", "failed until a reset", "representor removed", "network link down",
 * "network link slow"; else "". */
const char *cli_live_function_mark(const struct cli_live *live, const struct pcie_function *function);

struct cli_live_link cli_live_link(const struct cli_live *live, const struct pcie_topology *topology, uint32_t card);

/* What a person reads of a link that changed: "link down for another 150 ms", "link at gen2 x4, 1.0 % of packets replayed";
 * else "". */
void cli_live_link_mark(const struct cli_live *live, const struct pcie_topology *topology, uint32_t card,
			char text[CLI_LIVE_TEXT_SIZE]);

/* Print a line for each function and link that the session changed. */
void cli_live_print_changes(const struct cli_live *live, const struct pcie_topology *topology);

#endif
