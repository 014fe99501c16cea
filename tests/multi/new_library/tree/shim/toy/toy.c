/* SPDX-License-Identifier: BSD-3-Clause */
/* The context that adds numbers. */
#include "shim/common/base/check.h"
#include "shim/common/pe/ctx_life.h"
#include "toy_priv.h"

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_toy *toy = (struct doca_toy *)ctx;
	doca_error_t result;

	if (toy->sums.num_tasks == 0) {
		sim_err("doca_ctx_start: no task type is configured; call doca_toy_task_sum_set_conf() first");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = shim_ctx_open_queue(ctx, toy->sums.num_tasks);
	if (result == DOCA_SUCCESS)
		result = shim_task_pool_add(ctx, &toy_sum_type, toy->sums.num_tasks, &toy->sums.pool);
	return result;
}

static void stopped(struct doca_ctx *ctx)
{
	((struct doca_toy *)ctx)->sums.pool = NULL;
}

static const struct shim_ctx_ops toy_ops = {
	.name = "toy",
	.start = start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_ctx_nop,
	.progress = shim_ctx_progress_none,
	.arm = shim_ctx_arm_none,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = stopped,
};

doca_error_t doca_toy_create(struct doca_dev *dev, struct doca_toy **toy)
{
	struct doca_toy *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(toy);
	created = shim_object_new(SHIM_TOY, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_ctx_init(&created->ctx, &toy_ops, dev);
	*toy = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_toy_destroy(struct doca_toy *toy)
{
	doca_error_t result;

	SHIM_NEED(toy, SHIM_TOY);
	result = shim_ctx_fini(&toy->ctx);
	if (result == DOCA_SUCCESS)
		shim_object_free(toy, SHIM_TOY);
	return result;
}

struct doca_ctx *doca_toy_as_ctx(struct doca_toy *toy)
{
	return shim_handle_is(toy, SHIM_TOY) ? &toy->ctx : NULL;
}
