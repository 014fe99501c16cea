/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer: a context that offers buffers to the other end's producers. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "consumer_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"
#include "shim/common/process/runtime.h"
#include "sim/protocol/wire.h"

#define DEFAULT_IMM_BYTES 32 /* or the device's limit, if that is less; our choice */

/* ---- start: the other end learns of the consumer ---- */

static void set_alarm(struct sim_consumer *queue, uint64_t due_ns)
{
	struct doca_comch_consumer *consumer = (void *)((uint8_t *)queue - offsetof(struct doca_comch_consumer, queue));

	shim_ctx_set_alarm(&consumer->data_path.ctx, due_ns);
}

static int open_queue(struct doca_comch_consumer *consumer, struct sim_handshake_msg *ret_announcement)
{
	struct doca_ctx *ctx = &consumer->data_path.ctx;
	struct sim_consumer_cfg cfg = { .info = { .id = consumer->data_path.id,
						  .num_slots = consumer->num_tasks,
						  .max_imm_bytes = consumer->imm_bytes,
						  .has_memory = consumer->mmap != NULL,
						  .engine = shim_pe_vclock_engine(ctx->pe) },
					.clock = sim_session_clock(shim_session()),
					.set_alarm = set_alarm,
					.alloc = shim_malloc,
					.wake_fd = shim_pe_peer_wake_fd(ctx) };
	int rc = cfg.wake_fd < 0 ? cfg.wake_fd : 0;

	if (rc == 0 && consumer->mmap)
		rc = shim_mmap_share(consumer->mmap, ctx->dev, &consumer->share);
	if (rc < 0)
		return rc;
	cfg.info.key = consumer->share.key;
	cfg.info.stream_id = sim_trace_new_stream_id();
	return sim_consumer_open(&consumer->queue, &cfg, ret_announcement);
}

/* Half-built is fine. */
static void free_queue(struct doca_comch_consumer *consumer)
{
	shim_mmap_unshare(&consumer->share);
	sim_consumer_close(&consumer->queue);
	consumer->pool = NULL;
}

static void release_none(struct sim_remote *buffers)
{
	(void)buffers;
}

/* Of a MsgQ: its producers, which are in this process, know the consumer at once. */
static int add_to_msgq(struct doca_comch_consumer *consumer, struct sim_handshake_msg *announcement)
{
	struct sim_pipe *pipe = &consumer->data_path.connection->pipe;
	const struct pcie_caps *caps = &shim_dev_function(consumer->data_path.ctx.dev)->caps;
	const struct sim_remote_consumer_limits limits = { .max_consumers = caps->comch_max_consumers,
							   .max_slots = caps->comch_max_fast_tasks,
							   .max_imm_bytes = SIM_DPA_MAX_IMM_BYTES };
	int rc = sim_remote_consumer_add(pipe, &limits, release_none, announcement);

	sim_handshake_msg_close(announcement);
	return rc;
}

static int announce_consumer(struct doca_comch_consumer *consumer)
{
	struct sim_handshake_msg announcement;
	int rc = open_queue(consumer, &announcement);

	if (rc < 0)
		return rc;
	rc = comch_data_path_attach(&consumer->data_path);
	if (rc < 0) {
		sim_handshake_msg_close(&announcement);
		return rc;
	}
	if (consumer->data_path.connection->msgq)
		rc = add_to_msgq(consumer, &announcement);
	else
		rc = sim_pipe_announce(&consumer->data_path.connection->pipe, consumer->data_path.id,
				       &consumer->data_path, &announcement);
	if (rc < 0)
		comch_data_path_detach(&consumer->data_path);
	return rc;
}

static const struct shim_call_errors start_errors = {
	.allowed = SHIM_ERROR_BIT(NO_MEMORY),
	.other = DOCA_ERROR_DRIVER,
	.overrides = { { ENOTCONN, DOCA_ERROR_NOT_CONNECTED } },
};

