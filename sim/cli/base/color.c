/* SPDX-License-Identifier: BSD-3-Clause */
/* Colours on a terminal. */
#include "color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_colors(FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if ((no_color && no_color[0]) || !term || !term[0] || strcmp(term, "dumb") == 0)
		return false;
	return isatty(fileno(out)) == 1;
}

const char *cli_color(FILE *out, enum cli_color color)
{
	static const char *const sequences[] = {
		[CLI_NO_COLOR] = "\033[0m", [CLI_BOLD] = "\033[1m",    [CLI_RED] = "\033[1;31m",
		[CLI_GREEN] = "\033[32m",   [CLI_YELLOW] = "\033[33m", [CLI_BLUE] = "\033[34m",
		[CLI_MAGENTA] = "\033[35m", [CLI_CYAN] = "\033[36m",
	};

	return has_colors(out) ? sequences[color] : "";
}
