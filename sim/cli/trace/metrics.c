/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts as OpenMetrics text (the specification: github.com/OpenObservability/OpenMetrics). */
#include "metrics.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "recordings.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/output.h"
#include "sim/trace/trace.h"

struct writer {
	const struct sim_merged_trace *merged;
	const struct cli_machines *machines;
	const int64_t *pids;
	FILE *out;
};

/* A value of a label: printable text, in which quotes, backslashes and newlines are escaped. */
static void put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n') {
			fputs("\\n", out);
			continue;
		}
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
	fputc('"', out);
}

static void put_family(FILE *out, const char *name, const char *type, const char *unit, const char *help)
{
	fprintf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
	fprintf(out, "# HELP %s %s\n", name, help);
}

static void put_process_labels(const struct writer *writer, uint32_t process)
{
	const struct sim_trace_process *owner = &writer->merged->recordings[process].owner;

	fprintf(writer->out, "{pid=\"%" PRId64 "\",", writer->pids[process]);
	put_label(writer->out, "side", owner->side);
	fputc(',', writer->out);
	put_label(writer->out, "program", owner->program);
}

static void put_object_labels(const struct writer *writer, uint32_t process, const char *kind, uint32_t object)
{
	const struct sim_trace_recording *recording = &writer->merged->recordings[process];
	char label[SIM_TRACE_LABEL_SIZE];

	sim_trace_label_object(recording, object, label);
	put_process_labels(writer, process);
	fputc(',', writer->out);
	put_label(writer->out, kind, label);
	fputc(',', writer->out);
	put_label(writer->out, "device", sim_trace_device_of(recording, object));
}

static void put_end(const struct writer *writer, uint64_t value)
{
	fprintf(writer->out, "} %" PRIu64 "\n", value);
}

/* ---- tasks ---- */

/* @offset: of the count in an operation. */
static void put_ops(const struct writer *writer, const char *name, const char *unit, const char *help, size_t offset)
{
	put_family(writer->out, name, "counter", unit, help);
	for (uint32_t i = 0; i < writer->merged->num_recordings; i++) {
		const struct sim_trace_recording *recording = &writer->merged->recordings[i];

		for (uint32_t j = 0; j < recording->num_ops; j++) {
			fprintf(writer->out, "%s_total", name);
			put_object_labels(writer, i, "context", recording->ops[j].object);
			fputc(',', writer->out);
			put_label(writer->out, "operation", sim_trace_name_of(recording, recording->ops[j].name));
			put_end(writer, *(const uint64_t *)((const char *)&recording->ops[j] + offset));
		}
	}
}

/* ---- contexts and connections ---- */

static void put_late(const struct writer *writer)
{
	put_family(writer->out, "bfsim_late_tasks", "counter", NULL,
		   "Tasks that ended after the model's time, in timed mode.");
	for (uint32_t i = 0; i < writer->merged->num_recordings; i++)
		for (uint32_t j = 1; j <= writer->merged->recordings[i].num_objects; j++) {
			const struct sim_trace_object *object = &writer->merged->recordings[i].objects[j - 1];

			if (object->kind != SIM_TRACE_CONTEXT)
				continue;
			fputs("bfsim_late_tasks_total", writer->out);
			put_object_labels(writer, i, "context", j);
			put_end(writer, object->num_late);
		}
}

static void put_connection(const struct writer *writer, const char *name, uint32_t process, uint32_t number,
			   const char *direction, uint64_t value)
{
	fprintf(writer->out, "%s_total", name);
	put_object_labels(writer, process, "connection", number);
	fprintf(writer->out, ",direction=\"%s\"", direction);
	put_end(writer, value);
}

static void put_connections(const struct writer *writer, const char *name, bool in_bytes)
{
	for (uint32_t i = 0; i < writer->merged->num_recordings; i++)
		for (uint32_t j = 1; j <= writer->merged->recordings[i].num_objects; j++) {
			const struct sim_trace_object *object = &writer->merged->recordings[i].objects[j - 1];

			if (object->kind != SIM_TRACE_CONNECTION)
				continue;
			put_connection(writer, name, i, j, "sent", in_bytes ? object->sent_bytes : object->sent);
			put_connection(writer, name, i, j, "received",
				       in_bytes ? object->received_bytes : object->received);
		}
}

/* ---- links to other machines ---- */

static void put_link(const struct writer *writer, const char *name, const char *to, const char *direction,
		     uint64_t value)
{
	fprintf(writer->out, "%s_total{", name);
	put_label(writer->out, "machine", writer->machines->self);
	fputc(',', writer->out);
	put_label(writer->out, "to", to);
	if (direction)
		fprintf(writer->out, ",direction=\"%s\"", direction);
	put_end(writer, value);
}

