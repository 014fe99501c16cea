/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of a session's processes as JSON, for bfsim stats --json. */
#include "stats.h"

#include "sim/cli/base/json.h"
#include "sim/trace/trace.h"

static json_object *operations_json(const struct sim_trace_recording *recording, uint32_t context)
{
	json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < recording->num_ops; i++) {
		const struct sim_trace_op *op = &recording->ops[i];
		json_object *entry;

		if (op->object != context)
			continue;
		entry = json_object_new_object();
		cli_json_add_text(entry, "name", sim_trace_name_of(recording, op->name));
		cli_json_add_number(entry, "submitted", op->submitted);
		cli_json_add_number(entry, "completed", op->completed);
		cli_json_add_number(entry, "failed", op->failed);
		cli_json_add_number(entry, "bytes", op->bytes);
		json_object_array_add(list, entry);
	}
	return list;
}

/* Members that contexts and connections have in common. */
static json_object *object_json(const struct sim_trace_recording *recording, uint32_t number)
{
	const struct sim_trace_object *object = &recording->objects[number - 1];
	json_object *entry = json_object_new_object();

	cli_json_add_number(entry, "number", number);
	cli_json_add_text(entry, "name", sim_trace_name_of(recording, object->name));
	cli_json_add_text(entry, "device", sim_trace_name_of(recording, object->device));
	if (object->parent)
		cli_json_add_number(entry, "parent", object->parent);
	cli_json_add_number(entry, "lives", object->num_uses);
	return entry;
}

static void add_context(json_object *list, const struct sim_trace_recording *recording, uint32_t number)
{
	const struct sim_trace_object *object = &recording->objects[number - 1];
	json_object *entry = object_json(recording, number);

	cli_json_add_text(entry, "state", sim_trace_state_name(object->state));
	cli_json_add_bool(entry, "destroyed", object->ended_ns != 0);
	cli_json_add_number(entry, "late_tasks", object->num_late);
	cli_json_add_number(entry, "max_late_ns", object->max_late_ns);
	json_object_object_add(entry, "operations", operations_json(recording, number));
	json_object_array_add(list, entry);
}

static void add_connection(json_object *list, const struct sim_trace_recording *recording, uint32_t number)
{
	const struct sim_trace_object *object = &recording->objects[number - 1];
	json_object *entry = object_json(recording, number);

	cli_json_add_bool(entry, "open", object->state != 0);
	cli_json_add_number(entry, "messages_sent", object->sent);
	cli_json_add_number(entry, "bytes_sent", object->sent_bytes);
	cli_json_add_number(entry, "messages_received", object->received);
	cli_json_add_number(entry, "bytes_received", object->received_bytes);
	json_object_array_add(list, entry);
}

/* { rule: sites } */
static json_object *hits_json(const struct sim_merged_trace *merged, uint32_t process)
{
	const struct sim_trace_recording *recording = &merged->recordings[process];
	json_object *hits = json_object_new_object();

	for (size_t i = 0; i < merged->num_events; i++) {
		const struct sim_trace_event *event = &merged->events[i];
		const char *rule = sim_trace_name_of(recording, event->reason);

		if (event->kind == SIM_TRACE_HIT && event->process == process)
			json_object_object_add(
				hits, rule,
				json_object_new_int64(json_object_get_int64(json_object_object_get(hits, rule)) + 1));
	}
	return hits;
}

static json_object *process_json(const struct sim_merged_trace *merged, uint32_t process)
{
	const struct sim_trace_recording *recording = &merged->recordings[process];
	json_object *entry = json_object_new_object();
	json_object *contexts = json_object_new_array(), *connections = json_object_new_array();

	cli_json_add_number(entry, "pid", (uint64_t)recording->owner.pid);
	cli_json_add_text(entry, "side", recording->owner.side);
	cli_json_add_text(entry, "program", recording->owner.program);
	cli_json_add_bool(entry, "alive", recording->owner.is_alive);
	cli_json_add_text(entry, "level", sim_trace_level_name(recording->level));
	cli_json_add_number(entry, "records", recording->num_events);
	cli_json_add_number(entry, "lost_records", recording->num_lost);
	cli_json_add_number(entry, "bad_records", recording->num_bad);
	for (uint32_t i = 1; i <= recording->num_objects; i++) {
		if (recording->objects[i - 1].kind == SIM_TRACE_CONTEXT)
			add_context(contexts, recording, i);
		else
			add_connection(connections, recording, i);
	}
	json_object_object_add(entry, "contexts", contexts);
	json_object_object_add(entry, "connections", connections);
	json_object_object_add(entry, "hits", hits_json(merged, process));
	return entry;
}

int cli_stats_print_json(const struct sim_merged_trace *merged, const char *dir, uint64_t num_dropped)
{
	json_object *stats = json_object_new_object(), *processes = json_object_new_array();

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		json_object_array_add(processes, process_json(merged, i));
	cli_json_add_text(stats, "session", dir);
	cli_json_add_number(stats, "dropped_processes", num_dropped);
	json_object_object_add(stats, "processes", processes);
	return cli_json_print(stats, JSON_C_TO_STRING_PRETTY);
}
