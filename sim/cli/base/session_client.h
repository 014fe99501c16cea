/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/session_client.h - access to a session from outside: its directory, topology and daemon.
 *
 * A function that fails prints a message first.
 */
#ifndef SIM_CLI_BASE_SESSION_CLIENT_H
#define SIM_CLI_BASE_SESSION_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pcie_model/topology/topology.h"
#include "sim/control/control.h"

/* Open the directory of a live session. Returns a descriptor, or -1. */
int cli_session_open(const char *dir);

/* The topology of a session, of a file, or the built-in one; NULL on failure. The caller releases it with
 * pcie_topology_destroy(). */
struct pcie_topology *cli_topology_of_session(int dir_fd, const char *dir);
struct pcie_topology *cli_topology_of_file(const char *path);
struct pcie_topology *cli_topology_built_in(void);

/* Returns whether @topology, of @where, has @side; if not, the message lists its sides. */
bool cli_check_side(const struct pcie_topology *topology, const char *where, const char *side);

/* Send the daemon a request without a body (wire.h: STATUS, SHUTDOWN) and wait for the reply. Returns 0 or -1.
 * *ret_fd is the descriptor that came with the reply, which the caller closes, or -1. */
int cli_session_request(int dir_fd, const char *dir, uint16_t type, int *ret_fd);

/* Print why a call of sim/control/control.h failed with @rc. Returns -1. */
int cli_session_report_error(const char *dir, int rc);

#endif
