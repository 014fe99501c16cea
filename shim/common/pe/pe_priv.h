/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/pe_priv.h - a progress engine: the contexts that are connected to it, and how its thread is woken.
 *
 *   [one thread] --doca_pe_progress()--> contexts            pe_progress.c
 *        ^--handle-- shim_pe_notify() <--any thread-- jobs, messages, functions that changed
 *
 * In virtual time an engine without work lets time pass (pe_vclock.h). Only the engine's thread calls the functions below,
 * unless they say otherwise. Members are for pe*.c; other folders call functions.
 */
#ifndef SHIM_PE_PRIV_H
#define SHIM_PE_PRIV_H

#include "ctx_priv.h"
#include "pe_wake.h"
#include "sim/clock/vclock_sched.h"

/* How doca_pe_progress() goes over the contexts. */
enum shim_pe_progress {
	SHIM_PE_PROGRESS_ONE, /* one step of the next context that has one */
	SHIM_PE_PROGRESS_ALL, /* steps of all of them */
	/* As ONE, but of the contexts that are not parked: the engine is armed, in the selective event mode. */
	SHIM_PE_PROGRESS_UNPARKED,
};

struct doca_pe {
	struct shim_object object;
	enum doca_pe_event_mode event_mode;
	enum shim_pe_progress progress;
	struct shim_pe_wake wake;
	bool armed;                              /* a notification was requested */
	struct doca_ctx *ctxs;                   /* connected */
	struct doca_ctx *cursor;                 /* the context of the next step; NULL = the first */
	struct sim_vclock_source *vclock_handle; /* in virtual time, while a context is not idle */
	struct doca_pe *next;                    /* in the list of the process */
	uint32_t vclock_fork_generation;         /* shim_fork_generation of @vclock_handle and @vclock_engine */
	_Atomic uint32_t vclock_engine;          /* shim_pe_vclock_engine(); 0 = none yet */
	struct sim_vclock_sched *engine_sched;   /* of @vclock_engine */
};

/* The engine's handle at the scheduler of virtual time. NULL in other modes, and in a forked child, which does not own it. */
static inline struct sim_vclock_source *shim_pe_vclock_handle(const struct doca_pe *pe)
{
	return pe->vclock_handle && pe->vclock_fork_generation == shim_fork_generation ? pe->vclock_handle : NULL;
}

/* Let an armed engine progress all its contexts. One that starts or stops may need the others. */
static inline void shim_pe_unpark_all(struct doca_pe *pe)
{
	for (struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		ctx->is_parked = false;
}

/* Connect a context to an engine for life, and disconnect it before its object is freed. */
void shim_pe_connect(struct doca_pe *pe, struct doca_ctx *ctx);
void shim_pe_disconnect(struct doca_ctx *ctx);

/* Wake the thread that sleeps on the context's progress engine; any thread. */
SHIM_INTERNAL_API void shim_pe_notify(void *ctx);

/* The same for an event from outside of virtual time: a message of the daemon, the end of a connection, a plain store. */
SHIM_INTERNAL_API void shim_pe_notify_external(void *ctx);

/* The part of it that concerns virtual time. */
SHIM_INTERNAL_API void shim_pe_vclock_notify_ctx(const struct doca_ctx *ctx);

/* The same by the engine's own thread, which may be about to sleep. */
static inline void shim_pe_notify_self(struct doca_ctx *ctx)
{
	if (doca_unlikely(ctx->pe->armed))
		shim_pe_notify(ctx);
}

/* Set the context's alarm to @due_ns unless it is set to an earlier time. SIM_JOB_NEVER_DUE changes nothing. */
SHIM_INTERNAL_API void shim_ctx_set_alarm(struct doca_ctx *ctx, uint64_t due_ns);

/* Make the engine's notification handle readable; any thread. */
void shim_pe_wake(const struct doca_pe *pe);

/* The descriptor by which other processes wake the engine (sim_wake_send()). It stays the engine's. Returns -errno if
 * there is none. */
SHIM_INTERNAL_API int shim_pe_peer_wake_fd(const struct doca_ctx *ctx);

/* The engine no longer takes part in virtual time. */
void shim_pe_vclock_leave(struct doca_pe *pe);

#endif
