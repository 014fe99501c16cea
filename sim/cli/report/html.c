/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of an HTML page. */
#include "html.h"

#include <inttypes.h>
#include <string.h>

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

void cli_html_put_code_cell(FILE *out, const char *text)
{
	fputs("<td class=\"wide\"><code>", out);
	cli_html_put_escaped(out, text);
	fputs("</code></td>", out);
}

void cli_html_put_number_cell(FILE *out, const char *text)
{
	fprintf(out, "<td class=\"n\">%s</td>", text);
}

void cli_html_put_count_cell(FILE *out, uint64_t count)
{
	fprintf(out, "<td class=\"n\">%" PRIu64 "</td>", count);
}

/* Numbers need no escapes, and texts may not be there. */
static void put_field(FILE *out, const struct cli_field *field, const void *object)
{
	char buffer[CLI_FIELD_SIZE];
	const char *text = cli_field_text(field, object, buffer);

	if (is_number(field->heading))
		cli_html_put_number_cell(out, text);
	else
		cli_html_put_cell(out, strcmp(text, "-") == 0 ? "\u2013" : text);
}

void cli_html_put_table(FILE *out, const char *name, const char *const *headings, const struct cli_field *fields,
			const void *objects, size_t count, size_t size)
{
	cli_html_put_table_begin(out, name, headings);
	for (size_t i = 0; i < count; i++) {
		fputs("<tr>", out);
		for (const char *const *heading = headings; *heading; heading++)
			put_field(out, cli_field_of_heading(fields, *heading), (const char *)objects + i * size);
		fputs("</tr>\n", out);
	}
	cli_html_put_table_end(out);
}

void cli_html_put_navigation(FILE *out, const struct cli_html_section *section)
{
	fputs("<nav>", out);
	for (; section->id; section++)
		if (section->is_there)
			fprintf(out, "<a href=\"#%s\">%s</a>\n", section->id, section->name);
	fputs("</nav>\n", out);
}
