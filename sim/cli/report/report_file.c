/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace file as a report: the events and the sums that bfsim trace wrote for Perfetto, an event on each line. */
#include "report_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report_add.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"

#define MAX_TIME_US      1e15 /* 31 years */
#define MAX_FLOWS        (UINT32_C(1) << 22)
#define FIRST_LINE_BYTES 4096
#define MAX_LINE_BYTES   (64u << 20) /* the line of sums may be long */

/* A message that was sent and not yet received. */
struct message {
	uint64_t time_ns, bytes;
	uint32_t op; /* index plus 1; 0 = not sent yet */
};

/* The name of a track is the only place that names the connection of a message. */
struct track {
	int64_t pid;
	uint64_t tid;
	const char *name;
};

struct reader {
	struct cli_report *report;
	struct message *messages; /* indexed by flow number */
	uint32_t num_messages;
	struct track *tracks;
	size_t num_tracks;
	uint64_t bytes; /* of the last message slice */
	bool has_summary;
};

static uint64_t event_time_ns(json_object *event)
{
	double us = json_object_get_double(cli_json_member(event, "ts"));

	return us > 0 && us < MAX_TIME_US ? (uint64_t)(us * 1000 + 0.5) : 0;
}

static int64_t event_pid(json_object *event)
{
	return json_object_get_int64(cli_json_member(event, "pid"));
}

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
	json_object *args = cli_json_member(event, "args");
	struct cli_report_task task = { .begin_ns = event_time_ns(event),
					.bytes = cli_json_number(args, "bytes"),
					.in_flight = (uint32_t)cli_json_number(args, "in_flight"),
					.directions = parse_directions(cli_json_text(args, "way")),
					.latency_ns = cli_json_number(args, "ns"),
					.is_timed = cli_json_member(args, "ns") != NULL };
	size_t op = cli_report_add_op(reader->report, event_pid(event), cli_json_text(args, "context"),
				      cli_json_text(args, "device"), cli_json_text(args, "operation"));

	if (op == SIZE_MAX)
		return;
	if (task.latency_ns > (uint64_t)MAX_TIME_US)
		task.latency_ns = 0;
	task.op = (uint32_t)op;
	reader->report->ops[op].recorded_failed += strcmp(cli_json_text(args, "status"), "ok") != 0;
	cli_report_add_task(reader->report, &task);
}

static void read_track(struct reader *reader, json_object *event)
{
	struct track *tracks;

	if (strcmp(cli_json_text(event, "name"), "thread_name") != 0)
		return;
	tracks = reallocarray(reader->tracks, reader->num_tracks + 1, sizeof(*tracks));
	reader->report->has_failed |= !tracks;
	if (!tracks)
		return;
	reader->tracks = tracks;
	tracks[reader->num_tracks++] =
		(struct track){ .pid = event_pid(event),
				.tid = cli_json_number(event, "tid"),
				.name = cli_report_copy_text(reader->report,
							     cli_json_text(cli_json_member(event, "args"), "name")) };
}

static const char *track_name(const struct reader *reader, json_object *event)
{
	int64_t pid = event_pid(event);
	uint64_t tid = cli_json_number(event, "tid");

	for (size_t i = 0; i < reader->num_tracks; i++)
		if (reader->tracks[i].pid == pid && reader->tracks[i].tid == tid)
			return reader->tracks[i].name;
	return "";
}

/* The track "NAME #2 sent" belongs to the connection "NAME #2". */
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

		reader->report->has_failed |= !grown;
		if (!grown)
			return NULL;
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
	op = cli_report_add_op(reader->report, event_pid(event), connection, "", "message");
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
	cli_report_add_task(reader->report, &task);
}

static void read_message(struct reader *reader, json_object *event, char phase)
{
	if (phase == 'X')
		reader->bytes = cli_json_number(cli_json_member(event, "args"), "bytes");
	else if (phase == 's')
		read_sent(reader, event);
	else if (phase == 'f')
		read_received(reader, event);
}

