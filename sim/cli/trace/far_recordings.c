/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetching the recordings of other machines, and putting them on one time axis. */
#include "far_recordings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "recording_file.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/reach/reach.h"
#include "sim/clock/clock.h"

#define NUM_QUESTIONS 16

/* ---- clocks ---- */

/* Ask for the time once, and keep the answer if it came sooner than those before. */
static int ask_time(struct cli_reach *reach, struct sim_trace_machine *machine)
{
	static struct sim_reach_packet packet;
	uint64_t sent_ns = sim_monotonic_ns(), got_ns, error_ns, far_ns;
	int rc = sim_reach_send(reach->sock, SIM_REACH_INPUT, "", 1);

	if (rc == 0)
		rc = cli_reach_recv(reach, &packet);
	if (rc < 0)
		return cli_reach_fail(reach, rc);
	if (packet.kind != SIM_REACH_OUTPUT || packet.len != sizeof(far_ns))
		return cli_error("%s has not told its time", machine->name);
	got_ns = sim_monotonic_ns();
	memcpy(&far_ns, packet.bytes, sizeof(far_ns));
	error_ns = (got_ns - sent_ns + 1) / 2;
	if (machine->error_ns == 0 || error_ns < machine->error_ns) {
		machine->error_ns = error_ns;
		machine->offset_ns = (int64_t)(far_ns - (sent_ns + (got_ns - sent_ns) / 2));
	}
	return 0;
}

static void shift(uint64_t *time_ns, int64_t by_ns)
{
	if (*time_ns > 0) /* else it is not known */
		*time_ns += (uint64_t)by_ns;
}

static void shift_event(struct sim_trace_event *event, int64_t by_ns)
{
	shift(&event->time_ns, by_ns);
	if (event->kind == SIM_TRACE_TASK) {
		shift(&event->data.task.began_ns, by_ns);
		shift(&event->data.task.ended_ns, by_ns);
		shift(&event->data.task.reaped_ns, by_ns);
	} else if (event->kind == SIM_TRACE_SENT || event->kind == SIM_TRACE_RECEIVED) {
		shift(&event->data.message.task_ns, by_ns);
	}
}

/* Let the times of a trace be @by_ns later. */
static void shift_all(struct sim_merged_trace *merged, int64_t by_ns)
{
	shift(&merged->zero_ns, by_ns);
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		struct sim_trace_recording *recording = &merged->recordings[i];

		shift(&recording->began_ns, by_ns);
		for (uint32_t j = 0; j < recording->num_objects; j++) {
			uint64_t ended_ns = recording->objects[j].ended_ns;

			shift(&recording->objects[j].began_ns, by_ns);
			shift(&ended_ns, by_ns);
			recording->objects[j].ended_ns = ended_ns;
		}
		for (size_t j = 0; j < recording->num_events; j++)
			shift_event(&recording->events[j], by_ns);
	}
}

/* ---- merging ---- */

