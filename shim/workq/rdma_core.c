/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA jobs as tasks of the core. Compiled with the core. */
#include "rdma_core.h"

#include <stdlib.h>

#include "shim/common/base/check.h"
#include "shim/common/pe/pe_progress.h"
#include "shim/rdma/rdma_priv.h"

#define NUM_KINDS (RDMA_FETCH_ADD + 1)

_Static_assert(RDMA_RECEIVE == 0 && RDMA_SEND == 1 && RDMA_SEND_IMM == 2 && RDMA_READ == 3 && RDMA_WRITE == 4 &&
		       RDMA_WRITE_IMM == 5 && RDMA_CMP_SWP == 6 && RDMA_FETCH_ADD == 7,
	       "the order of enum doca_rdma_job_types");

struct workq_rdma_core {
	struct shim_completion_hook hook; /* first; called at the completion of each task */
	struct doca_rdma *rdma;
	struct doca_pe *pe;
	struct workq_attachment *attachment; /* NULL = ends of tasks are forgotten */
	workq_rdma_complete *complete;
	uint32_t recv_queue_size;
	uint32_t num_receives, num_requests; /* in flight */
};

static uint32_t *count_of(struct workq_rdma_core *core, int kind)
{
	return kind == RDMA_RECEIVE ? &core->num_receives : &core->num_requests;
}

static void on_complete(struct shim_completion_hook *hook, struct doca_task *base)
{
	struct workq_rdma_core *core = (struct workq_rdma_core *)hook;
	const struct rdma_task *task = (const struct rdma_task *)base;
	const struct rdma_task_type *type = rdma_task_type(base);
	struct workq_rdma_end end = {
		.kind = (int)type->index,
		.user_data = base->user_data,
		.status = base->status,
		.opcode = (int)task->opcode,
		.len_bytes = type->writes_local && base->status == DOCA_SUCCESS ? task->result_len : 0,
		.immediate = type->index == RDMA_RECEIVE ? task->immediate : 0,
	};

	shim_task_apply(base);
	doca_task_free(base);
	(*count_of(core, end.kind))--;
	if (core->attachment)
		core->complete(core->attachment, &end);
}

/* Never called: each task has the completion hook. */
static void unused_callback(void)
{
}

/* ---- life ---- */

static void configure(struct doca_rdma *rdma, const struct workq_rdma_cfg *cfg)
{
	struct rdma_properties *properties = &rdma->properties;

	properties->permissions = cfg->permissions;
	properties->send_queue_size = cfg->send_queue_size;
	properties->max_send_list_len = shim_dev_function(rdma->ctx.dev)->caps.rdma_max_list_len;
	properties->max_receive_list_len = cfg->recv_list_len;
	properties->gid_index = cfg->gid_index;
	properties->has_gid_index = cfg->has_gid_index;
	properties->sl = cfg->sl;
	properties->mtu = cfg->mtu;
	for (int kind = 0; kind < NUM_KINDS; kind++)
		rdma->conf[kind] = (struct rdma_conf){
			.kind = rdma->conf[kind].kind,
			.num_tasks = kind == RDMA_RECEIVE ? cfg->recv_queue_size : cfg->send_queue_size,
			.done = unused_callback,
			.failed = unused_callback,
		};
	rdma->ctx.is_internal = true;
}

static doca_error_t start(struct workq_rdma_core *core, struct doca_dev *dev, const struct workq_rdma_cfg *cfg)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = doca_pe_create(&core->pe);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(dev, &core->rdma);
	if (result != DOCA_SUCCESS)
		return result;
	configure(core->rdma, cfg);
	result = doca_pe_connect_ctx(core->pe, &core->rdma->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(&core->rdma->ctx);
	return result == DOCA_SUCCESS ? rdma_connection_create("doca_ctx_start", core->rdma, &connection) : result;
}

doca_error_t workq_rdma_core_start(struct doca_dev *dev, const struct workq_rdma_cfg *cfg,
				   struct workq_rdma_core **ret_core)
{
	struct workq_rdma_core *core = calloc(1, sizeof(*core));
	doca_error_t result;

	if (!core)
		return DOCA_ERROR_NO_MEMORY;
	core->hook.on_complete = on_complete;
	core->recv_queue_size = cfg->recv_queue_size;
	result = start(core, dev, cfg);
	if (result == DOCA_SUCCESS)
		*ret_core = core;
	else
		workq_rdma_core_stop(core);
	return result;
}

