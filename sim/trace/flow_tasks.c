/* SPDX-License-Identifier: BSD-3-Clause */
/* Which task a message of the fast path is of. Records don't say it, but when and where they were written does. */
#include "flows.h"

#include <stdlib.h>

#define MAX_AT_ONCE 64 /* jobs that are looked at for one message */

struct matcher {
	const struct sim_trace_story *story;
	uint32_t *tasks;      /* of events: what is looked for */
	size_t *first;        /* of each recording, in @sorted */
	uint32_t *sorted;     /* of each record of all recordings: where it is in the story, from 1 on */
	uint32_t *candidates; /* tasks with jobs, by context and begin */
	size_t num_candidates;
};

static bool is_of_one_object(const struct sim_trace_story *story, const struct sim_trace_event *task,
			     const struct sim_trace_event *message)
{
	return task->process == message->process &&
	       sim_trace_object_of(&story->recordings[task->process], task) == message->subject;
}

/* A consumer records a message and, next, its task: the record behind it says so, if it is the thread's own. */
static void match_received(struct matcher *matcher, size_t number)
{
	const struct sim_trace_story *story = matcher->story;
	const struct sim_trace_event *message = &story->events[number], *task;
	uint32_t behind;

	if (message->place + 1 >= story->recordings[message->process].num_events)
		return;
	behind = matcher->sorted[matcher->first[message->process] + message->place + 1];
	if (behind == 0)
		return;
	task = &story->events[behind - 1];
	if (task->kind == SIM_TRACE_TASK && task->thread == message->thread && is_of_one_object(story, task, message) &&
	    task->args[3] == message->args[2] && task->time_ns <= message->time_ns && message->time_ns <= task->args[2])
		matcher->tasks[number] = behind;
}

/* Where a list that is sorted by context and begin has what the one or the other event belongs to. */
static int compare_jobs(const struct sim_trace_story *story, const struct sim_trace_event *a, uint64_t a_ns,
			const struct sim_trace_event *b, uint64_t b_ns)
{
	uint32_t a_object = sim_trace_object_of(&story->recordings[a->process], a);
	uint32_t b_object = sim_trace_object_of(&story->recordings[b->process], b);

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a_object != b_object)
		return a_object < b_object ? -1 : 1;
	return a_ns < b_ns ? -1 : a_ns > b_ns;
}

static int compare_candidates(const void *left, const void *right, void *arg)
{
	const struct sim_trace_story *story = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_jobs(story, &story->events[a], story->events[a].args[0], &story->events[b],
				 story->events[b].args[0]);

	return order ? order : a < b ? -1 : a > b;
}

static void list_candidates(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->story->num_events; i++) {
		const struct sim_trace_event *event = &matcher->story->events[i];

		if (event->kind == SIM_TRACE_TASK && event->args[0] && event->args[1] && event->detail)
			matcher->candidates[matcher->num_candidates++] = (uint32_t)i;
	}
	qsort_r(matcher->candidates, matcher->num_candidates, sizeof(*matcher->candidates), compare_candidates,
		(void *)(uintptr_t)matcher->story);
}

/* The first job of the message's context that has not begun before @begin_ns. */
static size_t first_from(const struct matcher *matcher, const struct sim_trace_event *message, uint64_t begin_ns)
{
	size_t low = 0, high = matcher->num_candidates;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sim_trace_event *task = &matcher->story->events[matcher->candidates[middle]];

		if (compare_jobs(matcher->story, task, task->args[0], message, begin_ns) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A producer's job sends while it runs. At one moment several may have run: as they stand, one message each.
 * Those that failed have moved nothing, so that their bytes tell them apart. */
static void match_sent(struct matcher *matcher, size_t number, size_t *next)
{
	const struct sim_trace_story *story = matcher->story;
	const struct sim_trace_event *message = &story->events[number];
	size_t at = first_from(matcher, message, message->time_ns);

	if (at > 0) /* it may have begun before, and run on */
		at--;
	at = at > *next ? at : *next;
	for (size_t end = at + MAX_AT_ONCE; at < end && at < matcher->num_candidates; at++) {
		const struct sim_trace_event *task = &story->events[matcher->candidates[at]];

		if (compare_jobs(story, task, task->args[0], message, message->time_ns) > 0)
			return;
		if (!is_of_one_object(story, task, message) || task->args[1] < message->time_ns ||
		    task->args[3] != message->args[2])
			continue;
		matcher->tasks[number] = matcher->candidates[at] + 1;
		*next = at + 1;
		return;
	}
}

static void match_all(struct matcher *matcher)
{
	const struct sim_trace_story *story = matcher->story;
	size_t *next = calloc(matcher->num_candidates + 1, sizeof(*next)); /* by the context's first job */

	for (size_t i = 0; next && i < story->num_events; i++) {
		const struct sim_trace_event *event = &story->events[i];

		if (event->kind == SIM_TRACE_RECEIVED)
			match_received(matcher, i);
		else if (event->kind == SIM_TRACE_SENT)
			match_sent(matcher, i, &next[first_from(matcher, event, 0)]);
	}
	if (!next) {
		free(matcher->tasks);
		matcher->tasks = NULL;
	}
	free(next);
}

static bool index_records(struct matcher *matcher)
{
	const struct sim_trace_story *story = matcher->story;
	size_t count = 0;

	for (uint32_t i = 0; i < story->num_recordings; i++) {
		matcher->first[i] = count;
		count += story->recordings[i].num_events;
	}
	matcher->sorted = calloc(count + 1, sizeof(*matcher->sorted));
	for (size_t i = 0; matcher->sorted && i < story->num_events; i++)
		matcher->sorted[matcher->first[story->events[i].process] + story->events[i].place] = (uint32_t)i + 1;
	return matcher->sorted;
}

uint32_t *sim_trace_tasks_of_messages(const struct sim_trace_story *story)
{
	struct matcher matcher = {.story = story,
				  .tasks = calloc(story->num_events + 1, sizeof(*matcher.tasks)),
				  .first = calloc(story->num_recordings + 1, sizeof(*matcher.first)),
				  .candidates = calloc(story->num_events + 1, sizeof(*matcher.candidates))};

	if (matcher.tasks && matcher.first && matcher.candidates && index_records(&matcher)) {
		list_candidates(&matcher);
		match_all(&matcher);
	} else {
		free(matcher.tasks);
		matcher.tasks = NULL;
	}
	free(matcher.first);
	free(matcher.sorted);
	free(matcher.candidates);
	return matcher.tasks;
}
