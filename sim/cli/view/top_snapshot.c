/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking a snapshot of a session: counts, and rates since the last snapshot. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/trace/recordings.h"
#include "sim/cli/base/human_format.h"
#include "sim/base/printable.h"
#include "sim/trace/trace.h"
#include "top.h"

/* Copy as many whole characters as fit. */
static void copy_utf8_prefix(char *to, size_t size, const char *from)
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
		row->num_timed += op->num_timed;
		row->latency_ns += op->latency_ns;
		row->in_flight += op->submitted > ended ? op->submitted - ended :
							  0; /* the process runs on: counts may be inconsistent */
	}
}

static void count_faults(const struct sim_trace_recording *recording, struct cli_top_row *row)
{
	for (size_t i = 0; i < recording->num_events; i++)
		row->faults +=
			recording->events[i].kind == SIM_TRACE_FAULT && recording->events[i].subject == row->number;
}

static struct cli_top_row build_row(const struct sim_trace_recording *recording, uint32_t number)
{
	const struct sim_trace_object *object = number ? &recording->objects[number - 1] : NULL;
	struct cli_top_row row = { .pid = recording->owner.pid,
				   .process_began_ns = recording->began_ns,
				   .number = number };
	char label[SIM_TRACE_LABEL_SIZE];

	copy_utf8_prefix(row.side, sizeof(row.side), recording->owner.side);
	copy_utf8_prefix(row.program, sizeof(row.program), recording->owner.program);
	sim_trace_label_object(recording, number, label);
	copy_utf8_prefix(row.object, sizeof(row.object), number ? label : "-");
	count_tasks(recording, &row);
	count_faults(recording, &row);
	if (object && object->kind == SIM_TRACE_CONNECTION) {
		row.messages = object->sent + object->received;
		row.bytes += object->sent_bytes + object->received_bytes;
	}
	return row;
}

static const struct cli_top_row *find_row(const struct cli_top_snapshot *snapshot, const struct cli_top_row *row)
{
	for (size_t i = 0; snapshot && i < snapshot->num_rows; i++)
		if (snapshot->rows[i].pid == row->pid && snapshot->rows[i].process_began_ns == row->process_began_ns &&
		    snapshot->rows[i].number == row->number)
			return &snapshot->rows[i];
	return NULL;
}

static uint64_t saturating_sub(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* The totals of a new row count as changes since the last snapshot. */
static void set_rates(struct cli_top_row *row, const struct cli_top_snapshot *before, uint64_t ns)
{
	static const struct cli_top_row none;
	const struct cli_top_row *old = find_row(before, row);

	if (!before)
		return;
	old = old ? old : &none;
	row->task_rate = cli_per_second(saturating_sub(row->tasks, old->tasks), ns);
	row->byte_rate = cli_per_second(saturating_sub(row->bytes, old->bytes), ns);
	row->message_rate = cli_per_second(saturating_sub(row->messages, old->messages), ns);
	if (row->num_timed > old->num_timed)
		row->mean_ns = saturating_sub(row->latency_ns, old->latency_ns) / (row->num_timed - old->num_timed);
}

/* The highest rate first; equal rates by age. */
static int compare_busiest_first(const void *left, const void *right)
{
	const struct cli_top_row *a = left, *b = right;
	uint64_t rate_a = a->task_rate + a->message_rate, rate_b = b->task_rate + b->message_rate;

	if (rate_a != rate_b)
		return rate_a > rate_b ? -1 : 1;
	if (a->process_began_ns != b->process_began_ns)
		return a->process_began_ns < b->process_began_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static size_t count_rows(const struct sim_merged_trace *merged)
{
	size_t count = 0;

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		count += merged->recordings[i].num_objects + (size_t)1;
	return count;
}

static void add_rows(struct cli_top_snapshot *snapshot, const struct sim_trace_recording *recording,
		     const struct cli_top_snapshot *before)
{
	/* Row 0 is the process itself, for faults that hit none of its objects. */
	for (uint32_t i = 0; i <= recording->num_objects; i++) {
		struct cli_top_row row;

		if (i > 0 && recording->objects[i - 1].ended_ns)
			continue;
		row = build_row(recording, i);
		if (i == 0 && row.tasks + row.faults == 0)
			continue;
		set_rates(&row, before, before ? snapshot->time_ns - before->time_ns : 0);
		snapshot->rows[snapshot->num_rows++] = row;
	}
}

static void add_sums(struct cli_top_snapshot *snapshot, const struct sim_merged_trace *merged,
		     const struct cli_top_snapshot *before)
{
	snapshot->clock = merged->clock;
	snapshot->session_ns = merged->session_ns;
	snapshot->num_rules = merged->num_rules;
	for (uint32_t i = 0; i < merged->num_rules; i++)
		snapshot->num_hits += merged->rules[i].fired;
	if (before)
		snapshot->hit_rate = cli_per_second(saturating_sub(snapshot->num_hits, before->num_hits),
						    snapshot->time_ns - before->time_ns);
}

int cli_top_snapshot_take(int dir_fd, const char *dir, const struct cli_top_snapshot *before,
			  struct cli_top_snapshot *ret_snapshot)
{
	struct cli_top_snapshot snapshot = { 0 };
	struct sim_merged_trace merged;

	if (cli_recordings_fetch_counts(dir_fd, dir, &merged) < 0)
		return -1;
	snapshot.time_ns = sim_monotonic_ns();
	snapshot.rows = calloc(count_rows(&merged) + 1, sizeof(*snapshot.rows));
	if (!snapshot.rows) {
		sim_merged_trace_free(&merged);
		return cli_error("out of memory");
	}
	snapshot.num_ended = (uint32_t)merged.num_dropped;
	for (uint32_t i = 0; i < merged.num_recordings; i++) {
		if (merged.recordings[i].owner.is_alive)
			add_rows(&snapshot, &merged.recordings[i], before);
		snapshot.num_alive += merged.recordings[i].owner.is_alive;
		snapshot.num_ended += !merged.recordings[i].owner.is_alive;
	}
	add_sums(&snapshot, &merged, before);
	sim_merged_trace_free(&merged);
	qsort(snapshot.rows, snapshot.num_rows, sizeof(*snapshot.rows), compare_busiest_first);
	*ret_snapshot = snapshot;
	return 0;
}

void cli_top_snapshot_fini(struct cli_top_snapshot *snapshot)
{
	free(snapshot->rows);
	*snapshot = (struct cli_top_snapshot){ 0 };
}