static void read_incident(struct reader *reader, json_object *event, struct cli_report_incidents *incidents)
{
	json_object *args = cli_json_member(event, "args");

	cli_report_add_incident(
		reader->report, incidents,
		&(struct cli_report_incident){ .time_ns = event_time_ns(event),
					       .pid = event_pid(event),
					       .is_error = strcmp(cli_json_text(event, "name"), "error") == 0,
					       .rule = (uint32_t)cli_json_number(args, "rule"),
					       .match = cli_json_number(args, "match"),
					       .bytes = cli_json_number(args, "bytes"),
					       .delay_ns = cli_json_number(args, "delay_ns"),
					       .text = cli_json_text(args, "text"),
					       .operation = cli_json_text(args, "operation"),
					       .context = cli_json_text(args, "context") });
}

static void read_hit(struct reader *reader, json_object *event)
{
	json_object *args = cli_json_member(event, "args");

	cli_report_add_incident(reader->report, &reader->report->hits,
				&(struct cli_report_incident){ .time_ns = event_time_ns(event),
							       .pid = event_pid(event),
							       .severity = (uint32_t)cli_json_number(args, "severity"),
							       .text = cli_json_text(args, "text"),
							       .operation = cli_json_text(event, "name"),
							       .context = "" });
}

static void read_instant(struct reader *reader, json_object *event)
{
	const char *category = cli_json_text(event, "cat");

	if (strcmp(category, "fault") == 0)
		read_incident(reader, event, &reader->report->faults);
	else if (strcmp(category, "log") == 0)
		read_incident(reader, event, &reader->report->warnings);
	else if (strcmp(category, "check") == 0)
		read_hit(reader, event);
}

/* The begin of a task ("b") has all its figures: its other events are not read. */
static void read_event(struct reader *reader, json_object *event)
{
	char phase = cli_json_text(event, "ph")[0];

	if (phase == 'M') {
		read_track(reader, event);
		return;
	}
	cli_report_add_time(reader->report, event_time_ns(event));
	if (phase == 'b')
		read_task(reader, event);
	else if (strcmp(cli_json_text(event, "cat"), "message") == 0)
		read_message(reader, event, phase);
	else if (phase == 'i')
		read_instant(reader, event);
}

/* ---- the summary behind the events ---- */

static void read_process(struct reader *reader, json_object *process)
{
	cli_report_add_process(reader->report,
			       &(struct cli_report_process){ .pid = event_pid(process),
							     .side = cli_json_text(process, "side"),
							     .program = cli_json_text(process, "program"),
							     .level = cli_json_text(process, "level"),
							     .paths = cli_json_text(process, "paths"),
							     .first_ns = cli_json_number(process, "first_ns"),
							     .num_records = cli_json_number(process, "records"),
							     .num_lost = cli_json_number(process, "lost_records"),
							     .num_bad = cli_json_number(process, "bad_records") });
}

static void read_counts(struct reader *reader, json_object *op)
{
	cli_report_add_counts(reader->report, event_pid(op), cli_json_text(op, "context"), cli_json_text(op, "device"),
			      cli_json_text(op, "operation"),
			      &(struct cli_report_counts){ .submitted = cli_json_number(op, "submitted"),
							   .completed = cli_json_number(op, "completed"),
							   .failed = cli_json_number(op, "failed"),
							   .bytes = cli_json_number(op, "bytes") });
}

static void read_card(struct reader *reader, json_object *card)
{
	cli_report_add_card(reader->report, &(struct cli_report_card){ .name = cli_json_text(card, "name"),
								       .model = cli_json_text(card, "model"),
								       .link = cli_json_text(card, "link"),
								       .mode = cli_json_text(card, "mode") });
}

static void read_link(struct reader *reader, json_object *link)
{
	cli_report_add_link(reader->report, cli_json_text(link, "side"), cli_json_text(link, "device"),
			    cli_json_number(link, "to_card_bps"), cli_json_number(link, "to_host_bps"));
}

static void read_rule(struct reader *reader, json_object *rule)
{
	cli_report_add_rule(reader->report,
			    &(struct cli_report_rule){ .id = cli_json_number(rule, "id"),
						       .text = cli_json_text(rule, "text"),
						       .fired = cli_json_number(rule, "fired"),
						       .added_ns = cli_json_number(rule, "added_ns"),
						       .is_removed = cli_json_number(rule, "taken_out") });
}

