/* SPDX-License-Identifier: BSD-3-Clause */
/* The RDMA context: create, start, progress, stop. */
#include <errno.h>
#include <stdatomic.h>

#include "addr_priv.h"
#include "cm_priv.h"
#include "dpa_priv.h"
#include "pcie_model/arith.h"
#include "rdma_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/ctx_life.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/process/runtime.h"

/* The default properties. Those without a source are our choice (doc/rdma.md). */
static const struct rdma_properties default_properties = {
	.send_queue_size = 128,
	.receive_queue_size = 128,
	.max_send_list_len = 1,
	.max_receive_list_len = 1,
	.transport = DOCA_RDMA_TRANSPORT_TYPE_RC,
	.max_connections = 1,
	.rnr_retries = 6,
	.mtu = DOCA_MTU_SIZE_4K_BYTES,
	.request_timeout_ms = 2000,
};

static const struct rdma_task_type *const task_types[RDMA_NUM_TASKS] = {
	[RDMA_RECEIVE] = &rdma_receive_type,
	[RDMA_SEND] = &rdma_send_type,
	[RDMA_SEND_IMM] = &rdma_send_imm_type,
	[RDMA_READ] = &rdma_read_type,
	[RDMA_WRITE] = &rdma_write_type,
	[RDMA_WRITE_IMM] = &rdma_write_imm_type,
	[RDMA_CMP_SWP] = &rdma_atomic_cmp_swp_type,
	[RDMA_FETCH_ADD] = &rdma_atomic_fetch_add_type,
	[RDMA_EVENT_GET] = &rdma_event_get_type,
	[RDMA_EVENT_SET] = &rdma_event_set_type,
	[RDMA_EVENT_ADD] = &rdma_event_add_type,
};

/* ---- start ---- */

static doca_error_t add_pool(struct doca_rdma *rdma, int index)
{
	const struct rdma_properties *properties = &rdma->properties;
	struct rdma_conf *conf = &rdma->conf[index];
	uint32_t max_segments =
		index == RDMA_RECEIVE ? properties->max_receive_list_len : properties->max_send_list_len;

	if (conf->num_tasks == 0)
		return DOCA_SUCCESS;
	conf->type = conf->kind->task;
	conf->type.size += max_segments * sizeof(struct sim_rdma_segment);
	return shim_task_pool_add(&rdma->ctx, &conf->type, conf->num_tasks, &conf->pool);
}

static doca_error_t rdma_start(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;
	doca_error_t result = DOCA_SUCCESS;

	if (rdma->properties.has_gid_index && !rdma_has_gid(shim_dev_function(ctx->dev), rdma->properties.gid_index)) {
		sim_err("doca_ctx_start: the device has no GID at index %u: 0 and 1 are link-local, 2 and 3 the IPv4 address (doca_rdma_cap_get_gid)",
			rdma->properties.gid_index);
		return DOCA_ERROR_INVALID_VALUE;
	}
	sim_qp_group_init(&rdma->group);
	rdma->is_connected = false;
	for (int i = 0; i < RDMA_NUM_TASKS && !ctx->dpa && result == DOCA_SUCCESS; i++)
		result = add_pool(rdma, i);
	if (ctx->dpa)
		result = rdma_dpa_start(rdma);
	if (result != DOCA_SUCCESS)
		return result;
	sim_unpolled_begin(&rdma->group, shim_session());
	return rdma_release.starts_by_connect ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
}

/* ---- progress ---- */

static bool complete_receive(struct doca_rdma *rdma)
{
	struct sim_receive_pool *pool = &rdma->group.receives;
	struct sim_rdma_receive *receive;

	if (!sim_receive_pool_has_done(pool))
		return false;
	receive = sim_receive_pool_reap(pool, doca_unlikely(sim_receive_pool_has_hold(pool)) ? shim_now_ns() : 0);
	if (!receive)
		return false;
	rdma->is_turn_of_works = true;
	rdma_task_end_receive(receive);
	return true;
}

static bool complete_work(struct doca_rdma *rdma)
{
	struct sim_rdma_work *work = sim_qp_group_reap(&rdma->group);

	if (!work)
		return false;
	rdma->is_turn_of_works = false;
	rdma_task_end_work(work);
	return true;
}

/* Complete one task. Returns whether there was one. Receives and works take turns: a program that answers each message has a
 * task for each answer, which a flow of messages must not keep from it. */
static bool complete_one(struct doca_rdma *rdma)
{
	if (rdma->is_turn_of_works)
		return complete_work(rdma) || complete_receive(rdma);
	return complete_receive(rdma) || complete_work(rdma);
}

/* The next receive is complete, and held. */
static void set_alarm_of_receive(struct doca_rdma *rdma)
{
	uint64_t due_ns = sim_receive_pool_due_ns(&rdma->group.receives);

	if (doca_unlikely(due_ns > 0 && due_ns < UINT64_MAX))
		shim_ctx_set_alarm(&rdma->ctx, due_ns);
}

/* Whether the context is starting, and the program has connected it. */
static bool is_about_to_run(const struct doca_rdma *rdma)
{
	return rdma->ctx.state == DOCA_CTX_STATE_STARTING && rdma->is_connected;
}

