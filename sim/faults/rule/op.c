/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of operations, actions and statuses. */
#include "op.h"

#include <errno.h>
#include <string.h>

#define A(act)   SIM_ACT_BIT(SIM_ACT_##act)
#define W(where) SIM_WHERE_##where

static const struct {
	const char *name;
	sim_bits actions;
	uint32_t where;
} ops[] = {
#define X(op, name, actions, conditions) { name, actions, conditions },
	SIM_OPS(X)
#undef X
};

static const struct {
	const char *name;
	enum sim_act_role role;
} acts[] = {
#define X(act, name, usage, arg, role) { name, SIM_ROLE_##role },
	SIM_ACTS(X)
#undef X
};

sim_bits sim_op_actions(enum sim_op op)
{
	return op < SIM_OP_COUNT ? ops[op].actions : 0;
}

sim_bits sim_act_ops(enum sim_act act)
{
	sim_bits found = 0;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if (act < SIM_ACT_COUNT && (ops[op].actions & SIM_ACT_BIT(act)))
			found |= SIM_OP_BIT(op);
	return found;
}

sim_bits sim_acts_with(enum sim_act_role role)
{
	sim_bits found = 0;

	for (enum sim_act act = 0; act < SIM_ACT_COUNT; act++)
		if (acts[act].role >= role)
			found |= SIM_ACT_BIT(act);
	return found;
}

uint32_t sim_op_where(enum sim_op op)
{
	return op < SIM_OP_COUNT ? ops[op].where : 0;
}

const char *sim_op_name(enum sim_op op)
{
	return op < SIM_OP_COUNT ? ops[op].name : NULL;
}

const char *sim_act_name(enum sim_act act)
{
	return act < SIM_ACT_COUNT ? acts[act].name : NULL;
}

/* ---- statuses ---- */

static const char *const status_names[] = {
#define X(status) #status,
	SIM_STATUSES(X)
#undef X
};

const char *sim_status_name(uint32_t status)
{
	return status < SIM_STATUS_COUNT ? status_names[status] : NULL;
}

int sim_status_find(const char *name, size_t len, uint32_t *ret_status)
{
	for (uint32_t i = 0; i < SIM_STATUS_COUNT; i++) {
		if (strlen(status_names[i]) != len || memcmp(status_names[i], name, len) != 0)
			continue;
		*ret_status = i;
		return 0;
	}
	return -ENOENT;
}
