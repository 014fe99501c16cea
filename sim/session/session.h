/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/session.h - this process on a card.
 *
 *   attach --> [attached] --> detach
 *                 |  export memory, import keys, run jobs on its engine
 *
 * A process attaches either to the daemon of a session directory, or to a
 * private card inside itself. Attached to a daemon it has one helper thread: it
 * answers the daemon, serves peers that reach this process's memory through
 * libfabric, and sleeps otherwise. When the daemon goes away, imports fail as
 * if their exporters had died and further calls return -ESHUTDOWN.
 *
 * Any thread may call; errors are -errno.
 */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include "sim/protocol/descriptor.h"
#include "sim/card/card.h"
#include "sim/clock/vclock_sched.h"
#include "sim/engine/engine.h"
#include "sim/faults/inject/injector.h"
#include "sim/fabric/remote.h"

struct sim_session;

struct sim_session_cfg {
	const char *dir;           /* the session's directory; NULL = a private card */
	const char *topology;      /* of a private card: a YAML file; NULL = the built-in one */
	const char *side;          /* "host", "dpu", "node0/host", ... */
	enum sim_clock_mode clock; /* how the time of a private card passes; a session's own is as it is */
	const char *forced_path;   /* data path to insist on (path.h); NULL = the best */
};

/* Attach. Returns 0; -ENOENT (no such session, or it has no such side),
 * -ECONNREFUSED (stale session), -EPROTO (the daemon hung up: it is of another version, or full), -EINVAL
 * (its topology can't be read) or another -errno; the log says what to do. */
int sim_session_attach(const struct sim_session_cfg *cfg, struct sim_session **ret_session);

/* Detach: exports end, imports must have been released, queues destroyed. NULL is fine. */
void sim_session_detach(struct sim_session *session);

/* The process ends: the others hear of it. Everything else stays, as other threads may
 * be anywhere in it up to the end. */
void sim_session_leave(struct sim_session *session);

/* In a forked child: let go of the parent's attachment without ending it. The
 * session stays the parent's; the child attaches anew if it wants to. The
 * child's copy must not be used or detached any more; its memory is kept. */
void sim_session_abandon(struct sim_session *session);

const struct pcie_topology *sim_session_topology(const struct sim_session *session);
const char *sim_session_side(const struct sim_session *session);
const uint8_t *sim_session_id(const struct sim_session *session);
struct sim_engine *sim_session_engine(struct sim_session *session);
/* What the fault plan has in store for this process (sim/faults/inject/injector.h). */
struct sim_injector *sim_session_faults(const struct sim_session *session);

/* What has become of a function (function_status.h). */
const _Atomic uint64_t *sim_session_function_status(const struct sim_session *session, uint32_t function);

/* For how long from now on the link of the function's card is down. */
uint64_t sim_session_link_down_ns(const struct sim_session *session, uint32_t function);

/* Have @hook called, in the helper's thread, when something has become of any. */
void sim_session_on_functions_changed(struct sim_session *session, void (*hook)(void));

/* Time since the session began, by its clock. */
uint64_t sim_session_now_ns(const struct sim_session *session);

/* Its time. Turns are taken in virtual time; in other modes there are none (NULL). */
const struct sim_clock *sim_session_clock(const struct sim_session *session);
struct sim_vclock_sched *sim_session_turns(const struct sim_session *session);

bool sim_session_has_forced_path(const struct sim_session *session);

/* Export memory; @object_fd is the shared object that holds it, or -1 (it stays
 * the caller's). Errors as of sim_card_export(), -ESHUTDOWN. */
int sim_session_export(struct sim_session *session, const struct sim_region *region, int object_fd,
		       struct sim_key *ret_key);

/* End an export. On return no importer touches the memory any more. */
int sim_session_unexport(struct sim_session *session, uint64_t key);

/* Import by way of @function. Errors as of sim_card_import() and
 * sim_remote_create(), -ESHUTDOWN. */
int sim_session_import(struct sim_session *session, const struct sim_key *key, uint32_t function,
		       struct sim_remote **ret_remote);

/* End an import; no copy may be under way. NULL is fine. */
void sim_session_release(struct sim_session *session, struct sim_remote *remote);

#endif
