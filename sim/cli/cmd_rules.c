/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim rules: list the checker's rules, or explain one. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "pcie_model/did_you_mean.h"
#include "sim/check/rules.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"

struct options {
	struct cli_words words; /* an id, or a name */
	bool json;
};

static const struct cli_option option_list[] = {
	CLI_FLAG('j', "json", struct options, json, "Print JSON"),
	{ 0 },
};

#define RULE(member) CLI_FIELD(struct sim_check_rule_entry, member, #member, NULL)

static const struct cli_field name_fields[] = { RULE(id), RULE(name), { 0 } };
static const struct cli_field text_fields[] = { RULE(rule),     RULE(card),   RULE(cause), RULE(remedy),
						RULE(releases), RULE(source), { 0 } };

static json_object *rule_to_json(const struct sim_check_rule_entry *rule)
{
	json_object *json = cli_json_of_fields(name_fields, rule);

	cli_json_add_text(json, "severity", sim_check_severity_name(rule->severity));
	cli_json_add_text(json, "mode", sim_check_mode_name(rule->mode));
	cli_json_add_fields(json, text_fields, rule);
	return json;
}

static json_object *unchecked_to_json(void)
{
	json_object *array = json_object_new_array();

	for (const struct sim_check_unchecked_rule *rule = sim_check_unchecked_rules; rule->rule; rule++) {
		json_object *json = json_object_new_object();

		cli_json_add_text(json, "rule", rule->rule);
		cli_json_add_text(json, "reason", rule->reason);
		json_object_array_add(array, json);
	}
	return array;
}

static int print_json(const struct sim_check_rule_entry *one)
{
	json_object *object = json_object_new_object(), *rules = json_object_new_array();

	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++)
		if (!one || one == &sim_check_rules[i])
			json_object_array_add(rules, rule_to_json(&sim_check_rules[i]));
	json_object_object_add(object, "rules", rules);
	if (!one)
		json_object_object_add(object, "unchecked", unchecked_to_json());
	return cli_json_print(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}

static void print_rule(const struct sim_check_rule_entry *rule)
{
	printf("%s %s\n  %s\n\n", rule->id, rule->name, rule->rule);
	printf("  severity   %s\n  checked by --check=%s\n  releases   %s\n", sim_check_severity_name(rule->severity),
	       sim_check_mode_name(rule->mode), rule->releases);
	printf("  on a card  %s\n  cause      %s\n  remedy     %s\n  source     %s\n", rule->card, rule->cause,
	       rule->remedy, rule->source);
}

static void print_list(void)
{
	printf("%-14s %-12s %-7s %s\n", "RULE", "SEVERITY", "MODE", "NAME");
	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++)
		printf("%-14s %-12s %-7s %s\n", sim_check_rules[i].id,
		       sim_check_severity_name(sim_check_rules[i].severity),
		       sim_check_mode_name(sim_check_rules[i].mode), sim_check_rules[i].name);
}

/* Rules have an id and a name. */
static const char *name_at(const void *arg, size_t i)
{
	(void)arg;
	return i % 2 ? sim_check_rules[i / 2].id : sim_check_rules[i / 2].name;
}

static int fail_unknown(const char *text)
{
	const char *closest = pcie_did_you_mean(text, strlen(text), name_at, NULL, 2 * (size_t)SIM_CHECK_NUM_RULES);

	if (closest)
		return cli_fail("no rule is called %s; did you mean %s? bfsim rules lists them", text, closest);
	return cli_fail("no rule is called %s; bfsim rules lists them", text);
}

int cli_rules(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.words = offsetof(struct options, words),
		.max_words = 1,
		.many_words = "give one rule",
		.args_doc = "[RULE]",
		.doc = "List the rules of the checker (bfsim run --check), or explain one.\v"
		       "RULE is an id, such as BFC-TASK-001, or a name. The JSON list has the rules that can't be checked, too.",
	};
	const struct sim_check_rule_entry *rule = NULL;
	struct options options = { 0 };

	cli_args_parse(&args, argc, argv, 0, &options);
	if (options.words.count > 0 && !(rule = sim_check_rule_find(options.words.list[0])))
		return fail_unknown(options.words.list[0]);
	if (options.json)
		return print_json(rule) < 0 ? CLI_FAILED : CLI_OK;
	if (rule)
		print_rule(rule);
	else
		print_list();
	return CLI_OK;
}
