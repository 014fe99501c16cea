/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a compiled rule. */
#include <string.h>

#include "rule_priv.h"

static size_t family_len(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? (size_t)(dot - name) + 1 : 0;
}

static sim_bits family_of(enum sim_op op)
{
	const char *name = sim_op_name(op);
	size_t len = family_len(name);
	sim_bits ops = 0;

	for (enum sim_op other = 0; len && other < SIM_OP_COUNT; other++)
		if (strncmp(sim_op_name(other), name, len) == 0)
			ops |= SIM_OP_BIT(other);
	return ops;
}

void sim_rule_put_ops(struct sim_rule_writer *writer, sim_bits ops)
{
	const char *comma = "";

	if (ops == SIM_OPS_ALL) {
		sim_rule_put(writer, "*");
		return;
	}
	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++) {
		sim_bits family = family_of(op);

		if (!(ops & SIM_OP_BIT(op)))
			continue;
		if ((family & (family - 1)) && (ops & family) == family) {
			sim_rule_put(writer, "%s%.*s*", comma, (int)family_len(sim_op_name(op)), sim_op_name(op));
			ops &= ~family;
		} else {
			sim_rule_put(writer, "%s%s", comma, sim_op_name(op));
		}
		comma = ",";
	}
}

size_t sim_rule_format(const struct sim_rule *rule, const char *delays_file, char ret_text[SIM_RULE_TEXT_SIZE])
{
	struct sim_rule_writer writer = { .text = ret_text, .delays_file = delays_file };
	const struct sim_keyword *keyword;

	sim_rule_put_ops(&writer, rule->ops);
	for (size_t i = 0; (keyword = sim_keyword_at(i)) != NULL; i++) {
		if (keyword->kind == SIM_KEYWORD_PART || !sim_rule_has(rule, keyword))
			continue;
		sim_rule_put(&writer, " %s", keyword->name);
		sim_arg_write(&writer, keyword, rule);
	}
	return writer.used;
}
