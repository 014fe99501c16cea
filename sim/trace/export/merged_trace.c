/* SPDX-License-Identifier: BSD-3-Clause */
/* Collecting and sorting the events of all processes. */
#include "merged_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/base/printable.h"

#define DUPLICATE_PID_OFFSET 10000000 /* added to a process id for each earlier process with the same id */

int sim_merged_trace_add(struct sim_merged_trace *merged, struct sim_trace_recording *recording)
{
	struct sim_trace_recording *grown =
		reallocarray(merged->recordings, merged->num_recordings + 1, sizeof(*grown));

	if (!grown) {
		sim_trace_recording_free(recording);
		return -ENOMEM;
	}
	merged->recordings = grown;
	for (size_t i = 0; i < recording->num_events; i++) {
		recording->events[i].process = merged->num_recordings;
		recording->events[i].seq = i;
	}
	grown[merged->num_recordings++] = *recording;
	*recording = (struct sim_trace_recording){ 0 };
	return 0;
}

int sim_merged_trace_add_rule(struct sim_merged_trace *merged, uint32_t id, const char *text)
{
	struct sim_trace_rule *grown = reallocarray(merged->rules, merged->num_rules + 1, sizeof(*grown));
	char *copy = strdup(text);

	if (grown)
		merged->rules = grown;
	if (!grown || !copy) {
		free(copy);
		return -ENOMEM;
	}
	if (copy[0])
		sim_make_printable_array(copy, strlen(copy) + 1);
	grown[merged->num_rules++] = (struct sim_trace_rule){ .id = id, .text = copy };
	return 0;
}

int sim_merged_trace_add_card(struct sim_merged_trace *merged, const struct sim_trace_card *card)
{
	struct sim_trace_card *grown = reallocarray(merged->cards, merged->num_cards + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	merged->cards = grown;
	grown[merged->num_cards++] = *card;
	return 0;
}

int sim_merged_trace_add_machine(struct sim_merged_trace *merged, const struct sim_trace_machine *machine)
{
	struct sim_trace_machine *grown = reallocarray(merged->machines, merged->num_machines + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	merged->machines = grown;
	grown[merged->num_machines++] = *machine;
	return 0;
}

int sim_merged_trace_add_link(struct sim_merged_trace *merged, const char *side, const char *device,
			      uint64_t to_card_bps, uint64_t to_host_bps)
{
	struct sim_trace_link *grown = reallocarray(merged->links, merged->num_links + 1, sizeof(*grown));
	struct sim_trace_link *link;

	if (!grown)
		return -ENOMEM;
	merged->links = grown;
	link = &grown[merged->num_links++];
	*link = (struct sim_trace_link){ .to_card_bps = to_card_bps, .to_host_bps = to_host_bps };
	strncpy(link->side, side, sizeof(link->side) - 1);
	strncpy(link->device, device, sizeof(link->device) - 1);
	sim_make_printable_array(link->side, sizeof(link->side));
	sim_make_printable_array(link->device, sizeof(link->device));
	return 0;
}

int64_t *sim_merged_trace_pids(const struct sim_merged_trace *merged)
{
	int64_t *pids = calloc(merged->num_recordings + 1, sizeof(*pids));

	for (uint32_t i = 0; pids && i < merged->num_recordings; i++) {
		pids[i] = merged->recordings[i].owner.pid;
		for (uint32_t j = 0; j < i; j++)
			if (merged->recordings[j].owner.pid == merged->recordings[i].owner.pid)
				pids[i] += DUPLICATE_PID_OFFSET;
	}
	return pids;
}

void sim_merged_trace_count_late(const struct sim_merged_trace *merged, uint64_t *ret_count, uint64_t *ret_max_ns)
{
	*ret_count = *ret_max_ns = 0;
	for (uint32_t i = 0; i < merged->num_recordings; i++)
		for (uint32_t j = 0; j < merged->recordings[i].num_objects; j++) {
			const struct sim_trace_object *object = &merged->recordings[i].objects[j];

			*ret_count += object->num_late;
			*ret_max_ns = max_u64(*ret_max_ns, object->max_late_ns);
		}
}

uint64_t sim_merged_trace_first_ns(const struct sim_merged_trace *merged, uint32_t process)
{
	const struct sim_trace_recording *recording = &merged->recordings[process];
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < recording->num_events; i++)
		first = min_u64(first, recording->events[i].time_ns);
	return recording->num_events == 0 || first < merged->zero_ns ? 0 : first - merged->zero_ns;
}

uint64_t sim_merged_trace_count_hits(const struct sim_merged_trace *merged, uint32_t process, uint32_t rule)
{
	uint64_t count = 0;

	for (size_t i = 0; i < merged->num_events; i++)
		count += merged->events[i].kind == SIM_TRACE_HIT && merged->events[i].process == process &&
			 merged->events[i].reason == rule;
	return count;
}

const char *sim_merged_trace_rule_text(const struct sim_merged_trace *merged, const struct sim_trace_event *event)
{
	for (uint32_t i = 0; i < merged->num_rules; i++)
		if (merged->rules[i].id == event->data.fault.rule)
			return merged->rules[i].text;
	return "a rule that is no longer in the plan";
}

/* Order of kinds at equal times: contexts and connections exist first, and a message is sent before it is received.
 * Kinds with one rank share a ring, which keeps their order. */
static const uint8_t ranks[SIM_TRACE_NUM_KINDS] = {
	[SIM_TRACE_STATE] = 1, [SIM_TRACE_OPENED] = 1, [SIM_TRACE_CLOSED] = 1,
	[SIM_TRACE_TASK] = 2,  [SIM_TRACE_SENT] = 3,   [SIM_TRACE_RECEIVED] = 4,
	[SIM_TRACE_FAULT] = 5, [SIM_TRACE_LOG] = 6,    [SIM_TRACE_HIT] = 6
};

/* Equal times, frequent in virtual time, are sorted by rank, then by process, then by position in the recording. */
static int compare(const void *left, const void *right)
{
	const struct sim_trace_event *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (ranks[a->kind] != ranks[b->kind])
		return ranks[a->kind] < ranks[b->kind] ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

int sim_merged_trace_sort(struct sim_merged_trace *merged)
{
	size_t count = 0;

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		count += merged->recordings[i].num_events;
	free(merged->events);
	merged->num_events = 0;
	merged->events = calloc(count + 1, sizeof(*merged->events));
	if (!merged->events)
		return -ENOMEM;
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		const struct sim_trace_recording *recording = &merged->recordings[i];

		memcpy(merged->events + merged->num_events, recording->events,
		       recording->num_events * sizeof(*recording->events));
		merged->num_events += recording->num_events;
	}
	qsort(merged->events, merged->num_events, sizeof(*merged->events), compare);
	return 0;
}

void sim_merged_trace_free(struct sim_merged_trace *merged)
{
	for (uint32_t i = 0; i < merged->num_recordings; i++)
		sim_trace_recording_free(&merged->recordings[i]);
	for (uint32_t i = 0; i < merged->num_rules; i++)
		free(merged->rules[i].text);
	free(merged->rules);
	free(merged->links);
	free(merged->machines);
	free(merged->cards);
	free(merged->recordings);
	free(merged->events);
	*merged = (struct sim_merged_trace){ 0 };
}
