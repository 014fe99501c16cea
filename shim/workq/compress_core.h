/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/compress_core.h - compression of the core, for jobs. compress_core.c is compiled with the core. */
#ifndef SHIM_WORKQ_COMPRESS_CORE_H
#define SHIM_WORKQ_COMPRESS_CORE_H

#include "accel_core.h"

struct doca_dev;

/* Types of tasks, in the order of their library. */
enum { WORKQ_COMPRESS_DEFLATE, WORKQ_DECOMPRESS_DEFLATE, WORKQ_DECOMPRESS_LZ4 = 4 };

doca_error_t workq_compress_core_create(struct doca_dev *dev, uint32_t depth, struct workq_attachment *attachment,
					struct workq_accel_core **ret_core);

/* workq_accel_job.finish: @result is a uint64_t, whose low half becomes the CRC-32 and whose high half the Adler-32. NULL is
 * fine. */
void workq_compress_finish(struct doca_task *task, doca_error_t status, void *result);

/* Returns whether an LZ4 job can have the source: local memory, whose first element has 4 bytes at least. Else there is a log
 * line. */
bool workq_compress_check_lz4_source(const struct doca_buf *src);

#endif
