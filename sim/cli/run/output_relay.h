/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/output_relay.h - what a program writes, passed on in whole lines with a name before each.
 *
 *   program --pipe--> held until its line is complete --> "NAME| line"
 *
 * A line longer than CLI_LINE_MAX is broken there; a last line without an end
 * gets one.
 */
#ifndef SIM_CLI_LINES_H
#define SIM_CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CLI_LINE_MAX (1 << 20)

struct cli_lines {
	int fd;             /* non-blocking; -1 when all was read */
	FILE *out;
	const char *name;
	int name_width;     /* names are padded to it */
	char *held;         /* the begun line */
	size_t len, size;
};

/* Pass on what @fd (taken over, made non-blocking) brings. @name is borrowed. */
void cli_lines_init(struct cli_lines *lines, int fd, FILE *out, const char *name, int name_width);

/* Read what is there, once; closes fd at its end. Returns whether the output took it all. */
bool cli_lines_pump(struct cli_lines *lines);

/* Pump until there is nothing more to read now, and pass on what is held. */
void cli_lines_fini(struct cli_lines *lines);

#endif
