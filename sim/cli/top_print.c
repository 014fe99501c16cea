/* SPDX-License-Identifier: BSD-3-Clause */
/* A look in lines, none of which is longer than the terminal is wide. */
#include <inttypes.h>
#include <string.h>

#include "report_text.h"
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

static void add_count(char line[LINE_SIZE], uint64_t count, unsigned int width)
{
	char text[CLI_FIGURE_SIZE];

	cli_count_text(count, text);
	add_right(line, text, width);
}

/* 80 columns; rows have the same widths. */
static void put_headings(unsigned int columns, bool bold, FILE *out)
{
	char line[LINE_SIZE];

	snprintf(line, sizeof(line), "%7s %-6s %-12s %-12s %6s %9s %6s %4s %5s %4s", "PID", "SIDE", "PROGRAM", "CONTEXT",
		 "TASK/S", "BYTES/S", "MSG/S", "FLY", "FAIL", "FLT");
	fputs(bold ? "\033[7m" : "", out);
	put_cut(out, line, columns);
	fputs(bold ? "\033[0m\n" : "\n", out);
}

static void put_row(const struct cli_top_row *row, unsigned int columns, FILE *out)
{
	char line[LINE_SIZE], text[CLI_FIGURE_SIZE];

	snprintf(line, sizeof(line), "%7d ", row->pid);
	add_text(line, row->side, 6);
	add_text(line, row->program, 12);
	add_text(line, row->object, 12);
	add_count(line, row->task_rate, 6);
	cli_rate_text(row->byte_rate, text);
	add_right(line, text, 9);
	add_count(line, row->message_rate, 6);
	add_count(line, row->in_flight, 4);
	add_count(line, row->failed, 5);
	add_count(line, row->faults, 4);
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
