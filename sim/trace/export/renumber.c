/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of processes, threads and streams that are the same in each run of a virtual session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "merged_trace.h"

/* ---- processes ---- */

struct process {
	const struct sim_trace_recording *recording;
	uint32_t number; /* before */
	uint64_t first_ns;
};

/* The commands of "bfsim run" in their order, then the other processes. */
static int compare_processes(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	uint32_t a_command = a->recording->command - 1, b_command = b->recording->command - 1;
	int order;

	if (a_command != b_command)
		return a_command < b_command ? -1 : 1;
	order = strcmp(a->recording->owner.side, b->recording->owner.side);
	if (order == 0)
		order = strcmp(a->recording->owner.program, b->recording->owner.program);
	if (order != 0)
		return order;
	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void take_processes(struct sim_merged_trace *merged, const struct process *processes,
			   struct sim_trace_recording *sorted)
{
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		sorted[i] = *processes[i].recording;
		sorted[i].owner.pid = (int32_t)i + 1;
		for (size_t j = 0; j < sorted[i].num_events; j++)
			sorted[i].events[j].process = i;
	}
	free(merged->recordings);
	merged->recordings = sorted;
}

static int number_processes(struct sim_merged_trace *merged)
{
	struct process *processes = calloc(merged->num_recordings + 1, sizeof(*processes));
	struct sim_trace_recording *sorted = calloc(merged->num_recordings + 1, sizeof(*sorted));

	if (!processes || !sorted) {
		free(processes);
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < merged->num_recordings; i++)
		processes[i] = (struct process){ &merged->recordings[i], i, sim_merged_trace_first_ns(merged, i) };
	qsort(processes, merged->num_recordings, sizeof(*processes), compare_processes);
	take_processes(merged, processes, sorted);
	free(processes);
	return 0;
}

/* ---- threads and streams: by their first event ---- */

struct first_event {
	uint64_t key; /* of a thread or stream */
	size_t event;
	uint32_t number;
};

struct numbering {
	struct first_event *firsts; /* by key */
	size_t count;
};

static int compare_keys(const void *left, const void *right)
{
	const struct first_event *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

static int compare_events(const void *left, const void *right)
{
	const struct first_event *a = left, *b = right;

	return a->event < b->event ? -1 : a->event > b->event;
}

/* 0 = no thread. */
static uint64_t thread_key(const struct sim_trace_event *event)
{
	return event->thread ? (uint64_t)event->process << 32 | event->thread : 0;
}

/* 0 = no message. */
static uint64_t stream_key(const struct sim_trace_event *event)
{
	return event->kind == SIM_TRACE_SENT || event->kind == SIM_TRACE_RECEIVED ? event->data.message.stream : 0;
}

/* Number the keys of all events, from 1, in the order in which they appear. */
static int number_keys(const struct sim_merged_trace *merged, uint64_t (*key_of)(const struct sim_trace_event *event),
		       struct numbering *ret_numbering)
{
	struct first_event *firsts = calloc(merged->num_events + 1, sizeof(*firsts));
	size_t count = 0, kept = 0;

	if (!firsts)
		return -ENOMEM;
	for (size_t i = 0; i < merged->num_events; i++) {
		firsts[count] = (struct first_event){ .key = key_of(&merged->events[i]), .event = i };
		count += firsts[count].key != 0;
	}
	qsort(firsts, count, sizeof(*firsts), compare_keys);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || firsts[kept - 1].key != firsts[i].key)
			firsts[kept++] = firsts[i];
	qsort(firsts, kept, sizeof(*firsts), compare_events);
	for (size_t i = 0; i < kept; i++) {
		firsts[i].number = (uint32_t)i + 1;
		firsts[i].event = 0;
	}
	qsort(firsts, kept, sizeof(*firsts), compare_keys);
	*ret_numbering = (struct numbering){ firsts, kept };
	return 0;
}

/* 0 for a key of no event. */
static uint32_t number_of(const struct numbering *numbering, uint64_t key)
{
	const struct first_event wanted = { .key = key };
	const struct first_event *found =
		bsearch(&wanted, numbering->firsts, numbering->count, sizeof(wanted), compare_keys);

	return found ? found->number : 0;
}

static int compare_threads(const void *left, const void *right)
{
	const struct sim_trace_thread *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Threads without an event get number 0, which no format names. */
static void take_thread_numbers(struct sim_merged_trace *merged, const struct numbering *threads)
{
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		struct sim_trace_recording *recording = &merged->recordings[i];

		for (uint32_t j = 0; j < recording->num_threads; j++)
			recording->threads[j].id = number_of(threads, (uint64_t)i << 32 | recording->threads[j].id);
		if (recording->num_threads > 0)
			qsort(recording->threads, recording->num_threads, sizeof(*recording->threads), compare_threads);
	}
}

int sim_merged_trace_renumber(struct sim_merged_trace *merged)
{
	struct numbering threads = { 0 }, streams = { 0 };
	int rc = number_processes(merged);

	if (rc == 0)
		rc = sim_merged_trace_sort(merged);
	if (rc == 0)
		rc = number_keys(merged, thread_key, &threads);
	if (rc == 0)
		rc = number_keys(merged, stream_key, &streams);
	if (rc == 0)
		take_thread_numbers(merged, &threads);
	for (size_t i = 0; rc == 0 && i < merged->num_events; i++) {
		struct sim_trace_event *event = &merged->events[i];

		event->thread = number_of(&threads, thread_key(event));
		if (stream_key(event))
			event->data.message.stream = number_of(&streams, stream_key(event));
	}
	free(threads.firsts);
	free(streams.firsts);
	return rc;
}
