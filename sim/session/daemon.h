/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/daemon.h - the card's daemon: owns a session's state until it is told to end.
 *
 * One thread, one epoll loop, no blocking call: a peer that does not read its
 * socket delays nobody. Bytes never pass through it. When a process's socket
 * closes, however it ended, its exports are revoked and its imports dropped.
 * An exporter's revocation is answered when every importer has let go, or
 * after REVOKE_PATIENCE_MS for an importer that is stopped.
 */
#ifndef SIM_SESSION_DAEMON_H
#define SIM_SESSION_DAEMON_H

struct sim_daemon_cfg {
	const char *dir;           /* the session's directory; created when it does not exist */
	const char *topology_path; /* YAML file; NULL = the built-in topology */
	int ready_fd;              /* gets one byte when the session can be used, then is closed; -1 = none */
};

/* Run a session until SHUTDOWN, SIGTERM or SIGINT, then clean its directory.
 * Returns 0; -EBUSY (a daemon runs there), -EINVAL (topology) or another
 * -errno, with the reason in the log, before anything was left behind. */
int sim_daemon_run(const struct sim_daemon_cfg *cfg);

#endif
