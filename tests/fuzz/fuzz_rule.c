/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a fault rule: either a valid rule, whose own text compiles to the same rule and which a plan can
 * use, or an error with a position in the line. Any bytes as a compiled rule: refused, or equal to a valid one.
 * Seeds are in corpus/rule, words in rule.dict. */
#include "fuzz_input.h"
#include "sim/faults/inject/injector.h"

static void check_text(const struct sim_rule *rule, const char *file)
{
	char text[SIM_RULE_TEXT_SIZE], again_file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule again;
	size_t len = sim_rule_format(rule, file, text);

	promise(len == strlen(text) && len < SIM_RULE_TEXT_SIZE);
	promise(sim_rule_parse(text, &again, again_file, &error) == 0);
	promise(memcmp(rule, &again, sizeof(again)) == 0 && strcmp(file, again_file) == 0);
}

/* Ask of each operation, at an address and size of the rule's. */
static void inject(struct sim_plan *plan, const struct sim_rule *rule)
{
	struct sim_injector_cfg cfg = { .plan = plan, .self = { "host", "app", 1 } };
	struct sim_injector *faults;
	struct sim_fault_hit hit;

	if (sim_injector_create(&cfg, &faults))
		return;
	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++) {
		struct sim_fault_site site = { .op = op,
					       .size = rule->size_min,
					       .addr = rule->addr_max,
					       .now_ns = rule->from_ns,
					       .process = &cfg.self };

		promise(!!(sim_rule_ops(rule) & SIM_OP_BIT(op)) || !sim_injector_evaluate(faults, &site, &hit));
		for (int i = 0; i < 4; i++) {
			if (!sim_injector_evaluate(faults, &site, &hit))
				continue;
			promise(hit.actions && hit.num_rules == 1 && hit.delay_ns <= SIM_RULE_MAX_NS);
			promise(hit.moved_bytes <= site.size && hit.reorder_by <= hit.window);
		}
	}
	sim_injector_next_event_ns(faults, 0);
	sim_injector_destroy(faults);
}

static void try_in_plan(const struct sim_rule *rule)
{
	struct sim_delays *delays = NULL;
	char error[SIM_RULE_ERROR_SIZE];
	struct sim_plan *plan;
	uint32_t id;

	if (rule->delay_kind == SIM_DELAY_TRACE && sim_delays_parse("a", "1us\n2us", 7, &delays, error))
		return;
	if (sim_plan_create(1, &plan) == 0) {
		promise(sim_plan_add(plan, rule, delays, 0, &id) == 0);
		inject(plan, rule);
		sim_plan_destroy(plan);
	}
	free(delays);
}

static void as_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (sim_rule_parse(text, &rule, file, &error) == 0) {
		promise(sim_rule_check(&rule) == 0 && sim_rule_ops(&rule));
		check_text(&rule, file);
		try_in_plan(&rule);
	} else {
		promise(error.column >= 1 && error.column <= strlen(text) + 1);
		promise(error.text[0] && strlen(error.text) < SIM_RULE_ERROR_SIZE && !strchr(error.text, '\n'));
	}
	free(text);
}

static void as_rule(const uint8_t *data, size_t size)
{
	struct sim_rule rule, sent;

	if (size < sizeof(rule))
		return;
	memcpy(&rule, data, sizeof(rule));
	if (sim_rule_check(&rule))
		return;
	sent = rule;
	if (sent.delay_kind == SIM_DELAY_TRACE)
		sent.delay_a = 0; /* a plan's number, which no text has */
	check_text(&sent, rule.delay_kind == SIM_DELAY_TRACE ? "a" : "");
	try_in_plan(&rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_text(data, size);
	as_rule(data, size);
	return 0;
}
