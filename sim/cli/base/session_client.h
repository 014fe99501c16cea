/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/session_client.h - looking into a session from outside: its state, its card, its daemon.
 *
 * Functions say on standard error what went wrong before they return a failure.
 */
#ifndef SIM_CLI_BASE_SESSION_CLIENT_H
#define SIM_CLI_BASE_SESSION_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pcie_model/topology/topology.h"
#include "sim/control/control.h"

/* Open the directory of a session that lives. A descriptor, or -1. */
int cli_session_open(const char *dir);

/* The card of a session, of a file, or the built-in one. The caller's
 * (pcie_topology_destroy()), or NULL. */
struct pcie_topology *cli_topology_of_session(int dir_fd, const char *dir);
struct pcie_topology *cli_topology_of_file(const char *path);
struct pcie_topology *cli_topology_built_in(void);

/* Whether @topology, which is @where's, has @side; if not, says which there are. */
bool cli_check_side(const struct pcie_topology *topology, const char *where, const char *side);

/* Send the daemon a request without a body (wire.h: STATUS, SHUTDOWN) and wait
 * for the answer. Returns 0 or -1. *ret_fd is the descriptor that came with it
 * (the caller's), or -1. */
int cli_session_request(int dir_fd, const char *dir, uint16_t type, int *ret_fd);

/* Say why a call of sim/control/control.h failed with @rc. Returns -1. */
int cli_session_report_error(const char *dir, int rc);

#endif
