/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/html.h - elements of an HTML page. Functions print to @out; the caller tests ferror(@out). */
#ifndef SIM_CLI_REPORT_HTML_H
#define SIM_CLI_REPORT_HTML_H

#include <stdio.h>

#include "sim/cli/base/fields.h"

/* Text that is not ours, with the characters of markup escaped. */
void cli_html_put_escaped(FILE *out, const char *text);

/* A table in a frame. In a narrow window the style sheet makes a box of each row, with the headings in it; a page has at most
 * eleven columns. @name is the label. @headings end with NULL; '>' before a heading makes a column of numbers. */
void cli_html_put_table_begin(FILE *out, const char *name, const char *const *headings);
void cli_html_put_table_end(FILE *out);

/* A whole table: a row for each object of an array, with those of its fields (sim/cli/base/fields.h) that the headings name. */
void cli_html_put_table(FILE *out, const char *name, const char *const *headings, const struct cli_field *fields,
			const void *objects, size_t count, size_t size);

/* Links to the sections of a page that are there; one without an id is the last. */
struct cli_html_section {
	bool is_there;
	const char *id, *name;
};
void cli_html_put_navigation(FILE *out, const struct cli_html_section *sections);

/* A wide cell of code, such as a rule. */
void cli_html_put_code_cell(FILE *out, const char *text);

/* Cells: a text, which is escaped; a formatted number or markup, which is not; and a count. */
void cli_html_put_cell(FILE *out, const char *text);
void cli_html_put_number_cell(FILE *out, const char *html);
void cli_html_put_count_cell(FILE *out, uint64_t count);

#endif
