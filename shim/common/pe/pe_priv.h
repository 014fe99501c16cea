/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/pe_priv.h - a progress engine; for the pe*.c files. */
#ifndef SHIM_PE_PRIV_H
#define SHIM_PE_PRIV_H

#include "ctx_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/clock/vclock_sched.h"
#include "sim/shm/wake.h"

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
	int handle_fd;                           /* the user sleeps on it: readable when @event_fd or @peers is */
	int event_fd;                            /* written in this process; no other process has it */
	struct sim_wake peers;                   /* written by other processes; created at the first need */
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

/* One step of a context that has one, in turn; perhaps of those alone that are not parked. Returns whether there was one. */
typedef bool shim_pe_step(struct doca_pe *pe, bool skips_parked);

/* Let an armed engine progress all its contexts. One that starts or stops may need the others. */
static inline void shim_pe_unpark_all(struct doca_pe *pe)
{
	for (struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		ctx->is_parked = false;
}

/* pe_vclock.c: @step, when the scheduler lets the engine run. Lets time pass up to the next such step. */
bool shim_pe_vclock_step(struct doca_pe *pe, shim_pe_step *step, bool skips_parked);

/* pe_vclock.c: the engine is armed, and its thread is about to sleep. Returns @has_events, or true if an event came
 * while virtual time passed. */
bool shim_pe_vclock_sleep(struct doca_pe *pe, bool has_events);

/* pe.c: add the engine to the list of the process, whose engines wake at changes of functions; and remove it. */
void shim_pe_register(struct doca_pe *pe);
void shim_pe_unregister(struct doca_pe *pe);

/* pe_wake.c: open and close the descriptors of the notification handle; and clear it. Return 0 or -errno. */
int shim_pe_wake_open(struct doca_pe *pe);
void shim_pe_wake_close(struct doca_pe *pe);
int shim_pe_wake_clear(struct doca_pe *pe);

/* pe_vclock.c: the engine no longer takes part in virtual time; and it ends. */
void shim_pe_vclock_leave(struct doca_pe *pe);
void shim_pe_vclock_fini(struct doca_pe *pe);

/* pe_vclock.c: an event came from outside of virtual time, from the daemon for instance; any thread. */
void shim_pe_vclock_notify(const struct doca_pe *pe);

#endif
