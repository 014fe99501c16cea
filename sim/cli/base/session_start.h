/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/session_start.h - creating a session (sim/control/launch.h), with messages on standard error. */
#ifndef SIM_CLI_BASE_SESSION_START_H
#define SIM_CLI_BASE_SESSION_START_H

#include "sim/control/launch.h"

/* As sim_session_dir_claim() and sim_session_dir_create_temporary(). Return 0, or -1 with nothing to release. */
int cli_session_prepare(const char *dir, struct sim_session_dir *ret_dir);
int cli_session_prepare_temporary(struct sim_session_dir *ret_dir);

/* Start the daemon of this installation; @cfg->program is ignored. Returns its process id. On failure, returns -1
 * and removes the session. */
pid_t cli_daemon_start(const struct sim_launch_cfg *cfg);

#endif
