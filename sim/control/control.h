/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/control.h - asking a session's daemon from outside, without attaching.
 *
 * Each call is a connection of its own. Errors are -errno: what the daemon
 * answered, -ECONNREFUSED and the like of the connection, -EAGAIN (no answer
 * within SIM_CONTROL_TIMEOUT_S), -EPROTO (a daemon of another version).
 */
#ifndef SIM_CONTROL_H
#define SIM_CONTROL_H

#include "sim/state/shared_state.h"
#include "sim/protocol/wire.h"

#define SIM_CONTROL_TIMEOUT_S 10

/* Exchange one request for its answer, which replaces *msg: its status is not looked
 * at. @fd goes with it unless -1. *ret_fd is what came with the answer (the caller's),
 * or -1; it is closed when @ret_fd is NULL. */
int sim_control_exchange(int dir_fd, struct sim_msg *msg, int fd, int *ret_fd);

/* Change the fault plan. @delays may be NULL. Besides: -ENOSPC (the plan is full). */
int sim_control_add_fault(int dir_fd, const struct sim_rule *rule, const struct sim_delays *delays, uint32_t *ret_id);
int sim_control_change_faults(int dir_fd, enum sim_fault_change change, uint32_t id, uint64_t seed);

/* Keep for sim_last_error() why a call for the session @dir failed with @rc. Returns @rc. */
int sim_control_set_error(const char *dir, int rc);

/* Map the session's shared state; the caller unmaps it. */
int sim_control_map_shared_state(int dir_fd, struct sim_segment *ret_shared);

#endif
