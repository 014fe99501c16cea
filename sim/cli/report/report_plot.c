/* SPDX-License-Identifier: BSD-3-Clause */
/* Bars in a page, as SVG, with labels and marks as HTML. */
#include "report_plot.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "html.h"
#include "pcie_model/arith.h"

#define HEIGHT          1000 /* of the view box, where a bar is 10 wide */
#define MAX_TIME_STEPS  4
#define RIGHT_ALIGNED   (CLI_PLOT_WIDTH * 96 / 100) /* labels from this position on end at it */
#define LEFT_ALIGNED    (CLI_PLOT_WIDTH * 4 / 100)  /* and those up to this one begin at it; others are centred */
#define MARK_TURNS_LEFT (CLI_PLOT_WIDTH / 2)        /* labels of marks from this position on are at their left */

uint64_t cli_plot_largest(const uint64_t *values, uint32_t count)
{
	uint64_t largest = 0;

	for (uint32_t i = 0; i < count; i++)
		largest = max_u64(largest, values[i]);
	return largest;
}

/* "2.50 ms" --> "2.5 ms", "2.00 ms" --> "2 ms" */
static void trim_zeros(char *text)
{
	char *point = strchr(text, '.'), *end, *rest;

	if (!point)
		return;
	end = rest = point + 1 + strspn(point + 1, "0123456789");
	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	memmove(end, rest, strlen(rest) + 1);
}

void cli_plot_add_label(struct cli_plot *plot, uint32_t position, const char *text)
{
	struct cli_plot_label *label = &plot->labels[plot->num_labels];

	if (plot->num_labels == CLI_PLOT_MAX_LABELS)
		return;
	plot->num_labels++;
	label->position = position;
	snprintf(label->text, sizeof(label->text), "%s", strcmp(text, "0 ns") == 0 ? "0" : text);
	trim_zeros(label->text);
}

struct cli_plot_mark *cli_plot_add_mark(struct cli_plot *plot, uint32_t position)
{
	struct cli_plot_mark *mark = &plot->marks[plot->num_marks];

	if (plot->num_marks == CLI_PLOT_MAX_MARKS)
		return NULL;
	plot->num_marks++;
	*mark = (struct cli_plot_mark){ .position = min_u32(position, CLI_PLOT_WIDTH) };
	return mark;
}

/* The smallest of 1, 2, 5, 10, 20, ... that makes at most MAX_TIME_STEPS steps. */
static uint64_t round_step(uint64_t length)
{
	static const uint64_t factors[] = { 1, 2, 5 };

	for (uint64_t unit = 1; unit < UINT64_MAX / 100; unit *= 10)
		for (int i = 0; i < 3; i++)
			if (length / (unit * factors[i]) <= MAX_TIME_STEPS)
				return unit * factors[i];
	return length;
}

void cli_plot_label_times(struct cli_plot *plot, uint64_t length_ns)
{
	uint64_t step = round_step(length_ns);
	char text[CLI_HUMAN_SIZE];

	for (uint64_t ns = 0; ns <= length_ns && plot->num_labels < CLI_PLOT_MAX_LABELS; ns += step) {
		cli_human_time(ns, text);
		cli_plot_add_label(plot, (uint32_t)((unsigned __int128)ns * CLI_PLOT_WIDTH / max_u64(length_ns, 1)),
				   text);
	}
}

static uint32_t height_of(uint64_t value, uint64_t top)
{
	if (value == 0 || top == 0)
		return 0;
	value = (uint64_t)((unsigned __int128)value * HEIGHT / top);
	return value < HEIGHT / 100 ? HEIGHT / 100 : (uint32_t)value; /* at least visible */
}

