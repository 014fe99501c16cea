/* SPDX-License-Identifier: BSD-3-Clause */
/* Bars in a page, as SVG. */
#include "report_plot.h"

#include <inttypes.h>
#include <stdio.h>

#include "html.h"
#include "pcie_model/arith.h"

#define HEIGHT             1000 /* of the view box, where a bar is 10 wide */
#define MAX_LABELS         4
#define LAST_LABEL_PERCENT 80 /* labels from this position on are aligned to the right edge */

uint64_t cli_plot_largest(const uint64_t *values, uint32_t count)
{
	uint64_t largest = 0;

	for (uint32_t i = 0; i < count; i++)
		largest = max_u64(largest, values[i]);
	return largest;
}

static uint32_t height_of(uint64_t value, uint64_t top)
{
	if (value == 0 || top == 0)
		return 0;
	if (value >= top)
		return HEIGHT;
	value = (uint64_t)((unsigned __int128)value * HEIGHT / top);
	return value < HEIGHT / 100 ? HEIGHT / 100 : (uint32_t)value; /* at least visible */
}

static void put_bar(const struct cli_plot *plot, uint32_t number, uint64_t top, FILE *out)
{
	char from[CLI_HUMAN_SIZE], to[CLI_HUMAN_SIZE], value[CLI_HUMAN_SIZE];
	uint32_t height = height_of(plot->values[number], top);

	if (height == 0)
		return;
	plot->position_text(plot, number, from);
	plot->position_text(plot, number + 1, to);
	plot->value_text(plot->values[number], value);
	fprintf(out, "<rect x=\"%u.5\" y=\"%u\" width=\"9\" height=\"%u\"><title>%s to %s: %s</title></rect>\n",
		number * 10, HEIGHT - height, height, from, to, value);
}

/* Print at most MAX_LABELS labels, evenly spaced. */
static void put_labels(const struct cli_plot *plot, FILE *out)
{
	uint32_t step = (plot->count + MAX_LABELS - 1) / MAX_LABELS;
	char text[CLI_HUMAN_SIZE];

	fputs("<div class=\"x\" aria-hidden=\"true\">", out);
	for (uint32_t i = 0; i < plot->count; i += step) {
		plot->position_text(plot, i, text);
		if (i * 100 / plot->count >= LAST_LABEL_PERCENT)
			fprintf(out, "<span style=\"right:0\">%s</span>", text);
		else
			fprintf(out, "<span style=\"left:%u.%u%%\">%s</span>", i * 100 / plot->count,
				i * 1000 / plot->count % 10, text);
	}
	fputs("</div>\n", out);
}

void cli_plot_print(const struct cli_plot *plot, FILE *out)
{
	uint64_t top = plot->top ? plot->top : cli_plot_largest(plot->values, plot->count);
	char text[CLI_HUMAN_SIZE];

	plot->value_text(top, text);
	fprintf(out, "<figure class=\"%s\">\n<figcaption><b>", plot->colour);
	cli_html_put_escaped(out, plot->title);
	fputs("</b> ", out);
	cli_html_put_escaped(out, plot->caption);
	fprintf(out, "</figcaption>\n<div class=\"y\" aria-hidden=\"true\">%s</div>\n", text);
	fprintf(out, "<svg viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
		plot->count * 10, HEIGHT);
	cli_html_put_escaped(out, plot->title);
	fputs(": ", out);
	cli_html_put_escaped(out, plot->caption);
	fputs("\">\n", out);
	for (uint32_t i = 0; i < plot->count; i++)
		put_bar(plot, i, top, out);
	fputs("</svg>\n", out);
	put_labels(plot, out);
	fputs("</figure>\n", out);
}
