/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/daemon/daemon.h - the card's daemon: owns a session's state until it is told to end.
 *
 * One thread, one epoll loop, no blocking call: a peer that does not read its
 * socket delays nobody. Bytes never pass through it. When a process's socket
 * closes, or it dies while a forked child has the socket still open, its
 * exports are revoked and its imports dropped. An exporter's revocation is
 * answered when every importer has let go; an importer that is stopped is
 * waited for once, for REVOKE_TIMEOUT_MS, and then no more until it speaks.
 */
#ifndef SIM_DAEMON_H
#define SIM_DAEMON_H

#include "sim/clock/clock.h"
#include <stdint.h>

struct sim_daemon_cfg {
	const char *dir;           /* the session's directory; created when it does not exist */
	const char *topology_path; /* YAML file; NULL = the built-in topology */
	enum sim_clock_mode clock; /* how its time passes */
	uint32_t trace_level; /* what processes record (sim/trace/trace.h), unless they know better; 0 = as is usual */
	int ready_fd;         /* gets one byte when the session can be used, and then is closed; -1 = none */
};

/* Run a session until SHUTDOWN, SIGTERM or SIGINT, then clean its directory.
 * Returns 0; -EBUSY (a daemon runs there), -EINVAL (topology) or another
 * -errno, with the reason in the log and nothing left behind, the directory
 * included. Meant for a process of its own: the two signals stay blocked,
 * SIGPIPE ignored, and the limit of descriptors as high as it may be. */
int sim_daemon_run(const struct sim_daemon_cfg *cfg);

#endif
