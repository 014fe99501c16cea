/* SPDX-License-Identifier: BSD-3-Clause */
/* A look in lines, none of which is longer than the terminal is wide. */
#include <inttypes.h>
#include <string.h>

#include "sim/cli/base/human_format.h"
#include "top.h"

#define LINE_SIZE 512
#define HEAD_LINES 4

/* The first @columns characters. */
static void put_cut(FILE *out, const char *text, unsigned int columns)
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
	put_cut(out, text, columns);
	fputc('\n', out);
}

/* A text in a column of @width characters, with blanks behind it; appended to @line. */
static void add_text(char line[LINE_SIZE], const char *text, unsigned int width)
{
	size_t len = strlen(line);
	unsigned int count = 0;

	for (; *text && len + 8 < LINE_SIZE; text++) {
		if (((unsigned char)*text & 0xc0) != 0x80 && count++ == width) {
			count--;
			break;
		}
		line[len++] = *text;
	}
	for (; count <= width && len + 1 < LINE_SIZE; count++)
		line[len++] = ' ';
	line[len] = '\0';
}

static void add_right(char line[LINE_SIZE], const char *text, unsigned int width)
{
	size_t len = strlen(line);

	snprintf(line + len, LINE_SIZE - len, "%*s ", (int)width, text);
}

/* 80 columns of the terminal. Where there are fewer, those go first that say least. */
enum { PID, SIDE, PROGRAM, CONTEXT, TASKS, BYTES, MESSAGES, FLY, FAIL, FLT, NUM_FIELDS };

static const struct {
	const char *heading;
	unsigned int width;
	bool is_text;
} fields[NUM_FIELDS] = {
	[PID] = {"PID", 7, false},       [SIDE] = {"SIDE", 6, true},        [PROGRAM] = {"PROGRAM", 12, true},
	[CONTEXT] = {"CONTEXT", 12, true}, [TASKS] = {"TASK/S", 6, false},  [BYTES] = {"BYTES/S", 9, false},
	[MESSAGES] = {"MSG/S", 6, false}, [FLY] = {"FLY", 4, false},        [FAIL] = {"FAIL", 5, false},
	[FLT] = {"FLT", 4, false},
};

static const int goes_first[] = {PID, FLT, SIDE, FLY, MESSAGES, CONTEXT, BYTES, FAIL};

static void choose_fields(unsigned int columns, bool ret_shown[NUM_FIELDS])
{
	unsigned int width = 0;

	for (int i = 0; i < NUM_FIELDS; i++) {
		ret_shown[i] = true;
		width += fields[i].width + 1;
	}
	for (size_t i = 0; i < sizeof(goes_first) / sizeof(goes_first[0]) && width > columns + 1; i++) {
		ret_shown[goes_first[i]] = false;
		width -= fields[goes_first[i]].width + 1;
	}
}

static void add_field(char line[LINE_SIZE], int field, const char *text)
{
	if (fields[field].is_text)
		add_text(line, text, fields[field].width);
	else
		add_right(line, text, fields[field].width);
}

static void put_headings(unsigned int columns, bool bold, FILE *out)
{
	bool shown[NUM_FIELDS];
	char line[LINE_SIZE] = "";

	choose_fields(columns, shown);
	for (int i = 0; i < NUM_FIELDS; i++)
		if (shown[i])
			add_field(line, i, fields[i].heading);
	line[strlen(line) - 1] = '\0';
	fputs(bold ? "\033[7m" : "", out);
	put_cut(out, line, columns);
	fputs(bold ? "\033[0m\n" : "\n", out);
}

static void put_row(const struct cli_top_row *row, unsigned int columns, FILE *out)
{
	char numbers[NUM_FIELDS][CLI_FIGURE_SIZE];
	const char *texts[NUM_FIELDS];
	bool shown[NUM_FIELDS];
	char line[LINE_SIZE] = "";

	for (int i = 0; i < NUM_FIELDS; i++)
		texts[i] = numbers[i];
	texts[SIDE] = row->side;
	texts[PROGRAM] = row->program;
	texts[CONTEXT] = row->object;
	snprintf(numbers[PID], CLI_FIGURE_SIZE, "%d", row->pid);
	cli_count_text(row->task_rate, numbers[TASKS]);
	cli_rate_text(row->byte_rate, numbers[BYTES]);
	cli_count_text(row->message_rate, numbers[MESSAGES]);
	cli_count_text(row->in_flight, numbers[FLY]);
	cli_count_text(row->failed, numbers[FAIL]);
	cli_count_text(row->faults, numbers[FLT]);
	choose_fields(columns, shown);
	for (int i = 0; i < NUM_FIELDS; i++)
		if (shown[i])
			add_field(line, i, texts[i]);
	line[strlen(line) - 1] = '\0';
	put_line(out, line, columns);
}

static void put_head(const struct cli_top_look *look, const char *dir, unsigned int columns, FILE *out)
{
	char line[LINE_SIZE], time[CLI_FIGURE_SIZE], rate[CLI_FIGURE_SIZE];

	cli_time_text(look->session_ns, time);
	snprintf(line, sizeof(line), "bfsim top: %u %s, %u ended; clock %s, %s; %.300s", look->num_alive,
		 look->num_alive == 1 ? "process" : "processes", look->num_ended, look->clock ? look->clock : "unknown", time, dir);
	put_line(out, line, columns);
	cli_count_text(look->strike_rate, rate);
	snprintf(line, sizeof(line), "faults: %" PRIu64 " %s, struck %" PRIu64 " times, %s/s now", look->num_rules,
		 look->num_rules == 1 ? "rule" : "rules", look->num_struck, rate);
	put_line(out, line, columns);
	fputc('\n', out);
}

void cli_top_print(const struct cli_top_look *look, const char *dir, unsigned int columns, unsigned int lines, bool bold,
		   FILE *out)
{
	size_t room = lines > HEAD_LINES + 2 ? lines - HEAD_LINES - 2 : lines ? 1 : look->num_rows;
	size_t count = look->num_rows <= room ? look->num_rows : room;

	put_head(look, dir, columns, out);
	put_headings(columns, bold, out);
	for (size_t i = 0; i < count; i++)
		put_row(&look->rows[i], columns, out);
	if (count < look->num_rows)
		fprintf(out, "and %zu more\n", look->num_rows - count);
}
