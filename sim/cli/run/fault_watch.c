/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking at the counters of a plan. */
#include "fault_watch.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/cli/base/cli.h"

#define NUM_FIRST 3 /* hits of a rule with a line each */

struct update {
	struct cli_fault_watch *watch;
	size_t i;
};

/* Whether the count is or has passed a power of ten, or is among the first hits. */
static bool is_noteworthy(uint64_t before, uint64_t now)
{
	uint64_t power = 10;

	if (now <= NUM_FIRST)
		return now > before;
	if (before < NUM_FIRST)
		return true;
	while (power <= before)
		power *= 10;
	return now >= power;
}

static void look_at_rule(void *arg, const struct sim_plan_rule *rule)
{
	struct update *update = arg;
	struct cli_fault_watch *watch = update->watch;
	size_t i = update->i++;

	if (i >= watch->count) {
		uint64_t *fired = reallocarray(watch->fired, i + 1, sizeof(*fired));

		if (!fired)
			return;
		watch->fired = fired;
		watch->fired[watch->count++] = 0;
	}
	if (!is_noteworthy(watch->fired[i], rule->fired))
		return;
	watch->fired[i] = rule->fired;
	cli_fail("fault %" PRIu32 " strikes (hit %" PRIu64 "): %s", rule->id, rule->fired, rule->text);
}

void cli_fault_watch_update(struct cli_fault_watch *watch, const struct sim_plan *plan)
{
	struct update update = { .watch = watch };

	sim_plan_each(plan, look_at_rule, &update);
}

void cli_fault_watch_fini(struct cli_fault_watch *watch)
{
	free(watch->fired);
	*watch = (struct cli_fault_watch){ 0 };
}