static void put_links(const struct writer *writer)
{
	const struct cli_machine *list = writer->machines->list;
	const size_t count = writer->machines->count;

	put_family(writer->out, "bfsim_link_messages", "counter", NULL, "Messages between gateways of two machines.");
	for (size_t i = 0; i < count; i++)
		if (list[i].has_links) {
			put_link(writer, "bfsim_link_messages", list[i].name, "sent", list[i].links.messages_sent);
			put_link(writer, "bfsim_link_messages", list[i].name, "received",
				 list[i].links.messages_received);
		}
	put_family(writer->out, "bfsim_link_bytes", "counter", "bytes", "Bytes of these messages.");
	for (size_t i = 0; i < count; i++)
		if (list[i].has_links) {
			put_link(writer, "bfsim_link_bytes", list[i].name, "sent", list[i].links.bytes_sent);
			put_link(writer, "bfsim_link_bytes", list[i].name, "received", list[i].links.bytes_received);
		}
	put_family(writer->out, "bfsim_links_broken", "counter", NULL, "Links between two machines that have ended.");
	for (size_t i = 0; i < count; i++)
		if (list[i].has_links)
			put_link(writer, "bfsim_links_broken", list[i].name, NULL, list[i].links.broken);
}

/* ---- the session ---- */

static void put_session(const struct writer *writer)
{
	const struct sim_merged_trace *merged = writer->merged;

	put_family(writer->out, "bfsim_process_alive", "gauge", NULL, "Whether the process lives.");
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		fputs("bfsim_process_alive", writer->out);
		put_process_labels(writer, i);
		put_end(writer, merged->recordings[i].owner.is_alive);
	}
	put_family(writer->out, "bfsim_faults_injected", "counter", NULL, "Faults that a rule injected.");
	for (uint32_t i = 0; i < merged->num_rules; i++) {
		fprintf(writer->out, "bfsim_faults_injected_total{rule=\"%u\",", merged->rules[i].id);
		put_label(writer->out, "text", merged->rules[i].text);
		put_end(writer, merged->rules[i].fired);
	}
	put_family(writer->out, "bfsim_session_time_seconds", "gauge", "seconds", "Session time.");
	fprintf(writer->out, "bfsim_session_time_seconds{clock=\"%s\"} %" PRIu64 ".%09" PRIu64 "\n",
		merged->clock ? merged->clock : "", merged->session_ns / 1000000000, merged->session_ns % 1000000000);
}

static void put_findings(const struct writer *writer)
{
	put_family(writer->out, "bfsim_checker_findings", "counter", NULL,
		   "Sites at which the checker reported a rule.");
	for (uint32_t i = 0; i < writer->merged->num_recordings; i++) {
		const struct sim_trace_recording *recording = &writer->merged->recordings[i];

		for (uint32_t rule = 1; rule <= recording->num_names; rule++) {
			uint64_t count = sim_merged_trace_count_hits(writer->merged, i, rule);

			if (count == 0)
				continue;
			fputs("bfsim_checker_findings_total", writer->out);
			put_process_labels(writer, i);
			fputc(',', writer->out);
			put_label(writer->out, "rule", sim_trace_name_of(recording, rule));
			put_end(writer, count);
		}
	}
}

int cli_metrics_print(const struct sim_merged_trace *merged, const struct cli_machines *machines, FILE *out)
{
	int64_t *pids = sim_merged_trace_pids(merged);
	const struct writer writer = { .merged = merged, .machines = machines, .pids = pids, .out = out };

	if (!pids)
		return cli_error("out of memory");
	put_ops(&writer, "bfsim_tasks_submitted", NULL, "Tasks that were submitted.",
		offsetof(struct sim_trace_op, submitted));
	put_ops(&writer, "bfsim_tasks_completed", NULL, "Tasks that ended well.",
		offsetof(struct sim_trace_op, completed));
	put_ops(&writer, "bfsim_tasks_failed", NULL, "Tasks that failed.", offsetof(struct sim_trace_op, failed));
	put_ops(&writer, "bfsim_task_bytes", "bytes", "Bytes of the tasks that ended well.",
		offsetof(struct sim_trace_op, bytes));
	put_late(&writer);
	put_family(out, "bfsim_messages", "counter", NULL, "Messages of connections.");
	put_connections(&writer, "bfsim_messages", false);
	put_family(out, "bfsim_message_bytes", "counter", "bytes", "Bytes of messages.");
	put_connections(&writer, "bfsim_message_bytes", true);
	if (machines->count > 0)
		put_links(&writer);
	put_findings(&writer);
	put_session(&writer);
	fputs("# EOF\n", out);
	free(pids);
	return 0;
}

/* ---- files ---- */

struct content {
	struct sim_merged_trace merged;
	struct cli_machines machines;
};

static int print(const void *arg, FILE *out)
{
	const struct content *content = arg;

	return cli_metrics_print(&content->merged, &content->machines, out);
}

int cli_metrics_write_session(const char *dir, const char *path)
{
	struct content content;
	int status;

	if (cli_recordings_fetch(dir, &content.merged) < 0)
		return cli_failure_status();
	status = cli_machines_read(dir, &content.machines) < 0 ? cli_failure_status() : CLI_OK;
	if (status == CLI_OK) {
		status = cli_output_write("the metrics", path, print, &content);
		cli_machines_free(&content.machines);
	}
	sim_merged_trace_free(&content.merged);
	return status;
}
