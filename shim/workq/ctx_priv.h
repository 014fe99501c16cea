/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/ctx_priv.h - contexts and work queues, told in the current generation's terms.
 *
 *    context (workq_ctx) ---workq_add---> attachment ---> a context of the core,
 *            \                                            on the queue's progress engine
 *             \--workq_add of another queue--> another attachment, another of the core's
 *
 * Here one context serves many queues, and has no progress engine; the core's
 * context has exactly one. So a context of ours has none of the core's until a
 * queue is added to it. A job becomes a task of the attachment's context; the end
 * of the task is an event that waits in the queue for its retrieval.
 *
 * API pointers to struct doca_ctx are ours in this room, cast; those that core_...
 * functions take and give are the core's.
 */
#ifndef SHIM_WORKQ_CTX_PRIV_H
#define SHIM_WORKQ_CTX_PRIV_H

#include <doca_ctx.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "core_api.h"
#include "shim/common/base/object.h"

struct workq_ctx;
struct workq_attachment;

/* A library's part. Every slot is filled. */
struct workq_ctx_ops {
	const char *name;
	/* Whether the device can do any job of it. */
	bool (*supports)(const struct doca_devinfo *devinfo);
	/* The context starts: whether it may; stops, or is destroyed: never fails. */
	doca_error_t (*start)(struct workq_ctx *ctx);
	void (*stop)(struct workq_ctx *ctx);
	/* Make and configure the core's context, for @depth jobs in flight: sets @attachment->core_ctx. */
	doca_error_t (*create_core)(struct workq_attachment *attachment, uint32_t depth);
	/* It is idle (or was never started): destroy it. Copes with a failed create_core. */
	void (*destroy_core)(struct workq_attachment *attachment);
	/* Make a task of the job and submit it. Its end calls shim_workq_complete(). */
	doca_error_t (*submit)(struct workq_attachment *attachment, const struct doca_job *job);
};

struct workq_ctx {
	struct shim_object object;
	const struct workq_ctx_ops *ops;
	struct doca_dev *dev; /* held; NULL = none added */
	bool started;
	LIST_HEAD(, workq_attachment) attachments;
};

struct workq_attachment {
	struct workq_ctx *ctx;
	struct doca_workq *workq;
	doca_error_t (*submit)(struct workq_attachment *attachment, const struct doca_job *job); /* its ops' */
	struct doca_ctx *core_ctx;                                                               /* the core's */
	uint32_t generation; /* shim_fork_generation when it was made */
	void *priv;          /* what the library keeps */
	uint32_t in_flight;  /* jobs submitted whose events were not retrieved */
	LIST_ENTRY(workq_attachment) of_ctx;
	LIST_ENTRY(workq_attachment) of_workq;
};

/* Is @handle a live context of this generation? */
static inline bool workq_ctx_is(const void *handle)
{
	return shim_object_is(handle, SHIM_WORKQ_DMA) || shim_object_is(handle, SHIM_WORKQ_SYNC_EVENT);
}

/* A job of the queue ended: called once for each that was submitted. */
SHIM_INTERNAL_API void shim_workq_complete(struct workq_attachment *attachment, int type, union doca_data user_data,
					   union doca_data result, bool failed);

/* Set up, and take apart, the beginning of a library's object. Taking apart stops it; IN_USE, and
 * nothing happens, while work queues are added. */
SHIM_INTERNAL_API void shim_workq_ctx_init(struct workq_ctx *ctx, const struct workq_ctx_ops *ops);
SHIM_INTERNAL_API doca_error_t shim_workq_ctx_fini(const char *func, struct workq_ctx *ctx);

/* attachment.c: add a queue to a context, which creates and starts a context of the core; and remove it. */
doca_error_t workq_attach(struct workq_ctx *ctx, struct doca_workq *workq);
doca_error_t workq_detach(struct workq_ctx *ctx, struct doca_workq *workq);

#endif
