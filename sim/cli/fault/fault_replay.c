/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan that repeats the faults of a recorded run. */
#include "fault_replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/report/report.h"
#include "sim/faults/plan/plan.h"

/* The conditions on time stay: a rule counts matches only in its time. */
#define TIME_CONDITIONS (SIM_WHEN_FROM | SIM_WHEN_UNTIL)

/* Rules that are added before the run starts have times a little above 0 in virtual time: one nanosecond each. */
#define BEGIN_SLACK_NS 10000

struct replay {
	const struct cli_report *report;
	const char *name; /* the trace, in messages */
	FILE *out;
	size_t num_rules;
	bool warned_of_late_rule; /* printed that a rule was added while programs ran */
	bool is_incomplete;       /* the plan does not repeat all hits */
};

static void report_gap(struct replay *replay, const char *what, uint64_t rule)
{
	cli_fail("%s: rule %" PRIu64 " %s", replay->name, rule, what);
	replay->is_incomplete = true;
}

/* In a rule, "?" matches the characters that a line of a plan cannot contain. */
static void mask_special_chars(char *name)
{
	for (; *name; name++)
		if (*name < ' ' || *name > '~' || *name == '"')
			*name = '?';
}

static void mask_rule_names(struct sim_rule *rule)
{
	mask_special_chars(rule->side);
	mask_special_chars(rule->program);
	mask_special_chars(rule->device);
}

/* In single quotes, YAML interprets only the single quote. */
static void print_rule(struct replay *replay, const struct sim_rule *rule)
{
	char line[SIM_RULE_TEXT_SIZE];

	sim_rule_format(rule, NULL, line);
	fputs(replay->num_rules++ ? "  - '" : "faults:\n  - '", replay->out);
	for (const char *at = line; *at; at++)
		fputs(*at == '\'' ? "''" : (char[]){ *at, '\0' }, replay->out);
	fputs("'\n", replay->out);
}

/* ---- a hit ---- */

/* Let the rule count matches of this process only. Names that are too long for a rule are left out. */
static void bind_to_process(struct sim_rule *rule, const struct cli_report_process *process)
{
	const char *side = process ? process->side : "", *program = process ? process->program : "";

	if (rule->where & SIM_WHERE_PID) {
		rule->where &= ~(uint32_t)SIM_WHERE_PID;
		rule->pid = 0;
	}
	if (side[0] && strlen(side) < sizeof(rule->side)) {
		memset(rule->side, 0, sizeof(rule->side));
		memcpy(rule->side, side, strlen(side));
		rule->where |= SIM_WHERE_SIDE;
	}
	if (program[0] && strlen(program) < sizeof(rule->program)) {
		memset(rule->program, 0, sizeof(rule->program));
		memcpy(rule->program, program, strlen(program));
		rule->where |= SIM_WHERE_PROGRAM;
	}
}

static void set_nth_match(struct sim_rule *rule, uint32_t match)
{
	rule->when = (rule->when & TIME_CONDITIONS) | SIM_WHEN_NTH;
	rule->nth = match;
	rule->every = rule->times = rule->skip = rule->chance_ppb = 0;
	rule->seed = 0;
}

/* A rule that was added while programs ran did not count earlier matches. A start time expresses that. */
static void set_begin_time(struct sim_rule *rule, uint64_t added_ns)
{
	rule->when |= SIM_WHEN_FROM;
	rule->from_ns = max_u64(rule->from_ns, added_ns);
}

static bool is_added_late(uint64_t added_ns, uint64_t begin_ns)
{
	return added_ns > begin_ns && added_ns - begin_ns > BEGIN_SLACK_NS;
}

static bool is_virtual(const struct replay *replay)
{
	return replay->report->clock && strcmp(replay->report->clock, "virtual") == 0;
}

static void set_fixed_delay(struct sim_rule *rule, uint64_t delay_ns)
{
	if (!(rule->actions & SIM_ACT_BIT(SIM_ACT_DELAY)))
		return;
	rule->delay_kind = SIM_DELAY_FIXED;
	rule->delay_a = delay_ns;
	rule->delay_b = 0;
	if (delay_ns > 0)
		return;
	rule->actions &= ~SIM_ACT_BIT(SIM_ACT_DELAY); /* a delay of 0 was drawn */
	rule->delay_kind = SIM_DELAY_NONE;
}

static void print_hit(struct replay *replay, const struct sim_rule *from, uint64_t added_ns,
		      const struct cli_report_incident *fault)
{
	const struct cli_report_process *process = cli_report_find_process(replay->report, fault->pid);
	struct sim_rule rule = *from;

	if (fault->match == 0 || fault->match > UINT32_MAX) {
		report_gap(replay, "hit, but the trace does not contain the number of the match", fault->rule);
		return;
	}
	set_nth_match(&rule, (uint32_t)fault->match);
	if (is_added_late(added_ns, process ? process->first_ns : 0)) {
		set_begin_time(&rule, added_ns);
		if (!is_virtual(replay) && !replay->warned_of_late_rule) {
			report_gap(replay,
				   "was added while the program ran: its hits depend on the speed of the program",
				   fault->rule);
			replay->warned_of_late_rule = true;
		}
	}
	set_fixed_delay(&rule, fault->delay_ns);
	if (rule.actions == 0)
		return;
	bind_to_process(&rule, process);
	mask_rule_names(&rule);
	if (sim_rule_check(&rule) < 0) {
		report_gap(replay, "hit a process that no rule can name", fault->rule);
		return;
	}
	print_rule(replay, &rule);
}

