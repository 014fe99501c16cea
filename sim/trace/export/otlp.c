/* SPDX-License-Identifier: BSD-3-Clause */
/* Export as OTLP/JSON: a line is a TracesData with the spans of one process. Rules of the encoding: ids are hexadecimal,
 * enumerations are numbers, integers of 64 bits are strings, keys are in lower camel case. */
#include "otlp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"
#include "pcie_model/arith.h"
#include "sim/trace/trace.h"

#define SPANS_ON_LINE      512 /* a line stays below 1 MiB, the limit of collectors that read files */
#define SPAN_KIND_INTERNAL 1
#define STATUS_ERROR       2
#define FNV_BASIS          UINT64_C(14695981039346656037)
#define FNV_PRIME          UINT64_C(1099511628211)

struct span_id {
	uint64_t id;
	size_t event; /* of the recording */
};

struct otlp_writer {
	const struct sim_merged_trace *merged;
	const char *version;
	const struct sim_trace_recording *recording; /* of the process being written */
	int64_t pid;
	FILE *out;
	uint64_t trace_id[2];
	uint32_t num_on_line;
	bool has_attribute;    /* the list of attributes being written is not empty */
	uint64_t *first_ns;    /* of each object of the recording; UINT64_MAX = no event */
	uint64_t *last_ns;     /* of each object */
	struct span_id *spans; /* of its tasks and faults */
	size_t num_spans;
};

/* ---- ids ---- */

static uint64_t hash(uint64_t basis, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		basis = (basis ^ at[i]) * FNV_PRIME;
	return basis;
}

/* No id is zero. */
static uint64_t hash_to_id(uint64_t hashed)
{
	hashed ^= hashed >> 32; /* the low bits of FNV are weak in the high ones */
	return hashed ? hashed : 1;
}

static void make_trace_id(struct otlp_writer *writer)
{
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t id = hash(FNV_BASIS + i, writer->merged->boot, strlen(writer->merged->boot));

		writer->trace_id[i] = hash_to_id(hash(id, &writer->merged->zero_ns, sizeof(writer->merged->zero_ns)));
	}
}

/* Of a span of the process; @parts tells it from the others. */
static uint64_t make_span_id(const struct otlp_writer *writer, const uint64_t *parts, size_t count)
{
	const uint64_t process[] = { (uint64_t)writer->pid, writer->recording->began_ns };

	return hash_to_id(hash(hash(writer->trace_id[1], process, sizeof(process)), parts, count * sizeof(*parts)));
}

static uint64_t context_id(const struct otlp_writer *writer, uint32_t object)
{
	return make_span_id(writer, (const uint64_t[]){ SIM_TRACE_NUM_KINDS, object }, 2);
}

static uint64_t event_id(const struct otlp_writer *writer, const struct sim_trace_event *event)
{
	const union sim_trace_data *data = &event->data;
	const uint64_t task[] = { event->kind,          event->time_ns,      event->subject,  event->in_flight,
				  data->task.reaped_ns, data->task.began_ns, data->task.bytes },
		       fault[] = { event->kind, event->time_ns, event->subject, data->fault.rule, data->fault.match };

	return event->kind == SIM_TRACE_TASK ? make_span_id(writer, task, sizeof(task) / sizeof(task[0])) :
					       make_span_id(writer, fault, sizeof(fault) / sizeof(fault[0]));
}

static int compare_ids(const void *left, const void *right)
{
	const struct span_id *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* Tasks of equal times, which virtual time has, get different ids by their order. */
static void make_ids_unique(struct otlp_writer *writer)
{
	uint64_t last = 0, count = 0;

	qsort(writer->spans, writer->num_spans, sizeof(*writer->spans), compare_ids);
	for (size_t i = 0; i < writer->num_spans; i++) {
		count = writer->spans[i].id == last ? count + 1 : 0;
		last = writer->spans[i].id;
		if (count)
			writer->spans[i].id = hash_to_id(hash(last, &count, sizeof(count)));
	}
}

/* ---- attributes ---- */

static void begin_attributes(struct otlp_writer *writer)
{
	fputs("\"attributes\":[", writer->out);
	writer->has_attribute = false;
}

static void begin_attribute(struct otlp_writer *writer, const char *key)
{
	fprintf(writer->out, "%s{\"key\":\"%s\",\"value\":", writer->has_attribute ? "," : "", key);
	writer->has_attribute = true;
}

static void put_text(struct otlp_writer *writer, const char *key, const char *text)
{
	if (!text[0])
		return;
	begin_attribute(writer, key);
	fputs("{\"stringValue\":", writer->out);
	sim_json_put_string(writer->out, text);
	fputs("}}", writer->out);
}

static void put_number(struct otlp_writer *writer, const char *key, uint64_t number)
{
	begin_attribute(writer, key);
	fprintf(writer->out, "{\"intValue\":\"%" PRIu64 "\"}}", min_u64(number, INT64_MAX));
}

/* ---- lines ---- */

static void begin_line(struct otlp_writer *writer)
{
	const struct sim_trace_recording *recording = writer->recording;
	FILE *out = writer->out;

	fputs("{\"resourceSpans\":[{\"resource\":{", out);
	begin_attributes(writer);
	put_text(writer, "service.name", recording->owner.program[0] ? recording->owner.program : "unknown_service");
	put_text(writer, "process.executable.name", recording->owner.program);
	put_number(writer, "process.pid", (uint64_t)writer->pid);
	put_text(writer, "bfsim.side", recording->owner.side);
	put_text(writer, "bfsim.clock", writer->merged->clock ? writer->merged->clock : "");
	put_text(writer, "bfsim.trace.level", sim_trace_level_name(recording->level));
	put_number(writer, "bfsim.trace.lost_records", recording->num_lost);
	fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":\"bfsim\",\"version\":", out);
	sim_json_put_string(out, writer->version);
	fputs("},\"spans\":[", out);
}

