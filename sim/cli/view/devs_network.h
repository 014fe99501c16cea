/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/devs_network.h - the network that a topology file describes, in the output of bfsim devs, and which of its links are
 * down in a live session. */
#ifndef SIM_CLI_VIEW_DEVS_NETWORK_H
#define SIM_CLI_VIEW_DEVS_NETWORK_H

#include <json-c/json_types.h>

#include "live.h"
#include "pcie_model/topology/topology.h"

/* Tables of switches and links; nothing without a description. Returns 0, or -1 with a message. */
int cli_devs_print_network(const struct pcie_topology *topology, const struct cli_live *live);

/* The same as an object, or NULL. */
json_object *cli_devs_network_json(const struct pcie_topology *topology, const struct cli_live *live);

#endif
