/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/side_env.h - environment variables that put a process on a side of a session.
 *
 *   BFSIM_SESSION     the session's directory, absolute
 *   BFSIM_SIDE        the side
 *   LD_LIBRARY_PATH   begins with the libraries of the side's SDK tree, for each architecture that is there, when bfsim
 *                     is installed; unchanged in a build tree
 *   BFSIM_PAGE_SIZE,  on a side with larger pages than this machine's: their size, and the library that
 *   LD_PRELOAD        gives them to programs (sim/preload); QEMU_SET_ENV names it to programs under an emulator
 */
#ifndef SIM_CLI_BASE_SIDE_ENV_H
#define SIM_CLI_BASE_SIDE_ENV_H

#include "install.h"

/* Put this process on @side of the session in @dir (absolute), with the libraries
 * of @generation. Returns 0, or -1 with the reason on standard error. */
int cli_set_side_env(const char *dir, const char *side, enum cli_generation generation);

#endif