/* ---- a rule ---- */

static uint64_t print_hits(struct replay *replay, uint64_t id, const struct sim_rule *rule, uint64_t added_ns)
{
	uint64_t count = 0;

	for (size_t i = 0; i < replay->report->faults.count; i++) {
		if (replay->report->faults.list[i].rule != id)
			continue;
		print_hit(replay, rule, added_ns, &replay->report->faults.list[i]);
		count++;
	}
	return count;
}

/* Time of the first record of any process. */
static uint64_t first_process_begin_ns(const struct replay *replay)
{
	uint64_t begin = UINT64_MAX;

	for (size_t i = 0; i < replay->report->num_processes; i++)
		begin = min_u64(begin, replay->report->processes[i].first_ns);
	return begin;
}

static void print_event_rule(struct replay *replay, struct sim_rule *rule, uint64_t id, uint64_t added_ns, bool is_past)
{
	if (is_past && sim_rule_slows_links(rule))
		report_gap(replay, "was removed, and the trace does not contain when: it stays in the plan", id);
	if (is_added_late(added_ns, first_process_begin_ns(replay)))
		set_begin_time(rule, added_ns);
	mask_rule_names(rule);
	if (sim_rule_check(rule) == 0)
		print_rule(replay, rule);
}

static void print_recorded_rule(struct replay *replay, const struct cli_report_rule *recorded)
{
	char delays_file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;

	if (sim_rule_parse(recorded->text, &rule, delays_file, &error) < 0) {
		report_gap(replay, "is not known to this version of bfsim", recorded->id);
		return;
	}
	if (sim_rule_ops(&rule) & SIM_OPS_EVENTS) {
		print_event_rule(replay, &rule, recorded->id, recorded->added_ns, recorded->is_removed);
		return;
	}
	if (print_hits(replay, recorded->id, &rule, recorded->added_ns) < recorded->fired)
		report_gap(
			replay,
			"hit more often than the trace contains: records were overwritten, or its hits are not recorded",
			recorded->id);
}

static void check_removed_rules(struct replay *replay)
{
	for (size_t i = 0; i < replay->report->faults.count; i++) {
		uint64_t id = replay->report->faults.list[i].rule;
		bool is_there = false;

		for (size_t j = 0; j < replay->report->num_rules; j++)
			is_there |= replay->report->rules[j].id == id;
		if (!is_there) {
			report_gap(replay, "hit, but was no longer in the plan when the trace was written", id);
			return;
		}
	}
}

/* ---- processes ---- */

static bool has_hits(const struct cli_report *report, const struct cli_report_process *process)
{
	for (size_t i = 0; i < report->faults.count; i++)
		if (report->faults.list[i].pid == process->pid)
			return true;
	return false;
}

static bool are_indistinguishable(const struct cli_report_process *a, const struct cli_report_process *b)
{
	return strcmp(a->side, b->side) == 0 && strcmp(a->program, b->program) == 0;
}

/* A rule identifies a process by its side and program only. */
static void check_processes(struct replay *replay)
{
	const struct cli_report *report = replay->report;

	for (size_t i = 0; i < report->num_processes; i++) {
		const struct cli_report_process *process = &report->processes[i];

		for (size_t j = 0; j < report->num_processes; j++) {
			if (i == j || !has_hits(report, process) ||
			    !are_indistinguishable(process, &report->processes[j]))
				continue;
			cli_fail(
				"%s: there were several processes %s: %s; the plan cannot tell them apart, and hits the first one "
				"that matches",
				replay->name, process->side, process->program);
			replay->is_incomplete = true;
			return;
		}
	}
}

/* ---- the whole ---- */

int cli_fault_replay(const struct cli_report *report, const char *name, FILE *out)
{
	struct replay replay = { .report = report, .name = name, .out = out };

	fputs("# repeats the faults of a recorded run: bfsim run --fault-plan FILE\n", out);
	for (size_t i = 0; i < report->num_rules; i++)
		print_recorded_rule(&replay, &report->rules[i]);
	if (replay.num_rules == 0)
		fputs("faults: []\n", out);
	check_removed_rules(&replay);
	check_processes(&replay);
	if (replay.num_rules > SIM_PLAN_MAX_RULES) {
		cli_fail("%s: %zu hits, but a plan holds %d rules", name, replay.num_rules, SIM_PLAN_MAX_RULES);
		replay.is_incomplete = true;
	}
	return replay.is_incomplete ? -1 : 0;
}
