/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/daemon/daemon.h - the card's daemon: owns a session's state until a request or signal ends it.
 *
 * The daemon has one thread, one epoll loop and no blocking call: a peer that does not read its
 * socket delays no other process. Data never passes through the daemon. When a process's socket
 * closes, the daemon revokes its exports and drops its imports. The same happens when the process
 * dies while a forked child still has the socket open.
 *
 * The daemon answers a revocation when every importer has released the memory. It waits for a
 * stopped importer once, for REVOKE_TIMEOUT_MS, and then not again until that importer sends a message.
 */
#ifndef SIM_DAEMON_H
#define SIM_DAEMON_H

#include "sim/clock/clock.h"
#include "sim/control/machines.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Packets that the daemon takes from one process before it serves the others. */
#define SIM_DAEMON_PACKETS_PER_STEP 16

struct sim_daemon_cfg {
	const char *dir;           /* the session's directory; created when missing */
	const char *topology_path; /* YAML file; NULL = the built-in topology */
	enum sim_clock_mode clock; /* how session time passes */
	uint32_t trace_level;      /* trace level of processes that set none (sim/trace/trace.h); 0 = the default */
	bool has_group;            /* members of @group may use the session, besides this user and root */
	gid_t group;
	bool passes_memory; /* processes may pass descriptors of their memory to others of their user */
	const struct sim_machines_cfg *machines; /* NULL = the session is on this machine alone */
	int ready_fd; /* gets one byte when the session is ready, and is then closed; -1 = none */
};

/* Run a session until SHUTDOWN, SIGTERM, SIGINT, or SIGHUP unless it is ignored, then clean its directory.
 * Returns 0, -EBUSY (a daemon runs there), -EINVAL (topology) or another -errno. On failure the log
 * has the reason, and the function removes the files and the directory that it created.
 * The caller should be a process of its own: the signals stay blocked, SIGPIPE stays ignored,
 * and the limit of descriptors stays at its maximum. */
int sim_daemon_run(const struct sim_daemon_cfg *cfg);

#endif
