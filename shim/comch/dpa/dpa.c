/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers and producers whose data path is on the DPA. */
#include <errno.h>

#include "dpa_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"
#include "shim/common/pe/task_fault.h"

/* Refuse to configure a context that is not idle. A consumer or producer begins with its context. */
#define NEED_IDLE(object)                                                                                   \
	do {                                                                                                \
		if (((const struct doca_ctx *)(object))->state != DOCA_CTX_STATE_IDLE)                      \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first"); \
	} while (0)

/* Refuse what an end of a connection can't be: on a DPA. */
#define NEED_MSGQ(object)                                                                                 \
	do {                                                                                              \
		if (!(object)->data_path.connection->msgq)                                                \
			return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED,                                      \
					   "a connection's data path is the CPU's; create it by a MsgQ"); \
	} while (0)

/* Return why the end's context can't start, or NULL. */
static const char *describe_unready(const struct comch_data_path *end)
{
	const struct doca_dpa *dpa = end->connection->msgq->dpa;

	if (end->ctx.dpa != dpa)
		return "its data path is not on the MsgQ's DPA; call doca_ctx_set_datapath_on_dpa() first";
	return NULL;
}

static doca_error_t refuse_start(const char *what, const char *problem)
{
	sim_err("doca_ctx_start: the %s can't start: %s", what, problem);
	return DOCA_ERROR_BAD_STATE;
}

static doca_error_t refuse_broken(const char *what)
{
	sim_err("doca_ctx_start: the %s's MsgQ is broken; stop it, and start it again", what);
	return DOCA_ERROR_NOT_CONNECTED;
}

static const struct shim_call_errors start_errors = { .allowed = SHIM_ERROR_BIT(NO_MEMORY),
						      .other = DOCA_ERROR_DRIVER };

/* ---- consumers ---- */

static const char *describe_unready_consumer(const struct doca_comch_consumer *consumer)
{
	const struct doca_comch_consumer_completion *completion = consumer->completion;

	if (!shim_handle_is(completion, SHIM_COMCH_CONSUMER_COMPLETION) || !completion->is_started)
		return "it has no completion context that is started; call doca_comch_consumer_set_completion()";
	if (completion->thread->dpa->base != consumer->data_path.ctx.dpa->base)
		return "its completion context is another DPA context's";
	if (completion->num_users == completion->max_num_consumers)
		return "its completion context has as many consumers as "
		       "doca_comch_consumer_completion_set_max_num_consumers() says";
	if (consumer->dev_max_num_recv == 0)
		return "its number of receives is not set; call doca_comch_consumer_set_dev_max_num_recv()";
	if (consumer->imm_bytes > completion->imm_data_len)
		return "its immediate data is longer than that of its completion context";
	return NULL;
}

static doca_error_t consumer_start(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;
	const char *problem = describe_unready(&consumer->data_path);
	doca_error_t result;
	int rc;

	if (!problem)
		problem = describe_unready_consumer(consumer);
	if (problem)
		return refuse_start("consumer", problem);
	result = shim_dpa_check_running("doca_ctx_start", ctx->dpa);
	if (result != DOCA_SUCCESS)
		return result;
	consumer->dpa = (struct sim_dpa_consumer){ .process = ctx->dpa->process,
						   .completion = &consumer->completion->ring,
						   .pipe = &consumer->data_path.connection->pipe,
						   .id = consumer->data_path.id,
						   .object = ctx->trace_id,
						   .stream_id = sim_trace_new_stream_id(),
						   .faults = { .find = shim_fault_ask_for, .arg = ctx } };
	rc = sim_dpa_consumer_start(&consumer->dpa, consumer->dev_max_num_recv, consumer->imm_bytes);
	if (rc < 0)
		return shim_error_for_call(rc, &start_errors);
	if (comch_data_path_attach(&consumer->data_path) < 0) {
		sim_dpa_consumer_stop(&consumer->dpa);
		return refuse_broken("consumer");
	}
	consumer->completion->num_users++;
	return DOCA_SUCCESS;
}

static void consumer_stopped(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;

	comch_data_path_detach(&consumer->data_path);
	consumer->completion->num_users--;
	sim_dpa_consumer_stop(&consumer->dpa);
}

const struct shim_ctx_ops comch_dpa_consumer_ops = {
	.name = "comch_consumer",
	.takes_dpa = true,
	.start = consumer_start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_ctx_nop,
	.progress = shim_ctx_progress_none,
	.arm = shim_ctx_arm_none,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = consumer_stopped,
};

doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer, uint32_t dev_num_recv)
{
	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	if (dev_num_recv == 0 || dev_num_recv > COMCH_MAX_ROUNDED)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u receives; give 1 to %u", dev_num_recv,
				   COMCH_MAX_ROUNDED);
	NEED_IDLE(consumer);
	NEED_MSGQ(consumer);
	consumer->dev_max_num_recv = comch_round_up_pow2(dev_num_recv);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
						struct doca_comch_consumer_completion *consumer_comp,
						uint32_t user_data)
{
	(void)user_data; /* kernels have no function that reads it */
	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	NEED_IDLE(consumer);
	NEED_MSGQ(consumer);
	consumer->completion = consumer_comp;
	return DOCA_SUCCESS;
}

