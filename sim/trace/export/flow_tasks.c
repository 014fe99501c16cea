/* SPDX-License-Identifier: BSD-3-Clause */
/* Find the task of each message: a task of the message's context, or of its connection's context, that was
 * submitted at the time in the message's record. */
#include "flows.h"

#include <stdlib.h>

#include "timeline.h"

/* A task, or the key of a search. */
struct key {
	uint32_t process, object;
	uint64_t submitted_ns, bytes;
	uint64_t reaped_ns; /* not part of a group's key, nor is the next */
	uint32_t event;
};

/* Tasks in groups, each in the order of the tasks' ends. Messages come in the order of their times, and a message
 * is not later than its task's end. So a task that ended before a message fits no later message either. */
struct tasks {
	const struct sim_merged_trace *merged;
	struct key *keys; /* sorted */
	size_t count;
	size_t *num_used; /* at the first task of each group: how many of the group have a message or ended too early */
};

static int compare_groups(const struct key *a, const struct key *b)
{
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->submitted_ns != b->submitted_ns)
		return a->submitted_ns < b->submitted_ns ? -1 : 1;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static int compare(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	int order = compare_groups(a, b);

	if (order)
		return order;
	if (a->reaped_ns != b->reaped_ns)
		return a->reaped_ns < b->reaped_ns ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
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
					      .bytes = event->data.task.bytes,
					      .reaped_ns = event->data.task.reaped_ns,
					      .object =
						      sim_trace_object_of(&merged->recordings[event->process], event) };
	}
	qsort(tasks->keys, tasks->count, sizeof(*tasks->keys), compare);
}

/* The first task of @key's group, if there is one. */
static size_t lower_bound(const struct tasks *tasks, const struct key *key)
{
	size_t low = 0, high = tasks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_groups(&tasks->keys[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A connection's message belongs to a task of the connection's context. */
static uint32_t context_of(const struct sim_merged_trace *merged, const struct sim_trace_event *message)
{
	const struct sim_trace_object *object = &merged->recordings[message->process].objects[message->subject - 1];

	return object->kind == SIM_TRACE_CONNECTION ? object->parent : message->subject;
}

static bool is_in_group(const struct tasks *tasks, size_t at, const struct key *key)
{
	return at < tasks->count && compare_groups(&tasks->keys[at], key) == 0;
}

/* Of several tasks with one submission time, the bytes tell apart those that failed: these moved none.
 * Returns the task's event, counted from 1, or 0. */
static uint32_t match_task(struct tasks *tasks, const struct sim_trace_event *message)
{
	const struct key key = { .process = message->process,
				 .object = context_of(tasks->merged, message),
				 .submitted_ns = message->data.message.task_ns,
				 .bytes = message->data.message.bytes };
	size_t first = lower_bound(tasks, &key);
	size_t at = first + tasks->num_used[first];
	bool is_match;

	if (message->time_ns < key.submitted_ns || !is_in_group(tasks, first, &key))
		return 0;
	while (is_in_group(tasks, at, &key) && tasks->keys[at].reaped_ns < message->time_ns)
		at++;
	is_match = is_in_group(tasks, at, &key);
	tasks->num_used[first] = at - first + is_match;
	return is_match ? tasks->keys[at].event + 1 : 0;
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
			       .num_used = calloc(merged->num_events + 1, sizeof(*tasks.num_used)) };
	uint32_t *task_events = calloc(merged->num_events + 1, sizeof(*task_events));

	if (tasks.keys && tasks.num_used && task_events) {
		list_tasks(&tasks);
		match_all(&tasks, task_events);
	} else {
		free(task_events);
		task_events = NULL;
	}
	free(tasks.keys);
	free(tasks.num_used);
	return task_events;
}