static void end_line(struct otlp_writer *writer)
{
	if (writer->num_on_line)
		fputs("]}]}]}\n", writer->out);
	writer->num_on_line = 0;
}

static void put_time(struct otlp_writer *writer, const char *key, uint64_t time_ns)
{
	fprintf(writer->out, "\"%s\":\"%" PRIu64 "\"", key,
		writer->merged->begin_unix_ns + (time_ns - writer->merged->zero_ns));
}

/* A span until its name, which the caller completes: the string is open. */
static void begin_span(struct otlp_writer *writer, uint64_t id, uint64_t parent)
{
	if (writer->num_on_line == SPANS_ON_LINE)
		end_line(writer);
	if (writer->num_on_line == 0)
		begin_line(writer);
	fprintf(writer->out, "%s{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"spanId\":\"%016" PRIx64 "\"",
		writer->num_on_line++ ? "," : "", writer->trace_id[0], writer->trace_id[1], id);
	if (parent)
		fprintf(writer->out, ",\"parentSpanId\":\"%016" PRIx64 "\"", parent);
}

/* Name, kind, times, and the attributes that all spans have; the list of attributes stays open. */
static void begin_span_body(struct otlp_writer *writer, const char *name, uint32_t object, uint64_t begin_ns,
			    uint64_t end_ns)
{
	char context[SIM_TRACE_LABEL_SIZE];

	sim_trace_label_object(writer->recording, object, context);
	sim_json_put_text(writer->out, "name", name[0] ? name : "unknown");
	fprintf(writer->out, ",\"kind\":%d,", SPAN_KIND_INTERNAL);
	put_time(writer, "startTimeUnixNano", begin_ns);
	fputc(',', writer->out);
	put_time(writer, "endTimeUnixNano", end_ns);
	fputc(',', writer->out);
	begin_attributes(writer);
	put_text(writer, "bfsim.side", writer->recording->owner.side);
	put_text(writer, "bfsim.context", context);
	put_text(writer, "bfsim.device", sim_trace_device_of(writer->recording, object));
	put_number(writer, "bfsim.start_ns", begin_ns - writer->merged->zero_ns);
}

/* ---- spans ---- */

static uint64_t parent_of(const struct otlp_writer *writer, uint32_t object)
{
	return object && writer->recording->objects[object - 1].kind == SIM_TRACE_CONTEXT ? context_id(writer, object) :
											    0;
}

static void write_job(struct otlp_writer *writer, const struct sim_trace_event *event)
{
	if (event->data.task.began_ns == 0 || event->data.task.ended_ns == 0)
		return;
	fputs(",\"events\":[{", writer->out);
	put_time(writer, "timeUnixNano", event->data.task.began_ns);
	fputs(",\"name\":\"job begins\"},{", writer->out);
	put_time(writer, "timeUnixNano", event->data.task.ended_ns);
	fputs(",\"name\":\"job ends\"}]", writer->out);
}

static void write_task(struct otlp_writer *writer, const struct sim_trace_event *event, uint64_t id)
{
	const struct sim_trace_recording *recording = writer->recording;
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);
	const char *status = event->reason ? sim_trace_name_of(recording, event->reason) : "ok";

	begin_span(writer, id, parent_of(writer, op->object));
	begin_span_body(writer, sim_trace_name_of(recording, op->name), op->object, event->time_ns,
			event->data.task.reaped_ns);
	put_number(writer, "bfsim.bytes", event->data.task.bytes);
	put_text(writer, "bfsim.way", sim_trace_direction_name(event->direction));
	put_text(writer, "bfsim.status", status);
	if (event->in_flight)
		put_number(writer, "bfsim.in_flight", event->in_flight);
	else
		put_text(writer, "bfsim.start", "unknown"); /* it failed and was not sampled */
	if (event->reason)
		put_text(writer, "error.type", status);
	fputc(']', writer->out);
	write_job(writer, event);
	if (event->reason) {
		fprintf(writer->out, ",\"status\":{\"code\":%d", STATUS_ERROR);
		sim_json_put_text(writer->out, "message", status);
		fputc('}', writer->out);
	}
	fputc('}', writer->out);
}

