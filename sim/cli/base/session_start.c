/* SPDX-License-Identifier: BSD-3-Clause */
/* Creating a session, with messages on standard error. */
#include "session_start.h"

#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "install.h"
#include "sim/base/last_error.h"

static int report_if_failed(int rc)
{
	if (rc == 0)
		return 0;
	return cli_error("%s", sim_last_error());
}

int cli_session_prepare(const char *dir, struct sim_session_dir *ret_dir)
{
	return report_if_failed(sim_session_dir_claim(dir, ret_dir));
}

int cli_session_prepare_temporary(struct sim_session_dir *ret_dir)
{
	return report_if_failed(sim_session_dir_create_temporary(ret_dir));
}

pid_t cli_daemon_start(const struct sim_launch_cfg *cfg)
{
	char *program = cli_bfsimd_path();
	struct sim_launch_cfg with_program = *cfg;
	pid_t pid;

	if (!program) {
		cli_fail("cannot find bfsimd from /proc/self/exe: set BFSIM_BFSIMD to where it is");
		sim_session_dir_remove(cfg->session_dir);
		return -1;
	}
	with_program.program = program;
	pid = sim_launch(&with_program);
	free(program);
	if (pid < 0 && pid != -ECHILD)
		cli_fail("%s", sim_last_error());
	return pid < 0 ? -1 : pid;
}
