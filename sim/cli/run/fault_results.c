/* SPDX-License-Identifier: BSD-3-Clause */
/* Going through the rules at the end of a run. */
#include "fault_results.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fault_effect.h"
#include "near_miss.h"
#include "sim/cli/base/cli.h"

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

/* Each plan has some of the run's rules, in their order, and perhaps others behind them. */
struct sums {
	struct sim_plan_rule *list; /* the run's rules */
	size_t count;
	size_t next; /* of the list: the plan's next one is there, or behind */
};

static void add_counts(void *arg, const struct sim_plan_rule *rule)
{
	struct sums *sums = arg;

	for (size_t i = sums->next; i < sums->count; i++) {
		if (strcmp(sums->list[i].text, rule->text) != 0)
			continue;
		sums->list[i].matched += rule->matched;
		sums->list[i].fired += rule->fired;
		sums->next = i + 1;
		return;
	}
}

void cli_fault_results_of_machines(const struct cli_faults *faults, const struct sim_plan *const *plans,
				   size_t num_plans, bool with_hits, struct cli_verdict *verdict)
{
	struct results results = { .verdict = verdict, .with_hits = with_hits };
	struct sums sums = { .list = calloc(faults->count + 1, sizeof(*sums.list)), .count = faults->count };

	if (!sums.list) {
		cli_verdict_fail(verdict, "out of memory");
		return;
	}
	for (size_t i = 0; i < sums.count; i++) {
		const struct cli_fault *fault = &faults->list[i];

		sums.list[i] = (struct sim_plan_rule){ .id = (uint32_t)i + 1, .rule = fault->rule };
		sim_rule_format(&fault->rule, fault->delays ? fault->delays->file : NULL, sums.list[i].text);
	}
	for (size_t i = 0; i < num_plans; i++) {
		sums.next = 0;
		sim_plan_each(plans[i], add_counts, &sums);
	}
	for (size_t i = 0; i < sums.count; i++)
		look_at_rule(&results, &sums.list[i]);
	free(sums.list);
}
