/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/log_rename.h - records of the SDK in the words of the work-queue generation. */
#ifndef SHIM_WORKQ_LOG_RENAME_H
#define SHIM_WORKQ_LOG_RENAME_H

#include "shim/common/log/log_priv.h"

/* As shim_log_stream_put(). Names of functions of the current generation become the names of the work-queue generation. */
void shim_log_stream_put_renamed(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
				 const char *line);

#endif
