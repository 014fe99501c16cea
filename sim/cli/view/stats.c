/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of a session's processes, as tables and as JSON. */
#include "stats.h"

#include <stdio.h>

#include "sim/cli/base/human_format.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/table.h"
#include "sim/trace/trace.h"

/* ---- what is shown ---- */

static const struct cli_field process_fields[] = {
	CLI_FIELD(struct sim_trace_recording, owner.pid, "pid", ">PID"),
	CLI_FIELD(struct sim_trace_recording, owner.side, "side", "SIDE"),
	CLI_FIELD(struct sim_trace_recording, owner.program, "program", "PROGRAM"),
	CLI_FIELD(struct sim_trace_recording, owner.is_alive, "alive", "ALIVE"),
	{ 0 },
};

static const struct cli_field record_fields[] = {
	CLI_FIELD(struct sim_trace_recording, num_events, "records", NULL),
	CLI_FIELD(struct sim_trace_recording, num_lost, "lost_records", NULL),
	CLI_FIELD(struct sim_trace_recording, num_bad, "bad_records", NULL),
	{ 0 },
};

static const struct cli_field op_fields[] = {
	CLI_FIELD(struct sim_trace_op, submitted, "submitted", ">SUBMITTED"),
	CLI_FIELD(struct sim_trace_op, completed, "completed", ">COMPLETED"),
	CLI_FIELD(struct sim_trace_op, failed, "failed", ">FAILED"),
	CLI_FIELD(struct sim_trace_op, bytes, "bytes", ">BYTES"),
	{ 0 },
};

/* A context or a connection; or none, for what belongs to the process. */
struct object {
	char label[SIM_TRACE_LABEL_SIZE];
	const char *device; /* its own, or its parent's */
};

static const struct cli_field object_fields[] = {
	CLI_FIELD(struct object, label, NULL, "CONTEXT"),
	CLI_FIELD(struct object, label, NULL, "CONNECTION"),
	CLI_FIELD(struct object, device, NULL, "DEVICE"),
	{ 0 },
};

static const struct cli_field late_fields[] = {
	CLI_FIELD(struct sim_trace_object, num_late, "late_tasks", ">LATE TASKS"),
	CLI_SHOWN(struct sim_trace_object, max_late_ns, "max_late_ns", ">LATEST", cli_human_time),
	{ 0 },
};

static void show_yes_no(uint64_t number, char text[CLI_FIELD_SIZE])
{
	snprintf(text, CLI_FIELD_SIZE, "%s", number ? "yes" : "no");
}

static const struct cli_field message_fields[] = {
	CLI_SHOWN(struct sim_trace_object, state, NULL, "OPEN", show_yes_no),
	CLI_FIELD(struct sim_trace_object, sent, "messages_sent", ">SENT"),
	CLI_FIELD(struct sim_trace_object, sent_bytes, "bytes_sent", ">BYTES SENT"),
	CLI_FIELD(struct sim_trace_object, received, "messages_received", ">RECEIVED"),
	CLI_FIELD(struct sim_trace_object, received_bytes, "bytes_received", ">BYTES RECEIVED"),
	{ 0 },
};

static const struct cli_field link_fields[] = {
	CLI_FIELD(struct cli_machine, name, "machine", "LINK TO"),
	CLI_FIELD(struct cli_machine, links.messages_sent, "messages_sent", ">SENT"),
	CLI_FIELD(struct cli_machine, links.bytes_sent, "bytes_sent", ">BYTES SENT"),
	CLI_FIELD(struct cli_machine, links.messages_received, "messages_received", ">RECEIVED"),
	CLI_FIELD(struct cli_machine, links.bytes_received, "bytes_received", ">BYTES RECEIVED"),
	CLI_FIELD(struct cli_machine, links.broken, "broken", ">BROKEN"),
	{ 0 },
};

static struct object describe_object(const struct sim_trace_recording *recording, uint32_t number)
{
	struct object object = { .device = sim_trace_device_of(recording, number) };

	if (number)
		sim_trace_label_object(recording, number, object.label);
	return object;
}

static bool is_connection(const struct sim_trace_object *object)
{
	return object->kind == SIM_TRACE_CONNECTION;
}

