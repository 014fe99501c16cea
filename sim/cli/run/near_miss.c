/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing the conditions of a rule with the sites of a run. */
#include "near_miss.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/faults/inject/injector.h"
#include "sim/faults/rule/value.h"

#define MAX_PROGRAMS 6 /* that are named */

#define EVENT_OPS (SIM_OP_BIT(SIM_OP_LINK) | SIM_OP_BIT(SIM_OP_NET_LINK) | SIM_OP_BIT(SIM_OP_FUNCTION))
#define NOT_RECORDED                                                                                    \
	(sim_act_ops(SIM_ACT_STALL) | SIM_OP_BIT(SIM_OP_MMAP_EXPORT) | SIM_OP_BIT(SIM_OP_MMAP_IMPORT) | \
	 SIM_OP_BIT(SIM_OP_DEV_OPEN) | SIM_OP_BIT(SIM_OP_ALLOC))

struct text {
	char *at;
	size_t used;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
	size_t room = CLI_NEAR_MISS_SIZE - text->used;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text->at + text->used, room, format, args);
	va_end(args);
	text->used += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

/* ---- conditions that do not hold: bits of enum sim_where ---- */

static bool is_at_device(const struct cli_fault_sites *sites, const struct cli_fault_site *site, const char *device)
{
	const struct sim_trace_recording *recording = &sites->merged.recordings[site->recording];
	const char *name = sim_trace_device_of(recording, site->object);

	for (size_t i = 0; i < sites->topology->num_functions; i++) {
		const struct pcie_function *function = &sites->topology->functions[i];

		if (strcmp(function->ibdev, name) == 0 && strcmp(function->side, recording->owner.side) == 0)
			return sim_device_pattern_matches(device, function);
	}
	return true; /* not known */
}

static uint32_t unmet_by_process(const struct sim_rule *rule, const struct sim_trace_process *process)
{
	uint32_t unmet = 0;

	if ((rule->where & SIM_WHERE_SIDE) && !sim_side_pattern_matches(rule->side, process->side))
		unmet |= SIM_WHERE_SIDE;
	if ((rule->where & SIM_WHERE_PROGRAM) && !sim_glob(rule->program, process->program))
		unmet |= SIM_WHERE_PROGRAM;
	if ((rule->where & SIM_WHERE_PID) && rule->pid != process->pid)
		unmet |= SIM_WHERE_PID;
	return unmet;
}

static uint32_t unmet_by_site(const struct sim_rule *rule, const struct cli_fault_sites *sites,
			      const struct cli_fault_site *site)
{
	uint32_t unmet = unmet_by_process(rule, &sites->merged.recordings[site->recording].owner);

	if ((rule->where & SIM_WHERE_DEVICE) && !is_at_device(sites, site, rule->device))
		unmet |= SIM_WHERE_DEVICE;
	if ((rule->where & SIM_WHERE_SIZE) && site->min_bytes <= site->max_bytes && !site->has_size)
		unmet |= SIM_WHERE_SIZE;
	return unmet;
}

/* Fewer unmet conditions are closer; of equal ones, more operations. */
static const struct cli_fault_site *find_closest(const struct sim_rule *rule, const struct cli_fault_sites *sites,
						 uint32_t *ret_unmet)
{
	const struct cli_fault_site *closest = NULL;

	for (size_t i = 0; i < sites->count; i++) {
		const struct cli_fault_site *site = &sites->list[i];
		uint32_t unmet = unmet_by_site(rule, sites, site);
		int more;

		if (!(sim_rule_ops(rule) & SIM_OP_BIT(site->op)))
			continue;
		more = closest ? __builtin_popcount(unmet) - __builtin_popcount(*ret_unmet) : -1;
		if (more > 0 || (more == 0 && site->count <= closest->count))
			continue;
		closest = site;
		*ret_unmet = unmet;
	}
	return closest;
}

/* ---- texts ---- */

static void put_bytes(struct text *text, const char *before, uint64_t bytes)
{
	char number[SIM_VALUE_SIZE];

	sim_value_write_bytes(bytes, number);
	put(text, "%s%s", before, number);
}

static void put_size_condition(struct text *text, const struct sim_rule *rule)
{
	if (rule->size_max == UINT64_MAX) {
		put_bytes(text, "size>=", rule->size_min);
	} else if (rule->size_min == 0) {
		put_bytes(text, "size<=", rule->size_max);
	} else {
		put_bytes(text, "size=", rule->size_min);
		if (rule->size_min != rule->size_max)
			put_bytes(text, "..", rule->size_max);
	}
}

static void put_unmet(struct text *text, const struct sim_rule *rule, uint32_t unmet)
{
	const char *before = ", but not ";

	for (uint32_t bit = 1; bit <= unmet; bit <<= 1) {
		if (!(unmet & bit))
			continue;
		put(text, "%s", before);
		before = ", not ";
		if (bit == SIM_WHERE_SIDE)
			put(text, "side=%s", rule->side);
		else if (bit == SIM_WHERE_PROGRAM)
			put(text, "program=%s", rule->program);
		else if (bit == SIM_WHERE_PID)
			put(text, "pid=%" PRId32, rule->pid);
		else if (bit == SIM_WHERE_DEVICE)
			put(text, "device=%s", rule->device);
		else
			put_size_condition(text, rule);
	}
}

