/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/launch.h - start of a session's daemon: a separate process that reports when it is ready. */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "machines.h"
#include "session_dir_claim.h"
#include "sim/clock/clock.h"

struct sim_launch_cfg {
	const struct sim_session_dir *session_dir;
	const char *program;  /* bfsimd; NULL = $BFSIM_BFSIMD, else the bfsimd of this library's installation */
	const char *topology; /* file, or NULL for the built-in one */
	enum sim_clock_mode clock;
	uint32_t trace_level; /* sim/trace/trace.h; 0 = the default level */
	bool has_group;       /* share the session with @group */
	gid_t group;
	bool passes_memory; /* as of struct sim_daemon_cfg */
	/* If set, the daemon ends with the thread that started it, removes a directory that was made for it, and logs
	 * to the standard error of this process. Otherwise the daemon logs to DIR/bfsimd.log. */
	bool temporary;
	struct sim_machines_cfg machines;
};

/* Start a daemon and wait until its session can be used. Returns its process id, or -errno; on failure the session's
 * files are removed. -ECHILD: the daemon started and failed, and wrote the reason to standard error. For other errors
 * sim_last_error() has the reason. */
pid_t sim_launch(const struct sim_launch_cfg *cfg);

#endif
