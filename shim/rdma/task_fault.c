/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of RDMA's tasks.
 *
 *   delay   the request is executed so much later, and with it those behind it on the connection; a receive completes later
 *   hang    the request, and those behind it, or the receive, ends with its connection or context
 *   fail    a part of a read or write has moved, of other requests nothing; the connection goes to an error, as after each
 *           failed request. The receive fails, its connection goes on
 *   flip    bits of the memory that a read, a write or a message was written to
 */
#include <errno.h>

#include "pcie_model/arith.h"
#include "rdma_priv.h"
#include "sim/rdma/memory.h"

static bool is_receive(const struct rdma_task *task)
{
	return rdma_task_type(&task->task)->index == RDMA_RECEIVE;
}

static void set_site(const struct doca_task *base, struct sim_fault_site *ret_site)
{
	const struct rdma_task *task = (const struct rdma_task *)base;
	bool is_remote = task->remote && rdma_task_type(base)->peer_access == SIM_ACCESS_WRITE;

	ret_site->size = is_receive(task) ? task->receive.room_bytes : task->work.bytes;
	if (is_remote)
		ret_site->addr = task->remote_addr;
	else if (task->num_segments > 0)
		ret_site->addr = task->segments[0].addr;
}

static int flip_bit(const struct sim_rdma_segment *segments, uint32_t num_segments, struct sim_remote *remote,
		    uint64_t remote_addr, uint64_t bit)
{
	uint64_t at = bit / 8;
	uint8_t byte;
	const struct sim_rdma_segment to_byte = { .addr = (uintptr_t)&byte, .bytes = 1 };
	int rc = remote ? sim_rdma_read(&to_byte, 1, remote, remote_addr + at, 1) :
			  sim_rdma_gather(segments, num_segments, at, &byte, 1);

	byte ^= (uint8_t)(1u << bit % 8);
	if (rc < 0)
		return rc;
	return remote ? sim_rdma_write(&to_byte, 1, remote, remote_addr + at, 1) :
			sim_rdma_scatter(segments, num_segments, at, &byte, 1);
}

int rdma_fault_flip(const struct sim_fault_hit *hit, const struct sim_rdma_segment *segments, uint32_t num_segments,
		    struct sim_remote *remote, uint64_t remote_addr, uint64_t bytes)
{
	int rc = 0;

	for (uint32_t i = 0; i < hit->flip_bits && i < bytes * 8 && rc == 0; i++)
		rc = flip_bit(segments, num_segments, remote, remote_addr, sim_fault_hit_bit(hit, i, bytes * 8));
	return rc;
}

static int flip(const struct rdma_task *task, uint64_t bytes)
{
	bool is_remote = rdma_task_type(&task->task)->peer_access == SIM_ACCESS_WRITE;

	return rdma_fault_flip(task->task.fault_hit, task->segments, task->num_segments,
			       is_remote ? task->remote : NULL, task->remote_addr, bytes);
}

static int execute_and_flip(struct sim_rdma_work *work)
{
	int rc = rdma_task_execute(work);

	return rc < 0 ? rc : flip(rdma_task_of_work(work), work->bytes);
}

static int execute_and_fail(struct sim_rdma_work *work)
{
	const struct rdma_task *task = rdma_task_of_work(work);
	uint64_t bytes = work->bytes;
	int rc = 0;

	work->bytes = task->task.fault_hit->moved_bytes;
	if (work->bytes > 0)
		rc = rdma_task_execute(work);
	work->bytes = bytes;
	return rc < 0 ? rc : -EIO;
}

static uint64_t hold_ns(const struct sim_fault_hit *hit)
{
	if (SIM_FAULT_HAS_ACT(hit, HANG))
		return UINT64_MAX;
	return SIM_FAULT_HAS_ACT(hit, DELAY) ? hit->delay_ns : 0;
}

void rdma_fault_apply_hit(struct rdma_task *task)
{
	const struct sim_fault_hit *hit = task->task.fault_hit;
	uint64_t hold = hold_ns(hit);

	if (is_receive(task)) {
		task->receive.hold_ns = hold;
		task->receive.fails = SIM_FAULT_HAS_ACT(hit, FAIL);
		return;
	}
	if (hold > 0)
		task->work.not_before_ns = add_saturating_u64(shim_now_ns(), hold);
	if (SIM_FAULT_HAS_ACT(hit, FAIL) || SIM_FAULT_HAS_ACT(hit, FLIP))
		task->work.begin = NULL;
	if (SIM_FAULT_HAS_ACT(hit, FAIL))
		task->work.execute = execute_and_fail;
	else if (SIM_FAULT_HAS_ACT(hit, FLIP))
		task->work.execute = execute_and_flip;
}

void rdma_fault_flip_received(struct rdma_task *task)
{
	if (shim_task_has_fault(&task->task, FLIP) && !task->receive.is_written)
		flip(task, task->receive.bytes);
}

#define FAULT_OPS(index)              \
	[index] = {                   \
		.op = SIM_OP_##index, \
		.site = set_site,     \
	}

const struct shim_task_fault_ops rdma_fault_ops[RDMA_NUM_TASKS] = {
	FAULT_OPS(RDMA_RECEIVE),   FAULT_OPS(RDMA_SEND),      FAULT_OPS(RDMA_SEND_IMM),  FAULT_OPS(RDMA_READ),
	FAULT_OPS(RDMA_WRITE),     FAULT_OPS(RDMA_WRITE_IMM), FAULT_OPS(RDMA_CMP_SWP),   FAULT_OPS(RDMA_FETCH_ADD),
	FAULT_OPS(RDMA_EVENT_GET), FAULT_OPS(RDMA_EVENT_SET), FAULT_OPS(RDMA_EVENT_ADD),
};
