/* SPDX-License-Identifier: BSD-3-Clause */
#include "merged_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/trace/sanitize.h"

int sim_trace_story_add(struct sim_trace_story *story, struct sim_trace_recording *recording)
{
	struct sim_trace_recording *grown = reallocarray(story->recordings, story->num_recordings + 1, sizeof(*grown));

	if (!grown) {
		sim_trace_recording_free(recording);
		return -ENOMEM;
	}
	story->recordings = grown;
	for (size_t i = 0; i < recording->num_events; i++) {
		recording->events[i].process = story->num_recordings;
		recording->events[i].place = i;
	}
	grown[story->num_recordings++] = *recording;
	*recording = (struct sim_trace_recording){0};
	return 0;
}

int sim_trace_story_add_rule(struct sim_trace_story *story, uint32_t id, const char *text)
{
	struct sim_trace_rule *grown = reallocarray(story->rules, story->num_rules + 1, sizeof(*grown));
	char *copy = strdup(text);

	if (grown)
		story->rules = grown;
	if (!grown || !copy) {
		free(copy);
		return -ENOMEM;
	}
	if (copy[0])
		sim_trace_text_clean(copy, strlen(copy) + 1);
	grown[story->num_rules++] = (struct sim_trace_rule){.id = id, .text = copy};
	return 0;
}

int sim_trace_story_add_link(struct sim_trace_story *story, const char *side, const char *device, uint64_t to_card_bps,
			     uint64_t to_host_bps)
{
	struct sim_trace_link *grown = reallocarray(story->links, story->num_links + 1, sizeof(*grown));
	struct sim_trace_link *link;

	if (!grown)
		return -ENOMEM;
	story->links = grown;
	link = &grown[story->num_links++];
	*link = (struct sim_trace_link){.to_card_bps = to_card_bps, .to_host_bps = to_host_bps};
	strncpy(link->side, side, sizeof(link->side) - 1);
	strncpy(link->device, device, sizeof(link->device) - 1);
	sim_trace_text_clean(link->side, sizeof(link->side));
	sim_trace_text_clean(link->device, sizeof(link->device));
	return 0;
}

const char *sim_trace_rule_of(const struct sim_trace_story *story, const struct sim_trace_event *event)
{
	for (uint32_t i = 0; i < story->num_rules; i++)
		if (story->rules[i].id == event->args[0])
			return story->rules[i].text;
	return "a rule that is no longer in the plan";
}

/* Kinds in an order that makes sense at one moment: contexts and connections are there first, and a
 * message is sent before it is received. Those that share a ring have their order from there. */
static const uint8_t ranks[SIM_TRACE_NUM_KINDS] = {
	[SIM_TRACE_STATE] = 1, [SIM_TRACE_OPENED] = 1, [SIM_TRACE_CLOSED] = 1, [SIM_TRACE_TASK] = 2,
	[SIM_TRACE_SENT] = 3, [SIM_TRACE_RECEIVED] = 4, [SIM_TRACE_FAULT] = 5, [SIM_TRACE_LOG] = 6};

/* Equal times, as virtual ones often are: by rank; else as the processes came, and in each as it happened. */
static int compare(const void *left, const void *right)
{
	const struct sim_trace_event *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (ranks[a->kind] != ranks[b->kind])
		return ranks[a->kind] < ranks[b->kind] ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

int sim_trace_story_sort(struct sim_trace_story *story)
{
	size_t count = 0;

	for (uint32_t i = 0; i < story->num_recordings; i++)
		count += story->recordings[i].num_events;
	story->events = calloc(count + 1, sizeof(*story->events));
	if (!story->events)
		return -ENOMEM;
	for (uint32_t i = 0; i < story->num_recordings; i++) {
		const struct sim_trace_recording *recording = &story->recordings[i];

		memcpy(story->events + story->num_events, recording->events,
		       recording->num_events * sizeof(*recording->events));
		story->num_events += recording->num_events;
	}
	qsort(story->events, story->num_events, sizeof(*story->events), compare);
	return 0;
}

void sim_trace_story_free(struct sim_trace_story *story)
{
	for (uint32_t i = 0; i < story->num_recordings; i++)
		sim_trace_recording_free(&story->recordings[i]);
	for (uint32_t i = 0; i < story->num_rules; i++)
		free(story->rules[i].text);
	free(story->rules);
	free(story->links);
	free(story->recordings);
	free(story->events);
	*story = (struct sim_trace_story){0};
}
