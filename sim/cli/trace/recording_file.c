/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing and reading a file of recordings. */
#include "recording_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/printable.h"
#include "sim/cli/base/cli.h"
#include "sim/clock/clock.h"

#define VERSION        3     /* raise it when a struct of a file changes; their sizes are compared, too */
#define MAX_ENTRIES    16384 /* of cards, links, rules, recordings */
#define MAX_RULE_BYTES 65536
#define MAX_TEXT_BYTES (SIM_TRACE_MAX_TEXT_RECORDS * SIM_TRACE_TEXT_BYTES) /* of an event */
#define MAX_TIME_NS    UINT64_C(1000000000000000000)                       /* 31 years */
#define SLACK_NS       1000000000 /* the session's time was read before the last records were written */

struct head {
	/* Of a file that can be read, these are those of KNOWN. */
	char magic[16];
	uint32_t version, sizes[8], unused;
	/* The session. */
	uint64_t zero_ns, session_ns, begin_unix_ns, num_dropped;
	char clock[16]; /* name of its mode; "" = unknown */
	char boot[64];
	uint32_t num_cards, num_links, num_machines, num_rules, num_recordings, reserved;
};

#define KNOWN_BYTES offsetof(struct head, zero_ns)

static const struct head known = { .magic = "bfsim recording",
				   .version = VERSION,
				   .sizes = { sizeof(struct sim_trace_card), sizeof(struct sim_trace_link),
					      sizeof(struct sim_trace_recording), sizeof(struct sim_trace_object),
					      sizeof(struct sim_trace_op), sizeof(struct sim_trace_thread),
					      sizeof(struct sim_trace_event), sizeof(struct sim_trace_machine) } };

/* A rule; its text of @text_bytes with the zero byte follows. */
struct rule {
	uint32_t id, is_removed;
	uint64_t fired, added_ns, text_bytes;
};

/* ---- writing ---- */

static void write_rule(const struct sim_trace_rule *rule, FILE *out)
{
	const struct rule entry = { .id = rule->id,
				    .is_removed = rule->removed,
				    .fired = rule->fired,
				    .added_ns = rule->added_ns,
				    .text_bytes = strlen(rule->text) + 1 };

	fwrite(&entry, sizeof(entry), 1, out);
	fwrite(rule->text, entry.text_bytes, 1, out);
}

static void write_recording(const struct sim_trace_recording *recording, FILE *out)
{
	struct sim_trace_recording saved = *recording;

	saved.names = NULL;
	saved.objects = NULL;
	saved.ops = NULL;
	saved.threads = NULL;
	saved.events = NULL;
	fwrite(&saved, sizeof(saved), 1, out);
	fwrite(recording->names, sizeof(*recording->names), recording->num_names, out);
	fwrite(recording->objects, sizeof(*recording->objects), recording->num_objects, out);
	fwrite(recording->ops, sizeof(*recording->ops), recording->num_ops, out);
	fwrite(recording->threads, sizeof(*recording->threads), recording->num_threads, out);
	for (size_t i = 0; i < recording->num_events; i++) {
		struct sim_trace_event event = recording->events[i];

		event.text_bytes = event.text ? (uint32_t)strlen(event.text) : 0;
		event.text = NULL;
		fwrite(&event, sizeof(event), 1, out);
	}
	for (size_t i = 0; i < recording->num_events; i++)
		if (recording->events[i].text)
			fputs(recording->events[i].text, out);
}

void cli_recording_write(const struct sim_merged_trace *merged, FILE *out)
{
	struct head head = known;

	head.zero_ns = merged->zero_ns;
	head.session_ns = merged->session_ns;
	head.begin_unix_ns = merged->begin_unix_ns;
	head.num_dropped = merged->num_dropped;
	snprintf(head.clock, sizeof(head.clock), "%s", merged->clock ? merged->clock : "");
	memcpy(head.boot, merged->boot, sizeof(head.boot));
	head.num_cards = merged->num_cards;
	head.num_links = merged->num_links;
	head.num_machines = merged->num_machines;
	head.num_rules = merged->num_rules;
	head.num_recordings = merged->num_recordings;
	fwrite(&head, sizeof(head), 1, out);
	fwrite(merged->cards, sizeof(*merged->cards), merged->num_cards, out);
	fwrite(merged->links, sizeof(*merged->links), merged->num_links, out);
	fwrite(merged->machines, sizeof(*merged->machines), merged->num_machines, out);
	for (uint32_t i = 0; i < merged->num_rules; i++)
		write_rule(&merged->rules[i], out);
	for (uint32_t i = 0; i < merged->num_recordings; i++)
		write_recording(&merged->recordings[i], out);
}

/* ---- reading ---- */

