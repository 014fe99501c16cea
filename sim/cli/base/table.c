/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in columns. */
#include "table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "color.h"
#include "pcie_model/arith.h"
#include "sim/base/printable.h"

void cli_table_add(struct cli_table *table, const char *format, ...)
{
	char **cells = reallocarray(table->cells, table->num_cells + 1, sizeof(*cells));
	char *cell;
	va_list args;

	if (cells) {
		table->cells = cells;
		va_start(args, format);
		if (vasprintf(&cell, format, args) < 0)
			cell = NULL;
		va_end(args);
		if (cell)
			sim_make_printable(cell);
		cells[table->num_cells++] = cell;
	}
	if (!cells || !cell)
		table->failed = 1;
}

void cli_table_add_cells(struct cli_table *table, const struct cli_field *fields, const void *object)
{
	size_t column = table->num_cells % table->num_columns;
	char buffer[CLI_FIELD_SIZE];

	for (; column < table->num_columns; column++) {
		const struct cli_field *field = cli_field_of_heading(fields, table->headings[column]);

		if (!field)
			break;
		cli_table_add(table, "%s", cli_field_text(field, object, buffer));
	}
}

static bool is_right_aligned(const struct cli_table *table, size_t column)
{
	return table->headings[column][0] == '>';
}

static const char *heading_text(const struct cli_table *table, size_t column)
{
	return table->headings[column] + is_right_aligned(table, column);
}

static size_t column_width(const struct cli_table *table, size_t column)
{
	size_t widest = strlen(heading_text(table, column));

	for (size_t i = column; i < table->num_cells; i += table->num_columns)
		widest = max_u64(widest, strlen(table->cells[i]));
	return widest;
}

/* The last column is not padded. */
static void print_cell(const struct cli_table *table, size_t column, size_t width, const char *text)
{
	bool is_last = column + 1 == table->num_columns;
	int pad = (int)width;

	if (is_right_aligned(table, column))
		printf("%*s", pad, text);
	else
		printf("%-*s", is_last ? 0 : pad, text);
	fputs(is_last ? "\n" : "  ", stdout);
}

int cli_table_print(struct cli_table *table)
{
	size_t *widths = calloc(table->num_columns + 1, sizeof(*widths));
	bool complete = !table->failed && widths;

	for (size_t column = 0; complete && column < table->num_columns; column++)
		widths[column] = column_width(table, column);
	fputs(cli_color(stdout, CLI_BOLD), stdout);
	for (size_t column = 0; complete && column < table->num_columns; column++)
		print_cell(table, column, widths[column], heading_text(table, column));
	fputs(cli_color(stdout, CLI_NO_COLOR), stdout);
	for (size_t i = 0; complete && i < table->num_cells; i++)
		print_cell(table, i % table->num_columns, widths[i % table->num_columns], table->cells[i]);
	for (size_t i = 0; i < table->num_cells; i++)
		free(table->cells[i]);
	free(widths);
	free(table->cells);
	table->cells = NULL;
	table->num_cells = 0;
	if (!complete)
		cli_fail("out of memory");
	return complete ? 0 : -1;
}
