/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/program.h - one command of bfsim run: a shell in a process group, and its standard streams as pipes. */
#ifndef SIM_CLI_RUN_PROGRAM_H
#define SIM_CLI_RUN_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "sim/cli/base/check_opt.h"
#include "sim/cli/base/install.h"
#include "output_relay.h"

struct cli_program {
	const char *label; /* before its lines: its side, or "SIDE#2" */
	bool was_started;
	bool was_struck; /* a rule has killed it, and the run went on */
	int status;      /* its exit status, once it has ended; -1 before */
	pid_t group; /* id of its process group, which stays when it has ended; 0 = none that a signal was sent to */
	pid_t pid;   /* also the id of its process group; 0 = not running */
	int in_fd;   /* its standard input; -1 = closed */
	struct cli_output_relay out, err;
};

struct cli_program_cfg {
	const char *side, *label;
	const char *text; /* for /bin/sh -c */
	const char *dir;  /* of the session, absolute */
	enum cli_generation generation;
	const struct cli_check_opt *check;
	const char *hits_path; /* the checker's file of hits, or NULL */
	const char *launch;    /* text of sim/clock/launch.h, or NULL */
	const sigset_t *mask;  /* signal mask of the program */
	int name_width;        /* of the label before its lines */
	int epoll_fd;          /* of its output's relays */
};

/* A program that was not started. */
#define CLI_PROGRAM_NONE(label_)                                                                      \
	{                                                                                             \
		.label = (label_), .status = -1, .in_fd = -1, .out = { .fd = -1 }, .err = {.fd = -1 } \
	}

/* Start a program. Returns 0, or -1 with a message; then there is nothing to release. */
int cli_program_start(const struct cli_program_cfg *cfg, struct cli_program *ret_program);

/* Write a newline to the standard input of the program and close it. A second call does nothing. */
void cli_program_end_input(struct cli_program *program);

/* Pass on its last output and close all pipes. */
void cli_program_fini(struct cli_program *program);

#endif
