/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/side.h - a side that a user named: whether the card has it.
 *
 * Thread-safe; errors are -errno, and sim_last_error() says what was wrong.
 */
#ifndef SIM_SIDE_H
#define SIM_SIDE_H

#include "pcie_model/topology/topology.h"

/* Whether @topology, which users know as @where ("the card", a file), has @side.
 * Returns 0, or -ENOENT; the reason then names the sides that it has. */
int sim_side_check(const struct pcie_topology *topology, const char *where, const char *side);

#endif
