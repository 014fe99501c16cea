/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a trace: the events that a report counts. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/base/cli.h"
#include "report.h"

#define MAX_TIME_US 1e15 /* 31 years */
#define MAX_FLOWS   (UINT32_C(1) << 22)
#define MAX_OPS     65536

struct message {
	uint64_t time_ns, bytes;
	uint32_t op; /* and 1; 0 = not sent yet */
};

/* A track's name, as a connection's messages have no other. */
struct track {
	int64_t pid;
	uint64_t tid;
	char *name;
};

struct reader {
	struct cli_report *report;
	size_t capacity;          /* for tasks */
	size_t last_op;           /* the next task is often of the same */
	struct message *messages; /* by the number of their flow */
	uint32_t num_messages;
	struct track *tracks;
	size_t num_tracks;
	uint64_t bytes; /* of the message whose slice was read last */
	bool failed;    /* without memory */
};

/* ---- JSON ---- */

static json_object *get_member(json_object *object, const char *key)
{
	json_object *value = NULL;

	if (object && json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return value;
}

const char *cli_json_text(json_object *object, const char *key)
{
	json_object *value = get_member(object, key);

	return value && json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

uint64_t cli_json_number(json_object *object, const char *key)
{
	json_object *value = get_member(object, key);

	return value && json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
}

json_object *cli_json_list(json_object *object, const char *key)
{
	json_object *value = get_member(object, key);

	return value && json_object_is_type(value, json_type_array) ? value : NULL;
}

size_t cli_json_len(json_object *list)
{
	return list ? json_object_array_length(list) : 0;
}

static uint64_t event_time_ns(json_object *event)
{
	double us = json_object_get_double(get_member(event, "ts"));

	return us > 0 && us < MAX_TIME_US ? (uint64_t)(us * 1000 + 0.5) : 0;
}

static char *copy_string(struct reader *reader, const char *text)
{
	char *own = strdup(text);

	if (!own)
		reader->failed = true;
	return own;
}

/* One more entry at the end of a list of @count; NULL without memory. */
static void *append_zeroed(struct reader *reader, void *list, size_t count, size_t size)
{
	void *grown = reallocarray(list, count + 1, size);

	if (!grown) {
		reader->failed = true;
		return NULL;
	}
	memset((char *)grown + count * size, 0, size);
	return grown;
}

/* ---- operations ---- */

static bool is_same_op(const struct cli_report_op *op, int64_t pid, const char *context, const char *name)
{
	return op->pid == pid && op->name && op->context && strcmp(op->context, context) == 0 &&
	       strcmp(op->name, name) == 0;
}

/* The number of an operation, new ones included; SIZE_MAX without memory. */
static size_t find_or_add_op(struct reader *reader, int64_t pid, const char *context, const char *device,
			     const char *name)
{
	struct cli_report *report = reader->report;
	struct cli_report_op *ops;

	if (reader->last_op < report->num_ops && is_same_op(&report->ops[reader->last_op], pid, context, name))
		return reader->last_op;
	for (size_t i = 0; i < report->num_ops; i++)
		if (is_same_op(&report->ops[i], pid, context, name))
			return reader->last_op = i;
	if (report->num_ops == MAX_OPS)
		return MAX_OPS - 1;
	ops = append_zeroed(reader, report->ops, report->num_ops, sizeof(*ops));
	if (!ops)
		return SIZE_MAX;
	report->ops = ops;
	ops[report->num_ops] = (struct cli_report_op){ .pid = pid,
						       .context = copy_string(reader, context),
						       .device = copy_string(reader, device),
						       .name = copy_string(reader, name) };
	return reader->last_op = report->num_ops++;
}

static void add_task(struct reader *reader, const struct cli_report_task *task)
{
	struct cli_report *report = reader->report;

	if (report->num_tasks == reader->capacity) {
		size_t capacity = reader->capacity ? reader->capacity * 2 : 1024;
		struct cli_report_task *grown = reallocarray(report->tasks, capacity, sizeof(*grown));

		if (!grown) {
			reader->failed = true;
			return;
		}
		report->tasks = grown;
		reader->capacity = capacity;
	}
	report->tasks[report->num_tasks++] = *task;
}

static int64_t event_pid(json_object *event)
{
	return json_object_get_int64(get_member(event, "pid"));
}

/* ---- events ---- */

static uint32_t parse_directions(const char *name)
{
	if (strcmp(name, "to card") == 0)
		return 1 << CLI_REPORT_TO_CARD;
	if (strcmp(name, "to host") == 0)
		return 1 << CLI_REPORT_TO_HOST;
	return strcmp(name, "there and back") == 0 ? 1 << CLI_REPORT_TO_CARD | 1 << CLI_REPORT_TO_HOST : 0;
}

static void read_task(struct reader *reader, json_object *event)
{
	json_object *args = get_member(event, "args");
	struct cli_report_task task = { .begin_ns = event_time_ns(event),
					.bytes = cli_json_number(args, "bytes"),
					.in_flight = (uint32_t)cli_json_number(args, "in_flight"),
					.directions = parse_directions(cli_json_text(args, "way")),
					.latency_ns = cli_json_number(args, "ns"),
					.is_timed = get_member(args, "ns") != NULL };
	size_t op = find_or_add_op(reader, event_pid(event), cli_json_text(args, "context"),
				   cli_json_text(args, "device"), cli_json_text(args, "operation"));

	if (op == SIZE_MAX)
		return;
	if (task.latency_ns > (uint64_t)MAX_TIME_US)
		task.latency_ns = 0;
	task.op = (uint32_t)op;
	reader->report->ops[op].recorded_failed += strcmp(cli_json_text(args, "status"), "ok") != 0;
	add_task(reader, &task);
}

static void read_track(struct reader *reader, json_object *event)
{
	struct track *tracks;

	if (strcmp(cli_json_text(event, "name"), "thread_name") != 0)
		return;
	tracks = append_zeroed(reader, reader->tracks, reader->num_tracks, sizeof(*tracks));
	if (!tracks)
		return;
	reader->tracks = tracks;
	tracks[reader->num_tracks++] =
		(struct track){ .pid = event_pid(event),
				.tid = cli_json_number(event, "tid"),
				.name = copy_string(reader, cli_json_text(get_member(event, "args"), "name")) };
}

static const char *track_name(const struct reader *reader, json_object *event)
{
	int64_t pid = event_pid(event);
	uint64_t tid = cli_json_number(event, "tid");

	for (size_t i = 0; i < reader->num_tracks; i++)
		if (reader->tracks[i].pid == pid && reader->tracks[i].tid == tid && reader->tracks[i].name)
			return reader->tracks[i].name;
	return "";
}

/* "NAME #2 sent" is of the connection "NAME #2". */
static void connection_name(const struct reader *reader, json_object *event, char *text, size_t size)
{
	char *end;

	snprintf(text, size, "%s", track_name(reader, event));
	end = strrchr(text, ' ');
	if (end)
		*end = '\0';
}

static struct message *get_message(struct reader *reader, uint64_t number)
{
	if (number >= MAX_FLOWS)
		return NULL;
	if (number >= reader->num_messages) {
		uint32_t count = number < MAX_FLOWS / 2 - 64 ? (uint32_t)number * 2 + 64 : MAX_FLOWS;
		struct message *grown = reallocarray(reader->messages, count, sizeof(*grown));

		if (!grown) {
			reader->failed = true;
			return NULL;
		}
		memset(grown + reader->num_messages, 0, (count - reader->num_messages) * sizeof(*grown));
		reader->messages = grown;
		reader->num_messages = count;
	}
	return &reader->messages[number];
}

static void read_sent(struct reader *reader, json_object *event)
{
	struct message *message = get_message(reader, cli_json_number(event, "id"));
	char connection[256];
	size_t op;

	if (!message)
		return;
	connection_name(reader, event, connection, sizeof(connection));
	op = find_or_add_op(reader, event_pid(event), connection, "", "message");
	if (op == SIZE_MAX)
		return;
	reader->report->ops[op].is_messages = true;
	*message = (struct message){ .time_ns = event_time_ns(event), .bytes = reader->bytes, .op = (uint32_t)op + 1 };
}

static void read_received(struct reader *reader, json_object *event)
{
	struct message *message = get_message(reader, cli_json_number(event, "id"));
	struct cli_report_task task = { .is_timed = true };
	uint64_t time_ns = event_time_ns(event);

	if (!message || message->op == 0 || time_ns < message->time_ns)
		return;
	task.op = message->op - 1;
	task.begin_ns = message->time_ns;
	task.latency_ns = time_ns - message->time_ns;
	task.bytes = message->bytes;
	message->op = 0;
	add_task(reader, &task);
}

static void read_message(struct reader *reader, json_object *event, char phase)
{
	if (phase == 'X')
		reader->bytes = cli_json_number(get_member(event, "args"), "bytes");
	else if (phase == 's')
		read_sent(reader, event);
	else if (phase == 'f')
		read_received(reader, event);
}

static void read_incident(struct reader *reader, json_object *event, struct cli_report_incidents *incidents)
{
	json_object *args = get_member(event, "args");
	struct cli_report_incident *list = append_zeroed(reader, incidents->list, incidents->count, sizeof(*list));

	if (!list)
		return;
	incidents->list = list;
	list[incidents->count++] =
		(struct cli_report_incident){ .time_ns = event_time_ns(event),
					      .pid = event_pid(event),
					      .is_error = strcmp(cli_json_text(event, "name"), "error") == 0,
					      .rule = (uint32_t)cli_json_number(args, "rule"),
					      .match = cli_json_number(args, "match"),
					      .bytes = cli_json_number(args, "bytes"),
					      .delay_ns = cli_json_number(args, "delay_ns"),
					      .text = copy_string(reader, cli_json_text(args, "text")),
					      .operation = copy_string(reader, cli_json_text(args, "operation")),
					      .context = copy_string(reader, cli_json_text(args, "context")) };
}

static void read_instant(struct reader *reader, json_object *event)
{
	const char *category = cli_json_text(event, "cat");

	if (strcmp(category, "fault") == 0)
		read_incident(reader, event, &reader->report->faults);
	else if (strcmp(category, "log") == 0)
		read_incident(reader, event, &reader->report->warnings);
}

static void extend_time_range(struct cli_report *report, json_object *event)
{
	uint64_t time_ns = event_time_ns(event);

	report->first_ns = time_ns < report->first_ns ? time_ns : report->first_ns;
	report->last_ns = time_ns > report->last_ns ? time_ns : report->last_ns;
}

static void read_event(struct reader *reader, json_object *event)
{
	char phase = cli_json_text(event, "ph")[0];

	if (phase == 'M') {
		read_track(reader, event);
		return;
	}
	extend_time_range(reader->report, event);
	if (phase == 'b')
		read_task(reader, event);
	else if (strcmp(cli_json_text(event, "cat"), "message") == 0) /* of tasks, their begin says all */
		read_message(reader, event, phase);
	else if (phase == 'i')
		read_instant(reader, event);
}

/* ---- lines ---- */

/* What was done but not recorded one by one is an operation, too. */
static void add_counted_ops(struct reader *reader)
{
	json_object *list = cli_json_list(reader->report->summary, "operations");

	for (size_t i = 0; i < cli_json_len(list); i++) {
		json_object *counts = json_object_array_get_idx(list, i);

		if (cli_json_number(counts, "submitted") + cli_json_number(counts, "failed") > 0)
			find_or_add_op(reader, event_pid(counts), cli_json_text(counts, "context"),
				       cli_json_text(counts, "device"), cli_json_text(counts, "operation"));
	}
}

/* Behind the last event: "],...": an object that lacks its begin. Whether it is one. */
static bool read_summary(struct reader *reader, char *line)
{
	json_object *rest;

	line[0] = '{';
	line[1] = ' ';
	rest = json_tokener_parse(line);
	reader->report->summary = json_object_get(get_member(rest, "otherData"));
	json_object_put(rest);
	add_counted_ops(reader);
	return reader->report->summary && cli_json_list(reader->report->summary, "processes");
}

/* Whether it is an event. */
static bool read_line(struct reader *reader, char *line, size_t len)
{
	json_object *event;

	while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == ','))
		line[--len] = '\0';
	event = json_tokener_parse(line);
	if (!event || !json_object_is_type(event, json_type_object)) {
		json_object_put(event);
		return false;
	}
	read_event(reader, event);
	json_object_put(event);
	return true;
}

