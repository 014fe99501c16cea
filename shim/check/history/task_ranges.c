/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the memory of tasks, by their types. */
#include "task_ranges.h"

#include <string.h>

#include "pcie_model/arith.h"
#include "tasks_in_flight.h"
#include "shim/comch/comch_inspect.h"
#include "shim/common/accel/accel.h"
#include "shim/rdma/rdma_inspect.h"
#include "sim/fabric/remote.h"

struct list {
	struct check_task_range *ranges;
	size_t count, max;
};

static void add(struct list *list, const struct doca_mmap *mmap, const uint8_t *addr, size_t len, bool is_write)
{
	if (len == 0)
		return;
	if (list->count < list->max)
		list->ranges[list->count] = (struct check_task_range){
			.mmap = mmap,
			.addr = addr,
			.cpu = mmap->remote ? NULL : (uint8_t *)(uintptr_t)shim_mmap_cpu_addr(mmap, addr),
			.len_bytes = len,
			.is_write = is_write,
		};
	list->count++;
}

/* A task whose maps do not permit it fails, and moves nothing. */
static bool is_permitted(const struct shim_segment *segment, uint32_t count, const struct doca_dev *dev, bool is_write)
{
	for (; count > 0; segment++, count--) {
		const struct doca_mmap *mmap = segment->buf->mmap;

		if (!shim_mmap_is_usable(mmap) || !shim_mmap_has_dev(mmap, dev) ||
		    (is_write && (mmap->cpu_read_only || !(mmap->access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
									   DOCA_ACCESS_FLAG_PCI_READ_WRITE)))))
			return false;
	}
	return true;
}

/* Of the destination, @output_bytes at most. */
static void add_lists(struct list *list, const struct shim_buf_task *task, uint64_t output_bytes)
{
	const struct shim_segments segments = shim_buf_task_segments(task);
	const struct shim_segment *src = shim_segments_src(&segments), *dst = shim_segments_dst(&segments);
	uint32_t num_src = shim_segments_num_src(&segments), num_dst = shim_segments_num_dst(&segments);
	const struct doca_dev *dev = task->task.ctx->dev;
	uint64_t left = output_bytes;

	if (!is_permitted(src, num_src, dev, false) || !is_permitted(dst, num_dst, dev, true))
		return;
	for (uint32_t i = 0; i < num_src; i++)
		add(list, src[i].buf->mmap, src[i].addr, src[i].bytes, false);
	for (uint32_t i = 0; i < num_dst && left > 0; i++) {
		size_t len = min_size(dst[i].bytes, left);

		add(list, dst[i].buf->mmap, dst[i].addr, len, true);
		left -= len;
	}
}

static bool has_problem(const struct shim_snapshot *snapshot)
{
	return !shim_snapshot_is_pair(snapshot) && snapshot->problem;
}

uint64_t check_task_output_bytes(const struct shim_accel_task *task)
{
	const struct shim_accel_type *type = shim_accel_task_type(&task->base.task);

	return type->get_output_bytes ? type->get_output_bytes(task) : UINT64_MAX;
}

const struct doca_buf *check_comch_task_buf(const struct doca_task *task)
{
	bool is_write;

	return comch_inspect_task_buf(task, &is_write);
}

/* A buffer may be changed while its task is in flight: it counts as it is at the submission. Of a receive, all of the room: the
 * length of the message is not known. */
static void add_comch_buf(struct list *list, const struct doca_task *task)
{
	bool is_write;
	const struct doca_buf *buf = comch_inspect_task_buf(task, &is_write);

	if (buf && is_write)
		add(list, buf->mmap, shim_buf_room(buf), shim_buf_room_bytes(buf), true);
	else if (buf)
		add(list, buf->mmap, buf->data, buf->data_len, false);
}

/* ---- RDMA ---- */

