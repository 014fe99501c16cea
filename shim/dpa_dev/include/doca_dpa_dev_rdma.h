/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dpa_dev_rdma.h - RDMA contexts whose data path is on the DPA.
 *
 * @connection_id is the number that doca_rdma_connection_get_id() gives. Posted operations complete at the completion context that
 * the RDMA context is attached to; the user data of a completion is the connection's id. */
#ifndef DOCA_DPA_DEV_RDMA_H_
#define DOCA_DPA_DEV_RDMA_H_

#include <doca_dpa_dev.h>
#include <doca_dpa_dev_buf.h>
#include <doca_dpa_dev_sync_event.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t doca_dpa_dev_rdma_t;

/* --- Messages --- */

/* Send a message. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_send(doca_dpa_dev_rdma_t rdma, uint32_t connection_id, doca_dpa_dev_mmap_t mmap_handle,
				 uint64_t addr, size_t length, uint32_t flags);
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_buf_send(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				     doca_dpa_dev_buf_t send_buf_handle, uint32_t flags);

/* Send a message with an immediate. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_send_imm(doca_dpa_dev_rdma_t rdma, uint32_t connection_id, doca_dpa_dev_mmap_t mmap_handle,
				     uint64_t addr, size_t length, uint32_t immediate, uint32_t flags);
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_buf_send_imm(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
					 doca_dpa_dev_buf_t send_buf_handle, uint32_t immediate, uint32_t flags);

/* Post a receive. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_receive(doca_dpa_dev_rdma_t rdma, doca_dpa_dev_mmap_t mmap_handle, uint64_t addr,
				    size_t length);
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_buf_receive(doca_dpa_dev_rdma_t rdma, doca_dpa_dev_buf_t receive_buf_handle);

/* Give back the room of @num_acked receives that completed. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_receive_ack(doca_dpa_dev_rdma_t rdma, uint32_t num_acked);

/* --- The peer's memory --- */

/* Write to the peer's memory. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_write(doca_dpa_dev_rdma_t rdma, uint32_t connection_id, doca_dpa_dev_mmap_t dst_mmap_handle,
				  uint64_t dst_addr, doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr,
				  size_t length, uint32_t flags);
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_buf_write(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				      doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
				      uint32_t flags);

/* Write to the peer's memory, and give an immediate to one of its receives. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_write_imm(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				      doca_dpa_dev_mmap_t dst_mmap_handle, uint64_t dst_addr,
				      doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr, size_t length,
				      uint32_t immediate, uint32_t flags);
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_buf_write_imm(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
					  doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
					  uint32_t immediate, uint32_t flags);

/* Read from the peer's memory. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_read(doca_dpa_dev_rdma_t rdma, uint32_t connection_id, doca_dpa_dev_mmap_t dst_mmap_handle,
				 uint64_t dst_addr, doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr,
				 size_t length, uint32_t flags);
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_buf_read(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				     doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
				     uint32_t flags);

/* Add to a word of 64 bits of the peer's memory. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_atomic_fetch_add(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
					     doca_dpa_dev_mmap_t dst_mmap_handle, uint64_t dst_addr, uint64_t value,
					     uint32_t flags);
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_post_buf_atomic_fetch_add(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
						 doca_dpa_dev_buf_t dst_buf_handle, uint64_t value, uint32_t flags);

/* --- Sync events of the peer --- */

/* Add to the value. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_signal_add(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				  doca_dpa_dev_sync_event_remote_net_t remote_sync_event, uint64_t count);

/* Set the value. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_rdma_signal_set(doca_dpa_dev_rdma_t rdma, uint32_t connection_id,
				  doca_dpa_dev_sync_event_remote_net_t remote_sync_event, uint64_t count);

/* --- Completions --- */

/* Get the index of the work request that completed. */
DOCA_EXPERIMENTAL
uint32_t doca_dpa_dev_rdma_completion_get_wr_index(doca_dpa_dev_completion_element_t comp_element);

#ifdef __cplusplus
}
#endif

#endif
