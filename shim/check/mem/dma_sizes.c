/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the size of memcpy tasks. */
#include <inttypes.h>

#include "dma_rules.h"

struct list_size {
	uint64_t data_bytes, room_bytes; /* room: behind the data */
	uint32_t num_bufs;
};

static struct list_size size_of(const struct doca_buf *buf)
{
	struct list_size size = { 0 };

	for (; buf; buf = buf->next, size.num_bufs++) {
		size.data_bytes += buf->data_len;
		size.room_bytes += (size_t)(buf->head + buf->len - (buf->data + buf->data_len));
	}
	return size;
}

static void report(struct check_hit *hit, const struct shim_buf_task *memcpy)
{
	check_memcpy_add_objects(hit, memcpy);
	check_hit_end(hit);
}

static void check_list_len(const struct shim_buf_task *memcpy, const char *end, uint32_t num_bufs,
			   const struct pcie_function *function)
{
	if (num_bufs > function->caps.dma_max_list_len)
		report(CHECK_HIT_HERE(BFC_LIST_TOO_LONG, "%s: the %s is a list of %u buffers; %s takes %u",
				      check_current_name("doca_task_submit"), end, num_bufs, function->ibdev,
				      function->caps.dma_max_list_len),
		       memcpy);
}

void check_dma_sizes(const struct shim_buf_task *memcpy)
{
	const struct pcie_function *function = shim_dev_function(memcpy->task.ctx->dev);
	struct list_size src = size_of(memcpy->src), dst = size_of(memcpy->dst);
	bool overwrites_full = ((const struct doca_dma *)memcpy->task.ctx)->overwrites_full;

	if (shim_snapshot_is_pair(&memcpy->snapshot))
		return;
	if (src.data_bytes == 0)
		report(CHECK_HIT_HERE(BFC_TASK_WITHOUT_DATA, "%s: the source has no data",
				      check_current_name("doca_task_submit")),
		       memcpy);
	else if (src.data_bytes > function->caps.dma_max_buf_bytes)
		report(CHECK_HIT_HERE(BFC_TASK_TOO_LARGE,
				      "%s: the task copies %" PRIu64 " bytes; the limit of %s is %" PRIu64 " bytes",
				      check_current_name("doca_task_submit"), src.data_bytes, function->ibdev,
				      function->caps.dma_max_buf_bytes),
		       memcpy);
	else if (dst.room_bytes < src.data_bytes && !overwrites_full)
		report(CHECK_HIT_HERE(BFC_TASK_WITHOUT_ROOM,
				      "%s: the source has %" PRIu64 " bytes; the destination has %" PRIu64
				      " bytes of data, and room for %" PRIu64 " bytes behind them",
				      check_current_name("doca_task_submit"), src.data_bytes, dst.data_bytes,
				      dst.room_bytes),
		       memcpy);
	check_list_len(memcpy, "source", src.num_bufs, function);
	check_list_len(memcpy, "destination", dst.num_bufs, function);
}
