/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/pe_priv.h - a progress engine, for the files that make it. */
#ifndef SHIM_PE_PRIV_H
#define SHIM_PE_PRIV_H

#include "ctx_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/clock/vclock_sched.h"

struct doca_pe {
	struct shim_object object;
	enum doca_pe_event_mode event_mode;
	int event_fd;
	bool armed;                              /* a notification was requested */
	struct doca_ctx *ctxs;                   /* connected */
	struct doca_ctx *cursor;                 /* whose turn it is; NULL = the first's */
	struct sim_vclock_source *vclock_handle; /* in virtual time, while contexts run */
	struct doca_pe *next;                    /* of the process's */
	uint32_t vclock_fork_generation;         /* shim_fork_generation when it was taken */
};

/* Its turn, or NULL: in other times than virtual, and in a forked child, where it is the parent's. */
static inline struct sim_vclock_source *shim_pe_vclock_handle(const struct doca_pe *pe)
{
	return pe->vclock_handle && pe->vclock_fork_generation == shim_fork_generation ? pe->vclock_handle : NULL;
}

/* pe_vclock.c: @step, which completes something of the engine, when the scheduler lets the engine run. Lets time pass
 * up to the next such step. Returns whether a step completed something. */
bool shim_pe_vclock_step(struct doca_pe *pe, bool (*step)(struct doca_pe *pe));

/* pe_vclock.c: the engine is armed, and its thread is about to sleep. Whether there are @has_events, or come by letting time pass. */
bool shim_pe_vclock_sleep(struct doca_pe *pe, bool has_events);

/* pe_registry.c: it is one of those that shim_pe_wake_all() wakes, as long as its descriptor is open. */
void shim_pe_register(struct doca_pe *pe);
void shim_pe_unregister(struct doca_pe *pe);

/* pe_vclock.c: it goes away. */
void shim_pe_vclock_leave(struct doca_pe *pe);

#endif
