/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/install.h - where the parts of this installation are.
 *
 *   PREFIX/bin/bfsim, bfsimd     PREFIX/sdk/{host,dpu,workq-host,workq-dpu}/lib/MULTIARCH
 *
 * All are found from the running program's own place, so that an installation
 * can be moved. Results are the caller's (free()).
 */
#ifndef SIM_CLI_BASE_INSTALL_H
#define SIM_CLI_BASE_INSTALL_H

/* The daemon's program: $BFSIM_BFSIMD, else the one beside this program. NULL: out of memory. */
char *cli_bfsimd_path(void);

/* Which of the vendor's interfaces a program is written for. */
enum cli_generation {
	CLI_GENERATION_TASK = 0, /* 2.5 and later: tasks and progress engines */
	CLI_GENERATION_WORKQ,    /* 1.5 to 2.2: jobs and work queues */
};

/* The generation of that name, "task" or "workq". Returns 0, or -1 for another name. */
int cli_generation_parse(const char *name, enum cli_generation *ret_generation);

/* Its name. */
const char *cli_generation_name(enum cli_generation generation);

/* What help says of the option that takes it, and what is wrong with another name (printf: the name). */
#define CLI_GENERATION_HELP  "task (DOCA 2.5 and later) or workq (1.5 to 2.2)"
#define CLI_GENERATION_WRONG "--generation %s: there are two, task and workq"

/* The SDK tree for programs of @generation on @side, whether it exists or not. NULL: out of memory. */
char *cli_sdk_tree(enum cli_generation generation, const char *side);

/* Libraries of a tree, below it. */
#define CLI_SDK_LIBDIR BFSIM_LIBDIR

#endif
