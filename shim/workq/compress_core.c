/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression jobs as tasks of the core. Compiled with the core. */
#include "shim/compress/compress_priv.h"

#include "compress_core.h"
#include "shim/common/base/check.h"

/* What the first element of a source of LZ4 has at least. */
#define LZ4_FIRST_BYTES 4

_Static_assert((int)WORKQ_COMPRESS_DEFLATE == COMPRESS_DEFLATE && (int)WORKQ_DECOMPRESS_DEFLATE == DECOMPRESS_DEFLATE &&
		       (int)WORKQ_DECOMPRESS_LZ4 == DECOMPRESS_LZ4,
	       "types of tasks");

doca_error_t workq_compress_core_create(struct doca_dev *dev, uint32_t depth, struct workq_attachment *attachment,
					struct workq_accel_core **ret_core)
{
	struct doca_compress *compress;
	doca_error_t result = doca_compress_create(dev, &compress);

	return result == DOCA_SUCCESS ? shim_workq_accel_create(&compress->accel, depth, attachment, ret_core) : result;
}

void workq_compress_finish(struct doca_task *task, doca_error_t status, void *result)
{
	const struct compress_task *compress = to_compress_task(task);
	uint64_t *checksums = result;

	if (checksums && status == DOCA_SUCCESS)
		*checksums = (uint64_t)compress->adler << 32 | compress->crc;
}

bool workq_compress_check_lz4_source(const struct doca_buf *src)
{
	if (!shim_buf_is_list(src) || !shim_buf_has_usable_mmap(src))
		return true; /* refused elsewhere */
	if (src->data_len >= LZ4_FIRST_BYTES && !shim_mmap_is_imported(src->mmap))
		return true;
	sim_err("doca_workq_submit: the source of an LZ4 job must be local memory, and its first element must have %d bytes of data at least",
		LZ4_FIRST_BYTES);
	return false;
}
