/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/sha/sha_inspect.h - what the checker may know of partial hash tasks. */
#ifndef SHIM_SHA_INSPECT_H
#define SHIM_SHA_INSPECT_H

#include "sha_priv.h"

struct sha_partial_view {
	bool has_begun, is_final, has_ended;
	uint32_t block_bytes; /* pieces but the last are multiples of it */
};

/* Returns false if the task is another one. */
static inline bool sha_inspect_partial(const struct doca_task *task, struct sha_partial_view *ret_view)
{
	const struct doca_sha_task_partial_hash *partial = (const struct doca_sha_task_partial_hash *)task;

	if (!shim_object_is_still(task->ctx, SHIM_SHA) || shim_accel_task_type(task)->index != SHA_PARTIAL_HASH)
		return false;
	*ret_view = (struct sha_partial_view){ .has_begun = partial->has_begun,
					       .is_final = partial->is_final,
					       .has_ended = partial->has_ended,
					       .block_bytes = shim_sha_block_bytes(partial->algorithm) };
	return true;
}

#endif
