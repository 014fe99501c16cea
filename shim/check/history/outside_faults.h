/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/outside_faults.h - faults of the card and of the session, which no program is to blame for: rules that name
 * who has done something ask first whether a fault did. For rare questions: the answers read all functions, or rules. */
#ifndef SHIM_CHECK_OUTSIDE_FAULTS_H
#define SHIM_CHECK_OUTSIDE_FAULTS_H

#include <stdbool.h>

#include "sim/faults/rule/rule.h"

struct doca_ctx;
struct doca_task;

/* Whether any function of the session was reset, failed or was removed, ever. */
bool check_function_failed_ever(void);

/* Whether a fault rule has killed a process of the session. */
bool check_peer_was_killed(void);

/* Whether a fault rule for @op has hit in the session. */
bool check_fault_has_hit(enum sim_op op);

/* Whether the task fails because a fault rule says so, or because its context stops. */
bool check_task_fails_from_outside(const struct doca_task *task);

#endif
