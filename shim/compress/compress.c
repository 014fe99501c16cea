/* SPDX-License-Identifier: BSD-3-Clause */
/* The compress context: life and capabilities. */
#include "compress_priv.h"
#include "shim/common/base/check.h"

static void forget_tasks(struct shim_accel *accel)
{
	compress_codecs_free(&((struct doca_compress *)accel)->codecs);
}

static const struct shim_accel_lib compress_lib = {
	.ops = SHIM_ACCEL_OPS("compress"),
	.kind = SHIM_COMPRESS,
	.num_types = 5,
	.types = {
		[COMPRESS_DEFLATE] = &compress_deflate_type,
		[DECOMPRESS_DEFLATE] = &decompress_deflate_type,
		[DECOMPRESS_LZ4_STREAM] = &decompress_lz4_stream_type,
		[DECOMPRESS_LZ4_BLOCK] = &decompress_lz4_block_type,
		[DECOMPRESS_LZ4] = &decompress_lz4_type,
	},
	.forget_tasks = forget_tasks,
};

doca_error_t doca_compress_create(struct doca_dev *dev, struct doca_compress **compress)
{
	struct doca_compress *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(compress);
	created = shim_accel_new(&compress_lib, sizeof(*created), dev);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	*compress = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_compress_destroy(struct doca_compress *compress)
{
	SHIM_NEED(compress, SHIM_COMPRESS);
	return shim_accel_destroy(&compress->accel);
}

struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress)
{
	return shim_handle_is(compress, SHIM_COMPRESS) ? &compress->accel.ctx : NULL;
}

SHIM_DEFINE_GETTER(doca_compress_cap_get_max_num_tasks, struct doca_compress, compress, SHIM_COMPRESS, uint32_t,
		   max_num_tasks, shim_accel_max_tasks(&compress->accel))
