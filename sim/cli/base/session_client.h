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
#include "session_opt.h"
#include "sim/control/control.h"

struct json_object;

/* Open the directory of a live session. Returns a descriptor, or -1. */
int cli_session_open(const char *dir);

/* Map the shared state of the session, which stays when its daemon does not; @dir_fd is of cli_session_open(@dir). The caller
 * releases it with sim_segment_unmap(). Returns 0 or -1. */
int cli_session_map_state(int dir_fd, const char *dir, struct sim_segment *ret_state);

/* The daemon's status as JSON, without messages; NULL = the session is not live, or its daemon does not answer. The caller
 * releases it. */
struct json_object *cli_session_status(const char *dir);

/* Whether a program of the session offers the service @name, in such a status. */
bool cli_status_has_service(struct json_object *status, const char *name);

/* Wait until the session's daemon answers, at most @seconds; 0 = for as long as it takes. Returns 0, or -1 with a message. */
int cli_session_wait(const char *dir, unsigned int seconds);

/* The topology of a live session, of a file, or the built-in one; NULL on failure. The caller releases it with
 * pcie_topology_destroy(). */
struct pcie_topology *cli_topology_of_session(const char *dir);
struct pcie_topology *cli_topology_of_file(const char *path);
struct pcie_topology *cli_topology_built_in(void);

/* The topology of @file (of --topology) if it is not NULL; else of the session, if it was named or is live; else the built-in
 * one, which a process without a session uses. *ret_source names it in messages; it is opt->dir itself for a session. */
struct pcie_topology *cli_topology_choose(const char *file, const struct cli_session_opt *opt, const char **ret_source);

/* Returns whether @topology, of @where, has @side; if not, the message lists its sides. */
bool cli_check_side(const struct pcie_topology *topology, const char *where, const char *side);

/* Send the daemon a request without a body (wire.h: STATUS, SHUTDOWN) and wait for the reply. Returns 0 or -1.
 * *ret_fd is the descriptor that came with the reply, which the caller closes, or -1. */
int cli_session_request(int dir_fd, const char *dir, uint16_t type, int *ret_fd);

/* Print why a call of sim/control/control.h failed with @rc. Returns -1. */
int cli_session_report_error(const char *dir, int rc);

#endif