static int fail_at_line(const char *name, unsigned int line, const char *why)
{
	cli_fail("%s:%u: %s; give a file as bfsim trace writes it for Perfetto", name, line, why);
	return -1;
}

static int read_lines(struct reader *reader, FILE *in, const char *name)
{
	unsigned int number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int rc = 0;

	while (rc == 0 && !reader->failed && !reader->report->summary && (len = getline(&line, &size, in)) >= 0) {
		number++;
		if (number == 1    ? strcmp(line, "{\"traceEvents\":[\n") != 0 :
		    line[0] == ']' ? len < 2 || !read_summary(reader, line) :
				     !read_line(reader, line, (size_t)len))
			rc = fail_at_line(name, number,
					  number == 1 ? "this is no trace" :
							"this is no event of a trace of this bfsim");
	}
	if (rc == 0 && ferror(in))
		rc = fail_at_line(name, number, strerror(errno));
	else if (rc == 0 && !reader->failed && !reader->report->summary)
		rc = fail_at_line(name, number, "the trace is cut off");
	free(line);
	return rc;
}

static void free_reader(struct reader *reader)
{
	for (size_t i = 0; i < reader->num_tracks; i++)
		free(reader->tracks[i].name);
	free(reader->tracks);
	free(reader->messages);
}

int cli_report_read(FILE *in, const char *name, struct cli_report *ret_report)
{
	struct cli_report report = { .first_ns = UINT64_MAX };
	struct reader reader = { .report = &report };
	int rc = read_lines(&reader, in, name);

	free_reader(&reader);
	if (rc == 0 && reader.failed) {
		cli_fail("%s: out of memory: the trace has too many records", name);
		rc = -1;
	}
	if (rc < 0) {
		cli_report_fini(&report);
		return rc;
	}
	if (report.first_ns == UINT64_MAX)
		report.first_ns = 0;
	*ret_report = report;
	return 0;
}

/* ---- the end ---- */

static void free_incidents(struct cli_report_incidents *incidents)
{
	for (size_t i = 0; i < incidents->count; i++) {
		free(incidents->list[i].text);
		free(incidents->list[i].operation);
		free(incidents->list[i].context);
	}
	free(incidents->list);
}

void cli_report_fini(struct cli_report *report)
{
	for (size_t i = 0; i < report->num_ops; i++) {
		free(report->ops[i].context);
		free(report->ops[i].device);
		free(report->ops[i].name);
	}
	free(report->ops);
	free(report->tasks);
	free(report->links);
	free_incidents(&report->faults);
	free_incidents(&report->warnings);
	json_object_put(report->summary);
	*report = (struct cli_report){ 0 };
}