static enum check_range_end local_end(const struct rdma_task_view *view)
{
	if (!view->type->peer_access)
		return CHECK_RANGE_NEVER;
	return view->type->writes_local ? CHECK_RANGE_TO_COMPLETION : CHECK_RANGE_TO_ACCESS;
}

/* As the segments were taken at the submission; of a destination, the bytes that the task may write. */
static void add_rdma_local(struct list *list, const struct rdma_task_view *view)
{
	const struct rdma_task *task = view->task;
	uint64_t left = view->is_receive ? task->receive.room_bytes : task->work.bytes;
	const struct doca_buf *buf = view->local;

	for (uint32_t i = 0; i < task->num_segments && buf && left > 0; i++, buf = buf->next) {
		size_t len = min_size(task->segments[i].bytes, left), count = list->count;
		const uint8_t *addr = view->type->writes_local ? shim_buf_room(buf) : buf->data;

		add(list, buf->mmap, addr, len, view->type->writes_local);
		if (list->count > count && count < list->max)
			list->ranges[count].end = local_end(view);
		left -= len;
	}
}

/* Programs poll a word, and change it, without a lock. */
static bool is_word(const struct check_task_range *range)
{
	uintptr_t first = (uintptr_t)range->addr, last = first + range->len_bytes - 1;

	return first / sizeof(uint64_t) == last / sizeof(uint64_t);
}

static void add_rdma_remote(struct list *list, const struct rdma_task_view *view)
{
	uint32_t access = view->type->peer_access;
	size_t count = list->count;

	add(list, view->remote->mmap, (const uint8_t *)(uintptr_t)view->task->remote_addr,
	    rdma_inspect_remote_bytes(view), access != SIM_ACCESS_READ);
	if (list->count == count || count >= list->max)
		return;
	list->ranges[count].is_atomic = access == SIM_ACCESS_ATOMIC || is_word(&list->ranges[count]);
	list->ranges[count].end = access == SIM_ACCESS_READ ? CHECK_RANGE_TO_COMPLETION : CHECK_RANGE_TO_ACCESS;
}

/* A request that the peer does not permit, or out of bounds, fails and moves nothing. */
static bool will_access(const struct rdma_task_view *view)
{
	const struct sim_remote *remote = view->task->remote;
	uint64_t offset = remote ? view->task->remote_addr - remote->region.addr : 0;

	return view->connection && view->connection->qp && remote &&
	       sim_qp_peer_access(view->connection->qp) & view->type->peer_access &&
	       remote->region.access & view->type->peer_access && offset <= remote->region.len_bytes &&
	       rdma_inspect_remote_bytes(view) <= remote->region.len_bytes - offset;
}

static void add_rdma(struct list *list, const struct rdma_task_view *view)
{
	if (view->remote && !will_access(view))
		return;
	add_rdma_local(list, view);
	if (view->remote)
		add_rdma_remote(list, view);
}

uint64_t check_task_order(const struct doca_task *task)
{
	return rdma_inspect_is_task(task) ? ((const struct rdma_task *)task)->connection_serial : 0;
}

bool check_task_has_job(const struct doca_task *task)
{
	return task->job.run || (rdma_inspect_is_task(task) && rdma_task_type(task)->peer_access);
}

/* ---- all ---- */

size_t check_task_get_ranges(const struct doca_task *task, struct check_task_range *ranges, size_t max)
{
	struct list list = { .ranges = ranges, .max = max };
	struct rdma_task_view rdma;

	if (check_is_buf_task(task)) {
		if (!has_problem(&shim_to_buf_task(task)->snapshot))
			add_lists(&list, shim_to_buf_task(task),
				  check_is_accel(task) ? check_task_output_bytes((const struct shim_accel_task *)task) :
							 shim_to_buf_task(task)->snapshot.bytes);
	} else if (rdma_inspect_task(task, &rdma)) {
		add_rdma(&list, &rdma);
	} else {
		add_comch_buf(&list, task);
	}
	return list.count;
}
