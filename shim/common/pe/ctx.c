/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts as objects: what a program sets and asks; operations of libraries that have nothing to do. */
#include "ctx_priv.h"

#include "shim/common/base/check.h"

const char *shim_ctx_describe_not_running(const struct doca_ctx *ctx)
{
	return shim_ctx_is_same_process(ctx) ?
		       "the context is not running; start it first" :
		       "the context is of the process before fork(), and a child can't use it; make one in the child";
}

/* Of a @ctx that is NULL or was a handle. */
static bool is_live_ctx(const struct doca_ctx *ctx)
{
	return ctx && (uintptr_t)ctx % _Alignof(struct doca_ctx) == 0 && shim_object_is_ctx(&ctx->object);
}

bool shim_ctx_is(const struct doca_ctx *ctx)
{
	return shim_object_has_pool(ctx) && is_live_ctx(ctx);
}

doca_error_t shim_ctx_may_stop_always(const struct doca_ctx *ctx)
{
	(void)ctx;
	return DOCA_SUCCESS;
}

void shim_ctx_nop(struct doca_ctx *ctx)
{
	(void)ctx;
}

bool shim_ctx_progress_none(struct doca_ctx *ctx)
{
	(void)ctx;
	return false;
}

bool shim_ctx_arm_none(struct doca_ctx *ctx)
{
	(void)ctx;
	return false;
}

bool shim_ctx_is_drained_always(const struct doca_ctx *ctx)
{
	(void)ctx;
	return true;
}

void doca_ctx_flush_tasks(struct doca_ctx *ctx)
{
	if (!is_live_ctx(ctx) || ctx->state == DOCA_CTX_STATE_IDLE || !shim_ctx_is_same_process(ctx))
		sim_err("doca_ctx_flush_tasks: the context is NULL, destroyed, idle, or of the process before fork()");
	else if (ctx->queue)
		sim_queue_doorbell(ctx->queue);
}

size_t shim_ctx_num_in_flight(const struct doca_ctx *ctx)
{
	return ctx->num_posted + (ctx->queue ? sim_queue_in_flight(ctx->queue) : 0);
}

doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks)
{
	SHIM_NEED_CTX(ctx);
	SHIM_NEED_OUT(num_inflight_tasks);
	*num_inflight_tasks = shim_ctx_num_in_flight(ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state)
{
	SHIM_NEED_CTX(ctx);
	SHIM_NEED_OUT(state);
	*state = ctx->state;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data)
{
	SHIM_NEED_CTX(ctx);
	ctx->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data)
{
	SHIM_NEED_CTX(ctx);
	SHIM_NEED_OUT(user_data);
	*user_data = ctx->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t cb)
{
	SHIM_NEED_CTX(ctx);
	SHIM_NEED_OUT(cb);
	ctx->state_changed = cb;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_DEVINFO_GETTER(doca_ctx_cap_get_num_completion_vectors, uint32_t, num_comp_vectors,
			   devinfo->function->caps.num_completion_vectors)

doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector)
{
	SHIM_NEED_CTX(ctx);
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first");
	if (!ctx->dev)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "a %s context has no device", ctx->ops->name);
	if (comp_vector >= shim_dev_function(ctx->dev)->caps.num_completion_vectors)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "vector %u; the device has %u", comp_vector,
				   shim_dev_function(ctx->dev)->caps.num_completion_vectors);
	ctx->completion_vector = comp_vector; /* distributes interrupts on a card; here one thread runs all jobs */
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev)
{
	SHIM_NEED_CTX(ctx);
	SHIM_NEED_OUT(dpa_dev);
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started; stop it first");
	if (!ctx->ops->takes_dpa)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the data path of a %s context is the CPU's",
				   ctx->ops->name);
	SHIM_NEED(dpa_dev, SHIM_DPA);
	ctx->dpa = dpa_dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
	SHIM_NEED_CTX(ctx);
	SHIM_NEED_OUT(gpu_dev);
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started; stop it first");
	return SHIM_NOT_SIMULATED("GPUs");
}
