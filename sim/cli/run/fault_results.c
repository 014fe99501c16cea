/* SPDX-License-Identifier: BSD-3-Clause */
/* Going through the rules at the end of a run. */
#include "fault_results.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "fault_effect.h"
#include "near_miss.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/reach/reach.h"

#define MAX_DESCRIBED 32 /* rules with a near miss: a plan may have thousands */

struct results {
	struct cli_verdict *verdict;
	struct cli_fault_sites *sites;
	bool with_hits;
	unsigned int num_described;
};

static void find_unused(void *arg, const struct sim_plan_rule *rule)
{
	bool *found = arg;

	*found |= rule->fired == 0;
}

static void count_for_seeds(const struct cli_verdict *verdict, const struct sim_plan_rule *rule)
{
	if (verdict->hits_of_seeds && rule->id - 1 < verdict->num_rules)
		verdict->hits_of_seeds[rule->id - 1] += rule->fired;
}

static void look_at_rule(void *arg, const struct sim_plan_rule *rule)
{
	struct results *results = arg;
	char reason[CLI_NEAR_MISS_SIZE];

	count_for_seeds(results->verdict, rule);
	if (rule->fired > 0 && results->with_hits && !results->verdict->is_quiet)
		cli_fail("fault %" PRIu32 " hit %" PRIu64 " of %" PRIu64 " matches: %s", rule->id, rule->fired,
			 rule->matched, rule->text);
	if (rule->fired > 0)
		return;
	cli_near_miss_describe(rule, results->num_described++ < MAX_DESCRIBED ? results->sites : NULL, reason);
	cli_verdict_add_unused(results->verdict, rule, "fault %" PRIu32 " never hit: %s (%s)", rule->id, rule->text,
			       reason);
}

void cli_fault_results(const struct sim_plan *plan, const char *dir, bool with_hits, struct cli_verdict *verdict)
{
	struct results results = { .verdict = verdict, .with_hits = with_hits };
	struct cli_fault_sites sites;
	bool has_unused = false;

	if (dir)
		cli_fault_events_settle(plan);
	sim_plan_each(plan, find_unused, &has_unused);
	if (dir && has_unused && cli_fault_sites_init(dir, &sites) == 0)
		results.sites = &sites;
	sim_plan_each(plan, look_at_rule, &results);
	if (results.sites)
		cli_fault_sites_fini(results.sites);
	if (dir)
		cli_fault_effects_report(plan, dir, verdict);
}

/* ---- several machines ---- */

/* The rules of a machine; NULL = it is not there. */
static json_object *rules_of(const struct cli_machine *machine, const char *dir)
{
	json_object *rules = NULL;
	int dir_fd;

	if (machine->is_joined)
		return cli_fault_rules_of(dir, machine->name);
	if (!machine->is_self)
		return NULL;
	dir_fd = cli_session_open(dir);
	if (dir_fd >= 0) {
		rules = cli_fault_rules(dir_fd, dir);
		close(dir_fd);
	}
	return rules;
}

/* The rules of all machines: a list of each. */
static json_object *read_all_rules(const char *dir)
{
	json_object *all = json_object_new_array();
	struct cli_machines machines;

	if (cli_machines_read(dir, &machines) < 0)
		return all;
	for (size_t i = 0; i < machines.count; i++) {
		json_object *rules = rules_of(&machines.list[i], dir);

		if (rules)
			json_object_array_add(all, rules);
	}
	cli_machines_free(&machines);
	return all;
}

/* The entry of a machine's list for the rule of that text, of which @num_before earlier ones have the same text. */
static json_object *find_rule(json_object *list, const char *text, size_t num_before)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *one = json_object_array_get_idx(list, i);

		if (strcmp(cli_json_text(one, "rule"), text) == 0 && num_before-- == 0)
			return one;
	}
	return NULL;
}

static void format(const struct cli_fault *fault, char *text)
{
	sim_rule_format(&fault->rule, fault->delays ? fault->delays->file : NULL, text);
}

/* How many rules before that one have its text. */
static size_t count_before(const struct cli_faults *faults, size_t number, const char *text)
{
	char other[SIM_RULE_TEXT_SIZE];
	size_t count = 0;

	for (size_t i = 0; i < number; i++) {
		format(&faults->list[i], other);
		count += strcmp(other, text) == 0;
	}
	return count;
}

void cli_fault_results_of_machines(const struct cli_faults *faults, const char *dir, bool with_hits,
				   struct cli_verdict *verdict)
{
	struct results results = { .verdict = verdict, .with_hits = with_hits };
	json_object *all = faults->count > 0 ? read_all_rules(dir) : NULL;

	for (size_t i = 0; i < faults->count; i++) {
		struct sim_plan_rule rule = { .id = (uint32_t)i + 1, .rule = faults->list[i].rule };
		size_t num_before;

		format(&faults->list[i], rule.text);
		num_before = count_before(faults, i, rule.text);
		for (size_t j = 0; j < json_object_array_length(all); j++) {
			json_object *one = find_rule(json_object_array_get_idx(all, j), rule.text, num_before);

			rule.matched += one ? cli_json_number(one, "matched") : 0;
			rule.fired += one ? cli_json_number(one, "fired") : 0;
		}
		look_at_rule(&results, &rule);
	}
	json_object_put(all);
}
