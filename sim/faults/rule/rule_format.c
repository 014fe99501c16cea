/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a compiled rule. */
#include "rule_priv.h"

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
