/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/ctx_priv.h - contexts of work queues, on contexts of the core.
 *
 *    context (workq_ctx) ---workq_add---> attachment ---> a context of the core,
 *            \                                            on the queue's progress engine
 *             \--workq_add of another queue--> another attachment, another of the core's
 *
 * In this generation one context serves several queues. A context of the core has
 * exactly one progress engine. So each queue that is added to a context gets a
 * context of the core: the attachment. A job becomes a task of that context, and
 * the completion of the task becomes an event of the queue.
 *
 * In shim/workq, a struct doca_ctx of the public API is a cast struct workq_ctx; a
 * struct doca_ctx of core_... functions belongs to the core.
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

/* The result of a job that has more than a status: event.result.ptr of the program's event points to as much memory, which is
 * filled when the event is retrieved. */
struct workq_result {
	uint64_t words[4];
};

/* The operations of a library. Every slot is filled, unless its comment says what NULL means. */
struct workq_ctx_ops {
	const char *name;
	bool exceeds_depth; /* more jobs may be in flight than the depth of their queue, as on cards */
	/* Can the device do any job of the library? */
	bool (*supports)(const struct doca_devinfo *devinfo);
	/* Called at the start, which it may refuse, and at the stop or destruction of the context. */
	doca_error_t (*start)(struct workq_ctx *ctx);
	void (*stop)(struct workq_ctx *ctx);
	/* Create and configure a context of the core for @depth jobs in flight: @attachment->core_ctx. Or give the one that the context
	 * has since its start, which runs, and @attachment->own_pe. */
	doca_error_t (*create_core)(struct workq_attachment *attachment, uint32_t depth);
	/* Destroy that context, which is idle. Accepts a failed create_core. */
	void (*destroy_core)(struct workq_attachment *attachment);
	/* Submit the job as a task, whose completion calls shim_workq_complete(). */
	doca_error_t (*submit)(struct workq_attachment *attachment, const struct doca_job *job);
	/* The queue is being removed, with jobs in flight. If all of them wait for a peer that has done nothing, forget them, and
	 * return true. NULL: there are no such jobs. */
	bool (*forget_waiting)(struct workq_attachment *attachment);
};

struct workq_ctx {
	struct shim_object object;
	const struct workq_ctx_ops *ops;
	struct doca_dev *dev; /* a reference is held; NULL = none added */
	bool started;
	LIST_HEAD(, workq_attachment) attachments;
};

struct workq_attachment {
	struct workq_ctx *ctx;
	struct doca_workq *workq;
	doca_error_t (*submit)(struct workq_attachment *attachment, const struct doca_job *job); /* ctx->ops->submit */
	struct doca_ctx *core_ctx;                                                               /* of the core */
	struct doca_pe *own_pe; /* of @core_ctx, if that is not the queue's; NULL = the queue's */
	uint32_t generation;    /* shim_fork_generation at its creation */
	void *priv;             /* of the library */
	uint32_t in_flight;     /* jobs submitted whose events were not retrieved */
	LIST_ENTRY(workq_attachment) of_ctx;
	LIST_ENTRY(workq_attachment) of_workq;
};

/* Is @handle a live context of this generation? */
static inline bool workq_ctx_is(const void *handle)
{
	return shim_handle_is(handle, SHIM_WORKQ_DMA) || shim_handle_is(handle, SHIM_WORKQ_SYNC_EVENT) ||
	       shim_handle_is(handle, SHIM_WORKQ_SHA) || shim_handle_is(handle, SHIM_WORKQ_COMPRESS) ||
	       shim_handle_is(handle, SHIM_WORKQ_EC) || shim_handle_is(handle, SHIM_WORKQ_RDMA);
}

/* A job of the queue completed. Called once for each submitted job. */
SHIM_INTERNAL_API void shim_workq_complete(struct workq_attachment *attachment, int type, union doca_data user_data,
					   union doca_data result, bool failed);

/* The same for a job whose event has a struct of results. */
SHIM_INTERNAL_API void shim_workq_complete_with(struct workq_attachment *attachment, int type,
						union doca_data user_data, const struct workq_result *result,
						bool failed);

/* Initialise, and finish, the context at the beginning of an object of a library. shim_workq_ctx_fini()
 * stops the context; it returns IN_USE and does nothing while work queues are added. */
SHIM_INTERNAL_API void shim_workq_ctx_init(struct workq_ctx *ctx, const struct workq_ctx_ops *ops);
SHIM_INTERNAL_API doca_error_t shim_workq_ctx_fini(const char *func, struct workq_ctx *ctx);

/* Operations of libraries whose contexts need a device, and have nothing to stop: the contexts of the core belong to the queues. */
SHIM_INTERNAL_API doca_error_t shim_workq_start_with_dev(struct workq_ctx *ctx);
SHIM_INTERNAL_API void shim_workq_stop_nothing(struct workq_ctx *ctx);

/* attachment.c: add a queue to a context, which creates and starts a context of the core; and remove it. */
doca_error_t workq_attach(struct workq_ctx *ctx, struct doca_workq *workq);
doca_error_t workq_detach(struct workq_ctx *ctx, struct doca_workq *workq);

#endif
