/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/install.h - paths of this installation.
 *
 *   PREFIX/bin/bfsim, bfsimd     PREFIX/sdk/{,task-2.5-,workq-}{host,dpu}/lib/ARCH-linux-gnu
 *
 * A prefix may have the libraries of several architectures (ARCH: x86_64, aarch64), and the command of one.
 * Paths are relative to the running program, so that an installation can be moved. The caller frees results.
 */
#ifndef SIM_CLI_BASE_INSTALL_H
#define SIM_CLI_BASE_INSTALL_H

#include <stdbool.h>

#include "args.h"

/* The daemon's program: $BFSIM_BFSIMD, else bfsimd beside this program. NULL without memory. */
char *cli_bfsimd_path(void);

/* The generation of DOCA's interface that a program is written for. */
enum cli_generation {
	CLI_GENERATION_TASK = 0, /* 2.5 and later: tasks and progress engines */
	CLI_GENERATION_WORKQ,    /* 1.5 to 2.2: jobs and work queues */
	CLI_GENERATION_TASK_2_5, /* 2.5 and 2.6, whose RDMA is another interface than that of later releases */
};

/* The generation with that name, "task", "task-2.5" or "workq". Returns 0, or -1 for another name. */
int cli_generation_parse(const char *name, enum cli_generation *ret_generation);

/* Set an enum cli_generation. */
cli_option_set cli_set_generation;

/* Its name. */
const char *cli_generation_name(enum cli_generation generation);

/* Help text of the option, and the message for another name (printf: the name). */
#define CLI_GENERATION_HELP  "task (DOCA 2.5 and later), task-2.5 (RDMA of 2.5 and 2.6) or workq (1.5 to 2.2)"
#define CLI_GENERATION_WRONG "--generation %s: there are three, task, task-2.5 and workq"

/* The SDK tree for programs of @generation on @side; it need not exist. NULL without memory. */
char *cli_sdk_tree(enum cli_generation generation, const char *side);

/* The directory of the libraries for @arch in that tree; it need not exist. NULL without memory. */
char *cli_sdk_libdir(enum cli_generation generation, const char *side, const char *arch);

/* The directory of those libraries outside of the trees, whose libraries are links to them: all that programs need to run. It
 * need not exist. NULL without memory. */
char *cli_libdir(enum cli_generation generation, const char *arch);

/* Whether the installation has libraries for @arch. A tree without them may have a directory for @arch, with links to the
 * libraries for another one (shim/abi/link_trees.py). */
bool cli_has_libraries(enum cli_generation generation, const char *arch);

/* Whether this program is of an installation, not of a build tree. */
bool cli_is_installed(void);

/* The prefix, if bfsim is installed there without the libraries for @arch; else NULL, as in a build tree. */
char *cli_prefix_without(const char *arch);

/* The library that gives programs of @arch larger pages (sim/preload); it need not exist. NULL without memory. */
char *cli_pages_library(const char *arch);

/* The directory that has the folder doc of the documents, if bfsim is installed; it need not exist. NULL without memory. */
char *cli_doc_dir(void);

/* The architectures of programs, with that of this program first, up to NULL. */
extern const char *const cli_archs[];

/* The directory of the libraries in a tree, as a format; the argument is the architecture. */
#define CLI_LIBDIR_FORMAT "lib/%s-linux-gnu"

/* The program that bfsim bench runs on a side (shim/bench); it need not exist. NULL without memory. */
char *cli_bench_probe_path(void);

#endif