static void write_fault(struct otlp_writer *writer, const struct sim_trace_event *event, uint64_t id)
{
	const char *operation = sim_trace_name_of(writer->recording, event->reason);
	char name[SIM_TRACE_NAME_SIZE + 16];

	snprintf(name, sizeof(name), "fault %s", operation);
	begin_span(writer, id, parent_of(writer, event->subject));
	begin_span_body(writer, name, event->subject, event->time_ns, event->time_ns);
	put_text(writer, "bfsim.fault.rule", sim_merged_trace_rule_text(writer->merged, event));
	put_number(writer, "bfsim.fault.rule_id", event->data.fault.rule);
	put_number(writer, "bfsim.fault.match", event->data.fault.match);
	put_text(writer, "bfsim.fault.operation", operation);
	put_number(writer, "bfsim.fault.delay_ns", event->data.fault.delay_ns);
	put_number(writer, "bfsim.bytes", event->data.fault.bytes);
	fputs("]}", writer->out);
}

static void write_contexts(struct otlp_writer *writer)
{
	const struct sim_trace_recording *recording = writer->recording;
	char name[SIM_TRACE_LABEL_SIZE];

	for (uint32_t object = 1; object <= recording->num_objects; object++) {
		if (writer->first_ns[object] == UINT64_MAX || parent_of(writer, object) == 0)
			continue;
		sim_trace_label_object(recording, object, name);
		begin_span(writer, context_id(writer, object), 0);
		begin_span_body(writer, name, object, writer->first_ns[object], writer->last_ns[object]);
		fputs("]}", writer->out);
	}
}

/* ---- processes ---- */

static bool has_span(const struct sim_trace_event *event)
{
	return event->kind == SIM_TRACE_TASK || event->kind == SIM_TRACE_FAULT;
}

/* Collect the times of objects and the spans of events. */
static void read_events(struct otlp_writer *writer)
{
	const struct sim_trace_recording *recording = writer->recording;

	for (uint32_t i = 0; i <= recording->num_objects; i++)
		writer->first_ns[i] = UINT64_MAX;
	for (size_t i = 0; i < recording->num_events; i++) {
		const struct sim_trace_event *event = &recording->events[i];
		uint32_t object = sim_trace_object_of(recording, event);
		uint64_t end_ns = event->kind == SIM_TRACE_TASK ? event->data.task.reaped_ns : event->time_ns;

		writer->first_ns[object] = min_u64(writer->first_ns[object], event->time_ns);
		writer->last_ns[object] = max_u64(writer->last_ns[object], end_ns);
		if (has_span(event))
			writer->spans[writer->num_spans++] =
				(struct span_id){ .id = event_id(writer, event), .event = i };
	}
	make_ids_unique(writer);
}

static void write_spans(struct otlp_writer *writer)
{
	write_contexts(writer);
	for (size_t i = 0; i < writer->num_spans; i++) {
		const struct sim_trace_event *event = &writer->recording->events[writer->spans[i].event];

		if (event->kind == SIM_TRACE_TASK)
			write_task(writer, event, writer->spans[i].id);
		else
			write_fault(writer, event, writer->spans[i].id);
	}
	end_line(writer);
}

static int write_process(struct otlp_writer *writer)
{
	const struct sim_trace_recording *recording = writer->recording;
	int rc = -ENOMEM;

	writer->num_spans = 0;
	writer->first_ns = calloc(recording->num_objects + 1, sizeof(*writer->first_ns));
	writer->last_ns = calloc(recording->num_objects + 1, sizeof(*writer->last_ns));
	writer->spans = calloc(recording->num_events + 1, sizeof(*writer->spans));
	if (writer->first_ns && writer->last_ns && writer->spans) {
		read_events(writer);
		write_spans(writer);
		rc = 0;
	}
	free(writer->first_ns);
	free(writer->last_ns);
	free(writer->spans);
	return rc;
}

int sim_trace_export_otlp(const struct sim_merged_trace *merged, const char *version, FILE *out)
{
	struct otlp_writer writer = { .merged = merged, .version = version, .out = out };
	int64_t *pids = sim_merged_trace_pids(merged);
	int rc = pids ? 0 : -ENOMEM;

	make_trace_id(&writer);
	for (uint32_t i = 0; i < merged->num_recordings && rc == 0; i++) {
		writer.recording = &merged->recordings[i];
		writer.pid = pids[i];
		rc = write_process(&writer);
	}
	free(pids);
	return rc;
}