static void stop_ctx(struct workq_rdma_core *core)
{
	struct doca_ctx *ctx = &core->rdma->ctx;

	if (ctx->pe && doca_ctx_stop(ctx) == DOCA_ERROR_IN_PROGRESS)
		while (ctx->state != DOCA_CTX_STATE_IDLE)
			shim_pe_progress_one(core->pe);
	doca_rdma_destroy(core->rdma);
}

void workq_rdma_core_stop(struct workq_rdma_core *core)
{
	workq_rdma_core_detach(core);
	if (core->rdma)
		stop_ctx(core);
	if (core->pe)
		doca_pe_destroy(core->pe);
	free(core);
}

struct doca_ctx *workq_rdma_core_as_ctx(struct workq_rdma_core *core)
{
	return &core->rdma->ctx;
}

struct doca_pe *workq_rdma_core_pe(struct workq_rdma_core *core)
{
	return core->pe;
}

/* ---- jobs of a queue ---- */

void workq_rdma_core_attach(struct workq_rdma_core *core, struct workq_attachment *attachment,
			    workq_rdma_complete *complete)
{
	core->attachment = attachment;
	core->complete = complete;
}

void workq_rdma_core_detach(struct workq_rdma_core *core)
{
	core->attachment = NULL;
}

bool workq_rdma_core_forget_receives(struct workq_rdma_core *core, uint32_t num_jobs)
{
	if (core->num_receives != num_jobs || !sim_receive_pool_flush_waiting(&core->rdma->group.receives, num_jobs))
		return false;
	workq_rdma_core_detach(core);
	while (core->num_receives > 0)
		shim_pe_progress_one(core->pe);
	return true;
}

/* ---- the connection ---- */

/* A context whose function failed has none. */
static struct doca_rdma_connection *connection_of(const struct workq_rdma_core *core)
{
	return TAILQ_FIRST(&core->rdma->connections);
}

const void *workq_rdma_core_details(const struct workq_rdma_core *core, size_t *ret_len_bytes)
{
	const struct doca_rdma_connection *connection = connection_of(core);

	if (!connection)
		return NULL;
	*ret_len_bytes = sizeof(connection->details);
	return connection->details;
}

doca_error_t workq_rdma_core_connect(struct workq_rdma_core *core, const void *details, size_t len_bytes)
{
	return doca_rdma_connect(core->rdma, details, len_bytes, connection_of(core));
}

enum workq_rdma_state workq_rdma_core_state(const struct workq_rdma_core *core)
{
	const struct doca_rdma_connection *connection = connection_of(core);

	switch (connection ? sim_qp_get_state(connection->qp) : SIM_QP_ERROR) {
	case SIM_QP_RESET:
		return WORKQ_RDMA_INIT;
	case SIM_QP_READY:
		return WORKQ_RDMA_CONNECTED;
	default:
		return WORKQ_RDMA_ERROR;
	}
}

/* ---- submission ---- */

static bool is_full(struct workq_rdma_core *core, int kind)
{
	return kind == RDMA_RECEIVE ? core->num_receives == core->recv_queue_size :
				      core->num_requests == core->rdma->properties.send_queue_size;
}

static doca_error_t submit_task(struct workq_rdma_core *core, struct rdma_task *task, const struct workq_rdma_job *job)
{
	task->src = job->src;
	task->dst = job->dst;
	task->result = job->result;
	task->immediate = job->immediate;
	task->operand = job->operand;
	task->compare = job->compare;
	task->task.hook = &core->hook;
	return doca_task_submit(&task->task);
}

doca_error_t workq_rdma_core_submit(struct workq_rdma_core *core, const struct workq_rdma_job *job)
{
	struct doca_rdma_connection *connection = connection_of(core);
	struct rdma_task *task;
	doca_error_t result;

	if (!connection || shim_ctx_is_stale(&core->rdma->ctx)) {
		sim_err("doca_workq_submit: the function was reset, failed or was removed; close the device and open it again");
		return DOCA_ERROR_BAD_STATE;
	}
	if (is_full(core, job->kind))
		return DOCA_ERROR_NO_MEMORY;
	result = rdma_task_alloc("doca_workq_submit", core->rdma, (enum rdma_task_index)job->kind,
				 job->kind == RDMA_RECEIVE ? NULL : connection, job->user_data, &task);
	if (result != DOCA_SUCCESS)
		return result;
	result = submit_task(core, task, job);
	if (result == DOCA_SUCCESS)
		(*count_of(core, job->kind))++;
	else
		doca_task_free(&task->task);
	return result;
}

uint32_t workq_rdma_max_recv_list_len(const struct doca_devinfo *devinfo)
{
	return devinfo->function->caps.rdma_max_list_len + 1;
}
