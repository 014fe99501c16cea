/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: start and stop, the device, the work queues. */
#include "ctx_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"

#define MAX_NUM_CTX 512 /* the reference documents none */

#define NEED_CTX(ctx)                                                                                          \
	do {                                                                                                   \
		if (!workq_ctx_is(ctx))                                                                        \
			return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "ctx is %s",                              \
					   (ctx) ? "no live context: destroyed already, or another's handle" : \
						   "NULL");                                                    \
	} while (0)

#define NEED_STOPPED(workq_ctx)                                                                            \
	do {                                                                                               \
		if ((workq_ctx)->started)                                                                  \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started; stop it first"); \
	} while (0)

void shim_workq_ctx_init(struct workq_ctx *ctx, const struct workq_ctx_ops *ops)
{
	ctx->ops = ops;
}

doca_error_t shim_workq_start_with_dev(struct workq_ctx *ctx)
{
	if (ctx->dev)
		return DOCA_SUCCESS;
	sim_err("doca_ctx_start: the context has no device; call doca_ctx_dev_add() first");
	return DOCA_ERROR_INVALID_VALUE;
}

void shim_workq_stop_nothing(struct workq_ctx *ctx)
{
	(void)ctx;
}

static void stop_ctx(struct workq_ctx *ctx)
{
	if (ctx->started)
		ctx->ops->stop(ctx);
	ctx->started = false;
}

static void release_dev(struct workq_ctx *ctx)
{
	if (ctx->dev)
		shim_dev_release(ctx->dev);
	ctx->dev = NULL;
}

doca_error_t shim_workq_ctx_fini(const char *func, struct workq_ctx *ctx)
{
	if (!LIST_EMPTY(&ctx->attachments)) {
		sim_err("%s: a work queue is still added; call doca_ctx_workq_rm() first", func);
		return DOCA_ERROR_IN_USE;
	}
	stop_ctx(ctx);
	release_dev(ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	struct workq_ctx *workq_ctx = (struct workq_ctx *)ctx;
	doca_error_t result;

	NEED_CTX(ctx);
	NEED_STOPPED(workq_ctx);
	result = shim_ctx_inject_start_fault(workq_ctx->dev);
	if (result == DOCA_SUCCESS)
		result = workq_ctx->ops->start(workq_ctx);
	workq_ctx->started = result == DOCA_SUCCESS;
	return result;
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	struct workq_ctx *workq_ctx = (struct workq_ctx *)ctx;

	NEED_CTX(ctx);
	if (!workq_ctx->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not started");
	if (!LIST_EMPTY(&workq_ctx->attachments))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED,
				   "a work queue is still added; call doca_ctx_workq_rm() first");
	stop_ctx(workq_ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev)
{
	struct workq_ctx *workq_ctx = (struct workq_ctx *)ctx;

	NEED_CTX(ctx);
	SHIM_NEED(dev, SHIM_DEV);
	NEED_STOPPED(workq_ctx);
	if (workq_ctx->dev)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "the context has %s device already",
				   workq_ctx->dev == dev ? "this" : "a");
	if (!workq_ctx->ops->supports(doca_dev_as_devinfo(dev)))
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the device is of no use for %s jobs",
				   workq_ctx->ops->name);
	shim_dev_hold(dev);
	workq_ctx->dev = dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev)
{
	struct workq_ctx *workq_ctx = (struct workq_ctx *)ctx;

	NEED_CTX(ctx);
	SHIM_NEED(dev, SHIM_DEV);
	NEED_STOPPED(workq_ctx);
	if (workq_ctx->dev != dev)
		return SHIM_REFUSE(DOCA_ERROR_NOT_FOUND, "the device was not added to the context");
	release_dev(workq_ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq)
{
	NEED_CTX(ctx);
	SHIM_NEED(workq, SHIM_WORKQ);
	if (!((struct workq_ctx *)ctx)->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not started; call doca_ctx_start() first");
	return workq_attach((struct workq_ctx *)ctx, workq);
}

doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq)
{
	NEED_CTX(ctx);
	SHIM_NEED(workq, SHIM_WORKQ);
	if (!((struct workq_ctx *)ctx)->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not started");
	return workq_detach((struct workq_ctx *)ctx, workq);
}

doca_error_t doca_ctx_get_max_num_ctx(uint32_t *max_num_ctx)
{
	SHIM_NEED_OUT(max_num_ctx);
	*max_num_ctx = MAX_NUM_CTX;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_event_driven_supported(struct doca_ctx *ctx, uint8_t *event_supported)
{
	NEED_CTX(ctx);
	SHIM_NEED_OUT(event_supported);
	*event_supported = 1;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
	NEED_CTX(ctx);
	SHIM_NEED_OUT(gpu_dev);
	NEED_STOPPED((struct workq_ctx *)ctx);
	return SHIM_NOT_SIMULATED("GPUs");
}
