/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_sha: SHA jobs and partial sessions. */
#include <doca_sha.h>

#include "sha_core.h"
#include "core_api.h"
#include "shim/common/base/check.h"
#include "workq_priv.h"

/* Where the card has no engine. */
#define SOFTWARE_MAX_LIST_LEN  128
#define SOFTWARE_MAX_BUF_BYTES INT32_MAX

struct doca_sha {
	struct workq_ctx ctx; /* first */
};

static bool get_kind(int type, uint64_t flags, struct workq_sha_kind *ret_kind)
{
	if (type < DOCA_SHA_JOB_SHA1 || type > DOCA_SHA_JOB_SHA512_PARTIAL)
		return false;
	*ret_kind = (struct workq_sha_kind){
		.algorithm = (type - DOCA_SHA_JOB_SHA1) % 3,
		.is_partial = type >= DOCA_SHA_JOB_SHA1_PARTIAL,
		.is_final = flags & DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL,
	};
	return true;
}

/* ---- operations ---- */

static bool sha_supports(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return true;
}

static doca_error_t sha_create_core(struct workq_attachment *attachment, uint32_t depth)
{
	struct workq_sha_core *core;
	doca_error_t result = workq_sha_core_create(attachment->ctx->dev, depth, attachment, &core);

	if (result != DOCA_SUCCESS)
		return result;
	attachment->priv = core;
	attachment->core_ctx = workq_sha_core_as_ctx(core);
	return DOCA_SUCCESS;
}

static void sha_destroy_core(struct workq_attachment *attachment)
{
	workq_sha_core_destroy(attachment->priv);
}