static bool has_usable_mmap(const struct doca_comch_consumer *consumer)
{
	return shim_mmap_is_same(consumer->mmap, consumer->mmap_serial) && shim_mmap_is_usable(consumer->mmap) &&
	       shim_mmap_has_dev(consumer->mmap, consumer->data_path.ctx.dev);
}

static doca_error_t consumer_start(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;
	doca_error_t result;
	int rc;

	if (!consumer->done) {
		sim_err("doca_ctx_start: no task type is configured; call doca_comch_consumer_task_post_recv_set_conf() first");
		return DOCA_ERROR_BAD_STATE;
	}
	if (consumer->mmap && !has_usable_mmap(consumer)) {
		sim_err("doca_ctx_start: the consumer's memory map is destroyed or stopped, or the connection's device is not in it");
		return DOCA_ERROR_BAD_STATE;
	}
	consumer->type = comch_post_recv_type;
	consumer->type.size = (sizeof(struct doca_comch_consumer_task_post_recv) + consumer->imm_bytes + 15) / 16 * 16;
	result = shim_task_pool_add(ctx, &consumer->type, consumer->num_tasks, &consumer->pool);
	if (result != DOCA_SUCCESS)
		return result;
	consumer->data_path.announced = false;
	rc = announce_consumer(consumer);
	if (rc == 0)
		return consumer->data_path.connection->msgq ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
	free_queue(consumer);
	sim_err("doca_ctx_start: the consumer can't be announced: %s",
		rc == -ENOTCONN ? "its connection is closed" : strerror(-rc));
	return shim_error_for_call(rc, &start_errors);
}

/* ---- progress ---- */

/* Whether the connection ended while the consumer runs. */
static bool is_lost(const struct doca_comch_consumer *consumer)
{
	return consumer->data_path.connection->pipe.lost_error < 0;
}

static bool consumer_progress(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;

	shim_alarm_expired(&ctx->alarm);
	if (comch_consumer_poll(consumer))
		return true;
	if (ctx->state == DOCA_CTX_STATE_STOPPING)
		return comch_consumer_flush(consumer);
	if (is_lost(consumer)) {
		shim_ctx_begin_stop(ctx);
		return true;
	}
	if (ctx->state == DOCA_CTX_STATE_STARTING && consumer->data_path.announced) {
		shim_ctx_set_running(ctx);
		return true;
	}
	return false;
}

static bool consumer_arm(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;

	sim_recvq_arm(&consumer->queue.recvq);
	if (sim_consumer_holds_any(&consumer->queue) && ctx->alarm.due_ns == 0)
		return true; /* a step has to look at them, and to set the alarm */
	return comch_consumer_has_message(consumer) || is_lost(consumer) ||
	       (ctx->state == DOCA_CTX_STATE_STARTING && consumer->data_path.announced) ||
	       (ctx->state == DOCA_CTX_STATE_STOPPING && ctx->num_posted > 0);
}

/* ---- stop ---- */

static void consumer_begin_stop(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;
	struct doca_comch_connection *connection = consumer->data_path.connection;
	uint32_t id;

	if (connection->msgq)
		sim_remote_consumer_remove(&connection->pipe, &consumer->data_path.id, &id);
	if (connection->receives_changed)
		connection->receives_changed(connection); /* messages that wait for this consumer fail */
	if (!connection->msgq)
		sim_pipe_withdraw(&connection->pipe, consumer->data_path.id, &consumer->data_path);
	/* From here on, no producer writes to the buffers. */
	shim_mmap_unshare(&consumer->share);
}

static void consumer_stopped(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;

	comch_data_path_detach(&consumer->data_path);
	free_queue(consumer);
}

const struct shim_ctx_ops comch_consumer_ops = {
	.name = "comch_consumer",
	.start = consumer_start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = consumer_begin_stop,
	.progress = consumer_progress,
	.arm = consumer_arm,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = consumer_stopped,
};

