/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of a session's processes as tables, for bfsim stats. */
#include <inttypes.h>
#include <stdbool.h>

#include "stats.h"
#include "sim/cli/base/human_format.h"
#include "sim/cli/base/table.h"

static void add_process(struct cli_table *table, const struct sim_trace_recording *recording)
{
	cli_table_add(table, "%d", recording->owner.pid);
	cli_table_add(table, "%s", recording->owner.side);
	cli_table_add(table, "%s", recording->owner.program);
	cli_table_add(table, "%s", recording->owner.is_alive ? "yes" : "no");
}

static void add_object(struct cli_table *table, const struct sim_trace_recording *recording, uint32_t number)
{
	const char *device = sim_trace_device_of(recording, number);
	char label[SIM_TRACE_LABEL_SIZE];

	sim_trace_label_object(recording, number, label);
	cli_table_add(table, "%s", number ? label : "-");
	cli_table_add(table, "%s", device[0] ? device : "-");
}

static void add_op(struct cli_table *table, const struct sim_trace_recording *recording, const struct sim_trace_op *op)
{
	add_process(table, recording);
	add_object(table, recording, op->object);
	cli_table_add(table, "%s", sim_trace_name_of(recording, op->name));
	cli_table_add(table, "%" PRIu64, op->submitted);
	cli_table_add(table, "%" PRIu64, op->completed);
	cli_table_add(table, "%" PRIu64, op->failed);
	cli_table_add(table, "%" PRIu64, op->bytes);
}

static int print_ops(const struct sim_merged_trace *merged)
{
	static const char *const headings[] = { ">PID",      "SIDE",       "PROGRAM",    "ALIVE",   "CONTEXT", "DEVICE",
						"OPERATION", ">SUBMITTED", ">COMPLETED", ">FAILED", ">BYTES" };
	struct cli_table table = CLI_TABLE(headings);

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		for (uint32_t j = 0; j < merged->recordings[i].num_ops; j++)
			add_op(&table, &merged->recordings[i], &merged->recordings[i].ops[j]);
	return cli_table_print(&table);
}

static void add_connection(struct cli_table *table, const struct sim_trace_recording *recording, uint32_t number)
{
	const struct sim_trace_object *object = &recording->objects[number - 1];

	add_process(table, recording);
	add_object(table, recording, number);
	cli_table_add(table, "%s", object->state ? "yes" : "no");
	cli_table_add(table, "%" PRIu64, object->sent);
	cli_table_add(table, "%" PRIu64, object->sent_bytes);
	cli_table_add(table, "%" PRIu64, object->received);
	cli_table_add(table, "%" PRIu64, object->received_bytes);
}

static bool is_connection(const struct sim_trace_recording *recording, uint32_t number)
{
	return recording->objects[number - 1].kind == SIM_TRACE_CONNECTION;
}

static bool has_connections(const struct sim_merged_trace *merged)
{
	for (uint32_t i = 0; i < merged->num_recordings; i++)
		for (uint32_t j = 1; j <= merged->recordings[i].num_objects; j++)
			if (is_connection(&merged->recordings[i], j))
				return true;
	return false;
}

static int print_connections(const struct sim_merged_trace *merged)
{
	static const char *const headings[] = { ">PID", "SIDE",  "PROGRAM",     "ALIVE",     "CONNECTION",     "DEVICE",
						"OPEN", ">SENT", ">BYTES SENT", ">RECEIVED", ">BYTES RECEIVED" };
	struct cli_table table = CLI_TABLE(headings);

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		for (uint32_t j = 1; j <= merged->recordings[i].num_objects; j++)
			if (is_connection(&merged->recordings[i], j))
				add_connection(&table, &merged->recordings[i], j);
	return cli_table_print(&table);
}

static void add_rule(struct cli_table *table, const struct sim_trace_recording *recording, uint32_t rule,
		     uint64_t count)
{
	add_process(table, recording);
	cli_table_add(table, "%s", sim_trace_name_of(recording, rule));
	cli_table_add(table, "%" PRIu64, count);
}

static uint64_t count_hits(const struct sim_merged_trace *merged, uint32_t process, uint32_t rule)
{
	uint64_t count = 0;

	for (size_t i = 0; i < merged->num_events; i++)
		count += merged->events[i].kind == SIM_TRACE_HIT && merged->events[i].process == process &&
			 merged->events[i].reason == rule;
	return count;
}

static bool has_hits(const struct sim_merged_trace *merged)
{
	for (size_t i = 0; i < merged->num_events; i++)
		if (merged->events[i].kind == SIM_TRACE_HIT)
			return true;
	return false;
}

static bool has_late(const struct sim_merged_trace *merged)
{
	for (uint32_t i = 0; i < merged->num_recordings; i++)
		for (uint32_t j = 0; j < merged->recordings[i].num_objects; j++)
			if (merged->recordings[i].objects[j].num_late)
				return true;
	return false;
}

/* Contexts with tasks that ended later than the model's time. */
static int print_late(const struct sim_merged_trace *merged)
{
	static const char *const headings[] = { ">PID",    "SIDE",   "PROGRAM",     "ALIVE",
						"CONTEXT", "DEVICE", ">LATE TASKS", ">LATEST" };
	struct cli_table table = CLI_TABLE(headings);

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		for (uint32_t number = 1; number <= merged->recordings[i].num_objects; number++) {
			const struct sim_trace_object *object = &merged->recordings[i].objects[number - 1];
			char latest[CLI_HUMAN_SIZE];

			if (!object->num_late)
				continue;
			cli_human_time(object->max_late_ns, latest);
			add_process(&table, &merged->recordings[i]);
			add_object(&table, &merged->recordings[i], number);
			cli_table_add(&table, "%" PRIu64, object->num_late);
			cli_table_add(&table, "%s", latest);
		}
	return cli_table_print(&table);
}

/* The sites at which the checker reported each rule. */
static int print_hits(const struct sim_merged_trace *merged)
{
	static const char *const headings[] = { ">PID", "SIDE", "PROGRAM", "ALIVE", "BROKEN RULE", ">SITES" };
	struct cli_table table = CLI_TABLE(headings);

	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		for (uint32_t rule = 1; rule <= merged->recordings[i].num_names; rule++) {
			uint64_t count = count_hits(merged, i, rule);

			if (count)
				add_rule(&table, &merged->recordings[i], rule, count);
		}
	}
	return cli_table_print(&table);
}

int cli_stats_print_tables(const struct sim_merged_trace *merged)
{
	if (merged->num_recordings == 0) {
		printf("no process has recorded anything\n");
		return 0;
	}
	if (print_ops(merged) < 0)
		return -1;
	if (has_connections(merged)) {
		printf("\n");
		if (print_connections(merged) < 0)
			return -1;
	}
	if (has_late(merged)) {
		printf("\n");
		if (print_late(merged) < 0)
			return -1;
	}
	if (!has_hits(merged))
		return 0;
	printf("\n");
	return print_hits(merged);
}