/* Whether an earlier rule of the other machine is that one. */
static bool is_in(const uint32_t *ids, uint32_t count, uint64_t id)
{
	for (uint32_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* The number in @merged of rule @number of the other machine: rules of one text are one rule, which several machines know, but two of
 * one machine, the earlier of which are @ids, are two. 0 = no memory. */
static uint32_t merge_rule(struct sim_merged_trace *merged, const struct sim_trace_rule *rule, const uint32_t *ids,
			   uint32_t number)
{
	struct sim_trace_rule *added;
	uint32_t last = 0;

	for (uint32_t i = 0; i < merged->num_rules; i++) {
		if (strcmp(merged->rules[i].text, rule->text) == 0 && !is_in(ids, number, merged->rules[i].id)) {
			merged->rules[i].fired += rule->fired;
			merged->rules[i].removed &= rule->removed;
			return merged->rules[i].id;
		}
		last = merged->rules[i].id > last ? merged->rules[i].id : last;
	}
	if (sim_merged_trace_add_rule(merged, last + 1, rule->text) < 0)
		return 0;
	added = &merged->rules[merged->num_rules - 1];
	added->fired = rule->fired;
	added->added_ns = rule->added_ns;
	added->removed = rule->removed;
	return added->id;
}

/* Let the faults of the other machine's recordings name the rules as @merged numbers them. */
static int merge_rules(struct sim_merged_trace *merged, struct sim_merged_trace *far)
{
	uint32_t *ids = calloc((size_t)far->num_rules + 1, sizeof(*ids));

	for (uint32_t i = 0; ids && i < far->num_rules; i++) {
		ids[i] = merge_rule(merged, &far->rules[i], ids, i);
		if (ids[i] == 0) {
			free(ids);
			return -1;
		}
	}
	for (uint32_t i = 0; ids && i < far->num_recordings; i++)
		for (size_t j = 0; j < far->recordings[i].num_events; j++) {
			struct sim_trace_event *event = &far->recordings[i].events[j];
			uint64_t id = event->data.fault.rule;

			if (event->kind != SIM_TRACE_FAULT)
				continue;
			event->data.fault.rule = 0;
			for (uint32_t k = 0; k < far->num_rules; k++)
				if (far->rules[k].id == id)
					event->data.fault.rule = ids[k];
		}
	free(ids);
	return ids ? 0 : -1;
}

/* Move the recordings of @far into @merged. */
static int merge(struct sim_merged_trace *merged, struct sim_merged_trace *far)
{
	int rc = merge_rules(merged, far);

	for (uint32_t i = 0; i < far->num_recordings; i++) {
		if (rc == 0)
			rc = sim_merged_trace_add(merged, &far->recordings[i]);
		else
			sim_trace_recording_free(&far->recordings[i]);
		far->recordings[i] = (struct sim_trace_recording){ 0 };
	}
	merged->num_dropped += far->num_dropped;
	return rc;
}

/* ---- one machine ---- */

static int fetch(struct cli_reach *reach, bool counts_only, struct sim_trace_machine *machine,
		 struct sim_merged_trace *ret_far)
{
	FILE *in;
	int rc = 0;

	for (int i = 0; rc == 0 && !counts_only && i < NUM_QUESTIONS; i++)
		rc = ask_time(reach, machine);
	if (rc == 0)
		sim_reach_send(reach->sock, SIM_REACH_INPUT_END, NULL, 0);
	in = rc == 0 ? cli_reach_output(reach) : NULL;
	if (!in) {
		cli_reach_lose(reach); /* it may still wait for questions */
		return -1;
	}
	rc = cli_recording_read(in, machine->name, ret_far);
	fclose(in);
	return rc;
}

/* Returns 0; 1: it is left out, with a message; or -1. */
static int add_machine(const char *dir, const struct cli_machine *known, bool counts_only,
		       struct sim_merged_trace *merged)
{
	const char *const words[] = { "trace", counts_only ? "counts" : "all", NULL };
	struct sim_trace_machine machine = { .name = "" };
	struct sim_merged_trace far = { 0 };
	struct cli_reach reach;
	int rc;

	snprintf(machine.name, sizeof(machine.name), "%s", known->name);
	if (merged->clock && strcmp(merged->clock, sim_clock_mode_name(SIM_CLOCK_TIMED)) == 0)
		machine.due_error_ns = known->clock_error_ns;
	if (cli_reach_begin(dir, known->name, SIM_REACH_CONTROL, words, &reach) < 0)
		return 1;
	rc = fetch(&reach, counts_only, &machine, &far);
	if (cli_reach_end(&reach) != CLI_OK || rc < 0) {
		if (rc == 0)
			sim_merged_trace_free(&far);
		return 1;
	}
	if (!counts_only)
		shift_all(&far, -machine.offset_ns);
	if (!counts_only && (int64_t)far.zero_ns < (int64_t)merged->zero_ns)
		merged->zero_ns = far.zero_ns; /* an earlier begin: of home, if this machine joined later */
	rc = merge(merged, &far);
	sim_merged_trace_free(&far);
	if (rc == 0)
		rc = sim_merged_trace_add_machine(merged, &machine);
	return rc < 0 ? cli_error("out of memory: the trace has too many records") : 0;
}

/* This machine may have been booted after the session began: then the axis begins before its clock does. */
static void make_positive(struct sim_merged_trace *merged)
{
	if ((int64_t)merged->zero_ns <= 0)
		shift_all(merged, 1 - (int64_t)merged->zero_ns);
}

int cli_far_recordings_add(const char *dir, bool counts_only, struct sim_merged_trace *merged)
{
	struct cli_machines machines;
	uint64_t own_zero_ns = merged->zero_ns;
	int rc = cli_machines_read(dir, &machines);

	for (size_t i = 0; rc >= 0 && i < machines.count; i++) {
		if (machines.list[i].is_joined)
			rc = add_machine(dir, &machines.list[i], counts_only, merged);
		if (rc > 0 || (!machines.list[i].is_joined && !machines.list[i].is_self))
			cli_fail("the recordings of %s are left out", machines.list[i].name);
	}
	if (rc < 0)
		return -1;
	cli_machines_free(&machines);
	merged->session_ns += own_zero_ns - merged->zero_ns;
	merged->begin_unix_ns -= merged->begin_unix_ns ? own_zero_ns - merged->zero_ns : 0;
	make_positive(merged);
	return 0;
}
