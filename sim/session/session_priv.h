/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/session_priv.h - the members of a session: for session.c, exports.c, imports.c and channel.c. */
#ifndef SIM_SESSION_PRIV_H
#define SIM_SESSION_PRIV_H

#include "owner.h"
#include "session.h"
#include "sim/state/shared_state.h"

struct sim_session {
	char side[PCIE_SIDE_SIZE];
	char *forced_path;
	uint8_t id[SIM_SESSION_ID_SIZE];
	uint64_t pid_ns;    /* inode of this process's PID namespace; 0 = unknown */
	bool is_own_user;   /* this process's user owns the daemon */
	bool passes_memory; /* it permits processes to pass descriptors of their memory to others of its user */
	struct sim_peer_info self;
	struct pcie_topology *topology;
	struct sim_engine *engine;
	struct sim_segment shared;
	struct sim_injector *faults;
	struct sim_clock *clock;
	struct sim_vclock_sched *turns; /* NULL unless time is virtual */
	struct sim_exports *exports;
	struct sim_imports *imports;
	struct sim_channels *channels;
	struct sim_kicks *kicks;
	struct sim_owner *owner;
	int epoll_fd;
	bool has_daemon;
	bool is_recording; /* the process records for this session */
	void (*_Atomic on_functions_changed)(void);
	struct sim_session *next_abandoned;
};

#endif
