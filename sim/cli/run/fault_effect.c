/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing the times of events with those of programs. */
#include "fault_effect.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "pcie_model/arith.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/trace/recordings.h"
#include "sim/clock/clock.h"

#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)

#define EVENT_OPS (SIM_OP_BIT(SIM_OP_LINK) | SIM_OP_BIT(SIM_OP_NET_LINK) | SIM_OP_BIT(SIM_OP_FUNCTION))

/* Is over at once: what comes later does not see it. Other events of functions last. */
#define MOMENTARY DOES(RESET)

struct effects {
	struct sim_merged_trace merged;
	struct cli_verdict *verdict;
};

static uint64_t session_ns(const struct effects *effects, uint64_t time_ns)
{
	return time_ns > effects->merged.zero_ns ? time_ns - effects->merged.zero_ns : 0;
}

/* Session times of the first and of the last record of a process. */
static void find_records(const struct effects *effects, uint32_t process, uint64_t *ret_first_ns, uint64_t *ret_last_ns)
{
	*ret_first_ns = UINT64_MAX;
	*ret_last_ns = 0;
	for (size_t i = 0; i < effects->merged.num_events; i++) {
		const struct sim_trace_event *event = &effects->merged.events[i];
		uint64_t time_ns = session_ns(effects, event->time_ns);

		if (event->process != process)
			continue;
		*ret_first_ns = min_u64(*ret_first_ns, time_ns);
		*ret_last_ns = max_u64(*ret_last_ns, time_ns);
	}
}

/* The begin of a recording has real time. */
static bool is_virtual(const struct sim_merged_trace *merged)
{
	return merged->clock && strcmp(merged->clock, sim_clock_mode_name(SIM_CLOCK_VIRTUAL)) == 0;
}

/* Whether a program was there between the two times: it had attached before the end, and recorded after the begin. */
static bool was_program_there(const struct effects *effects, uint64_t begin_ns, uint64_t end_ns)
{
	for (uint32_t i = 0; i < effects->merged.num_recordings; i++) {
		uint64_t first_ns, last_ns;

		find_records(effects, i, &first_ns, &last_ns);
		if (!is_virtual(&effects->merged))
			first_ns = session_ns(effects, effects->merged.recordings[i].began_ns);
		if (first_ns <= end_ns && last_ns >= begin_ns)
			return true;
	}
	return false;
}

static uint64_t end_of(const struct sim_rule *rule, uint64_t begin_ns)
{
	if (rule->actions & MOMENTARY)
		return begin_ns;
	if (rule->actions & DOES(DOWN))
		return begin_ns > SIM_NEVER_NS - rule->duration_ns ? SIM_NEVER_NS : begin_ns + rule->duration_ns;
	return rule->until_ns;
}

static void look_at_rule(void *arg, const struct sim_plan_rule *rule)
{
	struct effects *effects = arg;
	uint64_t begin_ns = max_u64(rule->rule.from_ns, rule->added_ns);

	if (rule->fired == 0 || (sim_rule_ops(&rule->rule) & ~EVENT_OPS) ||
	    (rule->rule.when & SIM_WHEN_AFTER) || /* the program that made the operation */
	    was_program_there(effects, begin_ns, end_of(&rule->rule, begin_ns)))
		return;
	cli_verdict_add_unused(
		effects->verdict, rule,
		"fault %" PRIu32
		" struck nothing: %s (no program was attached at that time; from=TIME or after='OPERATION' lets it happen later)",
		rule->id, rule->text);
}

#define SETTLE_MS 50

static void find_unmatched_event(void *arg, const struct sim_plan_rule *rule)
{
	bool *found = arg;

	*found |= rule->matched == 0 && rule->rule.from_ns == 0 && !(sim_rule_ops(&rule->rule) & ~EVENT_OPS);
}

void cli_fault_events_settle(const struct sim_plan *plan)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < SETTLE_MS; i++) {
		bool found = false;

		sim_plan_each(plan, find_unmatched_event, &found);
		if (!found)
			return;
		nanosleep(&pause, NULL);
	}
}

static void find_event(void *arg, const struct sim_plan_rule *rule)
{
	bool *found = arg;

	*found |= rule->fired > 0 && !(sim_rule_ops(&rule->rule) & ~EVENT_OPS);
}

void cli_fault_effects_report(const struct sim_plan *plan, const char *dir, struct cli_verdict *verdict)
{
	struct effects effects = { .verdict = verdict };
	bool has_events = false;

	sim_plan_each(plan, find_event, &has_events);
	if (!has_events || cli_recordings_fetch(dir, &effects.merged) < 0)
		return;
	if (effects.merged.num_dropped == 0)
		sim_plan_each(plan, look_at_rule, &effects);
	sim_merged_trace_free(&effects.merged);
}
