/* SPDX-License-Identifier: BSD-3-Clause */
#include "session_start.h"

#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "install.h"
#include "sim/base/last_error.h"

static int said(int rc)
{
	if (rc == 0)
		return 0;
	cli_fail("%s", sim_why());
	return -1;
}

int cli_session_prepare(const char *dir, struct sim_place *ret_place)
{
	return said(sim_place_take(dir, ret_place));
}

int cli_session_prepare_temporary(struct sim_place *ret_place)
{
	return said(sim_place_temporary(ret_place));
}

pid_t cli_daemon_start(const struct sim_launch_cfg *cfg)
{
	char *program = cli_bfsimd_path();
	struct sim_launch_cfg with_program = *cfg;
	pid_t pid;

	if (!program) {
		cli_fail("cannot find bfsimd from /proc/self/exe: set BFSIM_BFSIMD to where it is");
		sim_place_unmake(cfg->place);
		return -1;
	}
	with_program.program = program;
	pid = sim_launch(&with_program);
	free(program);
	if (pid < 0 && pid != -ECHILD)
		cli_fail("%s", sim_why());
	return pid < 0 ? -1 : pid;
}