static void read_list(struct reader *reader, json_object *list,
		      void read_entry(struct reader *reader, json_object *entry))
{
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		read_entry(reader, json_object_array_get_idx(list, i));
}

/* The line behind the last event, "],...": an object without its first character. Returns whether it is one. */
static bool read_summary(struct reader *reader, char *line)
{
	json_object *rest, *summary;

	line[0] = '{';
	line[1] = ' ';
	rest = json_tokener_parse(line);
	summary = cli_json_member(rest, "otherData");
	reader->has_summary = cli_json_list(summary, "processes") != NULL;
	if (cli_json_member(summary, "clock"))
		reader->report->clock = cli_report_copy_text(reader->report, cli_json_text(summary, "clock"));
	reader->report->session_ns = cli_json_number(summary, "session_ns");
	reader->report->num_late = cli_json_number(summary, "late_tasks");
	reader->report->max_late_ns = cli_json_number(summary, "max_late_ns");
	read_list(reader, cli_json_list(summary, "processes"), read_process);
	read_list(reader, cli_json_list(summary, "operations"), read_counts);
	read_list(reader, cli_json_list(summary, "cards"), read_card);
	read_list(reader, cli_json_list(summary, "links"), read_link);
	read_list(reader, cli_json_list(summary, "rules"), read_rule);
	json_object_put(rest);
	return reader->has_summary;
}

/* ---- lines ---- */

/* Returns whether the line is an event. */
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

/* Make room for a byte of a line and its terminator. Returns whether there is some. */
static bool reserve_byte(char **line, size_t *size, size_t len)
{
	size_t wanted = *size * 2 + FIRST_LINE_BYTES;
	char *grown;

	if (len + 2 <= *size)
		return true;
	grown = wanted <= MAX_LINE_BYTES ? realloc(*line, wanted) : NULL;
	if (!grown)
		return false;
	*line = grown;
	*size = wanted;
	return true;
}

/* As getline(), with a limit. Returns -1 at the end, or -EFBIG. */
static ssize_t read_bounded_line(FILE *in, char **line, size_t *size)
{
	size_t len = 0;
	int byte = 0;

	while (byte != '\n' && (byte = getc_unlocked(in)) != EOF) {
		if (!reserve_byte(line, size, len))
			return -EFBIG;
		(*line)[len++] = (char)byte;
	}
	if (len == 0)
		return -1;
	(*line)[len] = '\0';
	return (ssize_t)len;
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

	while (rc == 0 && !reader->report->has_failed && !reader->has_summary &&
	       (len = read_bounded_line(in, &line, &size)) != -1) {
		number++;
		if (len < 0) {
			rc = fail_at_line(name, number, "this line is longer than any of a trace");
			break;
		}
		if (number == 1    ? strcmp(line, "{\"traceEvents\":[\n") != 0 :
		    line[0] == ']' ? len < 2 || !read_summary(reader, line) :
				     !read_line(reader, line, (size_t)len))
			rc = fail_at_line(name, number,
					  number == 1 ? "this is not a trace" :
							"this is not an event of a trace of this bfsim");
	}
	if (rc == 0 && ferror(in))
		rc = fail_at_line(name, number, strerror(errno));
	else if (rc == 0 && !reader->report->has_failed && !reader->has_summary)
		rc = fail_at_line(name, number, "the trace is cut off");
	free(line);
	return rc;
}

int cli_report_from_file(FILE *in, const char *name, struct cli_report *ret_report)
{
	struct cli_report report;
	struct reader reader = { .report = &report };
	int rc;

	cli_report_init(&report);
	rc = read_lines(&reader, in, name);
	free(reader.tracks);
	free(reader.messages);
	if (rc == 0)
		rc = cli_report_finish(&report, name);
	if (rc < 0)
		cli_report_fini(&report);
	else
		*ret_report = report;
	return rc;
}

int cli_report_open_file(const char *path, struct cli_report *ret_report)
{
	struct stat info;
	FILE *in;
	int rc;

	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
		cli_fail("cannot read %s: it is not a plain file", path);
		return -1;
	}
	in = fopen(path, "re");
	if (!in) {
		cli_fail("cannot read %s: %s", path, strerror(errno));
		return -1;
	}
	rc = cli_report_from_file(in, path, ret_report);
	fclose(in);
	return rc;
}
