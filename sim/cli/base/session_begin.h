/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/session_begin.h - bfsim up and bfsim join: a session that goes on when the command has ended. */
#ifndef SIM_CLI_BASE_SESSION_BEGIN_H
#define SIM_CLI_BASE_SESSION_BEGIN_H

#include "sim/cli/base/session_opt.h"
#include "sim/control/launch.h"

/* Start a session in the option's directory, and print it with commands to copy, which are those for this machine's sides. @launch:
 * its session_dir is set meanwhile. Returns CLI_OK or CLI_FAILED; what failed is said. */
int cli_session_begin(const struct cli_session_opt *session, struct sim_launch_cfg *launch);

#endif
