/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/output_relay.h - the output of a program, passed on in whole lines with a name before each.
 *
 *   program --pipe--> held until its line is complete --> "NAME| line"
 *
 * A line longer than CLI_OUTPUT_RELAY_LINE_MAX is split; a last line without a newline gets one.
 *
 * Order: epoll_wait() names relays in the order in which their programs wrote first since they were last forwarded. A
 * pipe does not keep the times of what is written later, before the relay is forwarded.
 */
#ifndef SIM_CLI_RUN_OUTPUT_RELAY_H
#define SIM_CLI_RUN_OUTPUT_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CLI_OUTPUT_RELAY_LINE_MAX (1 << 20)

struct cli_output_relay {
	int fd;       /* non-blocking; -1 after its end */
	int epoll_fd; /* borrowed */
	FILE *out;
	const char *name;
	int name_width; /* names are padded to it */
	char *partial;  /* the incomplete line */
	size_t len, size;
};

/* Relay the output of @fd, which the relay owns and makes non-blocking. When there is output, @epoll_fd has an event whose
 * data.ptr is the relay, once until cli_output_relay_forward(). @name is borrowed. Returns 0 or -errno. */
int cli_output_relay_init(struct cli_output_relay *relay, int fd, FILE *out, const char *name, int name_width,
			  int epoll_fd);

/* Read once and pass on complete lines; close fd at its end. Returns false after a write error. */
bool cli_output_relay_forward(struct cli_output_relay *relay);

/* Pass on what can be read now and the incomplete line, and close fd. */
void cli_output_relay_fini(struct cli_output_relay *relay);

#endif
