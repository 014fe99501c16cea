/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_compress: compression jobs. */
#include <doca_compress.h>

#include "compress_core.h"
#include "ctx_priv.h"
#include "core_api.h"
#include "shim/common/base/check.h"

struct doca_compress {
	struct workq_ctx ctx; /* first */
};

/* ---- operations ---- */

static bool compress_supports(const struct doca_devinfo *devinfo)
{
	return core_compress_cap_task_decompress_deflate_is_supported(devinfo) == DOCA_SUCCESS ||
	       core_compress_cap_task_compress_deflate_is_supported(devinfo) == DOCA_SUCCESS ||
	       core_compress_cap_task_decompress_lz4_is_supported(devinfo) == DOCA_SUCCESS;
}

static doca_error_t compress_create_core(struct workq_attachment *attachment, uint32_t depth)
{
	struct workq_accel_core *core;
	doca_error_t result = workq_compress_core_create(attachment->ctx->dev, depth, attachment, &core);

	if (result != DOCA_SUCCESS)
		return result;
	attachment->priv = core;
	attachment->core_ctx = shim_workq_accel_as_ctx(core);
	return DOCA_SUCCESS;
}

static void compress_destroy_core(struct workq_attachment *attachment)
{
	shim_workq_accel_destroy(attachment->priv);
}

/* The jobs of deflate and LZ4 have the same layout. */
static doca_error_t compress_submit(struct workq_attachment *attachment, const struct doca_job *job)
{
	static const uint32_t tasks[] = { WORKQ_COMPRESS_DEFLATE, WORKQ_DECOMPRESS_DEFLATE, WORKQ_DECOMPRESS_LZ4 };
	const struct doca_compress_deflate_job *deflate = (const struct doca_compress_deflate_job *)job;
	struct workq_accel_job accel_job = { .type = job->type, .user_data = job->user_data };

	if (job->type < DOCA_COMPRESS_DEFLATE_JOB || job->type > DOCA_DECOMPRESS_LZ4_JOB) {
		sim_err("doca_workq_submit: %d is no job of libdoca_compress", job->type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (job->type == DOCA_DECOMPRESS_LZ4_JOB && !workq_compress_check_lz4_source(deflate->src_buff))
		return DOCA_ERROR_INVALID_VALUE;
	accel_job.index = tasks[job->type - DOCA_COMPRESS_DEFLATE_JOB];
	accel_job.src = deflate->src_buff;
	accel_job.dst = deflate->dst_buff;
	accel_job.finish = workq_compress_finish;
	accel_job.result = deflate->output_chksum;
	return shim_workq_accel_submit(attachment->priv, &accel_job);
}

static const struct workq_ctx_ops compress_ops = {
	.name = "compress",
	.supports = compress_supports,
	.start = shim_workq_start_with_dev,
	.stop = shim_workq_stop_nothing,
	.create_core = compress_create_core,
	.destroy_core = compress_destroy_core,
	.submit = compress_submit,
};

/* ---- life ---- */

doca_error_t doca_compress_create(struct doca_compress **compress)
{
	struct doca_compress *created;

	SHIM_NEED_OUT(compress);
	created = shim_object_new(SHIM_WORKQ_COMPRESS, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_workq_ctx_init(&created->ctx, &compress_ops);
	*compress = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_compress_destroy(struct doca_compress *compress)
{
	doca_error_t result;

	SHIM_NEED(compress, SHIM_WORKQ_COMPRESS);
	result = shim_workq_ctx_fini(__func__, &compress->ctx);
	if (result == DOCA_SUCCESS)
		shim_object_free(compress, SHIM_WORKQ_COMPRESS);
	return result;
}

struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress)
{
	return shim_handle_is(compress, SHIM_WORKQ_COMPRESS) ? (struct doca_ctx *)compress : NULL;
}

/* ---- capabilities ---- */

doca_error_t doca_compress_job_get_supported(struct doca_devinfo *devinfo, enum doca_compress_job_types job_type)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	switch (job_type) {
	case DOCA_COMPRESS_DEFLATE_JOB:
		return core_compress_cap_task_compress_deflate_is_supported(devinfo);
	case DOCA_DECOMPRESS_DEFLATE_JOB:
		return core_compress_cap_task_decompress_deflate_is_supported(devinfo);
	case DOCA_DECOMPRESS_LZ4_JOB:
		return core_compress_cap_task_decompress_lz4_is_supported(devinfo);
	}
	return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no job of libdoca_compress", (int)job_type);
}

doca_error_t doca_compress_get_max_buf_size(const struct doca_devinfo *devinfo, enum doca_compress_job_types job_type,
					    uint64_t *max_buffer_size)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	switch (job_type) {
	case DOCA_COMPRESS_DEFLATE_JOB:
		return core_compress_cap_task_compress_deflate_get_max_buf_size(devinfo, max_buffer_size);
	case DOCA_DECOMPRESS_DEFLATE_JOB:
		return core_compress_cap_task_decompress_deflate_get_max_buf_size(devinfo, max_buffer_size);
	case DOCA_DECOMPRESS_LZ4_JOB:
		return core_compress_cap_task_decompress_lz4_get_max_buf_size(devinfo, max_buffer_size);
	}
	return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no job of libdoca_compress", (int)job_type);
}

doca_error_t doca_compress_get_max_buffer_size(const struct doca_devinfo *devinfo,
					       enum doca_compress_job_types job_type, uint32_t *max_buffer_size)
{
	uint64_t bytes;
	doca_error_t result;

	SHIM_NEED_OUT(max_buffer_size);
	result = doca_compress_get_max_buf_size(devinfo, job_type, &bytes);
	if (result == DOCA_SUCCESS)
		*max_buffer_size = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	return result;
}

/* Both cards can decompress deflate. */
doca_error_t doca_compress_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_list_num_elem);
	return core_compress_cap_task_decompress_deflate_get_max_buf_list_len(devinfo, max_list_num_elem);
}
