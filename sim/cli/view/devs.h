/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/devs.h - a topology as bfsim devs shows it.
 *
 * @side NULL is every side. Both write to standard output and return 0, or -1
 * with the reason on standard error.
 */
#ifndef SIM_CLI_VIEW_DEVS_H
#define SIM_CLI_VIEW_DEVS_H

#include "pcie_model/topology/topology.h"

/* Tables to read: the network, identities, abilities, representors. */
int cli_devs_print_tables(const struct pcie_topology *topology, const char *side);

/* Everything that is known, as JSON. @source says where the topology is from. */
int cli_devs_print_json(const struct pcie_topology *topology, const char *side, const char *source);

#endif
