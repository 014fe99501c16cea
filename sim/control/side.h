/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/side.h - check of the name of a side that a user gave.
 *
 * Thread-safe; errors are -errno, and sim_last_error() has the reason.
 */
#ifndef SIM_SIDE_H
#define SIM_SIDE_H

#include "pcie_model/topology/topology.h"

/* Check that @topology has @side. Messages name the topology @where ("the card", a file). Returns 0, or -ENOENT; the
 * reason then names the sides of the topology. */
int sim_side_check(const struct pcie_topology *topology, const char *where, const char *side);

#endif
