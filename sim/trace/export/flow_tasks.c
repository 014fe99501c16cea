/* SPDX-License-Identifier: BSD-3-Clause */
/* Which task a message is of: that of its context, or of its connection's, which was submitted when its record says. */
#include "flows.h"

#include <stdlib.h>

#include "timeline.h"

#define MAX_AT_ONCE 64 /* tasks of one moment that are looked at for one message */

/* A task, or what to look for. */
struct key {
	uint32_t process, object;
	uint64_t submitted_ns;
	uint32_t event;
};

struct tasks {
	const struct sim_trace_story *story;
	struct key *keys;  /* sorted */
	size_t count;
	size_t *next;      /* of the first task of each moment: how many of that moment have their message */
};

static int compare_moments(const struct key *a, const struct key *b)
{
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return a->submitted_ns < b->submitted_ns ? -1 : a->submitted_ns > b->submitted_ns;
}

static int compare(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	int order = compare_moments(a, b);

	return order ? order : a->event < b->event ? -1 : a->event > b->event;
}

static void list_tasks(struct tasks *tasks)
{
	const struct sim_trace_story *story = tasks->story;

	for (size_t i = 0; i < story->num_events; i++) {
		const struct sim_trace_event *event = &story->events[i];

		if (sim_trace_task_is_whole(story, event))
			tasks->keys[tasks->count++] = (struct key){
				.process = event->process, .event = (uint32_t)i, .submitted_ns = event->time_ns,
				.object = sim_trace_object_of(&story->recordings[event->process], event)};
	}
	qsort(tasks->keys, tasks->count, sizeof(*tasks->keys), compare);
}

/* The first task that is not before @key. */
static size_t find(const struct tasks *tasks, const struct key *key)
{
	size_t low = 0, high = tasks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_moments(&tasks->keys[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A message of a connection is of a task of that one's context. */
static uint32_t context_of(const struct sim_trace_story *story, const struct sim_trace_event *message)
{
	const struct sim_trace_object *object = &story->recordings[message->process].objects[message->subject - 1];

	return object->kind == SIM_TRACE_CONNECTION ? object->parent : message->subject;
}

/* Several may have been submitted at one moment: as they stand, one message each. Those that
 * failed have moved nothing, so that their bytes tell them apart. Returns the event, from 1 on, or 0. */
static uint32_t task_of(struct tasks *tasks, const struct sim_trace_event *message)
{
	const struct key key = {.process = message->process, .object = context_of(tasks->story, message),
				.submitted_ns = message->args[3]};
	size_t first = find(tasks, &key);
	size_t at = first + tasks->next[first];

	for (size_t end = at + MAX_AT_ONCE; at < end && at < tasks->count; at++) {
		const struct sim_trace_event *task = &tasks->story->events[tasks->keys[at].event];

		if (compare_moments(&tasks->keys[at], &key) != 0)
			break;
		if (task->args[3] != message->args[2] || message->time_ns < task->time_ns || message->time_ns > task->args[2])
			continue;
		tasks->next[first] = at + 1 - first;
		return tasks->keys[at].event + 1;
	}
	return 0;
}

static void match_all(struct tasks *tasks, uint32_t *of)
{
	const struct sim_trace_story *story = tasks->story;

	for (size_t i = 0; i < story->num_events; i++) {
		const struct sim_trace_event *event = &story->events[i];

		if ((event->kind == SIM_TRACE_SENT || event->kind == SIM_TRACE_RECEIVED) && event->args[3])
			of[i] = task_of(tasks, event);
	}
}

uint32_t *sim_trace_tasks_of_messages(const struct sim_trace_story *story)
{
	struct tasks tasks = {.story = story, .keys = calloc(story->num_events + 1, sizeof(*tasks.keys)),
			      .next = calloc(story->num_events + 1, sizeof(*tasks.next))};
	uint32_t *of = calloc(story->num_events + 1, sizeof(*of));

	if (tasks.keys && tasks.next && of) {
		list_tasks(&tasks);
		match_all(&tasks, of);
	} else {
		free(of);
		of = NULL;
	}
	free(tasks.keys);
	free(tasks.next);
	return of;
}
