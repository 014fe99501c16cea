/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/table.h - text in columns, each as wide as its longest cell.
 *
 * Add the cells row by row, from left to right, then print the table. Printing reports a lack of memory.
 */
#ifndef SIM_CLI_BASE_TABLE_H
#define SIM_CLI_BASE_TABLE_H

#include <stddef.h>

#include "fields.h"

struct cli_table {
	const char *const *headings; /* borrowed; '>' before a heading aligns the column to the right */
	size_t num_columns;
	char **cells;
	size_t num_cells;
	int failed; /* out of memory */
};

#define CLI_TABLE(headings_)                                                                       \
	{                                                                                          \
		.headings = (headings_), .num_columns = sizeof(headings_) / sizeof((headings_)[0]) \
	}

/* Add a cell, formatted like printf. What is not printable becomes "?". */
void cli_table_add(struct cli_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Add cells of @object: of the fields (fields.h) with the headings that are next, up to the first that has no field, or to the end
 * of the row. */
void cli_table_add_cells(struct cli_table *table, const struct cli_field *fields, const void *object);

/* Print it to standard output and free its cells. Returns 0, or -1 (out of
 * memory; nothing was printed). */
int cli_table_print(struct cli_table *table);

#endif
