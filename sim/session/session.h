/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/session.h - this process on a card.
 *
 *   attach --> [attached] --> detach
 *                 |  export memory, import keys, run jobs on its engine
 *
 * A process attaches either to the daemon of a session directory, or to a private card inside itself. A process that
 * is attached to a daemon has one helper thread. The thread answers the daemon, serves this process's memory to
 * peers that can't reach it themselves, and otherwise sleeps. When the daemon ends, imports fail like imports of dead exporters,
 * and further calls return -ESHUTDOWN.
 *
 * Any thread may call; errors are -errno.
 */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include "sim/card/card.h"
#include "sim/clock/clock.h"

struct sim_engine;
struct sim_injector;
struct sim_remote;
struct sim_session;
struct sim_clock_lock;
struct sim_shared_ledger;
struct sim_vclock_sched;

struct sim_session_cfg {
	const char *dir;           /* the session's directory; NULL = a private card */
	const char *topology;      /* of a private card: a YAML file; NULL = the built-in one */
	const char *side;          /* "host", "dpu", "node0/host", ... */
	enum sim_clock_mode clock; /* the clock of a private card; a daemon's session has its own */
	const char *forced_path;   /* the only data path to use (path.h); NULL = the best */
	const char *launch;        /* text of sim/clock/launch.h, or NULL */
};

/* Attach. Returns 0; -ENOENT (no such session, or no such side in it), -ECONNREFUSED (stale session), -EPROTO (the
 * daemon closed the connection: it has another version, or is full), -EINVAL (the session's topology can't be read) or
 * another -errno. The log names the remedy. */
int sim_session_attach(const struct sim_session_cfg *cfg, struct sim_session **ret_session);

/* Detach: exports end. The caller must have released all imports and destroyed all queues. NULL is fine. */
void sim_session_detach(struct sim_session *session);

/* The process ends: detach from the owner, which informs the peers. The session's memory stays, as other threads may
 * use it until the process has ended. */
void sim_session_leave(struct sim_session *session);

/* In a forked child: close the parent's attachment without ending it. The session stays the parent's; the child may
 * attach anew. The child must not use or detach its copy, whose memory is kept. */
void sim_session_abandon(struct sim_session *session);

const struct pcie_topology *sim_session_topology(const struct sim_session *session);
const char *sim_session_side(const struct sim_session *session);
const uint8_t *sim_session_id(const struct sim_session *session);
struct sim_engine *sim_session_engine(struct sim_session *session);
/* The fault plan of this process (sim/faults/inject/injector.h). */
struct sim_injector *sim_session_faults(const struct sim_session *session);

/* The status word of a function (function_status.h). */
const _Atomic uint64_t *sim_session_function_status(const struct sim_session *session, uint32_t function);

/* The remaining time for which the link of the function's card is down. */
uint64_t sim_session_link_down_ns(const struct sim_session *session, uint32_t function);

/* Set @hook, which the helper thread calls when the status of any function changed. */
void sim_session_on_functions_changed(struct sim_session *session, void (*hook)(void));

/* Time since the session began, by the session's clock. */
uint64_t sim_session_now_ns(const struct sim_session *session);

/* The session's clock, and the scheduler of its virtual time (NULL in other clock modes). */
const struct sim_clock *sim_session_clock(const struct sim_session *session);
struct sim_vclock_sched *sim_session_vclock(const struct sim_session *session);

/* The ranges in flight of all processes of the session, and the id of this process in it (sim/state/shared_ledger.h). */
struct sim_shared_ledger *sim_session_ledger(const struct sim_session *session);
uint64_t sim_session_process_id(const struct sim_session *session);
uint64_t sim_session_pid_ns(const struct sim_session *session);

/* The lock of the network's atomic operations (sim/rdma/memory.h). */
struct sim_clock_lock *sim_session_atomics_lock(const struct sim_session *session);

bool sim_session_has_forced_path(const struct sim_session *session);

/* Export memory. @object_fd is the shared object that holds the memory, or -1; the descriptor stays the caller's.
 * Errors as of sim_card_export(), -ESHUTDOWN. */
int sim_session_export(struct sim_session *session, const struct sim_region *region, int object_fd,
		       struct sim_key *ret_key);

/* Export memory again that was imported from another process, to the network, through @function. The key gives the rights of
 * the import, and ends with it. Errors as of sim_card_export_alias(), -ESHUTDOWN. */
int sim_session_export_imported(struct sim_session *session, const struct sim_remote *remote, uint32_t function,
				struct sim_key *ret_key);

/* Export a queue pair's inbox (sim/rdma/inbox.h). Importers wake its owner by @wake_fd (sim/shm/wake.h), which stays the
 * caller's and outlives the export; -1 = they can't. */
int sim_session_export_inbox(struct sim_session *session, const struct sim_region *region, int object_fd, int wake_fd,
			     struct sim_key *ret_key);

/* A descriptor, which the caller closes, that wakes the owner of an imported inbox; -1 = none. */
int sim_session_get_wake_fd(struct sim_session *session, const struct sim_remote *inbox);

/* End an export. On return no importer accesses the memory any more. */
int sim_session_unexport(struct sim_session *session, uint64_t key);

/* Import a key through @function. Errors as of sim_card_import() and sim_remote_create(), -ESHUTDOWN. With -EXDEV and
 * -EPERM, *ret_exporter is the function of the export; @ret_exporter may be NULL. */
int sim_session_import(struct sim_session *session, const struct sim_key *key, uint32_t function,
		       struct sim_remote **ret_remote, uint32_t *ret_exporter);

/* End an import; no copy of it may run. NULL is fine. */
void sim_session_release(struct sim_session *session, struct sim_remote *remote);

#endif