static bool take_step(struct doca_rdma *rdma)
{
	struct doca_ctx *ctx = &rdma->ctx;
	bool is_running = ctx->state == DOCA_CTX_STATE_RUNNING;

	if (shim_alarm_expired(&ctx->alarm)) {
		atomic_store(&rdma->has_cm_news, true);
		if (is_running)
			sim_qp_group_on_alarm(&rdma->group);
	}
	if (is_about_to_run(rdma)) {
		shim_ctx_set_running(ctx);
		return true;
	}
	if (is_running)
		sim_qp_group_progress(&rdma->group);
	rdma_set_alarm(rdma);
	if (complete_one(rdma) || (is_running && rdma_cm_progress(rdma)))
		return true;
	set_alarm_of_receive(rdma);
	if (ctx->state != DOCA_CTX_STATE_STOPPING || !rdma->is_disconnecting)
		return false;
	rdma->is_disconnecting = false;
	return true;
}

static bool rdma_progress(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;
	bool has_done;

	if (doca_unlikely(rdma->dpa != NULL))
		return false;
	rdma->is_in_callback = true;
	has_done = take_step(rdma);
	if (doca_likely(shim_object_is_still(rdma, SHIM_RDMA))) /* a callback may destroy the context */
		rdma->is_in_callback = false;
	return has_done;
}

static bool rdma_arm(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;
	bool has_work;

	if (doca_unlikely(rdma->dpa != NULL))
		return false;
	has_work = sim_receive_pool_due_ns(&rdma->group.receives) <= shim_now_ns() || rdma->is_disconnecting;
	has_work |= sim_qp_group_arm(&rdma->group);
	return has_work || is_about_to_run(rdma) || (ctx->state == DOCA_CTX_STATE_RUNNING && rdma_cm_has_work(rdma));
}

/* ---- stop ---- */

/* The vendor's samples expect that a stop in a callback of the context is in progress; its storage applications and other programs,
 * that one elsewhere is done if no task is in flight. */
static void rdma_begin_stop(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;
	struct doca_rdma_connection *connection;

	rdma_cm_end_listeners(rdma);
	if (rdma->dpa)
		rdma_dpa_quiesce(rdma);
	TAILQ_FOREACH(connection, &rdma->connections, link) {
		rdma_cm_end_offer(connection);
		rdma_connection_close_channel(connection);
		sim_qp_leave(connection->qp, -ECANCELED);
	}
	sim_receive_pool_flush(&rdma->group.receives);
	if (rdma->dpa)
		rdma_dpa_drop(rdma);
	rdma->is_disconnecting =
		!rdma->dpa && (rdma->is_in_callback || ctx->is_in_state_callback) && !TAILQ_EMPTY(&rdma->connections);
}

static bool rdma_is_drained(const struct doca_ctx *ctx)
{
	return !((const struct doca_rdma *)ctx)->is_disconnecting;
}

static void rdma_stopped(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;

	while (!TAILQ_EMPTY(&rdma->connections))
		rdma_connection_destroy(TAILQ_FIRST(&rdma->connections));
	while (!TAILQ_EMPTY(&rdma->ended))
		rdma_connection_destroy(TAILQ_FIRST(&rdma->ended));
	if (shim_ctx_is_same_process(ctx)) {
		sim_unpolled_end(&rdma->group);
		sim_qp_group_close(&rdma->group);
	} else {
		sim_qp_group_abandon(&rdma->group);
	}
	for (int i = 0; i < RDMA_NUM_TASKS; i++)
		rdma->conf[i].pool = NULL;
	rdma_dpa_destroy(rdma->dpa);
	rdma->dpa = NULL;
}

static bool rdma_holds_time(struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_RUNNING && rdma_cm_holds_time((struct doca_rdma *)ctx);
}

static const struct shim_ctx_ops rdma_ops = {
	.name = "rdma",
	.takes_dpa = true,
	.start = rdma_start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = rdma_begin_stop,
	.progress = rdma_progress,
	.arm = rdma_arm,
	.holds_time = rdma_holds_time,
	.is_drained = rdma_is_drained,
	.stopped = rdma_stopped,
};

/* ---- public functions ---- */

doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma)
{
	struct doca_rdma *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(rdma);
	if (!shim_dev_function(dev)->caps.rdma)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "device %s has no RDMA (rdma in the topology)",
				   shim_dev_function(dev)->ibdev);
	created = shim_object_new(SHIM_RDMA, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_ctx_init(&created->ctx, &rdma_ops, dev);
	created->properties = default_properties;
	created->properties.send_queue_size =
		min_u32(default_properties.send_queue_size, shim_dev_function(dev)->caps.rdma_max_send_queue);
	for (int i = 0; i < RDMA_NUM_TASKS; i++)
		created->conf[i].kind = task_types[i];
	TAILQ_INIT(&created->connections);
	TAILQ_INIT(&created->ended);
	sim_qp_group_init(&created->group);
	*rdma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	if (shim_ctx_fini(&rdma->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	rdma_dpa_detach(rdma);
	shim_object_free(rdma, SHIM_RDMA);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
	return shim_handle_is(rdma, SHIM_RDMA) ? &rdma->ctx : NULL;
}
