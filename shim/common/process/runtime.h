/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/process/runtime.h - this process's place on a card, taken on first need.
 *
 * BFSIM_SESSION names a session's directory, BFSIM_SIDE the side, BFSIM_PATH a
 * data path to insist on; without a session the process gets a private card
 * (BFSIM_TOPOLOGY names its description, else it is the built-in one;
 * BFSIM_CLOCK how its time passes, doc/time.md), and
 * without a side it stands where the SDK tree that it loaded us from says (a
 * file "bfsim-side" in the tree's root), else on the host.
 */
#ifndef SHIM_RUNTIME_H
#define SHIM_RUNTIME_H

#include <doca_error.h>

#include "shim/common/base/object.h"
#include "sim/session/session.h"

/* The session; attaches on the first call. The log says why it can't be had. */
doca_error_t shim_runtime_get(struct sim_session **ret_session);

/* Who goes on in virtual time; NULL in other times. */
extern SHIM_INTERNAL_API struct sim_vclock_sched *shim_vclock;

/* Something was written that another process may wait for. */
static inline void shim_message_sent(void)
{
	if (__builtin_expect(shim_vclock != NULL, 0))
		sim_vclock_sched_message_sent(shim_vclock);
}

/* Counts the forks that led here: what was made under another number is the parent's. */
extern SHIM_INTERNAL_API uint32_t shim_fork_generation;

/* The session of a process that has opened a device: it is attached. */
SHIM_INTERNAL_API struct sim_session *shim_session(void);

/* Its faults; NULL as long as there is no session. */
static inline struct sim_injector *shim_faults(void)
{
	const struct sim_session *session = shim_session();

	return session ? sim_session_faults(session) : NULL;
}

#endif