static void put_site(struct text *text, const struct cli_fault_sites *sites, const struct cli_fault_site *site)
{
	const struct sim_trace_recording *recording = &sites->merged.recordings[site->recording];
	const char *device = sim_trace_device_of(recording, site->object);

	put(text, "%" PRIu64 " of %s by %s on %s", site->count, sim_op_name(site->op), recording->owner.program,
	    recording->owner.side);
	if (device[0])
		put(text, ", %s", device);
	if (site->min_bytes <= site->max_bytes)
		put(text, ", of %" PRIu64, site->min_bytes);
	if (site->min_bytes < site->max_bytes)
		put(text, " to %" PRIu64, site->max_bytes);
	if (site->min_bytes <= site->max_bytes)
		put(text, " bytes");
}

static bool is_first_of_its_name(const struct sim_merged_trace *merged, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (strcmp(merged->recordings[i].owner.program, merged->recordings[j].owner.program) == 0 &&
		    strcmp(merged->recordings[i].owner.side, merged->recordings[j].owner.side) == 0)
			return false;
	return true;
}

/* The programs that used the card: all, or those that meet the rule's conditions. Returns their number. */
static unsigned int put_programs(struct text *text, const struct sim_merged_trace *merged, const struct sim_rule *rule)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		const struct sim_trace_process *process = &merged->recordings[i].owner;

		if ((rule && unmet_by_process(rule, process)) || !is_first_of_its_name(merged, i))
			continue;
		if (count < MAX_PROGRAMS)
			put(text, "%s%s on %s", count ? ", " : "", process->program, process->side);
		else if (count == MAX_PROGRAMS)
			put(text, ", ...");
		count++;
	}
	return count;
}

/* No operation of the rule is known. */
static void describe_programs(const struct sim_rule *rule, const struct cli_fault_sites *sites, struct text *text)
{
	size_t begin = text->used;
	uint32_t ops = 0;

	for (sim_bits left = sim_rule_ops(rule); left; left &= left - 1)
		ops++;
	if (sites->merged.num_recordings == 0) {
		put(text, "no program of the run used the card");
		return;
	}
	if (put_programs(text, &sites->merged, rule) > 0) {
		put(text, ": no operation that the rule names%s",
		    ops == 1 && (sim_rule_ops(rule) & NOT_RECORDED) ? ", or none that meets its conditions" : "");
		return;
	}
	text->used = begin;
	put(text, "nothing matched: the programs that used the card are ");
	put_programs(text, &sites->merged, NULL);
	put(text, "; none is");
	if (rule->where & SIM_WHERE_PROGRAM)
		put(text, " program=%s", rule->program);
	if (rule->where & SIM_WHERE_SIDE)
		put(text, " side=%s", rule->side);
	if (rule->where & SIM_WHERE_PID)
		put(text, " pid=%" PRId32, rule->pid);
}

static void describe_unmatched(const struct sim_rule *rule, struct cli_fault_sites *sites, struct text *text)
{
	const struct cli_fault_site *closest;
	uint32_t unmet = 0;

	cli_fault_sites_look_for_size(sites, rule->size_min, rule->size_max);
	closest = find_closest(rule, sites, &unmet);
	if (!closest) {
		describe_programs(rule, sites, text);
		return;
	}
	put(text, "nothing matched; closest: ");
	put_site(text, sites, closest);
	put_unmet(text, rule, unmet);
	if (!unmet && (rule->when & (SIM_WHEN_FROM | SIM_WHEN_UNTIL)))
		put(text, ", but not at that time");
	else if (!unmet && (rule->where & SIM_WHERE_ADDR))
		put(text, ", but not at these addresses");
}

/* What the counters of the rule waited for. */
static void describe_matched(const struct sim_plan_rule *rule, struct text *text)
{
	uint32_t when = rule->rule.when;

	if (when & SIM_WHEN_AFTER) {
		put(text, "%" PRIu64 " of the %" PRIu32 " operations that it waits for came", rule->matched,
		    rule->rule.after_nth);
		return;
	}
	put(text, "%" PRIu64 " matched", rule->matched);
	if (sim_rule_ops(&rule->rule) & EVENT_OPS)
		put(text, ", but at another time, or the device was in that state already");
	else if ((when & SIM_WHEN_SKIP) && rule->matched <= rule->rule.skip)
		put(text, ", and skip=%" PRIu32 " leaves them out", rule->rule.skip);
	else if (when & SIM_WHEN_NTH)
		put(text, ", and nth=%" PRIu32 " did not come", rule->rule.nth);
	else if (when & SIM_WHEN_EVERY)
		put(text, ", and every=%" PRIu32 " needs more", rule->rule.every);
	else if (when & SIM_WHEN_CHANCE)
		put(text, ", and no draw of p came out for it; another --seed may");
	else
		put(text, ", but an earlier rule ended the operation");
}

void cli_near_miss_describe(const struct sim_plan_rule *rule, struct cli_fault_sites *sites,
			    char ret_text[CLI_NEAR_MISS_SIZE])
{
	struct text text = { .at = ret_text };
	bool is_event = !(sim_rule_ops(&rule->rule) & ~(EVENT_OPS | SIM_OP_BIT(SIM_OP_DAEMON)));

	ret_text[0] = '\0';
	if (rule->matched > 0)
		describe_matched(rule, &text);
	else if (rule->rule.when & SIM_WHEN_AFTER)
		put(&text, "none of the operations that it waits for came");
	else if (is_event && (rule->rule.when & SIM_WHEN_FROM))
		put(&text, "the run ended before its time");
	else if (sites && !is_event)
		describe_unmatched(&rule->rule, sites, &text);
	else
		put(&text, "nothing matched");
}
