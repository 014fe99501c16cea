/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_plot.h - a bar chart in the page, with a caption.
 *
 * The bars are SVG and stretch with the window. Labels are HTML and do not, so that they stay readable in a narrow
 * window. The page runs no script, as CI systems forbid scripts in artifacts. Each bar has a tooltip with its numbers.
 */
#ifndef SIM_CLI_REPORT_REPORT_PLOT_H
#define SIM_CLI_REPORT_REPORT_PLOT_H

#include <stdio.h>

#include "sim/cli/base/human_format.h"

struct cli_plot {
	const char *title, *caption; /* quantity; summary of the values */
	const char *colour;          /* CSS class */
	const uint64_t *values;
	uint32_t count; /* > 0 */
	uint64_t top;   /* value of a bar of full height; 0 = the largest value */
	void (*value_text)(uint64_t value, char text[CLI_HUMAN_SIZE]);
	/* The position where bar @number begins; @number = count: where the last bar ends. */
	void (*position_text)(const struct cli_plot *plot, uint32_t number, char text[CLI_HUMAN_SIZE]);
	uint64_t first, step; /* for position_text() */
};

void cli_plot_print(const struct cli_plot *plot, FILE *out);

uint64_t cli_plot_largest(const uint64_t *values, uint32_t count);

#endif