/* Return from the public function unless the end is the DPA's, and runs. */
#define NEED_ON_DPA(object, dpa_ops)                                                                         \
	do {                                                                                                 \
		const struct doca_ctx *ctx_ = (const struct doca_ctx *)(object);                             \
		if (ctx_->ops != (dpa_ops))                                                                  \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context's data path is not on a DPA"); \
		if (ctx_->state != DOCA_CTX_STATE_RUNNING)                                                   \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "%s", shim_ctx_describe_not_running(ctx_)); \
	} while (0)

doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
						doca_dpa_dev_comch_consumer_t *dpa_consumer)
{
	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	SHIM_NEED_OUT(dpa_consumer);
	NEED_ON_DPA(consumer, &comch_dpa_consumer_ops);
	*dpa_consumer = consumer->dpa.handle;
	return DOCA_SUCCESS;
}

/* ---- producers ---- */

static const char *describe_unready_producer(const struct doca_comch_producer *producer)
{
	const struct doca_dpa_completion *completion = producer->completion;

	if (!shim_handle_is(completion, SHIM_DPA_COMPLETION) || !completion->is_started)
		return "it has no completion context that is started; call doca_comch_producer_dpa_completion_attach()";
	if (completion->dpa->base != producer->data_path.ctx.dpa->base)
		return "its completion context is another DPA context's";
	if (producer->dev_max_num_send == 0)
		return "its number of sends is not set; call doca_comch_producer_set_dev_max_num_send()";
	return NULL;
}

static void list_producer(struct doca_comch_producer *producer, bool is_started)
{
	struct doca_comch_msgq *msgq = producer->data_path.connection->msgq;

	pthread_mutex_lock(&msgq->producers_lock);
	if (is_started)
		LIST_INSERT_HEAD(&msgq->producers, producer, dpa_link);
	else
		LIST_REMOVE(producer, dpa_link);
	pthread_mutex_unlock(&msgq->producers_lock);
}

static doca_error_t producer_start(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;
	const char *problem = describe_unready(&producer->data_path);
	doca_error_t result;

	if (!problem)
		problem = describe_unready_producer(producer);
	if (problem)
		return refuse_start("producer", problem);
	result = shim_dpa_check_running("doca_ctx_start", ctx->dpa);
	if (result != DOCA_SUCCESS)
		return result;
	producer->dpa = (struct sim_dpa_producer){ .process = ctx->dpa->process,
						   .completion = &producer->completion->ring,
						   .pipe = &producer->data_path.connection->pipe,
						   .id = producer->data_path.id,
						   .object = ctx->trace_id,
						   .user_data = (uint32_t)ctx->user_data.u64 & 0xffffff,
						   .num_sends = producer->dev_max_num_send,
						   .faults = { .find = shim_fault_ask_for, .arg = ctx } };
	if (sim_dpa_producer_start(&producer->dpa) < 0)
		return shim_error_for_call(-ENOMEM, &start_errors);
	if (comch_data_path_attach(&producer->data_path) < 0) {
		sim_dpa_producer_stop(&producer->dpa);
		return refuse_broken("producer");
	}
	producer->completion->num_users++;
	list_producer(producer, true);
	return DOCA_SUCCESS;
}

static void producer_stopped(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;

	list_producer(producer, false);
	comch_data_path_detach(&producer->data_path);
	producer->completion->num_users--;
	sim_dpa_producer_stop(&producer->dpa);
}

const struct shim_ctx_ops comch_dpa_producer_ops = {
	.name = "comch_producer",
	.takes_dpa = true,
	.start = producer_start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_ctx_nop,
	.progress = shim_ctx_progress_none,
	.arm = shim_ctx_arm_none,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = producer_stopped,
};

doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer, uint32_t dev_num_send)
{
	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	if (dev_num_send == 0 || dev_num_send > COMCH_MAX_ROUNDED)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u sends; give 1 to %u", dev_num_send, COMCH_MAX_ROUNDED);
	NEED_IDLE(producer);
	NEED_MSGQ(producer);
	producer->dev_max_num_send = comch_round_up_pow2(dev_num_send);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer,
						       struct doca_dpa_completion *dpa_comp)
{
	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	SHIM_NEED(dpa_comp, SHIM_DPA_COMPLETION);
	NEED_IDLE(producer);
	NEED_MSGQ(producer);
	producer->completion = dpa_comp;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
						doca_dpa_dev_comch_producer_t *dpa_producer)
{
	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	SHIM_NEED_OUT(dpa_producer);
	NEED_ON_DPA(producer, &comch_dpa_producer_ops);
	*dpa_producer = producer->dpa.handle;
	return DOCA_SUCCESS;
}
