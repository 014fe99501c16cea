/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of an HTML page. */
#include "html.h"

#include <inttypes.h>
#include <stdbool.h>

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

void cli_html_put_table_begin(FILE *out, const char *name, const char *const *headings)
{
	fprintf(out, "<div class=\"frame\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n<table>\n<thead><tr>",
		name);
	for (; *headings; headings++) {
		bool is_number = (*headings)[0] == '>';

		fprintf(out, "<th scope=\"col\"%s>%s</th>", is_number ? " class=\"n\"" : "", *headings + is_number);
	}
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
