/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_rdma: contexts, their connection, and jobs, which the core executes as tasks. */
#include <string.h>

#include "rdma_priv.h"
#include "shim/common/base/check.h"

static struct workq_rdma_core *core_of(const struct workq_attachment *attachment)
{
	return ((struct doca_rdma *)attachment->ctx)->core;
}

/* ---- results ---- */

_Static_assert(sizeof(struct doca_rdma_result) == sizeof(struct workq_result), "what an event has room for");

static void complete(struct workq_attachment *attachment, const struct workq_rdma_end *end)
{
	const struct doca_rdma_result result = {
		.result = end->status,
		.opcode = (enum doca_rdma_opcode_t)end->opcode,
		.length = end->len_bytes,
		.immediate_data = end->immediate,
	};
	struct workq_result bytes;

	memcpy(&bytes, &result, sizeof(bytes));
	shim_workq_complete_with(attachment, DOCA_RDMA_JOB_RECV + end->kind, end->user_data, &bytes,
				 end->status != DOCA_SUCCESS);
}

/* ---- the context ---- */

static bool rdma_supports(const struct doca_devinfo *devinfo)
{
	return doca_rdma_job_get_supported(devinfo, DOCA_RDMA_JOB_SEND) == DOCA_SUCCESS;
}

static doca_error_t start_rdma(struct workq_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;
	doca_error_t result = shim_workq_start_with_dev(ctx);

	if (result == DOCA_SUCCESS)
		result = workq_rdma_check_sizes(rdma);
	if (result != DOCA_SUCCESS)
		return result;
	result = workq_rdma_core_start(ctx->dev, &rdma->cfg, &rdma->core);
	return result == DOCA_SUCCESS || result == DOCA_ERROR_INVALID_VALUE ? result : DOCA_ERROR_INITIALIZATION;
}

static void stop_rdma(struct workq_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;

	workq_rdma_core_stop(rdma->core);
	rdma->core = NULL;
}