static bool is_late(const struct sim_trace_object *object)
{
	return object->num_late > 0;
}

/* ---- tables ---- */

static void add_process(struct cli_table *table, const struct sim_trace_recording *recording, uint32_t number)
{
	struct object object = describe_object(recording, number);

	cli_table_add_cells(table, process_fields, recording);
	cli_table_add_cells(table, object_fields, &object);
}

static int print_ops(const struct sim_merged_trace *merged)
{
	static const char *const headings[] = { ">PID",      "SIDE",       "PROGRAM",    "ALIVE",   "CONTEXT", "DEVICE",
						"OPERATION", ">SUBMITTED", ">COMPLETED", ">FAILED", ">BYTES" };
	struct cli_table table = CLI_TABLE(headings);

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		for (uint32_t j = 0; j < merged->recordings[i].num_ops; j++) {
			const struct sim_trace_recording *recording = &merged->recordings[i];

			add_process(&table, recording, recording->ops[j].object);
			cli_table_add(&table, "%s", sim_trace_name_of(recording, recording->ops[j].name));
			cli_table_add_cells(&table, op_fields, &recording->ops[j]);
		}
	return cli_table_print(&table);
}

/* A table of the objects that are such ones; nothing without them. */
static int print_objects(const struct sim_merged_trace *merged, struct cli_table table,
			 bool is_one(const struct sim_trace_object *object), const struct cli_field *fields)
{
	for (uint32_t i = 0; i < merged->num_recordings; i++)
		for (uint32_t number = 1; number <= merged->recordings[i].num_objects; number++) {
			const struct sim_trace_object *object = &merged->recordings[i].objects[number - 1];

			if (!is_one(object))
				continue;
			add_process(&table, &merged->recordings[i], number);
			cli_table_add_cells(&table, fields, object);
		}
	if (table.num_cells == 0 && !table.failed)
		return 0;
	printf("\n");
	return cli_table_print(&table);
}

static int print_connections(const struct sim_merged_trace *merged)
{
	static const char *const headings[] = { ">PID", "SIDE",  "PROGRAM",     "ALIVE",     "CONNECTION",     "DEVICE",
						"OPEN", ">SENT", ">BYTES SENT", ">RECEIVED", ">BYTES RECEIVED" };

	return print_objects(merged, (struct cli_table)CLI_TABLE(headings), is_connection, message_fields);
}

/* Contexts with tasks that ended later than the model's time. */
static int print_late(const struct sim_merged_trace *merged)
{
	static const char *const headings[] = { ">PID",    "SIDE",   "PROGRAM",     "ALIVE",
						"CONTEXT", "DEVICE", ">LATE TASKS", ">LATEST" };

	return print_objects(merged, (struct cli_table)CLI_TABLE(headings), is_late, late_fields);
}

/* The sites at which the checker reported each rule; nothing without them. */
static int print_hits(const struct sim_merged_trace *merged)
{
	static const char *const headings[] = { ">PID", "SIDE", "PROGRAM", "ALIVE", "BROKEN RULE", ">SITES" };
	struct cli_table table = CLI_TABLE(headings);

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		for (uint32_t rule = 1; rule <= merged->recordings[i].num_names; rule++) {
			uint64_t count = sim_merged_trace_count_hits(merged, i, rule);

			if (count == 0)
				continue;
			cli_table_add_cells(&table, process_fields, &merged->recordings[i]);
			cli_table_add(&table, "%s", sim_trace_name_of(&merged->recordings[i], rule));
			cli_table_add(&table, "%llu", (unsigned long long)count);
		}
	if (table.num_cells == 0 && !table.failed)
		return 0;
	printf("\n");
	return cli_table_print(&table);
}

/* Of this machine to others; nothing without them. */
static int print_links(const struct cli_machines *machines)
{
	static const char *const headings[] = { "LINK TO",   ">SENT",           ">BYTES SENT",
						">RECEIVED", ">BYTES RECEIVED", ">BROKEN" };
	struct cli_table table = CLI_TABLE(headings);

	for (size_t i = 0; i < machines->count; i++)
		if (machines->list[i].has_links)
			cli_table_add_cells(&table, link_fields, &machines->list[i]);
	if (table.num_cells == 0 && !table.failed)
		return 0;
	printf("\n");
	return cli_table_print(&table);
}

