/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/sha_core.h - SHA of the core, for jobs and partial sessions. sha_core.c is compiled with the core.
 *
 * A partial session is a partial hash task that stays allocated. When its context stops, after a job that failed, the message of
 * a session is lost, and the session with it.
 */
#ifndef SHIM_WORKQ_SHA_CORE_H
#define SHIM_WORKQ_SHA_CORE_H

#include "accel_core.h"

struct doca_dev;
struct workq_sha_core;
struct workq_sha_session;

/* An algorithm, and whether the job is a piece of a message. */
struct workq_sha_kind {
	int algorithm; /* enum doca_sha_algorithm of the core */
	bool is_partial, is_final;
};

/* Return what this machine lacks for digests, as a sentence, or NULL. */
const char *workq_sha_find_lack(void);

doca_error_t workq_sha_core_create(struct doca_dev *dev, uint32_t depth, struct workq_attachment *attachment,
				   struct workq_sha_core **ret_core);
void workq_sha_core_destroy(struct workq_sha_core *core);
struct doca_ctx *workq_sha_core_as_ctx(struct workq_sha_core *core);

/* Submit a job, whose @type and buffers are set. @session belongs to a job of a piece. */
doca_error_t workq_sha_core_submit(struct workq_sha_core *core, const struct workq_sha_kind *kind,
				   struct workq_sha_session *session, const struct workq_accel_job *job);

/* Sessions. NO_MEMORY: too many, BAD_STATE: the context does not run. */
doca_error_t workq_sha_session_create(struct workq_sha_core *core, struct workq_sha_session **ret_session);

/* BAD_STATE with a job in flight. */
doca_error_t workq_sha_session_destroy(struct workq_sha_session *session);

/* Continue the message of @from in @to as well, from where it is. BAD_STATE with a job in flight, or if a session was lost. */
doca_error_t workq_sha_session_copy(const struct workq_sha_session *from, struct workq_sha_session *to);

/* Returns whether it is a session of this core. */
bool workq_sha_session_is_of(const struct workq_sha_session *session, const struct workq_sha_core *core);

#endif
