/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/api/topology_priv.h - the topology of the card that a call of bfsim.h uses. */
#ifndef SIM_API_TOPOLOGY_PRIV_H
#define SIM_API_TOPOLOGY_PRIV_H

#include "pcie_model/topology/topology.h"

/* Read the topology file @path, relative to the directory @dir_fd; NULL = the built-in topology. The caller destroys
 * *ret_topology with pcie_topology_destroy(). Returns 0, or -errno with the reason in sim_last_error(). */
int api_load_topology(int dir_fd, const char *path, struct pcie_topology **ret_topology);

#endif
