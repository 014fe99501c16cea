/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/color.h - colours on a terminal.
 *
 * A stream that is no terminal has none, and none has them if NO_COLOR is set (and not empty) or TERM is "dumb".
 */
#ifndef SIM_CLI_BASE_COLOR_H
#define SIM_CLI_BASE_COLOR_H

#include <stdbool.h>
#include <stdio.h>

enum cli_color {
	CLI_NO_COLOR = 0, /* back to the terminal's own */
	CLI_BOLD,
	CLI_RED,
	CLI_GREEN,
	CLI_YELLOW,
	CLI_BLUE,
	CLI_MAGENTA,
	CLI_CYAN,
};

/* The control sequence that begins @color on @out; "" without colours. */
const char *cli_color(FILE *out, enum cli_color color);

#endif
