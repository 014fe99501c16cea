/* SPDX-License-Identifier: BSD-3-Clause */
/* Collecting the verdict of a run. */
#include "verdict.h"

#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/check/rules.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"

int cli_verdict_init(struct cli_verdict *verdict)
{
	verdict->failures = json_object_new_array();
	verdict->unused_faults = json_object_new_array();
	verdict->broken_rules = json_object_new_array();
	if (verdict->failures && verdict->unused_faults && verdict->broken_rules)
		return 0;
	return cli_error("out of memory");
}

void cli_verdict_fini(struct cli_verdict *verdict)
{
	json_object_put(verdict->failures);
	json_object_put(verdict->unused_faults);
	json_object_put(verdict->broken_rules);
	verdict->failures = verdict->unused_faults = verdict->broken_rules = NULL;
}

void cli_verdict_keep_failure(struct cli_verdict *verdict)
{
	json_object_array_add(verdict->failures, json_object_new_string(cli_last_message()));
}

void cli_verdict_fail(struct cli_verdict *verdict, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	cli_fail("%s", text ? text : "out of memory");
	cli_verdict_keep_failure(verdict);
	free(text);
}

/* A rule with a chance may strike with one seed and not with another: of several seeds, one must hit. */
static bool is_judged_with_other_seeds(const struct cli_verdict *verdict, const struct sim_plan_rule *rule)
{
	return verdict->hits_of_seeds && (rule->rule.when & SIM_WHEN_CHANCE) && rule->id - 1 < verdict->num_rules;
}

void cli_verdict_add_unused(struct cli_verdict *verdict, const struct sim_plan_rule *rule, const char *format, ...)
{
	bool is_failure = !verdict->allows_unused_faults && !is_judged_with_other_seeds(verdict, rule);
	json_object *entry;
	char *text = NULL;
	va_list args;

	if (!is_failure && verdict->is_quiet)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	cli_fail("%s", text ? text : "out of memory");
	free(text);
	if (!is_failure)
		return;
	entry = json_object_new_object();
	cli_json_add_number(entry, "rule", rule->id);
	cli_json_add_bool(entry, "is-random", rule->rule.when & SIM_WHEN_CHANCE);
	cli_json_add_text(entry, "text", cli_last_message());
	json_object_array_add(verdict->unused_faults, entry);
}

void cli_verdict_add_broken(struct cli_verdict *verdict, const char *rule_id)
{
	json_object_array_add(verdict->broken_rules, json_object_new_string(rule_id));
}

bool cli_verdict_has_failures(const struct cli_verdict *verdict)
{
	return json_object_array_length(verdict->failures) > 0;
}

int cli_verdict_status(const struct cli_verdict *verdict, int status)
{
	if (status)
		return status;
	if (cli_verdict_has_failures(verdict) || json_object_array_length(verdict->unused_faults) > 0)
		return CLI_OWN_FAILURE;
	return json_object_array_length(verdict->broken_rules) > 0 ? SIM_CHECK_EXIT_STATUS : CLI_OK;
}

int cli_verdict_write(const struct cli_verdict *verdict, int status, const char *path)
{
	json_object *json = json_object_new_object();
	int rc;

	cli_json_add_number(json, "status", (uint64_t)status);
	json_object_object_add(json, "failures", json_object_get(verdict->failures));
	json_object_object_add(json, "unused-faults", json_object_get(verdict->unused_faults));
	json_object_object_add(json, "broken-rules", json_object_get(verdict->broken_rules));
	rc = json_object_to_file_ext(path, json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	json_object_put(json);
	if (rc == 0)
		return 0;
	return cli_error("cannot write the verdict to %s", path);
}
