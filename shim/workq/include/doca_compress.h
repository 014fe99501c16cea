/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_compress.h - compression by the card's engines: deflate (BlueField-2), decompression of deflate (BlueField-2 and -3)
 * and of LZ4 (BlueField-3).
 *
 *   doca_compress_create --> doca_ctx_dev_add --> doca_ctx_start --> doca_ctx_workq_add
 *     --> doca_workq_submit, doca_workq_progress_retrieve ...
 *     --> doca_ctx_workq_rm --> doca_ctx_stop --> doca_ctx_dev_rm --> doca_compress_destroy
 *
 * A job reads the data segments of its source, a buffer or a list, and appends the output to the data of its destination. Deflate
 * is raw, without a zlib or gzip frame. An LZ4 source are the blocks of a frame, independent and without checksums, in local
 * memory; its first element has 4 bytes at least.
 *
 * The event's result is a doca_error_t; DOCA_ERROR_IO_FAILED if the source is no valid stream or the destination has too little
 * room. Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL argument. The thread rule is the
 * work queue's (doca_ctx.h).
 */
#ifndef DOCA_COMPRESS_H_
#define DOCA_COMPRESS_H_

#include <inttypes.h>
#include <doca_buf.h>
#include <doca_dev.h>
#include <doca_ctx.h>
#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_compress;

/* --- Jobs --- */

enum doca_compress_job_types {
	DOCA_COMPRESS_DEFLATE_JOB = DOCA_ACTION_COMPRESS_FIRST + 1,
	DOCA_DECOMPRESS_DEFLATE_JOB,
	DOCA_DECOMPRESS_LZ4_JOB,
};

/* The buffers are borrowed until the job's event was retrieved. */
struct doca_compress_deflate_job {
	struct doca_job base;
	struct doca_buf *dst_buff;
	struct doca_buf const *src_buff;
	uint64_t *
		output_chksum; /* of the uncompressed bytes: CRC-32 in the low half, Adler-32 in the high one; NULL = not wanted */
};

/* The same, as 1.5 names it. */
struct doca_compress_job {
	struct doca_job base;
	struct doca_buf *dst_buff;
	struct doca_buf const *src_buff;
	uint64_t *output_chksum;
};

struct doca_compress_lz4_job {
	struct doca_job base;
	struct doca_buf *dst_buff;
	struct doca_buf const *src_buff;
	uint64_t *output_chksum; /* as above */
};

/* --- Creation and destruction --- */

/* A compress context without a device. DOCA_ERROR_NO_MEMORY. destroy stops it; DOCA_ERROR_IN_USE while work queues are added. */
__DOCA_EXPERIMENTAL
doca_error_t doca_compress_create(struct doca_compress **compress);

__DOCA_EXPERIMENTAL
doca_error_t doca_compress_destroy(struct doca_compress *compress);

/* The same object as a context. NULL for NULL. */
__DOCA_EXPERIMENTAL
struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress);

/* --- Capabilities of a device --- */

/* DOCA_SUCCESS if the device can run jobs of that type, else DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_compress_job_get_supported(struct doca_devinfo *devinfo, enum doca_compress_job_types job_type);

/* Get the maximum number of bytes of a job's source, and of its output. */
__DOCA_EXPERIMENTAL
doca_error_t doca_compress_get_max_buf_size(const struct doca_devinfo *devinfo, enum doca_compress_job_types job_type,
					    uint64_t *max_buffer_size);

/* The same, in 1.5; UINT32_MAX if there are more. */
__DOCA_EXPERIMENTAL
doca_error_t doca_compress_get_max_buffer_size(const struct doca_devinfo *devinfo,
					       enum doca_compress_job_types job_type, uint32_t *max_buffer_size);

/* Get the maximum length of a source or destination list. */
__DOCA_EXPERIMENTAL
doca_error_t doca_compress_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

#ifdef __cplusplus
}
#endif

#endif
