/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of an HTML page. */
#include "html.h"

#include <inttypes.h>
#include <stdbool.h>

#define MANY_COLUMNS 7 /* a table with more of them needs a wide window */

void cli_html_put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

static bool is_number(const char *heading)
{
	return heading[0] == '>';
}

/* The style sheet of a narrow window shows the headings, --c1, --c2, ..., above each cell. */
void cli_html_put_table_begin(FILE *out, const char *name, const char *const *headings)
{
	int count = 0;

	while (headings[count])
		count++;
	fprintf(out, "<div class=\"frame%s\" tabindex=\"0\" role=\"region\" aria-label=\"%s\" style=\"",
		count > MANY_COLUMNS ? " many" : "", name);
	for (int i = 0; i < count; i++)
		fprintf(out, "--c%d:'%s';", i + 1, headings[i] + is_number(headings[i]));
	fputs("\">\n<table>\n<thead><tr>", out);
	for (; *headings; headings++)
		fprintf(out, "<th scope=\"col\"%s>%s</th>", is_number(*headings) ? " class=\"n\"" : "",
			*headings + is_number(*headings));
	fputs("</tr></thead>\n<tbody>\n", out);
}

void cli_html_put_table_end(FILE *out)
{
	fputs("</tbody>\n</table>\n</div>\n", out);
}

void cli_html_put_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	cli_html_put_escaped(out, text);
	fputs("</td>", out);
}

void cli_html_put_number_cell(FILE *out, const char *text)
{
	fprintf(out, "<td class=\"n\">%s</td>", text);
}

void cli_html_put_count_cell(FILE *out, uint64_t count)
{
	fprintf(out, "<td class=\"n\">%" PRIu64 "</td>", count);
}
