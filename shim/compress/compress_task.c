/* SPDX-License-Identifier: BSD-3-Clause */
/* The types of compress tasks, and their public functions. */
#include "compress_task.h"

#include "compress_work.h"
#include "lz4.h"

static doca_error_t get_max_buf_size(const char *func, const struct doca_devinfo *devinfo,
				     const struct shim_accel_type *type, uint64_t *max_buf_size)
{
	struct pcie_accel_caps caps;
	doca_error_t result;

	if (!shim_handle_is(devinfo, SHIM_DEVINFO) || !max_buf_size) {
		sim_err("%s: devinfo is no live device's, or the pointer for the result is NULL", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = shim_accel_get_caps(func, devinfo->function, type, &caps);
	if (result == DOCA_SUCCESS)
		*max_buf_size = caps.max_buf_bytes;
	return result;
}

static doca_error_t get_max_buf_list_len(const char *func, const struct doca_devinfo *devinfo,
					 const struct shim_accel_type *type, uint32_t *max_buf_list_len)
{
	struct pcie_accel_caps caps;
	doca_error_t result;

	if (!shim_handle_is(devinfo, SHIM_DEVINFO) || !max_buf_list_len) {
		sim_err("%s: devinfo is no live device's, or the pointer for the result is NULL", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = shim_accel_get_caps(func, devinfo->function, type, &caps);
	if (result == DOCA_SUCCESS)
		*max_buf_list_len = caps.max_list_len;
	return result;
}

static doca_error_t alloc(const char *func, struct doca_compress *compress, uint32_t index, const struct doca_buf *src,
			  struct doca_buf *dst, union doca_data user_data, const void *out,
			  struct shim_buf_task **ret_task)
{
	if (doca_unlikely(!shim_object_is(compress, SHIM_COMPRESS) || !out)) {
		sim_err("%s: compress is no live instance, or the pointer for the task is NULL", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return shim_accel_alloc(func, &compress->accel, index, src, dst, user_data, ret_task);
}

static void set_src(const char *func, void *task, const struct shim_accel_type *type, const struct doca_buf *src)
{
	if (shim_accel_check_settable(func, task, type))
		to_compress_task(task)->base.base.src = src;
}

static void set_dst(const char *func, void *task, const struct shim_accel_type *type, struct doca_buf *dst)
{
	if (shim_accel_check_settable(func, task, type))
		to_compress_task(task)->base.base.dst = dst;
}

/* LZ4 tasks report a CRC-32 as well. */
static const char *find_lz4_lack(void)
{
	const char *lack = compress_lz4_find_lack();

	return lack ? lack : compress_deflate_find_lack();
}

COMPRESS_DEFINE_TASK(compress_deflate, COMPRESS_DEFLATE, SIM_TASK_COMPRESS_DEFLATE, SIM_OP_COMPRESS_DEFLATE,
		     "deflate compression", PCIE_ACCEL_COMPRESS_DEFLATE, compress_deflate_find_lack,
		     compress_work_deflate)
COMPRESS_DEFINE_CHECKSUM(compress_deflate, adler)
COMPRESS_DEFINE_ALLOC(compress_deflate, COMPRESS_DEFLATE)

COMPRESS_DEFINE_TASK(decompress_deflate, DECOMPRESS_DEFLATE, SIM_TASK_DECOMPRESS_DEFLATE, SIM_OP_DECOMPRESS_DEFLATE,
		     "deflate decompression", PCIE_ACCEL_DECOMPRESS_DEFLATE, compress_deflate_find_lack,
		     compress_work_inflate)
COMPRESS_DEFINE_CHECKSUM(decompress_deflate, adler)
COMPRESS_DEFINE_ALLOC(decompress_deflate, DECOMPRESS_DEFLATE)

COMPRESS_DEFINE_TASK(decompress_lz4_block, DECOMPRESS_LZ4_BLOCK, SIM_TASK_DECOMPRESS_LZ4_BLOCK,
		     SIM_OP_DECOMPRESS_LZ4_BLOCK, "LZ4 decompression", PCIE_ACCEL_DECOMPRESS_LZ4, find_lz4_lack,
		     compress_work_lz4_block)
COMPRESS_DEFINE_CHECKSUM(decompress_lz4_block, xxh)
COMPRESS_DEFINE_ALLOC(decompress_lz4_block, DECOMPRESS_LZ4_BLOCK)

COMPRESS_DEFINE_TASK(decompress_lz4_stream, DECOMPRESS_LZ4_STREAM, SIM_TASK_DECOMPRESS_LZ4_STREAM,
		     SIM_OP_DECOMPRESS_LZ4_STREAM, "LZ4 decompression", PCIE_ACCEL_DECOMPRESS_LZ4, find_lz4_lack,
		     compress_work_lz4_stream)
COMPRESS_DEFINE_CHECKSUM(decompress_lz4_stream, xxh)

/* Of releases 2.5 and 2.6. */
COMPRESS_DEFINE_TASK(decompress_lz4, DECOMPRESS_LZ4, SIM_TASK_DECOMPRESS_LZ4_STREAM, SIM_OP_DECOMPRESS_LZ4_STREAM,
		     "LZ4 decompression", PCIE_ACCEL_DECOMPRESS_LZ4, find_lz4_lack, compress_work_lz4)
COMPRESS_DEFINE_CHECKSUM(decompress_lz4, adler)
COMPRESS_DEFINE_ALLOC(decompress_lz4, DECOMPRESS_LZ4)

/* ---- what LZ4 streams have besides ---- */

doca_error_t doca_compress_task_decompress_lz4_stream_alloc_init(struct doca_compress *compress,
								 uint8_t has_block_checksum,
								 uint8_t are_blocks_independent,
								 const struct doca_buf *src_buff,
								 struct doca_buf *dst_buff, union doca_data user_data,
								 struct doca_compress_task_decompress_lz4_stream **task)
{
	struct shim_buf_task *allocated;
	doca_error_t result =
		alloc(__func__, compress, DECOMPRESS_LZ4_STREAM, src_buff, dst_buff, user_data, task, &allocated);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	*task = (struct doca_compress_task_decompress_lz4_stream *)allocated;
	(*task)->base.has_block_checksum = has_block_checksum;
	(*task)->base.are_blocks_independent = are_blocks_independent;
	return DOCA_SUCCESS;
}

void doca_compress_task_decompress_lz4_stream_set_has_block_checksum(
	struct doca_compress_task_decompress_lz4_stream *task, uint8_t has_block_checksum)
{
	if (shim_accel_check_settable(__func__, task, &decompress_lz4_stream_type))
		task->base.has_block_checksum = has_block_checksum;
}

uint8_t doca_compress_task_decompress_lz4_stream_get_has_block_checksum(
	const struct doca_compress_task_decompress_lz4_stream *task)
{
	return shim_accel_task_is(task, &decompress_lz4_stream_type) ? task->base.has_block_checksum : 0;
}

void doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(
	struct doca_compress_task_decompress_lz4_stream *task, uint8_t are_blocks_independent)
{
	if (shim_accel_check_settable(__func__, task, &decompress_lz4_stream_type))
		task->base.are_blocks_independent = are_blocks_independent;
}

uint8_t doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(
	const struct doca_compress_task_decompress_lz4_stream *task)
{
	return shim_accel_task_is(task, &decompress_lz4_stream_type) ? task->base.are_blocks_independent : 0;
}
