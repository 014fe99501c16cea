/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/op.h - operations that faults hit, actions that rules do to them, and the table of both.
 *
 * An operation is a task or call of the API: it stands in the description of its library (shim/NAME/library.toml). The last
 * operations are events (operations.toml): they happen to the card, and the process that runs the session evaluates
 * them by the clock. An action is the effect of a rule (words.h). doc/faults.md shows the table of sim_op_actions().
 */
#ifndef SIM_FAULTS_OP_H
#define SIM_FAULTS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/operations.h" /* written by gen_operations.py: SIM_OPS(X), SIM_OPS_MOVING, SIM_OPS_EVENTS */
#include "words.h"

/* A set of operations, or of actions. */
typedef unsigned __int128 sim_bits;
#define SIM_BITS 128

enum sim_op {
#define X(op, ...) SIM_OP_##op,
	SIM_OPS(X)
#undef X
		SIM_OP_COUNT,
};
_Static_assert(SIM_OP_COUNT <= SIM_BITS, "a set of operations has a bit for each");

#define SIM_OP_BIT(op) ((sim_bits)1 << (op))
#define SIM_OPS_ALL    (~(sim_bits)0 >> (SIM_BITS - SIM_OP_COUNT))
enum sim_act {
#define X(act, ...) SIM_ACT_##act,
	SIM_ACTS(X)
#undef X
		SIM_ACT_COUNT,
};
_Static_assert(SIM_ACT_COUNT <= SIM_BITS, "a set of actions has a bit for each");

#define SIM_ACT_BIT(act) ((sim_bits)1 << (act))

/* Roles of actions (words.h); each includes the ones above it. */
enum sim_act_role { SIM_ROLE_CHANGES, SIM_ROLE_DECIDES, SIM_ROLE_ENDS, SIM_ROLE_ALONE };

/* The actions with that role, or one below it. */
sim_bits sim_acts_with(enum sim_act_role role);

/* The first of a set that is not empty. */
static inline unsigned int sim_bits_first(sim_bits bits)
{
	return (uint64_t)bits ? (unsigned int)__builtin_ctzll((uint64_t)bits) :
				64 + (unsigned int)__builtin_ctzll((uint64_t)(bits >> 64));
}

/* Names of operations and actions. NULL if there is none. */
const char *sim_op_name(enum sim_op op);
const char *sim_act_name(enum sim_act act);

/* The actions that @op can have (SIM_ACT_BIT()s), and the operations that can have @act. */
sim_bits sim_op_actions(enum sim_op op);
sim_bits sim_act_ops(enum sim_act act);

/* Conditions of a rule, besides the operation, and limits: counters and times. */
enum {
#define X(condition, ...) SIM_WHERE_NUMBER_##condition,
	SIM_CONDITIONS(X)
#undef X
		SIM_NUM_CONDITIONS,
#define X(limit, ...) SIM_WHEN_NUMBER_##limit,
	SIM_WHEN_NUMBER_BEFORE = -1,
	SIM_LIMITS(X)
#undef X
		SIM_NUM_LIMITS,
};

enum sim_where {
#define X(condition, ...) SIM_WHERE_##condition = 1 << SIM_WHERE_NUMBER_##condition,
	SIM_CONDITIONS(X)
#undef X
};

enum sim_when {
#define X(limit, ...) SIM_WHEN_##limit = 1 << SIM_WHEN_NUMBER_##limit,
	SIM_LIMITS(X)
#undef X
};

/* The conditions that @op can have: bits of enum sim_where. */
uint32_t sim_op_where(enum sim_op op);

/* X(status): a status that a rule can inject, named in rules as here. An API above maps each to a code of its own. */
#define SIM_STATUSES(X)            \
	X(SUCCESS) /* = 0: none */ \
	X(UNKNOWN)                 \
	X(NOT_PERMITTED)           \
	X(IN_USE)                  \
	X(NOT_SUPPORTED)           \
	X(AGAIN)                   \
	X(INVALID_VALUE)           \
	X(NO_MEMORY)               \
	X(INITIALIZATION)          \
	X(TIME_OUT)                \
	X(SHUTDOWN)                \
	X(CONNECTION_RESET)        \
	X(CONNECTION_ABORTED)      \
	X(CONNECTION_INPROGRESS)   \
	X(NOT_CONNECTED)           \
	X(NO_LOCK)                 \
	X(NOT_FOUND)               \
	X(IO_FAILED)               \
	X(BAD_STATE)               \
	X(UNSUPPORTED_VERSION)     \
	X(OPERATING_SYSTEM)        \
	X(DRIVER)                  \
	X(UNEXPECTED)              \
	X(ALREADY_EXIST)           \
	X(FULL)                    \
	X(EMPTY)                   \
	X(IN_PROGRESS)             \
	X(TOO_BIG)                 \
	X(AUTHENTICATION)          \
	X(BAD_CONFIG)              \
	X(SKIPPED)

enum sim_status {
#define X(status) SIM_STATUS_##status,
	SIM_STATUSES(X)
#undef X
		SIM_STATUS_COUNT,
};

/* A status's name, NULL if there is none of that number; and back, -ENOENT if there is none of that name. */
const char *sim_status_name(uint32_t status);
int sim_status_find(const char *name, size_t len, uint32_t *ret_status);

#endif
