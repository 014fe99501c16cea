/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing a snapshot within the size of the terminal. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/cli/base/human_format.h"
#include "top.h"

#define LINE_SIZE  512
#define HEAD_LINES 4

/* Print the first @columns characters. */
static void put_truncated(FILE *out, const char *text, unsigned int columns)
{
	unsigned int count = 0;

	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) != 0x80 && count++ == columns)
			break;
		fputc(*text, out);
	}
}

static void put_line(FILE *out, const char *text, unsigned int columns)
{
	put_truncated(out, text, columns);
	fputc('\n', out);
}

static unsigned int num_characters(const char *text)
{
	unsigned int count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

/* The text behind the first @count characters. */
static const char *skip_characters(const char *text, unsigned int count)
{
	while (*text && (count > 0 || ((unsigned char)*text & 0xc0) == 0x80)) {
		count -= ((unsigned char)*text & 0xc0) != 0x80;
		text++;
	}
	return text;
}

/* Append a text, padded to @width characters, to @line. A text that is too long is cut in its middle: its end tells names
 * apart as often as its beginning. */
static void append_left_aligned(char line[LINE_SIZE], const char *text, unsigned int width)
{
	unsigned int count = num_characters(text), tail = width / 3, head = width - tail - 1;
	size_t len = strlen(line);

	if (count <= width)
		snprintf(line + len, LINE_SIZE - len, "%s%*s", text, (int)(width - count + 1), "");
	else
		snprintf(line + len, LINE_SIZE - len, "%.*s\u2026%s ", (int)(skip_characters(text, head) - text), text,
			 skip_characters(text, count - tail));
}

static void append_right_aligned(char line[LINE_SIZE], const char *text, unsigned int width)
{
	size_t len = strlen(line);

	snprintf(line + len, LINE_SIZE - len, "%*s ", (int)width, text);
}

/* The fields need 89 columns. A narrower terminal drops fields in the order of drop_order. Columns that are left make room for
 * longer names.
 * PID, SIDE and PROGRAM, which identify a process, stay. */
enum { PID, SIDE, PROGRAM, CONTEXT, TASKS, BYTES, LATENCY, MESSAGES, FLY, FAIL, FLT, NUM_FIELDS };

static const struct {
	const char *heading;
	unsigned int width;
	bool is_text;
} fields[NUM_FIELDS] = {
	[PID] = { "PID", 7, false },         [SIDE] = { "SIDE", 6, true },        [PROGRAM] = { "PROGRAM", 12, true },
	[CONTEXT] = { "CONTEXT", 12, true }, [TASKS] = { "TASK/S", 6, false },    [BYTES] = { "BYTES/S", 9, false },
	[MESSAGES] = { "MSG/S", 6, false },  [FLY] = { "FLY", 4, false },         [FAIL] = { "FAIL", 5, false },
	[FLT] = { "FLT", 4, false },         [LATENCY] = { "LATENCY", 8, false },
};

#define MAX_NAME 40 /* columns */

static const int drop_order[] = { LATENCY, FLT, MESSAGES, FLY, BYTES, CONTEXT, FAIL, TASKS };

/* Width of each field; 0 = not shown. */
struct layout {
	unsigned int width[NUM_FIELDS];
};

#define SIDE_OF_MACHINE 12 /* "node1/host" and two more */

static struct layout choose_layout(const struct cli_top_snapshot *snapshot, unsigned int columns)
{
	unsigned int width = 0, spare;
	struct layout layout;

	for (int i = 0; i < NUM_FIELDS; i++) {
		layout.width[i] = fields[i].width;
		width += fields[i].width + 1;
	}
	for (size_t i = 0; i < snapshot->num_rows && layout.width[SIDE] < SIDE_OF_MACHINE; i++)
		if (strchr(snapshot->rows[i].side, '/')) {
			width += SIDE_OF_MACHINE - layout.width[SIDE];
			layout.width[SIDE] = SIDE_OF_MACHINE;
		}
	for (size_t i = 0; i < sizeof(drop_order) / sizeof(drop_order[0]) && width > columns + 1; i++) {
		layout.width[drop_order[i]] = 0;
		width -= fields[drop_order[i]].width + 1;
	}
	spare = columns + 1 > width ? columns + 1 - width : 0;
	if (layout.width[CONTEXT])
		layout.width[CONTEXT] = min_u32(layout.width[CONTEXT] + spare / 2, MAX_NAME);
	spare = layout.width[CONTEXT] ? (spare + 1) / 2 : spare;
	layout.width[PROGRAM] = min_u32(layout.width[PROGRAM] + spare, MAX_NAME);
	return layout;
}

static void append_field(char line[LINE_SIZE], const struct layout *layout, int field, const char *text)
{
	if (layout->width[field] == 0)
		return;
	if (fields[field].is_text)
		append_left_aligned(line, text, layout->width[field]);
	else
		append_right_aligned(line, text, layout->width[field]);
}

static void put_headings(const struct layout *layout, unsigned int columns, bool bold, FILE *out)
{
	char line[LINE_SIZE] = "";

	for (int i = 0; i < NUM_FIELDS; i++)
		append_field(line, layout, i, fields[i].heading);
	line[strlen(line) - 1] = '\0';
	fputs(bold ? "\033[7m" : "", out);
	put_truncated(out, line, columns);
	fputs(bold ? "\033[0m\n" : "\n", out);
}

static void put_row_line(const struct cli_top_row *row, const struct layout *layout, unsigned int columns, FILE *out)
{
	char numbers[NUM_FIELDS][CLI_HUMAN_SIZE];
	const char *texts[NUM_FIELDS];
	char line[LINE_SIZE] = "";

	for (int i = 0; i < NUM_FIELDS; i++)
		texts[i] = numbers[i];
	texts[SIDE] = row->side;
	texts[PROGRAM] = row->program;
	texts[CONTEXT] = row->object;
	snprintf(numbers[PID], CLI_HUMAN_SIZE, "%d", row->pid);
	cli_human_count(row->task_rate, numbers[TASKS]);
	cli_human_byte_rate(row->byte_rate, numbers[BYTES]);
	cli_human_time(row->mean_ns, numbers[LATENCY]);
	if (row->mean_ns == 0)
		strcpy(numbers[LATENCY], "-");
	cli_human_count(row->message_rate, numbers[MESSAGES]);
	cli_human_count(row->in_flight, numbers[FLY]);
	cli_human_count(row->failed, numbers[FAIL]);
	cli_human_count(row->faults, numbers[FLT]);
	for (int i = 0; i < NUM_FIELDS; i++)
		append_field(line, layout, i, texts[i]);
	line[strlen(line) - 1] = '\0';
	put_line(out, line, columns);
}

static void put_head(const struct cli_top_snapshot *snapshot, const char *dir, unsigned int columns, bool has_keys,
		     FILE *out)
{
	char line[LINE_SIZE], time[CLI_HUMAN_SIZE], rate[CLI_HUMAN_SIZE];

	cli_human_time(snapshot->session_ns, time);
	snprintf(line, sizeof(line), "bfsim top: %u %s, %u ended; clock %s, %s; %.300s", snapshot->num_alive,
		 snapshot->num_alive == 1 ? "process" : "processes", snapshot->num_ended,
		 snapshot->clock ? snapshot->clock : "unknown", time, dir);
	put_line(out, line, columns);
	cli_human_count(snapshot->hit_rate, rate);
	snprintf(line, sizeof(line), "faults: %" PRIu64 " %s, hit %" PRIu64 " times, %s/s now", snapshot->num_rules,
		 snapshot->num_rules == 1 ? "rule" : "rules", snapshot->num_hits, rate);
	put_line(out, line, columns);
	put_line(out, has_keys ? "q quits, h explains the columns" : "", columns);
}

void cli_top_print(const struct cli_top_snapshot *snapshot, const char *dir, unsigned int columns, unsigned int lines,
		   bool bold, FILE *out)
{
	size_t max_rows = lines > HEAD_LINES + 2 ? lines - HEAD_LINES - 2 : lines ? 1 : snapshot->num_rows;
	size_t count = min_size(snapshot->num_rows, max_rows);
	const struct layout layout = choose_layout(snapshot, columns);

	put_head(snapshot, dir, columns, bold, out);
	put_headings(&layout, columns, bold, out);
	for (size_t i = 0; i < count; i++)
		put_row_line(&snapshot->rows[i], &layout, columns, out);
	if (count < snapshot->num_rows)
		fprintf(out, "and %zu more\n", snapshot->num_rows - count);
}

void cli_top_print_help(unsigned int columns, unsigned int lines, FILE *out)
{
	static const char *const text[] = {
		"bfsim top: a line for each context and connection",
		"",
		"q  quit",
		"h  this page, and back",
		"",
		"TASK/S   tasks that ended, each second",
		"BYTES/S  bytes of tasks and messages",
		"LATENCY  mean of the sampled tasks that ended, from 89 columns on",
		"MSG/S    messages sent and received",
		"FLY      tasks in flight",
		"FAIL     failed tasks since the beginning",
		"FLT      faults that hit it, likewise",
		"",
		"A narrow window leaves columns out.",
		"man bfsim-top says more.",
	};
	size_t count = sizeof(text) / sizeof(text[0]);

	if (lines > 1)
		count = min_size(count, lines - 1);
	for (size_t i = 0; i < count; i++)
		put_line(out, text[i], columns);
}
