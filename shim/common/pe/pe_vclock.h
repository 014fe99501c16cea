/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/pe_vclock.h - progress engines in virtual time: an engine without work lets time pass.
 *
 * An engine takes part while one of its contexts is not idle. In other clock modes the functions do nothing. The engine's
 * thread calls them.
 */
#ifndef SHIM_PE_VCLOCK_H
#define SHIM_PE_VCLOCK_H

#include <doca_pe.h>

#include "shim/common/base/object.h"

struct sim_vclock_source;

/* The calling thread takes part from now on, until the result is destroyed; NULL otherwise. For a start: what it does has one
 * time, and no time passes until the context takes part. */
struct sim_vclock_source *shim_vclock_begin_participation(void);

/* The context changed its state, or went idle. */
void shim_pe_vclock_update(struct doca_ctx *ctx);
void shim_pe_vclock_leave_if_idle(struct doca_pe *pe);

/* The context submits jobs. */
void shim_pe_vclock_mark_busy(void *ctx);

/* Whether the calling thread drives the engine of the context, which has jobs in flight. Any thread. */
bool shim_pe_vclock_is_own(void *ctx);

/* The context's jobs are queued, so that it is not idle: sim_vclock_source_patience_ns(). The thread of the session's engine calls
 * this one. */
uint64_t shim_pe_vclock_patience_ns(void *ctx);

/* The engine's address for messages (shim_message_sent()), or 0. */
SHIM_INTERNAL_API uint32_t shim_pe_vclock_engine(struct doca_pe *pe);

/* A submission was refused, as @engine has posted no receives: let time pass up to the engine's next work, or to such a
 * receive. Before the next try: may_retry(). */
SHIM_INTERNAL_API void shim_pe_vclock_wait_credit(struct doca_pe *pe, uint32_t engine);
SHIM_INTERNAL_API enum sim_vclock_retry shim_pe_vclock_may_retry(struct doca_pe *pe);

/* A call was refused with AGAIN for another reason; then may_retry() as above. */
SHIM_INTERNAL_API void shim_pe_vclock_note_refusal(const struct doca_pe *pe);

/* The engine has posted receives. */
SHIM_INTERNAL_API void shim_pe_vclock_post_credit(struct doca_pe *pe);

/* One step of a context that has one, in turn; perhaps of those alone that are not parked. Returns whether there was one. */
typedef bool shim_pe_step(struct doca_pe *pe, bool skips_parked);

/* @step, when the scheduler lets the engine run. Lets time pass up to the next such step. */
bool shim_pe_vclock_step(struct doca_pe *pe, shim_pe_step *step, bool skips_parked);

/* The engine is armed, and its thread is about to sleep. Returns @has_events, or true if an event came while virtual time
 * passed. */
bool shim_pe_vclock_sleep(struct doca_pe *pe, bool has_events);

#endif
