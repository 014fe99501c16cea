/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/output_relay.h - what a program writes, passed on in whole lines with a name before each.
 *
 *   program --pipe--> held until its line is complete --> "NAME| line"
 *
 * A line longer than CLI_OUTPUT_RELAY_LINE_MAX is broken there; a last line without an end
 * gets one.
 */
#ifndef SIM_CLI_RUN_OUTPUT_RELAY_H
#define SIM_CLI_RUN_OUTPUT_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CLI_OUTPUT_RELAY_LINE_MAX (1 << 20)

struct cli_output_relay {
	int fd; /* non-blocking; -1 when all was read */
	FILE *out;
	const char *name;
	int name_width; /* names are padded to it */
	char *partial;  /* the begun line */
	size_t len, size;
};

/* Pass on what @fd (taken over, made non-blocking) brings. @name is borrowed. */
void cli_output_relay_init(struct cli_output_relay *relay, int fd, FILE *out, const char *name, int name_width);

/* Read what is there, once; closes fd at its end. Returns whether the output took it all. */
bool cli_output_relay_forward(struct cli_output_relay *relay);

/* Pump until there is nothing more to read now, and pass on what is held. */
void cli_output_relay_fini(struct cli_output_relay *relay);

#endif
