/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/launch.h - starting a session's daemon: a process of its own that tells when it is ready. */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session_dir_claim.h"
#include "sim/clock/clock.h"

struct sim_launch_cfg {
	const struct sim_session_dir *session_dir;
	const char *program;  /* bfsimd; NULL = $BFSIM_BFSIMD, else the one that belongs to this library */
	const char *topology; /* file, or NULL for the built-in one */
	enum sim_clock_mode clock;
	uint32_t trace_level; /* sim/trace/trace.h; 0 = the usual */
	bool temporary;       /* ends with the thread that started it, and removes a directory that was made for
				* it; speaks on our standard error. Else it logs to DIR/bfsimd.log. */
};

/* Start a daemon and wait until its session can be used. Returns its process id,
 * or -errno with the session unmade: -ECHILD when it started, failed, and has said
 * why on standard error; else sim_last_error() does. */
pid_t sim_launch(const struct sim_launch_cfg *cfg);

#endif
