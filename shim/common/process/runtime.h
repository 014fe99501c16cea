/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/process/runtime.h - the attachment of this process to a session, made at the first need.
 *
 *   [detached] --hold--> [attached] --the process enters another session, and no user is in use--> [detached]
 *
 * Environment of an attachment:
 *   BFSIM_SESSION   the session's directory; without it the process gets a private card
 *   BFSIM_TOPOLOGY  description of a private card; default: the built-in one
 *   BFSIM_CLOCK     clock mode of a private card (doc/time.md)
 *   BFSIM_SIDE      the side; default: the file bfsim-side in the root of the SDK tree, else the host
 *   BFSIM_PATH      the only data path that may be used
 *   BFSIM_LAUNCH    bfsim run's: the process is waited for by virtual time (sim/clock/launch.h)
 *   BFSIM_SHUFFLE   a seed: DMA tasks of one context complete in a random order
 */
#ifndef SHIM_RUNTIME_H
#define SHIM_RUNTIME_H

#include <doca_error.h>

#include "shim/common/base/object.h"
#include "sim/clock/vclock_sched.h"
#include "sim/session/session.h"

/* The session; the first call attaches. On failure the log has the reason. The session
 * stays until shim_runtime_release(), which must follow. */
doca_error_t shim_runtime_hold(struct sim_session **ret_session);
void shim_runtime_release(void);

/* A part of the shim that depends on the session. Each slot may be NULL. No hook may call this file. */
struct shim_runtime_user {
	/* Returns whether objects of the session exist that forbid to detach. */
	bool (*in_use)(void);
	/* The process detaches: drop what points into the session. */
	void (*detach)(void);
	/* The state of a function changed; called by a thread of the session. */
	void (*functions_changed)(void);
	struct shim_runtime_user *next;
};

/* Add @user, which is static, in a constructor. */
SHIM_INTERNAL_API void shim_runtime_add_user(struct shim_runtime_user *user);

/* The process exits: tell the other participants. The session stays, as other threads may still use it. */
void shim_runtime_leave(void);

/* The scheduler of virtual time; NULL in other clock modes. */
extern SHIM_INTERNAL_API struct sim_vclock_sched *shim_vclock;

/* The calling thread is about to do what other processes can see, and not in a step of a progress engine: in virtual time it
 * is busy from here on. */
static inline void shim_vclock_begin_call(void)
{
	if (__builtin_expect(shim_vclock != NULL, 0))
		sim_vclock_sched_begin_call(shim_vclock);
}

/* The same, for a call whose order among those of other processes matters: it waits for its turn. */
static inline void shim_vclock_take_turn(void)
{
	if (__builtin_expect(shim_vclock != NULL, 0))
		sim_vclock_sched_take_turn(shim_vclock);
}

/* A message to the progress engine @engine (shim_pe_vclock_engine()) was written, which arrives at @due_ns (0 = now). */
static inline void shim_message_sent(uint32_t engine, uint64_t due_ns)
{
	if (__builtin_expect(shim_vclock != NULL, 0))
		sim_vclock_sched_post(shim_vclock, engine, due_ns);
}

/* Number of forks from the first process to this one. An object that has another number belongs to the parent. */
extern SHIM_INTERNAL_API uint32_t shim_fork_generation;

/* The session that the process is attached to, or NULL. It stays as long as a device is open. */
SHIM_INTERNAL_API struct sim_session *shim_session(void);

/* Session time; of an attached process. */
SHIM_INTERNAL_API uint64_t shim_now_ns(void);

/* A seed for the order of one context's jobs; 0 = their order is kept. BFSIM_SHUFFLE, a number, is the seed of all. */
SHIM_INTERNAL_API uint64_t shim_shuffle_seed(void);

/* The session's fault injector; NULL without a session. */
static inline struct sim_injector *shim_faults(void)
{
	const struct sim_session *session = shim_session();

	return session ? sim_session_faults(session) : NULL;
}

#endif
