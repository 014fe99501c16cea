/* SPDX-License-Identifier: BSD-3-Clause */
/* Match received messages with sent ones by stream and number. */
#include "flows.h"

#include <stdlib.h>

/* A sent message, or the key of a search. */
struct sent {
	uint64_t stream, number;
	size_t event;
};

static int compare(const void *left, const void *right)
{
	const struct sent *a = left, *b = right;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static struct sent key_of(const struct sim_merged_trace *merged, size_t event)
{
	return (struct sent){ .stream = merged->events[event].data.message.stream,
			      .number = merged->events[event].data.message.number,
			      .event = event };
}

static size_t count_sent(const struct sim_merged_trace *merged)
{
	size_t count = 0;

	for (size_t i = 0; i < merged->num_events; i++)
		count += merged->events[i].kind == SIM_TRACE_SENT;
	return count;
}

static struct sent *list_sent(const struct sim_merged_trace *merged, size_t count)
{
	struct sent *list = calloc(count + 1, sizeof(*list));
	size_t end = 0;

	for (size_t i = 0; list && i < merged->num_events; i++)
		if (merged->events[i].kind == SIM_TRACE_SENT)
			list[end++] = key_of(merged, i);
	if (list)
		qsort(list, count, sizeof(*list), compare);
	return list;
}

uint32_t *sim_flows_match_messages(const struct sim_merged_trace *merged)
{
	uint32_t *flows = calloc(merged->num_events + 1, sizeof(*flows));
	size_t count = count_sent(merged);
	struct sent *list = list_sent(merged, count);
	uint32_t last = 0;

	for (size_t i = 0; flows && list && i < merged->num_events; i++) {
		struct sent key = key_of(merged, i);
		const struct sent *found = NULL;

		if (merged->events[i].kind == SIM_TRACE_RECEIVED)
			found = bsearch(&key, list, count, sizeof(*list), compare);
		/* received once, and not before it was sent */
		if (found && flows[found->event] == 0 && found->event < i)
			flows[i] = flows[found->event] = ++last;
	}
	if (!list) {
		free(flows);
		flows = NULL;
	}
	free(list);
	return flows;
}
