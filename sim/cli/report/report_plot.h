/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_plot.h - a bar chart in the page, with a caption.
 *
 * The bars are SVG and stretch with the window. Labels and marks are HTML and do not, so that they stay readable in a narrow
 * window. The page runs no script, as CI systems forbid scripts in artifacts. Each bar and each mark has a tooltip with its
 * numbers.
 */
#ifndef SIM_CLI_REPORT_REPORT_PLOT_H
#define SIM_CLI_REPORT_REPORT_PLOT_H

#include <stdio.h>

#include "sim/cli/base/human_format.h"

#define CLI_PLOT_MAX_LABELS 6
#define CLI_PLOT_MAX_MARKS  64
#define CLI_PLOT_WIDTH      10000 /* positions: 0 at the left edge, this at the right one */

struct cli_plot_label {
	uint32_t position;
	char text[CLI_HUMAN_SIZE];
};

/* A vertical line. */
struct cli_plot_mark {
	uint32_t position;
	uint32_t row;     /* of its label: labels of different rows do not overlap */
	char label[16];   /* "" = none */
	char tooltip[96]; /* no markup */
};

struct cli_plot {
	const char *title, *caption; /* quantity; summary of the values */
	const char *colour;          /* CSS class */
	const uint64_t *values;
	const uint64_t *before; /* the same of an earlier run, in wide, pale bars behind narrow ones; NULL = none */
	uint32_t count;         /* > 0 */
	void (*value_text)(uint64_t value, char text[CLI_HUMAN_SIZE]);
	/* The position where bar @number begins; @number = count: where the last bar ends. */
	void (*position_text)(const struct cli_plot *plot, uint32_t number, char text[CLI_HUMAN_SIZE]);
	uint64_t first, step;  /* for position_text() */
	const char *marks_key; /* what the marks are, if labels do not say; NULL = nothing */
	struct cli_plot_label labels[CLI_PLOT_MAX_LABELS];
	uint32_t num_labels;
	struct cli_plot_mark marks[CLI_PLOT_MAX_MARKS];
	uint32_t num_marks;
};

/* Label a time axis of @length_ns at round times: 0, 200 us, 400 us. */
void cli_plot_label_times(struct cli_plot *plot, uint64_t length_ns);

/* Add a label, without zeros behind its decimal point; none if there are CLI_PLOT_MAX_LABELS. */
void cli_plot_add_label(struct cli_plot *plot, uint32_t position, const char *text);

/* Add a mark and return it; NULL if there are CLI_PLOT_MAX_MARKS. */
struct cli_plot_mark *cli_plot_add_mark(struct cli_plot *plot, uint32_t position);

void cli_plot_print(const struct cli_plot *plot, FILE *out);

uint64_t cli_plot_largest(const uint64_t *values, uint32_t count);

#endif
