/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/program.h - one command of bfsim run: a shell in a process group, and our ends of its three pipes. */
#ifndef SIM_CLI_RUN_PROGRAM_H
#define SIM_CLI_RUN_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "sim/cli/base/install.h"
#include "output_relay.h"

struct cli_program {
	const char *side;
	pid_t pid; /* also its process group's id; 0 = not running */
	int in_fd; /* its standard input; -1 = closed */
	struct cli_output_relay out, err;
};

struct cli_program_cfg {
	const char *side;
	const char *text; /* for /bin/sh -c */
	const char *dir;  /* the session's, absolute */
	enum cli_generation generation;
	const sigset_t *mask; /* its signal mask */
	int name_width;       /* before its lines */
};

/* Start it. Returns 0, or -1 with the reason on standard error and nothing to release. */
int cli_program_start(const struct cli_program_cfg *cfg, struct cli_program *ret_program);

/* Its input brings a newline and its end; nothing happens when it did already. */
void cli_program_end_input(struct cli_program *program);

/* Pass on what it wrote last, and close all. */
void cli_program_fini(struct cli_program *program);

#endif
