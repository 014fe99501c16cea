/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Perfetto export finds out about all events before it writes the first: the tracks that objects use, the ends of states,
 * and the flows. */
#include <errno.h>
#include <stdlib.h>

#include "flows.h"
#include "perfetto_priv.h"

/* The tracks on which an event appears, as bits. */
static uint32_t tracks_of_event(const struct sim_trace_event *event)
{
	switch ((enum sim_trace_kind)event->kind) {
	case SIM_TRACE_SENT:
		return 1 << TRACK_SENT;
	case SIM_TRACE_RECEIVED:
		return 1 << TRACK_RECEIVED;
	case SIM_TRACE_STATE:
	case SIM_TRACE_OPENED:
	case SIM_TRACE_CLOSED:
		return 1 << TRACK_STATES;
	case SIM_TRACE_TASK:
		return (event->data.task.began_ns ? 1 << TRACK_JOBS : 0) |
		       (event->in_flight ? 1 << TRACK_SUBMITTED : 0);
	case SIM_TRACE_FAULT:
		return 1 << TRACK_JOBS;
	case SIM_TRACE_LOG:
	case SIM_TRACE_HIT:
	case SIM_TRACE_TEXT:
	case SIM_TRACE_NUM_KINDS:
		break;
	}
	return 0;
}

static void find_used_tracks(struct perfetto_writer *writer)
{
	const struct sim_merged_trace *merged = writer->merged;

	for (size_t i = 0; i < merged->num_events; i++) {
		const struct sim_trace_event *event = &merged->events[i];
		uint32_t object = sim_trace_object_of(&merged->recordings[event->process], event);

		sim_perfetto_object_at(writer, event->process, object)->used |= tracks_of_event(event);
	}
}

/* Find the end of each state, from the last event to the first. */
static void find_next_states(struct perfetto_writer *writer)
{
	const struct sim_merged_trace *merged = writer->merged;
	uint64_t last_ns = writer->num_entries ? writer->entries[writer->num_entries - 1].time_ns : 0;

	for (size_t i = merged->num_events; i-- > 0;) {
		const struct sim_trace_event *event = &merged->events[i];
		struct perfetto_object *object;

		if (event->kind != SIM_TRACE_STATE && event->kind != SIM_TRACE_OPENED &&
		    event->kind != SIM_TRACE_CLOSED)
			continue;
		object = sim_perfetto_object_at(writer, event->process, event->subject);
		writer->until_ns[i] = object->next_state ? merged->events[object->next_state].time_ns : last_ns;
		object->next_state = i;
	}
}

static uint32_t max_flow_id(const uint32_t *flows, size_t count)
{
	uint32_t last = 0;

	for (size_t i = 0; i < count; i++)
		last = flows[i] > last ? flows[i] : last;
	return last;
}

static int make_objects(struct perfetto_writer *writer)
{
	const struct sim_merged_trace *merged = writer->merged;
	uint32_t num_objects = 0;

	writer->first_object = calloc(merged->num_recordings + 1, sizeof(*writer->first_object));
	if (!writer->first_object)
		return -ENOMEM;
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		writer->first_object[i] = num_objects;
		num_objects += merged->recordings[i].num_objects + 1; /* 0 stands for no object */
	}
	writer->objects = calloc(num_objects + 1, sizeof(*writer->objects));
	return writer->objects ? 0 : -ENOMEM;
}

int sim_perfetto_prepare(struct perfetto_writer *writer)
{
	const struct sim_merged_trace *merged = writer->merged;

	writer->pids = sim_merged_trace_pids(merged);
	writer->until_ns = calloc(merged->num_events + 1, sizeof(*writer->until_ns));
	writer->flows = sim_flows_match_messages(merged);
	writer->tasks = sim_flows_match_tasks(merged);
	writer->entries = sim_timeline_build(merged, &writer->num_entries);
	if (make_objects(writer) < 0 || !writer->pids || !writer->until_ns || !writer->flows || !writer->tasks ||
	    !writer->entries)
		return -ENOMEM;
	writer->num_flows = max_flow_id(writer->flows, merged->num_events);
	find_used_tracks(writer);
	find_next_states(writer);
	return 0;
}

void sim_perfetto_free(struct perfetto_writer *writer)
{
	free(writer->first_object);
	free(writer->pids);
	free(writer->objects);
	free(writer->until_ns);
	free(writer->flows);
	free(writer->tasks);
	free(writer->entries);
}
