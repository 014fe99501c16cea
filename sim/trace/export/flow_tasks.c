/* SPDX-License-Identifier: BSD-3-Clause */
/* Which task a message is of: that of its context, or of its connection's, which was submitted when its record says. */
#include "flows.h"

#include <stdlib.h>

#include "timeline.h"

#define MAX_SAME_TIME 64 /* tasks of one moment that are looked at for one message */

/* A task, or what to look for. */
struct key {
	uint32_t process, object;
	uint64_t submitted_ns;
	uint32_t event;
};

struct tasks {
	const struct sim_merged_trace *merged;
	struct key *keys; /* sorted */
	size_t count;
	size_t *num_matched; /* of the first task of each moment: how many of that moment have their message */
};

static int compare_submissions(const struct key *a, const struct key *b)
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
	int order = compare_submissions(a, b);

	return order ? order : a->event < b->event ? -1 : a->event > b->event;
}

static void list_tasks(struct tasks *tasks)
{
	const struct sim_merged_trace *merged = tasks->merged;

	for (size_t i = 0; i < merged->num_events; i++) {
		const struct sim_trace_event *event = &merged->events[i];

		if (sim_trace_task_is_complete(merged, event))
			tasks->keys[tasks->count++] =
				(struct key){ .process = event->process,
					      .event = (uint32_t)i,
					      .submitted_ns = event->time_ns,
					      .object =
						      sim_trace_object_of(&merged->recordings[event->process], event) };
	}
	qsort(tasks->keys, tasks->count, sizeof(*tasks->keys), compare);
}

/* The first task that is not before @key. */
static size_t lower_bound(const struct tasks *tasks, const struct key *key)
{
	size_t low = 0, high = tasks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_submissions(&tasks->keys[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A message of a connection is of a task of that one's context. */
static uint32_t context_of(const struct sim_merged_trace *merged, const struct sim_trace_event *message)
{
	const struct sim_trace_object *object = &merged->recordings[message->process].objects[message->subject - 1];

	return object->kind == SIM_TRACE_CONNECTION ? object->parent : message->subject;
}

/* Several may have been submitted at one moment: as they stand, one message each. Those that
 * failed have moved nothing, so that their bytes tell them apart. Returns the event, from 1 on, or 0. */
static uint32_t match_task(struct tasks *tasks, const struct sim_trace_event *message)
{
	const struct key key = { .process = message->process,
				 .object = context_of(tasks->merged, message),
				 .submitted_ns = message->data.message.task_ns };
	size_t first = lower_bound(tasks, &key);
	size_t at = first + tasks->num_matched[first];

	for (size_t end = at + MAX_SAME_TIME; at < end && at < tasks->count; at++) {
		const struct sim_trace_event *task = &tasks->merged->events[tasks->keys[at].event];

		if (compare_submissions(&tasks->keys[at], &key) != 0)
			break;
		if (task->data.task.bytes != message->data.message.bytes || message->time_ns < task->time_ns ||
		    message->time_ns > task->data.task.reaped_ns)
			continue;
		tasks->num_matched[first] = at + 1 - first;
		return tasks->keys[at].event + 1;
	}
	return 0;
}

static void match_all(struct tasks *tasks, uint32_t *task_events)
{
	const struct sim_merged_trace *merged = tasks->merged;

	for (size_t i = 0; i < merged->num_events; i++) {
		const struct sim_trace_event *event = &merged->events[i];

		if ((event->kind == SIM_TRACE_SENT || event->kind == SIM_TRACE_RECEIVED) && event->data.message.task_ns)
			task_events[i] = match_task(tasks, event);
	}
}

uint32_t *sim_flows_match_tasks(const struct sim_merged_trace *merged)
{
	struct tasks tasks = { .merged = merged,
			       .keys = calloc(merged->num_events + 1, sizeof(*tasks.keys)),
			       .num_matched = calloc(merged->num_events + 1, sizeof(*tasks.num_matched)) };
	uint32_t *task_events = calloc(merged->num_events + 1, sizeof(*task_events));

	if (tasks.keys && tasks.num_matched && task_events) {
		list_tasks(&tasks);
		match_all(&tasks, task_events);
	} else {
		free(task_events);
		task_events = NULL;
	}
	free(tasks.keys);
	free(tasks.num_matched);
	return task_events;
}
