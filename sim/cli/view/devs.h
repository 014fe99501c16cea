/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/devs.h - the output of bfsim devs.
 *
 * @side NULL selects all sides. @live is what the session changed. Both print to standard output and return 0, or -1 with
 * a message.
 */
#ifndef SIM_CLI_VIEW_DEVS_H
#define SIM_CLI_VIEW_DEVS_H

#include "live.h"
#include "pcie_model/topology/topology.h"

/* Tables: network, identity, capabilities, Comch, representors; of all sides, also what connects the ports. */
int cli_devs_print_tables(const struct pcie_topology *topology, const struct cli_live *live, const char *side);

/* All properties as JSON. @source is the origin of the topology. */
int cli_devs_print_json(const struct pcie_topology *topology, const struct cli_live *live, const char *side,
			const char *source);

#endif
