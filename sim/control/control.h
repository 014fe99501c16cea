/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/control.h - requests to a session's daemon from a process that is not attached.
 *
 * Each call opens a connection of its own. Errors are -errno: the status of the daemon's reply, an error of the
 * connection such as -ECONNREFUSED, -EAGAIN (no reply within SIM_CONTROL_TIMEOUT_S), or -EPROTO (a daemon of another
 * version).
 */
#ifndef SIM_CONTROL_H
#define SIM_CONTROL_H

#include "sim/state/shared_state.h"
#include "sim/protocol/wire.h"

#define SIM_CONTROL_TIMEOUT_S 10

/* Send a request and replace *msg by the reply, whose status is not checked. @fd goes with the request unless -1.
 * *ret_fd gets the reply's descriptor (the caller's), or -1; if @ret_fd is NULL, the descriptor is closed. */
int sim_control_exchange(int dir_fd, struct sim_msg *msg, int fd, int *ret_fd);

/* Send SIGTERM to the session's daemon, of whatever version: it ends the session. Returns 0 or -errno. */
int sim_control_terminate(int dir_fd);

/* Change the fault plan. @delays may be NULL. A further error is -ENOSPC (the plan is full). */
int sim_control_add_fault(int dir_fd, const struct sim_rule *rule, const struct sim_delays *delays, uint32_t *ret_id);
int sim_control_change_faults(int dir_fd, enum sim_fault_change change, uint32_t id, uint64_t seed);

/* Set the text of sim_last_error() for a call that failed with @rc for the session @dir. Returns @rc. */
int sim_control_set_error(const char *dir, int rc);

/* Map the session's shared state; the caller unmaps it. */
int sim_control_map_shared_state(int dir_fd, struct sim_segment *ret_shared);

#endif
