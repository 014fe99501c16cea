/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/api/topology_priv.h - which card a call of bfsim.h is about. */
#ifndef SIM_API_TOPOLOGY_PRIV_H
#define SIM_API_TOPOLOGY_PRIV_H

#include "pcie_model/topology/topology.h"

/* Read a card's description: @path, as seen from the directory @dir_fd; NULL = the built-in one. *ret_topology is
 * the caller's (pcie_topology_destroy()). Returns 0, or -errno with the reason in sim_last_error(). */
int api_load_topology(int dir_fd, const char *path, struct pcie_topology **ret_topology);

#endif
