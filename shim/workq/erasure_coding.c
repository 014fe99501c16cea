/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_erasure_coding: erasure coding jobs. A struct doca_matrix is a matrix of the core. */
#include <doca_erasure_coding.h>

#include "ctx_priv.h"
#include "ec_core.h"
#include "core_api.h"
#include "shim/common/base/check.h"

struct doca_ec {
	struct workq_ctx ctx; /* first */
};

/* ---- operations ---- */

static bool ec_supports(const struct doca_devinfo *devinfo)
{
	return core_ec_cap_task_create_is_supported(devinfo) == DOCA_SUCCESS;
}

static doca_error_t ec_create_core(struct workq_attachment *attachment, uint32_t depth)
{
	struct workq_accel_core *core;
	doca_error_t result = workq_ec_core_create(attachment->ctx->dev, depth, attachment, &core);

	if (result != DOCA_SUCCESS)
		return result;
	attachment->priv = core;
	attachment->core_ctx = shim_workq_accel_as_ctx(core);
	return DOCA_SUCCESS;
}

static void ec_destroy_core(struct workq_attachment *attachment)
{
	shim_workq_accel_destroy(attachment->priv);
}

/* All jobs have the same layout. */
static doca_error_t ec_submit(struct workq_attachment *attachment, const struct doca_job *job)
{
	const struct doca_ec_job *ec_job = (const struct doca_ec_job *)job;
	const struct workq_accel_job accel_job = {
		.index = (uint32_t)(job->type - DOCA_EC_JOB_GALOIS_MUL),
		.type = job->type,
		.src = ec_job->src_buff,
		.dst = ec_job->dst_buff,
		.user_data = job->user_data,
		.prepare = workq_ec_prepare,
		.arg = ec_job->coding_matrix,
	};

	if (job->type >= DOCA_EC_JOB_GALOIS_MUL && job->type <= DOCA_EC_JOB_RECOVER)
		return shim_workq_accel_submit(attachment->priv, &accel_job);
	sim_err("doca_workq_submit: %d is no job of libdoca_erasure_coding", job->type);
	return DOCA_ERROR_INVALID_VALUE;
}

static const struct workq_ctx_ops ec_ops = {
	.name = "erasure coding",
	.supports = ec_supports,
	.start = shim_workq_start_with_dev,
	.stop = shim_workq_stop_nothing,
	.create_core = ec_create_core,
	.destroy_core = ec_destroy_core,
	.submit = ec_submit,
};

/* ---- life ---- */

doca_error_t doca_ec_create(struct doca_ec **ec)
{
	struct doca_ec *created;

	SHIM_NEED_OUT(ec);
	created = shim_object_new(SHIM_WORKQ_EC, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_workq_ctx_init(&created->ctx, &ec_ops);
	*ec = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_ec_destroy(struct doca_ec *ec)
{
	doca_error_t result;

	SHIM_NEED(ec, SHIM_WORKQ_EC);
	result = shim_workq_ctx_fini(__func__, &ec->ctx);
	if (result == DOCA_SUCCESS)
		shim_object_free(ec, SHIM_WORKQ_EC);
	return result;
}

struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ctx)
{
	return shim_handle_is(ctx, SHIM_WORKQ_EC) ? (struct doca_ctx *)ctx : NULL;
}

/* ---- matrices ---- */

doca_error_t doca_ec_matrix_create(struct doca_ec *ctx, enum doca_ec_matrix_types type, size_t data_block_count,
				   size_t rdnc_block_count, struct doca_matrix **matrix)
{
	SHIM_NEED(ctx, SHIM_WORKQ_EC);
	return ec_matrix_new(__func__, (int)type, data_block_count, rdnc_block_count, (struct doca_ec_matrix **)matrix);
}

doca_error_t doca_ec_matrix_from_raw(struct doca_ec *ctx, uint8_t *data, size_t data_block_count,
				     size_t rdnc_block_count, struct doca_matrix **matrix)
{
	SHIM_NEED(ctx, SHIM_WORKQ_EC);
	return ec_matrix_new_from_raw(__func__, data, data_block_count, rdnc_block_count,
				      (struct doca_ec_matrix **)matrix);
}

doca_error_t doca_ec_update_matrix_create(const struct doca_matrix *coding_matrix, struct doca_ec *ctx,
					  uint32_t *update_indices, size_t n_updates, struct doca_matrix **matrix)
{
	SHIM_NEED(ctx, SHIM_WORKQ_EC);
	return ec_matrix_new_update(__func__, (const struct doca_ec_matrix *)coding_matrix, update_indices, n_updates,
				    (struct doca_ec_matrix **)matrix);
}

doca_error_t doca_ec_recover_matrix_create(const struct doca_matrix *coding_matrix, struct doca_ec *ctx,
					   uint32_t *missing_indices, size_t n_missing, struct doca_matrix **matrix)
{
	SHIM_NEED(ctx, SHIM_WORKQ_EC);
	return ec_matrix_new_recover(__func__, (const struct doca_ec_matrix *)coding_matrix, missing_indices, n_missing,
				     (struct doca_ec_matrix **)matrix);
}

doca_error_t doca_ec_matrix_destroy(struct doca_matrix *matrix)
{
	return core_ec_matrix_destroy((struct doca_ec_matrix *)matrix);
}

/* ---- capabilities ---- */

static doca_error_t check_type(const char *func, enum doca_ec_job_types job_type)
{
	if (job_type >= DOCA_EC_JOB_GALOIS_MUL && job_type <= DOCA_EC_JOB_RECOVER)
		return DOCA_SUCCESS;
	sim_err("%s: %d is no job of libdoca_erasure_coding", func, (int)job_type);
	return DOCA_ERROR_INVALID_VALUE;
}

/* One engine runs all of them. */
doca_error_t doca_ec_job_get_supported(struct doca_devinfo *devinfo, enum doca_ec_job_types job_type)
{
	doca_error_t result = check_type(__func__, job_type);

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return result == DOCA_SUCCESS ? core_ec_cap_task_create_is_supported(devinfo) : result;
}

doca_error_t doca_ec_get_max_buffer_size(const struct doca_devinfo *devinfo, enum doca_ec_job_types job_type,
					 uint32_t *max_buffer_size)
{
	doca_error_t result = check_type(__func__, job_type);
	uint64_t max;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_buffer_size);
	if (result == DOCA_SUCCESS)
		result = core_ec_cap_get_max_block_size(devinfo, &max);
	if (result == DOCA_SUCCESS)
		*max_buffer_size = max < UINT32_MAX ? (uint32_t)max : UINT32_MAX;
	return result;
}

doca_error_t doca_ec_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
{
	return core_ec_cap_get_max_buf_list_len(devinfo, max_list_num_elem);
}