static int print_processes(const struct sim_merged_trace *merged)
{
	if (merged->num_recordings == 0) {
		printf("no process has recorded anything\n");
		return 0;
	}
	if (print_ops(merged) < 0 || print_connections(merged) < 0 || print_late(merged) < 0)
		return -1;
	return print_hits(merged);
}

int cli_stats_print_tables(const struct sim_merged_trace *merged, const struct cli_machines *machines)
{
	return print_processes(merged) < 0 ? -1 : print_links(machines);
}

/* ---- JSON ---- */

static json_object *operations_json(const struct sim_trace_recording *recording, uint32_t context)
{
	json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < recording->num_ops; i++) {
		json_object *entry;

		if (recording->ops[i].object != context)
			continue;
		entry = json_object_new_object();
		cli_json_add_text(entry, "name", sim_trace_name_of(recording, recording->ops[i].name));
		cli_json_add_fields(entry, op_fields, &recording->ops[i]);
		json_object_array_add(list, entry);
	}
	return list;
}

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
	if (object->kind == SIM_TRACE_CONTEXT) {
		cli_json_add_text(entry, "state", sim_trace_state_name(object->state));
		cli_json_add_bool(entry, "destroyed", object->ended_ns != 0);
		cli_json_add_fields(entry, late_fields, object);
		json_object_object_add(entry, "operations", operations_json(recording, number));
	} else {
		cli_json_add_bool(entry, "open", object->state != 0);
		cli_json_add_fields(entry, message_fields, object);
	}
	return entry;
}

/* { rule: sites } */
static json_object *hits_json(const struct sim_merged_trace *merged, uint32_t process)
{
	const struct sim_trace_recording *recording = &merged->recordings[process];
	json_object *hits = json_object_new_object();

	for (size_t i = 0; i < merged->num_events; i++) {
		const struct sim_trace_event *event = &merged->events[i];

		if (event->kind == SIM_TRACE_HIT && event->process == process)
			cli_json_add_number(hits, sim_trace_name_of(recording, event->reason),
					    sim_merged_trace_count_hits(merged, process, event->reason));
	}
	return hits;
}

static json_object *process_json(const struct sim_merged_trace *merged, uint32_t process)
{
	const struct sim_trace_recording *recording = &merged->recordings[process];
	json_object *entry = cli_json_of_fields(process_fields, recording);
	json_object *contexts = json_object_new_array(), *connections = json_object_new_array();

	cli_json_add_text(entry, "level", sim_trace_level_name(recording->level));
	cli_json_add_fields(entry, record_fields, recording);
	for (uint32_t i = 1; i <= recording->num_objects; i++)
		json_object_array_add(recording->objects[i - 1].kind == SIM_TRACE_CONTEXT ? contexts : connections,
				      object_json(recording, i));
	json_object_object_add(entry, "contexts", contexts);
	json_object_object_add(entry, "connections", connections);
	json_object_object_add(entry, "hits", hits_json(merged, process));
	return entry;
}

static json_object *links_json(const struct cli_machines *machines)
{
	json_object *links = json_object_new_array();

	for (size_t i = 0; i < machines->count; i++)
		if (machines->list[i].has_links)
			json_object_array_add(links, cli_json_of_fields(link_fields, &machines->list[i]));
	return links;
}

int cli_stats_print_json(const struct sim_merged_trace *merged, const struct cli_machines *machines, const char *dir)
{
	json_object *stats = json_object_new_object(), *processes = json_object_new_array();

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		json_object_array_add(processes, process_json(merged, i));
	cli_json_add_text(stats, "session", dir);
	cli_json_add_number(stats, "dropped_processes", merged->num_dropped);
	json_object_object_add(stats, "processes", processes);
	if (machines->count > 0)
		json_object_object_add(stats, "links", links_json(machines));
	return cli_json_print(stats, JSON_C_TO_STRING_PRETTY);
}