/* Bars of a plot with two series say of which they are. */
static void put_bar(const struct cli_plot *plot, const uint64_t *values, uint32_t number, uint64_t top, FILE *out)
{
	const char *series = !plot->before ? "" : values == plot->before ? "before, " : "now, ";
	bool is_narrow = plot->before && values != plot->before;
	char from[CLI_HUMAN_SIZE], to[CLI_HUMAN_SIZE], value[CLI_HUMAN_SIZE];
	uint32_t height = height_of(values[number], top);

	if (height == 0)
		return;
	plot->position_text(plot, number, from);
	plot->position_text(plot, number + 1, to);
	plot->value_text(values[number], value);
	fprintf(out, "<rect%s x=\"%u.5\" y=\"%u\" width=\"%d\" height=\"%u\"><title>%s%s to %s: %s</title></rect>\n",
		values == plot->before ? " class=\"before\"" : "", number * 10 + (is_narrow ? 3 : 0), HEIGHT - height,
		is_narrow ? 3 : 9, height, series, from, to, value);
}

static void put_left(uint32_t position, FILE *out)
{
	fprintf(out, "style=\"left:%u.%02u%%\"", position * 100 / CLI_PLOT_WIDTH,
		position * 100 % CLI_PLOT_WIDTH * 100 / CLI_PLOT_WIDTH);
}

/* A line for each mark. The mark's label is at the side that has more room. */
static void put_marks(const struct cli_plot *plot, FILE *out)
{
	for (uint32_t i = 0; i < plot->num_marks; i++) {
		const struct cli_plot_mark *mark = &plot->marks[i];

		fprintf(out, "<i class=\"mark%s%s\" ", mark->label[0] ? "" : " fault",
			mark->position >= MARK_TURNS_LEFT ? " left" : "");
		put_left(mark->position, out);
		fputs(" title=\"", out);
		cli_html_put_escaped(out, mark->tooltip);
		fputs("\">", out);
		if (mark->label[0])
			fprintf(out, "<span class=\"row%u\">%s</span>", mark->row, mark->label);
		fputs("</i>\n", out);
	}
}

/* A tick and a text for each label. */
static void put_labels(const struct cli_plot *plot, FILE *out)
{
	fputs("<div class=\"x\" aria-hidden=\"true\">", out);
	for (uint32_t i = 0; i < plot->num_labels; i++) {
		const struct cli_plot_label *label = &plot->labels[i];

		fputs("<i ", out);
		put_left(label->position, out);
		fprintf(out, "></i><span class=\"%s\" ",
			label->position <= LEFT_ALIGNED  ? "begins" :
			label->position >= RIGHT_ALIGNED ? "ends" :
							   "centred");
		put_left(label->position, out);
		fprintf(out, ">%s</span>", label->text);
	}
	fputs("</div>\n", out);
}

void cli_plot_print(const struct cli_plot *plot, FILE *out)
{
	uint64_t top = max_u64(cli_plot_largest(plot->values, plot->count),
			       plot->before ? cli_plot_largest(plot->before, plot->count) : 0);
	char text[CLI_HUMAN_SIZE];

	plot->value_text(top, text);
	fprintf(out, "<figure class=\"%s\">\n<figcaption><b>", plot->colour);
	cli_html_put_escaped(out, plot->title);
	fputs("</b> ", out);
	cli_html_put_escaped(out, plot->caption);
	fprintf(out, "</figcaption>\n<div class=\"y\" aria-hidden=\"true\"><span>%s</span>", text);
	if (plot->num_marks && plot->marks_key)
		fprintf(out, "<span class=\"key\">%s</span>", plot->marks_key);
	fprintf(out,
		"</div>\n<div class=\"plot\">\n<svg viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
		plot->count * 10, HEIGHT);
	cli_html_put_escaped(out, plot->title);
	fputs(": ", out);
	cli_html_put_escaped(out, plot->caption);
	fputs("\">\n", out);
	for (uint32_t i = 0; plot->before && i < plot->count; i++)
		put_bar(plot, plot->before, i, top, out);
	for (uint32_t i = 0; i < plot->count; i++)
		put_bar(plot, plot->values, i, top, out);
	fputs("</svg>\n", out);
	put_marks(plot, out);
	fputs("</div>\n", out);
	put_labels(plot, out);
	fputs("</figure>\n", out);
}
