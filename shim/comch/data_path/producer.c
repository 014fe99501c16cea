/* SPDX-License-Identifier: BSD-3-Clause */
/* The producer: a context that sends to consumers of the other end. */
#include <errno.h>

#include "producer_priv.h"
#include "shim/common/base/check.h"

static doca_error_t producer_start(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;
	bool is_to_dpa = producer->data_path.connection->msgq; /* no source says how long a message takes */
	uint32_t max_imm_bytes =
		is_to_dpa ? SIM_DPA_MAX_IMM_BYTES : shim_dev_function(ctx->dev)->caps.comch_max_imm_bytes;
	doca_error_t result;

	if (!producer->done) {
		sim_err("doca_ctx_start: no task type is configured; call doca_comch_producer_task_send_set_conf() first");
		return DOCA_ERROR_BAD_STATE;
	}
	producer->one_way_ns = is_to_dpa ? 0 : sim_clock_ns(shim_dev_timing(ctx->dev).producer_msg_ps);
	producer->type = comch_producer_send_type;
	producer->type.size = (producer->type.size + max_imm_bytes + 15) / 16 * 16;
	result = shim_ctx_open_queue(ctx, producer->num_tasks);
	if (result == DOCA_SUCCESS)
		result = shim_task_pool_add(ctx, &producer->type, producer->num_tasks, &producer->pool);
	if (result == DOCA_SUCCESS && comch_data_path_attach(&producer->data_path) < 0) {
		sim_err("doca_ctx_start: the producer's connection is closed");
		result = DOCA_ERROR_NOT_CONNECTED;
	}
	return result;
}

static bool producer_progress(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;

	if (producer->data_path.connection->pipe.lost_error == 0 || ctx->state != DOCA_CTX_STATE_RUNNING)
		return false;
	shim_ctx_begin_stop(ctx);
	return true;
}

static bool producer_arm(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;

	return producer->data_path.connection->pipe.lost_error < 0 && ctx->state == DOCA_CTX_STATE_RUNNING;
}

static void producer_stopped(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;

	comch_data_path_detach(&producer->data_path);
	producer->pool = NULL;
}

const struct shim_ctx_ops comch_producer_ops = {
	.name = "comch_producer",
	.start = producer_start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_ctx_nop,
	.progress = producer_progress,
	.arm = producer_arm,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = producer_stopped,
};

/* ---- public functions ---- */

doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
					struct doca_comch_producer **producer)
{
	struct doca_comch_producer *created;
	doca_error_t result;

	SHIM_NEED(comch_connection, SHIM_COMCH_CONNECTION);
	SHIM_NEED_OUT(producer);
	created = shim_object_new(SHIM_COMCH_PRODUCER, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = comch_data_path_init(__func__, &created->data_path, &comch_producer_ops, comch_connection,
				      COMCH_PRODUCER);
	if (result != DOCA_SUCCESS) {
		shim_object_free(created, SHIM_COMCH_PRODUCER);
		return result;
	}
	*producer = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer)
{
	doca_error_t result;

	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	result = shim_ctx_fini(&producer->data_path.ctx);
	if (result != DOCA_SUCCESS)
		return result;
	comch_data_path_fini(&producer->data_path);
	shim_object_free(producer, SHIM_COMCH_PRODUCER);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer)
{
	return shim_handle_is(producer, SHIM_COMCH_PRODUCER) ? &producer->data_path.ctx : NULL;
}

SHIM_DEFINE_GETTER(doca_comch_producer_get_id, const struct doca_comch_producer, producer, SHIM_COMCH_PRODUCER,
		   uint32_t, id, producer->data_path.id)

doca_error_t doca_comch_producer_task_send_set_conf(struct doca_comch_producer *producer,
						    doca_comch_producer_task_send_completion_cb_t task_completion_cb,
						    doca_comch_producer_task_send_completion_cb_t task_error_cb,
						    uint32_t num_send_tasks)
{
	uint32_t max;

	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	SHIM_NEED_OUT(task_completion_cb);
	SHIM_NEED_OUT(task_error_cb);
	if (producer->data_path.ctx.state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first");
	max = shim_dev_function(producer->data_path.ctx.dev)->caps.comch_max_fast_tasks;
	if (num_send_tasks == 0 || num_send_tasks > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u tasks; give 1 to %u (doca_comch_producer_cap_get_max_num_tasks)", num_send_tasks,
				   max);
	producer->done = task_completion_cb;
	producer->failed = task_error_cb;
	producer->num_tasks = num_send_tasks;
	return DOCA_SUCCESS;
}