struct reader {
	FILE *in;
	const char *name;
	struct head head;
	struct sim_merged_trace *merged;
};

#define GIVE_ONE "give a file that bfsim run --trace FILE" CLI_RECORDING_EXTENSION " or bfsim trace --format raw wrote"

static int fail(const struct reader *reader, const char *why)
{
	cli_fail("%s: %s", reader->name, ferror(reader->in) ? strerror(errno) : why);
	return -1;
}

static int fail_damaged(const struct reader *reader)
{
	return fail(reader, "the recording is damaged: record the run again");
}

static int read_bytes(const struct reader *reader, void *to, size_t size)
{
	return fread(to, 1, size, reader->in) == size ? 0 :
							fail(reader, "the recording is cut off: record the run again");
}

/* Read a table of @count entries, at most @max, into new memory for one more. */
static int read_table(const struct reader *reader, size_t count, size_t max, size_t size, void *ret_table)
{
	void *table;

	if (count > max)
		return fail_damaged(reader);
	table = aligned_alloc(64, ((count + 1) * size + 63) / 64 * 64);
	if (!table)
		return fail(reader, "out of memory: the recording has too many records");
	memcpy(ret_table, &table, sizeof(table));
	return read_bytes(reader, table, count * size);
}

static int read_head(struct reader *reader)
{
	struct head *head = &reader->head;
	struct sim_merged_trace *merged = reader->merged;
	size_t len = fread(head, 1, sizeof(*head), reader->in);
	enum sim_clock_mode mode;

	if (memcmp(head, "{\"traceEvents\":", 15) == 0)
		return fail(reader, "this is a trace for Perfetto, which bfsim does not read; " GIVE_ONE);
	if (memcmp(head->magic, known.magic, sizeof(known.magic)) != 0)
		return fail(reader, "this is not a recording; " GIVE_ONE);
	if (memcmp(head, &known, KNOWN_BYTES) != 0)
		return fail(reader, "this recording is of another version of bfsim: read it with that one");
	if (len < sizeof(*head))
		return read_bytes(reader, head, 1);
	if (head->session_ns > MAX_TIME_NS || head->zero_ns > MAX_TIME_NS)
		return fail_damaged(reader);
	head->clock[sizeof(head->clock) - 1] = '\0';
	if (sim_clock_mode_parse(head->clock, &mode) == 0)
		merged->clock = sim_clock_mode_name(mode);
	memcpy(merged->boot, head->boot, sizeof(merged->boot));
	sim_make_printable_array(merged->boot, sizeof(merged->boot));
	merged->zero_ns = head->zero_ns;
	merged->session_ns = head->session_ns;
	merged->begin_unix_ns = head->begin_unix_ns;
	merged->num_dropped = head->num_dropped;
	return 0;
}

static int read_cards_and_links(struct reader *reader)
{
	struct sim_merged_trace *merged = reader->merged;

	if (read_table(reader, reader->head.num_cards, MAX_ENTRIES, sizeof(*merged->cards), &merged->cards) < 0 ||
	    read_table(reader, reader->head.num_links, MAX_ENTRIES, sizeof(*merged->links), &merged->links) < 0 ||
	    read_table(reader, reader->head.num_machines, MAX_ENTRIES, sizeof(*merged->machines), &merged->machines) <
		    0)
		return -1;
	merged->num_cards = reader->head.num_cards;
	merged->num_links = reader->head.num_links;
	merged->num_machines = reader->head.num_machines;
	for (uint32_t i = 0; i < merged->num_cards; i++) {
		sim_make_printable_array(merged->cards[i].name, sizeof(merged->cards[i].name));
		sim_make_printable_array(merged->cards[i].model, sizeof(merged->cards[i].model));
		sim_make_printable_array(merged->cards[i].link, sizeof(merged->cards[i].link));
		sim_make_printable_array(merged->cards[i].mode, sizeof(merged->cards[i].mode));
	}
	for (uint32_t i = 0; i < merged->num_links; i++) {
		sim_make_printable_array(merged->links[i].side, sizeof(merged->links[i].side));
		sim_make_printable_array(merged->links[i].device, sizeof(merged->links[i].device));
	}
	for (uint32_t i = 0; i < merged->num_machines; i++)
		sim_make_printable_array(merged->machines[i].name, sizeof(merged->machines[i].name));
	return 0;
}

