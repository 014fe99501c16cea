/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the timeline: the entries of all events, and lengths for entries without duration. */
#include "timeline.h"

#include <stdlib.h>

bool sim_trace_task_is_complete(const struct sim_merged_trace *merged, const struct sim_trace_event *event)
{
	return event->kind == SIM_TRACE_TASK && event->in_flight != 0 && event->thread != 0 &&
	       event->thread < SIM_TRACE_THREAD_ID_LIMIT &&
	       sim_trace_object_of(&merged->recordings[event->process], event) != 0;
}

struct entry_list {
	struct sim_timeline_entry *entries;
	size_t count;
};

static void add_entry(struct entry_list *list, uint64_t time_ns, size_t event, enum sim_timeline_kind kind)
{
	list->entries[list->count++] =
		(struct sim_timeline_entry){ .time_ns = time_ns, .event = (uint32_t)event, .kind = (uint8_t)kind };
}

static bool has_job(const struct sim_trace_event *event)
{
	return event->data.task.began_ns != 0 && event->data.task.ended_ns != 0;
}

static void add_task(struct entry_list *list, const struct sim_trace_event *event, size_t number)
{
	add_entry(list, event->time_ns, number, SIM_TIMELINE_SUBMIT);
	if (has_job(event))
		add_entry(list, event->data.task.began_ns, number, SIM_TIMELINE_JOB);
	add_entry(list, event->data.task.reaped_ns, number, SIM_TIMELINE_DONE);
}

static void add_event(struct entry_list *list, const struct sim_trace_event *event, size_t number)
{
	switch ((enum sim_trace_kind)event->kind) {
	case SIM_TRACE_TASK:
		add_task(list, event, number);
		break;
	case SIM_TRACE_STATE:
	case SIM_TRACE_OPENED:
	case SIM_TRACE_CLOSED:
		add_entry(list, event->time_ns, number, SIM_TIMELINE_STATE);
		break;
	case SIM_TRACE_SENT:
		add_entry(list, event->time_ns, number, SIM_TIMELINE_SENT);
		break;
	case SIM_TRACE_RECEIVED:
		add_entry(list, event->time_ns, number, SIM_TIMELINE_RECEIVED);
		break;
	case SIM_TRACE_FAULT:
		add_entry(list, event->time_ns, number, SIM_TIMELINE_FAULT);
		break;
	case SIM_TRACE_LOG:
		add_entry(list, event->time_ns, number, SIM_TIMELINE_LOG);
		break;
	case SIM_TRACE_HIT:
		add_entry(list, event->time_ns, number, SIM_TIMELINE_HIT);
		break;
	case SIM_TRACE_TEXT:
	case SIM_TRACE_NUM_KINDS:
		break;
	}
}

static size_t max_entries(const struct sim_merged_trace *merged)
{
	size_t count = 1;

	for (size_t i = 0; i < merged->num_events; i++)
		count += merged->events[i].kind == SIM_TRACE_TASK ? 3 : 1;
	return count;
}

static int compare(const void *left, const void *right)
{
	const struct sim_timeline_entry *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* A lane is a track of entries without duration: a context's submissions, a thread's completions. */
struct lanes {
	uint64_t *keys; /* sorted */
	size_t count;
	size_t *next; /* of each lane: the next entry in time, counted from 1; 0 = none */
};

/* The lane of an entry; 0 = none. */
static uint64_t lane_key(const struct sim_merged_trace *merged, const struct sim_timeline_entry *entry)
{
	const struct sim_trace_event *event = &merged->events[entry->event];
	uint32_t number;

	switch ((enum sim_timeline_kind)entry->kind) {
	case SIM_TIMELINE_SUBMIT:
	case SIM_TIMELINE_DONE:
		if (!sim_trace_task_is_complete(merged, event))
			return 0;
		number = entry->kind == SIM_TIMELINE_DONE ?
				 event->thread :
				 sim_trace_object_of(&merged->recordings[event->process], event);
		break;
	case SIM_TIMELINE_SENT:
	case SIM_TIMELINE_RECEIVED:
		number = event->subject;
		break;
	default:
		return 0;
	}
	return (uint64_t)event->process << 40 | (uint64_t)entry->kind << 32 | number;
}

static int compare_keys(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static int find_lanes(const struct sim_merged_trace *merged, const struct entry_list *list, struct lanes *ret_lanes)
{
	uint64_t *keys = calloc(list->count + 1, sizeof(*keys));
	size_t count = 0, kept = 0;

	for (size_t i = 0; keys && i < list->count; i++) {
		keys[count] = lane_key(merged, &list->entries[i]);
		count += keys[count] != 0;
	}
	if (keys)
		qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || keys[kept - 1] != keys[i])
			keys[kept++] = keys[i];
	*ret_lanes = (struct lanes){ .keys = keys, .count = kept, .next = calloc(kept + 1, sizeof(*ret_lanes->next)) };
	return ret_lanes->keys && ret_lanes->next ? 0 : -1;
}

static size_t *next_in_lane(const struct lanes *lanes, uint64_t key)
{
	const uint64_t *found = bsearch(&key, lanes->keys, lanes->count, sizeof(key), compare_keys);

	return &lanes->next[found - lanes->keys];
}

/* An entry lasts until the next entry of its lane. Of several entries at one time, none has a length. */
static void set_slice_length(struct entry_list *list, size_t number, size_t *next)
{
	struct sim_timeline_entry *entry = &list->entries[number];
	struct sim_timeline_entry *next_entry = *next ? &list->entries[*next - 1] : NULL;
	uint64_t free_ns = next_entry ? next_entry->time_ns - entry->time_ns : SIM_TIMELINE_MAX_SLICE_NS;

	entry->slice_ns = (uint16_t)(free_ns < SIM_TIMELINE_MAX_SLICE_NS ? free_ns : SIM_TIMELINE_MAX_SLICE_NS);
	if (free_ns == 0)
		next_entry->slice_ns = 0;
	*next = number + 1;
}

static int set_slice_lengths(const struct sim_merged_trace *merged, struct entry_list *list)
{
	struct lanes lanes;
	int rc = find_lanes(merged, list, &lanes);

	for (size_t i = list->count; rc == 0 && i-- > 0;) {
		uint64_t key = lane_key(merged, &list->entries[i]);

		if (key)
			set_slice_length(list, i, next_in_lane(&lanes, key));
	}
	free(lanes.keys);
	free(lanes.next);
	return rc;
}

struct sim_timeline_entry *sim_timeline_build(const struct sim_merged_trace *merged, size_t *ret_count)
{
	struct entry_list list = { .entries = calloc(max_entries(merged), sizeof(*list.entries)) };

	if (!list.entries)
		return NULL;
	for (size_t i = 0; i < merged->num_events; i++)
		add_event(&list, &merged->events[i], i);
	qsort(list.entries, list.count, sizeof(*list.entries), compare);
	if (set_slice_lengths(merged, &list) < 0) {
		free(list.entries);
		return NULL;
	}
	*ret_count = list.count;
	return list.entries;
}
