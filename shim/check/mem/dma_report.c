/* SPDX-License-Identifier: BSD-3-Clause */
/* What reports of memcpy tasks have in common. */
#include "dma_rules.h"
#include "shim/check/history/mmap_history.h"

const char *check_current_name(const char *otherwise)
{
	const struct shim_call *call = check_watched_call();

	return call ? shim_function_names[call->function].name : otherwise;
}

void check_memcpy_add_objects(struct check_hit *hit, const struct shim_buf_task *memcpy)
{
	check_mmap_add_object(hit, memcpy->src->mmap);
	if (memcpy->dst->mmap != memcpy->src->mmap)
		check_mmap_add_object(hit, memcpy->dst->mmap);
	check_hit_add_object(hit, "context", memcpy->task.ctx, memcpy->task.ctx->ops->name);
}
