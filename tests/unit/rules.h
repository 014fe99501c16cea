/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/unit/rules.h - fault rules from texts, which must be right. */
#ifndef TESTS_UNIT_RULES_H
#define TESTS_UNIT_RULES_H

#include <string.h>

#include "cmocka_test.h"
#include "sim/faults/plan/plan.h"

static inline struct sim_rule parse_rule(const char *text)
{
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;

	if (sim_rule_parse(text, &rule, file, &error))
		fail_msg("%s\n%*s^ %s", text, (int)error.column - 1, "", error.text);
	assert_int_equal(sim_rule_check(&rule), 0);
	return rule;
}

/* Returns the rule's number in the plan. */
static inline uint32_t plan_add(struct sim_plan *plan, const char *text, uint64_t now_ns)
{
	struct sim_rule rule = parse_rule(text);
	uint32_t id = 0;

	assert_int_equal(sim_plan_add(plan, &rule, NULL, now_ns, &id), 0);
	assert_int_not_equal(id, 0);
	return id;
}

#endif
