/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/trace/recordings.h"
#include "sim/cli/base/human_format.h"
#include "sim/trace/sanitize.h"
#include "sim/trace/trace.h"
#include "top.h"

/* As much of a text as there is room for, in whole characters. */
static void copy_text(char *to, size_t size, const char *from)
{
	size_t len = strlen(from);

	if (len >= size) {
		len = size - 1;
		while (len > 0 && ((unsigned char)from[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(to, from, len);
	to[len] = '\0';
}

/* ---- counts ---- */

static void count_tasks(const struct sim_trace_recording *recording, struct cli_top_row *row)
{
	for (uint32_t i = 0; i < recording->num_ops; i++) {
		const struct sim_trace_op *op = &recording->ops[i];
		uint64_t ended = op->completed + op->failed;

		if (op->object != row->number)
			continue;
		row->tasks += ended;
		row->bytes += op->bytes;
		row->failed += op->failed;
		row->in_flight += op->submitted > ended ? op->submitted - ended : 0; /* the writer goes on meanwhile */
	}
}

static void count_faults(const struct sim_trace_recording *recording, struct cli_top_row *row)
{
	for (size_t i = 0; i < recording->num_events; i++)
		row->faults += recording->events[i].kind == SIM_TRACE_FAULT && recording->events[i].subject == row->number;
}

static struct cli_top_row row_of(const struct sim_trace_recording *recording, uint32_t number)
{
	const struct sim_trace_object *object = number ? &recording->objects[number - 1] : NULL;
	struct cli_top_row row = {.pid = recording->who.pid, .process_began_ns = recording->began_ns, .number = number};
	char name[SIM_TRACE_NAME_SIZE + 16] = "-";

	copy_text(row.side, sizeof(row.side), recording->who.side);
	copy_text(row.program, sizeof(row.program), recording->who.program);
	if (object)
		snprintf(name, sizeof(name), "%.63s #%u", sim_trace_name_of(recording, object->name), number);
	copy_text(row.object, sizeof(row.object), name);
	count_tasks(recording, &row);
	count_faults(recording, &row);
	if (object && object->kind == SIM_TRACE_CONNECTION) {
		row.messages = object->sent + object->received;
		row.bytes += object->sent_bytes + object->received_bytes;
	}
	return row;
}

/* ---- rates ---- */

static const struct cli_top_row *find(const struct cli_top_look *look, const struct cli_top_row *row)
{
	for (size_t i = 0; look && i < look->num_rows; i++)
		if (look->rows[i].pid == row->pid && look->rows[i].process_began_ns == row->process_began_ns &&
		    look->rows[i].number == row->number)
			return &look->rows[i];
	return NULL;
}

static uint64_t more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* One that is new did all of it since the look before. */
static void set_rates(struct cli_top_row *row, const struct cli_top_look *before, uint64_t ns)
{
	static const struct cli_top_row none;
	const struct cli_top_row *old = find(before, row);

	if (!before)
		return;
	old = old ? old : &none;
	row->task_rate = cli_per_second(more(row->tasks, old->tasks), ns);
	row->byte_rate = cli_per_second(more(row->bytes, old->bytes), ns);
	row->message_rate = cli_per_second(more(row->messages, old->messages), ns);
}

/* The busiest first; those that are idle as they came. */
static int compare(const void *left, const void *right)
{
	const struct cli_top_row *a = left, *b = right;
	uint64_t rate_a = a->task_rate + a->message_rate, rate_b = b->task_rate + b->message_rate;

	if (rate_a != rate_b)
		return rate_a > rate_b ? -1 : 1;
	if (a->process_began_ns != b->process_began_ns)
		return a->process_began_ns < b->process_began_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* ---- the look ---- */

static size_t count_rows(const struct sim_trace_story *story)
{
	size_t count = 0;

	for (uint32_t i = 0; i < story->num_recordings; i++)
		count += story->recordings[i].num_objects + (size_t)1;
	return count;
}

static void add_rows(struct cli_top_look *look, const struct sim_trace_recording *recording,
		     const struct cli_top_look *before)
{
	/* 0 is the process itself: faults that struck none of its objects. */
	for (uint32_t i = 0; i <= recording->num_objects; i++) {
		struct cli_top_row row;

		if (i > 0 && recording->objects[i - 1].ended_ns)
			continue;
		row = row_of(recording, i);
		if (i == 0 && row.tasks + row.faults == 0)
			continue;
		set_rates(&row, before, before ? look->time_ns - before->time_ns : 0);
		look->rows[look->num_rows++] = row;
	}
}

static void add_sums(struct cli_top_look *look, const struct sim_trace_story *story, const struct cli_top_look *before)
{
	look->clock = story->clock;
	look->session_ns = story->session_ns;
	look->num_rules = story->num_rules;
	for (uint32_t i = 0; i < story->num_rules; i++)
		look->num_struck += story->rules[i].fired;
	if (before)
		look->strike_rate = cli_per_second(more(look->num_struck, before->num_struck), look->time_ns - before->time_ns);
}

int cli_top_look(int dir_fd, const char *dir, const struct cli_top_look *before, struct cli_top_look *ret_look)
{
	struct cli_top_look look = {0};
	struct sim_trace_story story;
	uint64_t num_dropped;

	if (cli_recordings_glance(dir_fd, dir, &story, &num_dropped) < 0)
		return -1;
	look.time_ns = sim_trace_real_ns();
	look.rows = calloc(count_rows(&story) + 1, sizeof(*look.rows));
	if (!look.rows) {
		sim_trace_story_free(&story);
		cli_fail("out of memory");
		return -1;
	}
	look.num_ended = (uint32_t)num_dropped;
	for (uint32_t i = 0; i < story.num_recordings; i++) {
		if (story.recordings[i].who.is_alive)
			add_rows(&look, &story.recordings[i], before);
		look.num_alive += story.recordings[i].who.is_alive;
		look.num_ended += !story.recordings[i].who.is_alive;
	}
	add_sums(&look, &story, before);
	sim_trace_story_free(&story);
	qsort(look.rows, look.num_rows, sizeof(*look.rows), compare);
	*ret_look = look;
	return 0;
}

void cli_top_look_fini(struct cli_top_look *look)
{
	free(look->rows);
	*look = (struct cli_top_look){0};
}
