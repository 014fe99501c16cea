/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the size of memcpy tasks. */
#include <inttypes.h>

#include "task_rules.h"

static void check_room(const struct shim_buf_task *memcpy, const struct shim_list_size *src,
		       const struct shim_list_size *dst)
{
	struct check_hit *hit;

	if (dst->room_bytes >= src->data_bytes || shim_compat->replaces_full_data)
		return;
	hit = CHECK_HIT_HERE(BFC_TASK_WITHOUT_ROOM,
			     "%s: the source has %" PRIu64 " bytes; the destination has %" PRIu64
			     " bytes of data, and room for %" PRIu64 " bytes behind them",
			     check_current_name("doca_task_submit"), src->data_bytes, dst->data_bytes, dst->room_bytes);
	check_task_add_objects(hit, memcpy);
	check_hit_end(hit);
}

void check_dma_sizes(const struct shim_buf_task *memcpy)
{
	const struct pcie_function *function = shim_dev_function(memcpy->task.ctx->dev);
	struct shim_list_size src, dst;

	if (shim_snapshot_is_pair(&memcpy->snapshot))
		return;
	src = shim_list_measure(memcpy->src);
	dst = shim_list_measure(memcpy->dst);
	if (!check_task_source_size(memcpy, src.data_bytes, function->caps.dma_max_buf_bytes))
		check_room(memcpy, &src, &dst);
	check_task_list_len(memcpy, "source", src.segments, function->caps.dma_max_list_len);
	check_task_list_len(memcpy, "destination", dst.segments, function->caps.dma_max_list_len);
}
