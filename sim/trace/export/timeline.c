/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline.h"

#include <stdlib.h>

bool sim_trace_task_is_whole(const struct sim_trace_story *story, const struct sim_trace_event *event)
{
	return event->kind == SIM_TRACE_TASK && event->detail != 0 && event->thread != 0 &&
	       event->thread < SIM_TRACE_THREADS_BELOW &&
	       sim_trace_object_of(&story->recordings[event->process], event) != 0;
}

/* ---- the list ---- */

struct list {
	struct sim_trace_moment *moments;
	size_t count;
};

static void add(struct list *list, uint64_t time_ns, size_t event, enum sim_trace_part part)
{
	list->moments[list->count++] = (struct sim_trace_moment){
		.time_ns = time_ns, .event = (uint32_t)event, .part = (uint8_t)part};
}

static bool has_job(const struct sim_trace_event *event)
{
	return event->args[0] != 0 && event->args[1] != 0;
}

static void add_task(struct list *list, const struct sim_trace_event *event, size_t number)
{
	add(list, event->time_ns, number, SIM_TRACE_PART_SUBMIT);
	if (has_job(event))
		add(list, event->args[0], number, SIM_TRACE_PART_JOB);
	add(list, event->args[2], number, SIM_TRACE_PART_DONE);
}

static void add_event(struct list *list, const struct sim_trace_event *event, size_t number)
{
	switch ((enum sim_trace_kind)event->kind) {
	case SIM_TRACE_TASK:
		add_task(list, event, number);
		break;
	case SIM_TRACE_STATE:
	case SIM_TRACE_OPENED:
	case SIM_TRACE_CLOSED:
		add(list, event->time_ns, number, SIM_TRACE_PART_STATE);
		break;
	case SIM_TRACE_SENT:
		add(list, event->time_ns, number, SIM_TRACE_PART_SENT);
		break;
	case SIM_TRACE_RECEIVED:
		add(list, event->time_ns, number, SIM_TRACE_PART_RECEIVED);
		break;
	case SIM_TRACE_FAULT:
		add(list, event->time_ns, number, SIM_TRACE_PART_FAULT);
		break;
	case SIM_TRACE_LOG:
		add(list, event->time_ns, number, SIM_TRACE_PART_LOG);
		break;
	case SIM_TRACE_TEXT:
	case SIM_TRACE_NUM_KINDS:
		break;
	}
}

static size_t room_for(const struct sim_trace_story *story)
{
	size_t count = 1;

	for (size_t i = 0; i < story->num_events; i++)
		count += story->events[i].kind == SIM_TRACE_TASK ? 3 : 1;
	return count;
}

static int compare(const void *left, const void *right)
{
	const struct sim_trace_moment *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* ---- lengths ---- */

/* Where moments without a length of their own stand side by side: a context's submissions, a thread's reports. */
struct lanes {
	uint64_t *keys;  /* sorted */
	size_t count;
	size_t *next;    /* of each: the moment that was seen last, counted from 1 */
};

/* 0 = none. */
static uint64_t key_of(const struct sim_trace_story *story, const struct sim_trace_moment *moment)
{
	const struct sim_trace_event *event = &story->events[moment->event];
	uint32_t number;

	switch ((enum sim_trace_part)moment->part) {
	case SIM_TRACE_PART_SUBMIT:
	case SIM_TRACE_PART_DONE:
		if (!sim_trace_task_is_whole(story, event))
			return 0;
		number = moment->part == SIM_TRACE_PART_DONE ?
			 event->thread : sim_trace_object_of(&story->recordings[event->process], event);
		break;
	case SIM_TRACE_PART_SENT:
	case SIM_TRACE_PART_RECEIVED:
		number = event->subject;
		break;
	default:
		return 0;
	}
	return (uint64_t)event->process << 40 | (uint64_t)moment->part << 32 | number;
}

static int compare_keys(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static int find_lanes(const struct sim_trace_story *story, const struct list *list, struct lanes *ret_lanes)
{
	uint64_t *keys = calloc(list->count + 1, sizeof(*keys));
	size_t count = 0, kept = 0;

	for (size_t i = 0; keys && i < list->count; i++) {
		keys[count] = key_of(story, &list->moments[i]);
		count += keys[count] != 0;
	}
	if (keys)
		qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || keys[kept - 1] != keys[i])
			keys[kept++] = keys[i];
	*ret_lanes = (struct lanes){.keys = keys, .count = kept, .next = calloc(kept + 1, sizeof(*ret_lanes->next))};
	return ret_lanes->keys && ret_lanes->next ? 0 : -1;
}

static size_t *next_of(const struct lanes *lanes, uint64_t key)
{
	const uint64_t *found = bsearch(&key, lanes->keys, lanes->count, sizeof(key), compare_keys);

	return &lanes->next[found - lanes->keys];
}

/* Up to the next one there. Of several at one time none has a length, the last one neither. */
static void measure(struct list *list, size_t number, size_t *next)
{
	struct sim_trace_moment *moment = &list->moments[number];
	struct sim_trace_moment *later = *next ? &list->moments[*next - 1] : NULL;
	uint64_t free_ns = later ? later->time_ns - moment->time_ns : SIM_TRACE_SHORT_NS;

	moment->short_ns = (uint16_t)(free_ns < SIM_TRACE_SHORT_NS ? free_ns : SIM_TRACE_SHORT_NS);
	if (free_ns == 0)
		later->short_ns = 0;
	*next = number + 1;
}

static int measure_all(const struct sim_trace_story *story, struct list *list)
{
	struct lanes lanes;
	int rc = find_lanes(story, list, &lanes);

	for (size_t i = list->count; rc == 0 && i-- > 0;) {
		uint64_t key = key_of(story, &list->moments[i]);

		if (key)
			measure(list, i, next_of(&lanes, key));
	}
	free(lanes.keys);
	free(lanes.next);
	return rc;
}

struct sim_trace_moment *sim_trace_moments(const struct sim_trace_story *story, size_t *ret_count)
{
	struct list list = {.moments = calloc(room_for(story), sizeof(*list.moments))};

	if (!list.moments)
		return NULL;
	for (size_t i = 0; i < story->num_events; i++)
		add_event(&list, &story->events[i], i);
	qsort(list.moments, list.count, sizeof(*list.moments), compare);
	if (measure_all(story, &list) < 0) {
		free(list.moments);
		return NULL;
	}
	*ret_count = list.count;
	return list.moments;
}
