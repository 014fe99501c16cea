/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_plot.h - bars over something, in a page: a figure that says in words what it shows.
 *
 * The bars are SVG and stretch with the window; letters are the page's own and do
 * not, so that they are as readable in a narrow one. Nothing runs in the page: it
 * can be looked at where scripts are forbidden, as CI systems do for what
 * builds leave behind. Each bar says its numbers when it is pointed at.
 */
#ifndef SIM_CLI_REPORT_REPORT_PLOT_H
#define SIM_CLI_REPORT_REPORT_PLOT_H

#include <stdio.h>

#include "sim/cli/base/human_format.h"

struct cli_plot {
	const char *title, *caption; /* what it is; what it shows */
	const char *colour;          /* class of the page's style */
	const uint64_t *values;
	uint32_t count; /* > 0 */
	uint64_t top;   /* value of full height; 0 = the largest */
	void (*value_text)(uint64_t value, char text[CLI_HUMAN_SIZE]);
	/* Where bar @number begins; number = count: where the last ends. */
	void (*position_text)(const struct cli_plot *plot, uint32_t number, char text[CLI_HUMAN_SIZE]);
	uint64_t first, step; /* for position_text() */
};

void cli_plot_print(const struct cli_plot *plot, FILE *out);

uint64_t cli_plot_largest(const uint64_t *values, uint32_t count);

#endif
