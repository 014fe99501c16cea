/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_dpa_dev_comm: RDMA. */
#include <doca_dpa_dev_rdma.h>

#include "shim/dpa_dev/runtime/runtime.h"

#define PC                   ((uintptr_t)__builtin_return_address(0))
#define PORT(name, function) BFSIM_DPA_PORT_AT(name, "doca_dpa_dev_rdma_" function, PC)

static struct sim_dpa_span span_of(doca_dpa_dev_buf_t buf, uintptr_t pc)
{
	const struct doca_dpa_dev_buf *at = (const struct doca_dpa_dev_buf *)(uintptr_t)buf;

	bfsim_dpa_check_at((uintptr_t)buf, sizeof(*at), false, pc);
	return (struct sim_dpa_span){ at->mmap, at->addr, at->len };
}

static void post(uint64_t rdma, enum sim_dpa_rdma_op op, uint32_t connection, struct sim_dpa_span dst,
		 struct sim_dpa_span src, uint64_t value, uint32_t flags, uintptr_t pc)
{
	const struct sim_dpa_rdma_post request = { op, connection, dst, src, value, flags };

	BFSIM_DPA_PORT_AT(rdma_post, "doca_dpa_dev_rdma_post_*", pc)(rdma, &request);
}

static const struct sim_dpa_span none;

/* ---- messages ---- */

void doca_dpa_dev_rdma_post_send(doca_dpa_dev_rdma_t rdma, uint32_t connection_id, doca_dpa_dev_mmap_t mmap_handle,
				 uint64_t addr, size_t length, uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_SEND, connection_id, none, (struct sim_dpa_span){ mmap_handle, addr, length }, 0, flags,
	     PC);
}

void doca_dpa_dev_rdma_post_buf_send(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				     doca_dpa_dev_buf_t send_buf_handle, uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_SEND, connection_id, none, span_of(send_buf_handle, PC), 0, flags, PC);
}

void doca_dpa_dev_rdma_post_send_imm(doca_dpa_dev_rdma_t rdma, uint32_t connection_id, doca_dpa_dev_mmap_t mmap_handle,
				     uint64_t addr, size_t length, uint32_t immediate, uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_SEND_IMM, connection_id, none, (struct sim_dpa_span){ mmap_handle, addr, length },
	     immediate, flags, PC);
}

void doca_dpa_dev_rdma_post_buf_send_imm(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
					 doca_dpa_dev_buf_t send_buf_handle, uint32_t immediate, uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_SEND_IMM, connection_id, none, span_of(send_buf_handle, PC), immediate, flags, PC);
}

void doca_dpa_dev_rdma_post_receive(doca_dpa_dev_rdma_t rdma, doca_dpa_dev_mmap_t mmap_handle, uint64_t addr,
				    size_t length)
{
	const struct sim_dpa_span dst = { mmap_handle, addr, length };

	PORT(rdma_receive, "post_receive")(rdma, &dst);
}

void doca_dpa_dev_rdma_post_buf_receive(doca_dpa_dev_rdma_t rdma, doca_dpa_dev_buf_t receive_buf_handle)
{
	const struct sim_dpa_span dst = span_of(receive_buf_handle, PC);

	PORT(rdma_receive, "post_buf_receive")(rdma, &dst);
}

void doca_dpa_dev_rdma_receive_ack(doca_dpa_dev_rdma_t rdma, uint32_t num_acked)
{
	PORT(rdma_receive_ack, "receive_ack")(rdma, num_acked);
}

/* ---- the peer's memory ---- */

void doca_dpa_dev_rdma_post_write(doca_dpa_dev_rdma_t rdma, uint32_t connection_id, doca_dpa_dev_mmap_t dst_mmap_handle,
				  uint64_t dst_addr, doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr,
				  size_t length, uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_WRITE, connection_id, (struct sim_dpa_span){ dst_mmap_handle, dst_addr, length },
	     (struct sim_dpa_span){ src_mmap_handle, src_addr, length }, 0, flags, PC);
}

void doca_dpa_dev_rdma_post_buf_write(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				      doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
				      uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_WRITE, connection_id, span_of(dst_buf_handle, PC), span_of(src_buf_handle, PC), 0,
	     flags, PC);
}

void doca_dpa_dev_rdma_post_write_imm(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				      doca_dpa_dev_mmap_t dst_mmap_handle, uint64_t dst_addr,
				      doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr, size_t length,
				      uint32_t immediate, uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_WRITE_IMM, connection_id, (struct sim_dpa_span){ dst_mmap_handle, dst_addr, length },
	     (struct sim_dpa_span){ src_mmap_handle, src_addr, length }, immediate, flags, PC);
}

void doca_dpa_dev_rdma_post_buf_write_imm(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
					  doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
					  uint32_t immediate, uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_WRITE_IMM, connection_id, span_of(dst_buf_handle, PC), span_of(src_buf_handle, PC),
	     immediate, flags, PC);
}

void doca_dpa_dev_rdma_post_read(doca_dpa_dev_rdma_t rdma, uint32_t connection_id, doca_dpa_dev_mmap_t dst_mmap_handle,
				 uint64_t dst_addr, doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr,
				 size_t length, uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_READ, connection_id, (struct sim_dpa_span){ dst_mmap_handle, dst_addr, length },
	     (struct sim_dpa_span){ src_mmap_handle, src_addr, length }, 0, flags, PC);
}

void doca_dpa_dev_rdma_post_buf_read(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				     doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
				     uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_READ, connection_id, span_of(dst_buf_handle, PC), span_of(src_buf_handle, PC), 0, flags,
	     PC);
}

void doca_dpa_dev_rdma_post_atomic_fetch_add(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
					     doca_dpa_dev_mmap_t dst_mmap_handle, uint64_t dst_addr, uint64_t value,
					     uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_FETCH_ADD, connection_id,
	     (struct sim_dpa_span){ dst_mmap_handle, dst_addr, sizeof(uint64_t) }, none, value, flags, PC);
}

void doca_dpa_dev_rdma_post_buf_atomic_fetch_add(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
						 doca_dpa_dev_buf_t dst_buf_handle, uint64_t value, uint32_t flags)
{
	post(rdma, SIM_DPA_RDMA_FETCH_ADD, connection_id, span_of(dst_buf_handle, PC), none, value, flags, PC);
}

/* ---- sync events, completions ---- */

void doca_dpa_dev_rdma_signal_add(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				  doca_dpa_dev_sync_event_remote_net_t remote_sync_event, uint64_t count)
{
	PORT(rdma_signal, "signal_add")(rdma, connection_id, remote_sync_event, true, count);
}

void doca_dpa_dev_rdma_signal_set(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				  doca_dpa_dev_sync_event_remote_net_t remote_sync_event, uint64_t count)
{
	PORT(rdma_signal, "signal_set")(rdma, connection_id, remote_sync_event, false, count);
}

uint32_t doca_dpa_dev_rdma_completion_get_wr_index(doca_dpa_dev_completion_element_t comp_element)
{
	return (uint32_t)PORT(completion_element, "completion_get_wr_index")(comp_element, SIM_DPA_ELEMENT_WR_INDEX);
}