/* The context is of the core since the start; the queue takes its completions. */
static doca_error_t rdma_create_core(struct workq_attachment *attachment, uint32_t depth)
{
	(void)depth;
	if (!LIST_EMPTY(&attachment->ctx->attachments)) {
		sim_err("doca_ctx_workq_add: an RDMA context has one work queue, and is in another one");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	attachment->core_ctx = workq_rdma_core_as_ctx(core_of(attachment));
	attachment->own_pe = workq_rdma_core_pe(core_of(attachment));
	workq_rdma_core_attach(core_of(attachment), attachment, complete);
	return DOCA_SUCCESS;
}

static void rdma_destroy_core(struct workq_attachment *attachment)
{
	if (attachment->own_pe)
		workq_rdma_core_detach(core_of(attachment));
}

static bool forget_receives(struct workq_attachment *attachment)
{
	return workq_rdma_core_forget_receives(core_of(attachment), attachment->in_flight);
}

/* ---- jobs ---- */

static void take_send(const struct doca_job *base, struct workq_rdma_job *ret_job)
{
	const struct doca_rdma_job_send *job = (const struct doca_rdma_job_send *)base;

	ret_job->src = job->src_buff;
	if (base->type == DOCA_RDMA_JOB_SEND_IMM)
		ret_job->immediate = job->immediate_data;
}

static void take_read_write(const struct doca_job *base, struct workq_rdma_job *ret_job)
{
	const struct doca_rdma_job_read_write *job = (const struct doca_rdma_job_read_write *)base;

	ret_job->src = job->src_buff;
	ret_job->dst = job->dst_buff;
	if (base->type == DOCA_RDMA_JOB_WRITE_IMM)
		ret_job->immediate = job->immediate_data;
}

static void take_atomic(const struct doca_job *base, struct workq_rdma_job *ret_job)
{
	const struct doca_rdma_job_atomic *job = (const struct doca_rdma_job_atomic *)base;

	ret_job->dst = job->cmp_or_add_dest_buff;
	ret_job->result = job->result_buff;
	ret_job->operand = job->swap_or_add_data;
	ret_job->compare = job->cmp_data;
}

static doca_error_t take_job(const struct doca_job *base, struct workq_rdma_job *ret_job)
{
	*ret_job = (struct workq_rdma_job){ .kind = base->type - DOCA_RDMA_JOB_RECV, .user_data = base->user_data };
	switch (base->type) {
	case DOCA_RDMA_JOB_RECV:
		ret_job->dst = ((const struct doca_rdma_job_recv *)base)->dst_buff;
		return DOCA_SUCCESS;
	case DOCA_RDMA_JOB_SEND:
	case DOCA_RDMA_JOB_SEND_IMM:
		take_send(base, ret_job);
		return DOCA_SUCCESS;
	case DOCA_RDMA_JOB_READ:
	case DOCA_RDMA_JOB_WRITE:
	case DOCA_RDMA_JOB_WRITE_IMM:
		take_read_write(base, ret_job);
		return DOCA_SUCCESS;
	case DOCA_RDMA_JOB_ATOMIC_CMP_SWP:
	case DOCA_RDMA_JOB_ATOMIC_FETCH_ADD:
		take_atomic(base, ret_job);
		return DOCA_SUCCESS;
	}
	sim_err("doca_workq_submit: %d is no job of libdoca_rdma (enum doca_rdma_job_types)", base->type);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t rdma_submit(struct workq_attachment *attachment, const struct doca_job *base)
{
	struct workq_rdma_job job;
	doca_error_t result = take_job(base, &job);

	return result == DOCA_SUCCESS ? workq_rdma_core_submit(core_of(attachment), &job) : result;
}

static const struct workq_ctx_ops rdma_ops = {
	.name = "RDMA",
	.supports = rdma_supports,
	.start = start_rdma,
	.stop = stop_rdma,
	.create_core = rdma_create_core,
	.destroy_core = rdma_destroy_core,
	.submit = rdma_submit,
	.forget_waiting = forget_receives,
};

/* ---- public functions ---- */

doca_error_t doca_rdma_create(struct doca_rdma **rdma)
{
	struct doca_rdma *created;

	SHIM_NEED_OUT(rdma);
	created = shim_object_new(SHIM_WORKQ_RDMA, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_workq_ctx_init(&created->ctx, &rdma_ops);
	workq_rdma_set_defaults(&created->cfg);
	*rdma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
	doca_error_t result;

	SHIM_NEED(rdma, SHIM_WORKQ_RDMA);
	if (rdma->ctx.started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started; call doca_ctx_stop() first");
	result = shim_workq_ctx_fini(__func__, &rdma->ctx);
	if (result == DOCA_SUCCESS)
		shim_object_free(rdma, SHIM_WORKQ_RDMA);
	return result;
}

struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
	return shim_handle_is(rdma, SHIM_WORKQ_RDMA) ? (struct doca_ctx *)rdma : NULL;
}

/* The connection's descriptor; NULL = there is no connection, as @ret_problem says. */
static const void *details_of(const struct doca_rdma *rdma, size_t *ret_len_bytes, const char **ret_problem)
{
	const void *details = rdma->core ? workq_rdma_core_details(rdma->core, ret_len_bytes) : NULL;

	*ret_problem = rdma->core ? "the connection has ended with its function" :
				    "the context is not started; call doca_ctx_start() first";
	return details;
}

doca_error_t doca_rdma_export(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size)
{
	const char *problem;
	const void *details;
	size_t size;

	SHIM_NEED(rdma, SHIM_WORKQ_RDMA);
	SHIM_NEED_OUT(local_rdma_conn_details);
	SHIM_NEED_OUT(local_rdma_conn_details_size);
	details = details_of(rdma, &size, &problem);
	if (!details)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "%s", problem);
	*local_rdma_conn_details = details;
	*local_rdma_conn_details_size = size;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
			       size_t remote_rdma_conn_details_size)
{
	const char *problem;
	size_t size;

	SHIM_NEED(rdma, SHIM_WORKQ_RDMA);
	SHIM_NEED_OUT(remote_rdma_conn_details);
	if (!details_of(rdma, &size, &problem))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "%s", problem);
	return workq_rdma_core_connect(rdma->core, remote_rdma_conn_details, remote_rdma_conn_details_size);
}

doca_error_t doca_rdma_get_state(const struct doca_rdma *rdma, enum doca_rdma_state *state)
{
	static const enum doca_rdma_state states[] = {
		[WORKQ_RDMA_INIT] = DOCA_RDMA_STATE_INIT,
		[WORKQ_RDMA_CONNECTED] = DOCA_RDMA_STATE_CONNECTED,
		[WORKQ_RDMA_ERROR] = DOCA_RDMA_STATE_ERROR,
	};

	SHIM_NEED(rdma, SHIM_WORKQ_RDMA);
	SHIM_NEED_OUT(state);
	if (!rdma->ctx.dev)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context has no device; call doca_ctx_dev_add() first");
	*state = rdma->core ? states[workq_rdma_core_state(rdma->core)] : DOCA_RDMA_STATE_RESET;
	return DOCA_SUCCESS;
}