/* ---- public functions ---- */

static doca_error_t check_mmap(const char *func, const struct doca_mmap *mmap)
{
	if (shim_mmap_is_imported(mmap) || !mmap->range_set) {
		sim_err("%s: the memory map is %s", func, mmap->range_set ? "not this process's own memory" : "empty");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!(mmap->access & DOCA_ACCESS_FLAG_PCI_READ_WRITE)) {
		sim_err("%s: the memory map does not allow the other side to write; set DOCA_ACCESS_FLAG_PCI_READ_WRITE",
			func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection, struct doca_mmap *buf_mmap,
					struct doca_comch_consumer **consumer)
{
	struct doca_comch_consumer *created;
	doca_error_t result;

	SHIM_NEED(comch_connection, SHIM_COMCH_CONNECTION);
	SHIM_NEED(buf_mmap, SHIM_MMAP);
	SHIM_NEED_OUT(consumer);
	result = check_mmap(__func__, buf_mmap);
	if (result != DOCA_SUCCESS)
		return result;
	created = shim_object_new(SHIM_COMCH_CONSUMER, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = comch_data_path_init(__func__, &created->data_path, &comch_consumer_ops, comch_connection,
				      COMCH_CONSUMER);
	if (result != DOCA_SUCCESS) {
		shim_object_free(created, SHIM_COMCH_CONSUMER);
		return result;
	}
	created->mmap = buf_mmap;
	created->mmap_serial = buf_mmap->serial;
	created->imm_bytes =
		min_u32(shim_dev_function(created->data_path.ctx.dev)->caps.comch_max_imm_bytes, DEFAULT_IMM_BYTES);
	*consumer = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer)
{
	doca_error_t result;

	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	result = shim_ctx_fini(&consumer->data_path.ctx);
	if (result != DOCA_SUCCESS)
		return result;
	comch_data_path_fini(&consumer->data_path);
	shim_object_free(consumer, SHIM_COMCH_CONSUMER);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer)
{
	return shim_handle_is(consumer, SHIM_COMCH_CONSUMER) ? &consumer->data_path.ctx : NULL;
}

SHIM_DEFINE_GETTER(doca_comch_consumer_get_id, const struct doca_comch_consumer, consumer, SHIM_COMCH_CONSUMER,
		   uint32_t, id, consumer->data_path.id)

doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer, uint32_t imm_data_len)
{
	uint32_t max;

	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	if (consumer->data_path.ctx.state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first");
	max = consumer->data_path.connection->msgq ?
		      SIM_DPA_MAX_IMM_BYTES :
		      shim_dev_function(consumer->data_path.ctx.dev)->caps.comch_max_imm_bytes;
	if (imm_data_len > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u bytes; the device takes %u (doca_comch_consumer_cap_get_max_imm_data_len)",
				   imm_data_len, max);
	consumer->imm_bytes = imm_data_len;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_comch_consumer_get_imm_data_len, const struct doca_comch_consumer, consumer,
		   SHIM_COMCH_CONSUMER, uint32_t, imm_data_len, consumer->imm_bytes)

doca_error_t doca_comch_consumer_task_post_recv_set_conf(
	struct doca_comch_consumer *consumer, doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
	doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_post_recv_tasks)
{
	uint32_t max;

	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	SHIM_NEED_OUT(task_completion_cb);
	SHIM_NEED_OUT(task_error_cb);
	if (consumer->data_path.ctx.state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first");
	max = shim_dev_function(consumer->data_path.ctx.dev)->caps.comch_max_fast_tasks;
	if (num_post_recv_tasks == 0 || num_post_recv_tasks > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u tasks; give 1 to %u (doca_comch_consumer_cap_get_max_num_tasks)",
				   num_post_recv_tasks, max);
	consumer->done = task_completion_cb;
	consumer->failed = task_error_cb;
	consumer->num_tasks = num_post_recv_tasks;
	return DOCA_SUCCESS;
}
