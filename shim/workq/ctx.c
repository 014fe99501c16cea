/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: their device, their queues, their life. */
#include "ctx_priv.h"
#include "shim/common/check.h"

#define MAX_NUM_CTX 512 /* our choice: the reference names no number */

static bool is_ctx(const struct workq_ctx *ctx)
{
	return shim_is(ctx, SHIM_WORKQ_DMA) || shim_is(ctx, SHIM_WORKQ_SYNC_EVENT);
}

#define NEED_CTX(ctx)                                                                                              \
	do {                                                                                                       \
		if (!is_ctx((struct workq_ctx *)(ctx)))                                                            \
			return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "ctx is %s",                                  \
					   (ctx) ? "no live context: destroyed already, or another's handle" : "NULL"); \
	} while (0)

void shim_workq_ctx_init(struct workq_ctx *ctx, const struct workq_ctx_ops *ops)
{
	ctx->ops = ops;
}

doca_error_t shim_workq_ctx_fini(const char *func, struct workq_ctx *ctx)
{
	if (!ctx->started)
		return DOCA_SUCCESS;
	sim_err("%s: the context is started; stop it first", func);
	return DOCA_ERROR_BAD_STATE;
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

doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev)
{
	struct workq_ctx *ours = (struct workq_ctx *)ctx;

	NEED_CTX(ctx);
	SHIM_NEED(dev, SHIM_DEV);
	if (ours->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started; stop it first");
	if (ours->dev)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "the context has a device already");
	if (!ours->ops->supports(doca_dev_as_devinfo(dev)))
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the device can't do any %s job", ours->ops->name);
	ours->dev = dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev)
{
	struct workq_ctx *ours = (struct workq_ctx *)ctx;

	NEED_CTX(ctx);
	SHIM_NEED(dev, SHIM_DEV);
	if (ours->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started; stop it first");
	if (ours->dev != dev)
		return SHIM_REFUSE(DOCA_ERROR_NOT_FOUND, "the device was not added to the context");
	ours->dev = NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	struct workq_ctx *ours = (struct workq_ctx *)ctx;

	NEED_CTX(ctx);
	if (ours->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started already");
	if (!ours->dev)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the context has no device; call doca_ctx_dev_add() first");
	ours->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	struct workq_ctx *ours = (struct workq_ctx *)ctx;

	NEED_CTX(ctx);
	if (!ours->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not started");
	if (ours->attachments)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "a work queue is still added; call doca_ctx_workq_rm() first");
	ours->started = false;
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

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
	NEED_CTX(ctx);
	SHIM_NEED_OUT(gpu_dev);
	if (((struct workq_ctx *)ctx)->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started; stop it first");
	return SHIM_NOT_SIMULATED("GPUs");
}
