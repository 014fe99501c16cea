/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/session_tasks.h - tasks in flight of all processes of the session, by its ledger
 * (sim/state/shared_ledger.h).
 *
 * The ledger has the tasks that use exported memory, of processes with a detector of races. What it says of other
 * processes is untrusted: it ends up in texts, and ranges are compared with this process's own exports.
 */
#ifndef SHIM_CHECK_SESSION_TASKS_H
#define SHIM_CHECK_SESSION_TASKS_H

#include "shim/check/report/hit.h"
#include "sim/state/shared_ledger.h"

/* The ledger, and this process's lane in it; made at the first need. NULL = no session, or too many processes. */
struct sim_ledger_lane *check_session_lane(struct sim_shared_ledger **ret_ledger);

/* Find a task in flight that uses a range of this process's memory by way of an import. */
bool check_session_find_user(const uint8_t *addr, size_t len, struct sim_shared_range *ret_user);

/* Whether the process of a range ended. Its entries stay until the daemon knows. */
bool check_session_is_gone(const struct sim_shared_range *range);

/* The same, of a process that was told to end: wait for it, for at most @ms. */
bool check_session_ends_within(const struct sim_shared_range *range, int ms);

/* Add a task of another process to a hit. */
void check_session_add_task(struct check_hit *hit, const struct sim_shared_range *range);

#endif