static int read_rule(struct reader *reader)
{
	char *text = NULL;
	struct rule rule;
	int rc = read_bytes(reader, &rule, sizeof(rule));

	if (rc == 0)
		rc = read_table(reader, rule.text_bytes, MAX_RULE_BYTES, 1, &text);
	if (rc == 0) {
		text[rule.text_bytes] = '\0';
		rc = sim_merged_trace_add_rule(reader->merged, rule.id, text) < 0 ? fail(reader, "out of memory") : 0;
	}
	free(text);
	if (rc < 0)
		return rc;
	reader->merged->rules[reader->merged->num_rules - 1].fired = rule.fired;
	reader->merged->rules[reader->merged->num_rules - 1].added_ns = rule.added_ns;
	reader->merged->rules[reader->merged->num_rules - 1].removed = rule.is_removed != 0;
	return 0;
}

static int read_tables(const struct reader *reader, struct sim_trace_recording *recording)
{
#define READ_TABLE(member, max) \
	read_table(reader, recording->num_##member, max, sizeof(*recording->member), &recording->member)
	int rc = READ_TABLE(names, SIM_TRACE_MAX_NAMES);

	if (rc == 0)
		rc = READ_TABLE(objects, SIM_TRACE_MAX_OBJECTS);
	if (rc == 0)
		rc = READ_TABLE(ops, SIM_TRACE_MAX_OPS);
	if (rc == 0)
		rc = READ_TABLE(threads, SIM_TRACE_MAX_THREADS);
	return rc ? rc : READ_TABLE(events, SIM_TRACE_MAX_RECORDS);
}

static int read_texts(const struct reader *reader, struct sim_trace_recording *recording)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < recording->num_events; i++) {
		struct sim_trace_event *event = &recording->events[i];
		bool has_text = event->kind == SIM_TRACE_LOG || event->kind == SIM_TRACE_HIT;

		rc = has_text ? read_table(reader, event->text_bytes, MAX_TEXT_BYTES, 1, &event->text) : 0;
		if (rc == 0 && has_text)
			event->text[event->text_bytes] = '\0';
	}
	return rc;
}

/* Read what follows the struct of a recording. */
static int read_contents(const struct reader *reader, struct sim_trace_recording *recording)
{
	const _Atomic uint64_t end_ns = reader->head.session_ns + SLACK_NS;
	const struct sim_trace_clock clock = { .zero_ns = reader->head.zero_ns, .virtual_ns = &end_ns };
	size_t num_events = recording->num_events;
	int rc = read_tables(reader, recording);

	for (size_t i = 0; rc == 0 && i < num_events; i++)
		recording->events[i].text = NULL;
	recording->num_events = rc == 0 ? num_events : 0;
	if (rc == 0)
		rc = read_texts(reader, recording);
	if (rc == 0)
		sim_trace_recording_check(recording, &clock);
	return rc;
}

static int read_recording(struct reader *reader)
{
	struct sim_trace_recording recording;
	uint8_t is_alive;

	if (read_bytes(reader, &recording, sizeof(recording)) < 0)
		return -1;
	memcpy(&is_alive, &recording.owner.is_alive, 1); /* any byte */
	recording.owner.is_alive = is_alive != 0;
	sim_make_printable_array(recording.owner.side, sizeof(recording.owner.side));
	sim_make_printable_array(recording.owner.program, sizeof(recording.owner.program));
	recording.names = NULL;
	recording.objects = NULL;
	recording.ops = NULL;
	recording.threads = NULL;
	recording.events = NULL;
	if (read_contents(reader, &recording) < 0) {
		sim_trace_recording_free(&recording);
		return -1;
	}
	return sim_merged_trace_add(reader->merged, &recording) < 0 ? fail(reader, "out of memory") : 0;
}

static int read_all(struct reader *reader)
{
	int rc = read_head(reader);

	if (rc == 0 && (reader->head.num_rules > MAX_ENTRIES || reader->head.num_recordings > MAX_ENTRIES))
		rc = fail_damaged(reader);
	if (rc == 0)
		rc = read_cards_and_links(reader);
	for (uint32_t i = 0; rc == 0 && i < reader->head.num_rules; i++)
		rc = read_rule(reader);
	for (uint32_t i = 0; rc == 0 && i < reader->head.num_recordings; i++)
		rc = read_recording(reader);
	if (rc == 0 && sim_merged_trace_sort(reader->merged) < 0)
		rc = fail(reader, "out of memory: the recording has too many records");
	return rc;
}

int cli_recording_read(FILE *in, const char *name, struct sim_merged_trace *ret_merged)
{
	struct sim_merged_trace merged = { 0 };
	struct reader reader = { .in = in, .name = name, .merged = &merged };
	int rc = read_all(&reader);

	if (rc < 0)
		sim_merged_trace_free(&merged);
	else
		*ret_merged = merged;
	return rc;
}

int cli_recording_open(const char *path, struct sim_merged_trace *ret_merged)
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
	rc = cli_recording_read(in, path, ret_merged);
	fclose(in);
	return rc;
}