static doca_error_t sha_submit(struct workq_attachment *attachment, const struct doca_job *job)
{
	const struct doca_sha_partial_job *partial = (const struct doca_sha_partial_job *)job;
	const struct doca_sha_job *sha_job = (const struct doca_sha_job *)job;
	struct workq_accel_job accel_job = { .type = job->type, .user_data = job->user_data };
	struct workq_sha_session *session = NULL;
	struct workq_sha_kind kind;

	if (!get_kind(job->type, sha_job->flags, &kind)) {
		sim_err("doca_workq_submit: %d is no job of libdoca_sha", job->type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (kind.is_partial)
		session = (struct workq_sha_session *)partial->session;
	if (kind.is_partial && !workq_sha_session_is_of(session, attachment->priv)) {
		sim_err("doca_workq_submit: the job's session is no live session of this context and queue");
		return DOCA_ERROR_INVALID_VALUE;
	}
	accel_job.src = sha_job->req_buf;
	accel_job.dst = sha_job->resp_buf;
	return workq_sha_core_submit(attachment->priv, &kind, session, &accel_job);
}

static const struct workq_ctx_ops sha_ops = {
	.name = "SHA",
	.supports = sha_supports,
	.start = shim_workq_start_with_dev,
	.stop = shim_workq_stop_nothing,
	.create_core = sha_create_core,
	.destroy_core = sha_destroy_core,
	.submit = sha_submit,
};

/* ---- life ---- */

doca_error_t doca_sha_create(struct doca_sha **ctx)
{
	struct doca_sha *created;

	SHIM_NEED_OUT(ctx);
	created = shim_object_new(SHIM_WORKQ_SHA, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_workq_ctx_init(&created->ctx, &sha_ops);
	*ctx = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sha_destroy(struct doca_sha *ctx)
{
	doca_error_t result;

	SHIM_NEED(ctx, SHIM_WORKQ_SHA);
	result = shim_workq_ctx_fini(__func__, &ctx->ctx);
	if (result == DOCA_SUCCESS)
		shim_object_free(ctx, SHIM_WORKQ_SHA);
	return result;
}

struct doca_ctx *doca_sha_as_ctx(struct doca_sha *ctx)
{
	return shim_handle_is(ctx, SHIM_WORKQ_SHA) ? (struct doca_ctx *)ctx : NULL;
}

/* ---- sessions ---- */

/* The attachment of a queue to a context, or NULL with a log line. */
static struct workq_attachment *find_attachment(const char *func, struct doca_sha *ctx, struct doca_workq *workq)
{
	struct workq_attachment *attachment = NULL;

	if (shim_handle_is(ctx, SHIM_WORKQ_SHA) && shim_handle_is(workq, SHIM_WORKQ))
		attachment = workq_find_attachment(workq, &ctx->ctx);
	if (!attachment)
		sim_err("%s: ctx or workq is no live object, or the work queue is not added to the context; call doca_ctx_workq_add() first",
			func);
	return attachment;
}

doca_error_t doca_sha_partial_session_create(struct doca_sha *ctx, struct doca_workq *workq,
					     struct doca_sha_partial_session **session)
{
	struct workq_attachment *attachment = find_attachment(__func__, ctx, workq);

	SHIM_NEED_OUT(session);
	return attachment ? workq_sha_session_create(attachment->priv, (struct workq_sha_session **)session) :
			    DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sha_partial_session_destroy(struct doca_sha *ctx, struct doca_workq *workq,
					      struct doca_sha_partial_session *session)
{
	(void)ctx, (void)workq;
	SHIM_NEED(session, SHIM_WORKQ_SHA_SESSION);
	return workq_sha_session_destroy((struct workq_sha_session *)session);
}

doca_error_t doca_sha_partial_session_copy(struct doca_sha *ctx, struct doca_workq *workq,
					   const struct doca_sha_partial_session *from_session,
					   struct doca_sha_partial_session *to_session)
{
	struct workq_attachment *attachment = find_attachment(__func__, ctx, workq);
	const struct workq_sha_session *from = (const struct workq_sha_session *)from_session;
	struct workq_sha_session *to = (struct workq_sha_session *)to_session;

	if (!attachment || !workq_sha_session_is_of(from, attachment->priv) ||
	    !workq_sha_session_is_of(to, attachment->priv))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "both must be live sessions of this context and queue");
	return workq_sha_session_copy(from, to);
}

/* ---- capabilities ---- */

/* Each device has all jobs, if libcrypto can be used. */
doca_error_t doca_sha_job_get_supported(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type)
{
	struct workq_sha_kind kind;
	const char *lack;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	if (!get_kind((int)job_type, 0, &kind))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no job of libdoca_sha", (int)job_type);
	lack = workq_sha_find_lack();
	return lack ? SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "%s", lack) : DOCA_SUCCESS;
}

doca_error_t doca_sha_get_hardware_supported(const struct doca_devinfo *devinfo)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return core_sha_cap_task_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA1);
}

doca_error_t doca_sha_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_list_num_elem);
	if (core_sha_cap_get_max_list_buf_num_elem(devinfo, max_list_num_elem) != DOCA_SUCCESS)
		*max_list_num_elem = SOFTWARE_MAX_LIST_LEN;
	return DOCA_SUCCESS;
}

doca_error_t doca_sha_get_max_src_buffer_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_buffer_size);
	if (core_sha_cap_get_max_src_buf_size(devinfo, max_buffer_size) != DOCA_SUCCESS)
		*max_buffer_size = SOFTWARE_MAX_BUF_BYTES;
	return DOCA_SUCCESS;
}

doca_error_t doca_sha_get_min_dst_buffer_size(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type,
					      uint32_t *min_buffer_size)
{
	static const uint32_t bytes[] = { DOCA_SHA1_BYTE_COUNT, DOCA_SHA256_BYTE_COUNT, DOCA_SHA512_BYTE_COUNT };
	struct workq_sha_kind kind;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(min_buffer_size);
	if (!get_kind((int)job_type, 0, &kind))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no job of libdoca_sha", (int)job_type);
	*min_buffer_size = bytes[kind.algorithm];
	return DOCA_SUCCESS;
}
