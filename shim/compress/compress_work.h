/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/compress/compress_work.h - the work of compress tasks: shim_accel_type.work and .spoil. */
#ifndef SHIM_COMPRESS_WORK_H
#define SHIM_COMPRESS_WORK_H

#include "compress_priv.h"

int compress_work_deflate(struct shim_work *work);
int compress_work_inflate(struct shim_work *work);
int compress_work_lz4_stream(struct shim_work *work);
int compress_work_lz4_block(struct shim_work *work);
int compress_work_lz4(struct shim_work *work); /* of releases 2.5 and 2.6 */

/* Make the checksums of a task wrong. */
void compress_spoil(struct shim_accel_task *task);

#endif
