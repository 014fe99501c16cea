/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/install.h - where the parts of this installation are.
 *
 *   PREFIX/bin/bfsim, bfsimd     PREFIX/sdk/{host,dpu}/lib/MULTIARCH
 *
 * All are found from the running program's own place, so that an installation
 * can be moved. Results are the caller's (free()).
 */
#ifndef SIM_CLI_INSTALL_H
#define SIM_CLI_INSTALL_H

/* The daemon's program: $BFSIM_BFSIMD, else the one beside this program. NULL: out of memory. */
char *cli_bfsimd_path(void);

/* The SDK tree for programs on @side, whether it exists or not. NULL: out of memory. */
char *cli_sdk_tree(const char *side);

/* Libraries of a tree, below it. */
#define CLI_SDK_LIBDIR BFSIM_LIBDIR

#endif
