/* SPDX-License-Identifier: BSD-3-Clause */
/* Device code of the tests of RDMA on the DPA, and of asynchronous operations. */
#include <doca_dpa_dev.h>
#include <doca_dpa_dev_buf.h>
#include <doca_dpa_dev_rdma.h>
#include <doca_dpa_dev_sync_event.h>

#include "rdma_kernels.h"

static void post(const struct request *r)
{
	switch (r->op) {
	case REQUEST_SEND:
		doca_dpa_dev_rdma_post_send(r->rdma, r->connection, r->src_map, r->src, r->len, r->flags);
		break;
	case REQUEST_SEND_IMM:
		doca_dpa_dev_rdma_post_send_imm(r->rdma, r->connection, r->src_map, r->src, r->len, (uint32_t)r->value,
						r->flags);
		break;
	case REQUEST_WRITE:
		doca_dpa_dev_rdma_post_write(r->rdma, r->connection, r->dst_map, r->dst, r->src_map, r->src, r->len,
					     r->flags);
		break;
	case REQUEST_WRITE_IMM:
		doca_dpa_dev_rdma_post_write_imm(r->rdma, r->connection, r->dst_map, r->dst, r->src_map, r->src, r->len,
						 (uint32_t)r->value, r->flags);
		break;
	case REQUEST_READ:
		doca_dpa_dev_rdma_post_read(r->rdma, r->connection, r->dst_map, r->dst, r->src_map, r->src, r->len,
					    r->flags);
		break;
	case REQUEST_ADD:
		doca_dpa_dev_rdma_post_atomic_fetch_add(r->rdma, r->connection, r->dst_map, r->dst, r->value, r->flags);
		break;
	default:
		doca_dpa_dev_rdma_post_receive(r->rdma, r->dst_map, r->dst, r->len);
	}
}

__dpa_rpc__ uint64_t post_request(struct request request)
{
	post(&request);
	return 0;
}

/* The same with elements of buffer arrays, whose handles are instead of addresses, and whose indexes are instead of maps. */
__dpa_rpc__ uint64_t post_buffers(struct request r)
{
	doca_dpa_dev_buf_t dst = r.dst ? doca_dpa_dev_buf_array_get_buf(r.dst, r.dst_map) : 0;
	doca_dpa_dev_buf_t src = r.src ? doca_dpa_dev_buf_array_get_buf(r.src, r.src_map) : 0;

	switch (r.op) {
	case REQUEST_SEND:
		doca_dpa_dev_rdma_post_buf_send(r.rdma, r.connection, src, r.flags);
		break;
	case REQUEST_SEND_IMM:
		doca_dpa_dev_rdma_post_buf_send_imm(r.rdma, r.connection, src, (uint32_t)r.value, r.flags);
		break;
	case REQUEST_WRITE:
		doca_dpa_dev_rdma_post_buf_write(r.rdma, r.connection, dst, src, r.flags);
		break;
	case REQUEST_WRITE_IMM:
		doca_dpa_dev_rdma_post_buf_write_imm(r.rdma, r.connection, dst, src, (uint32_t)r.value, r.flags);
		break;
	case REQUEST_READ:
		doca_dpa_dev_rdma_post_buf_read(r.rdma, r.connection, dst, src, r.flags);
		break;
	case REQUEST_ADD:
		doca_dpa_dev_rdma_post_buf_atomic_fetch_add(r.rdma, r.connection, dst, r.value, r.flags);
		break;
	default:
		doca_dpa_dev_rdma_post_buf_receive(r.rdma, dst);
	}
	return 0;
}

__dpa_rpc__ uint64_t copy_buffers_async(doca_dpa_dev_async_ops_t queue, struct request r)
{
	doca_dpa_dev_post_buf_memcpy(queue, doca_dpa_dev_buf_array_get_buf(r.dst, r.dst_map),
				     doca_dpa_dev_buf_array_get_buf(r.src, r.src_map), r.flags);
	return 0;
}

__dpa_rpc__ uint64_t post_many(struct request request, uint64_t num)
{
	while (num-- > 0)
		post(&request);
	return 0;
}

static void read_element(doca_dpa_dev_completion_element_t element, struct completed *completed)
{
	completed->type = doca_dpa_dev_get_completion_type(element);
	completed->connection = doca_dpa_dev_get_completion_user_data(element);
	completed->immediate = doca_dpa_dev_get_completion_immediate(element);
	completed->index = doca_dpa_dev_rdma_completion_get_wr_index(element);
}

/* Wait for @num completions, acknowledge them, and write what they say to @to. */
__dpa_rpc__ uint64_t wait_completions(doca_dpa_dev_completion_t completion, uint64_t num, uint64_t to)
{
	struct completed *completed = (struct completed *)to;
	doca_dpa_dev_completion_element_t element;

	for (uint64_t i = 0; i < num; i++) {
		while (!doca_dpa_dev_get_completion(completion, &element))
			;
		read_element(element, &completed[i]);
		doca_dpa_dev_completion_ack(completion, 1);
	}
	return num;
}

/* Whether a completion is there. */
__dpa_rpc__ uint64_t look(doca_dpa_dev_completion_t completion)
{
	doca_dpa_dev_completion_element_t element;

	return (uint64_t)doca_dpa_dev_get_completion(completion, &element);
}

__dpa_rpc__ uint64_t receive_again(doca_dpa_dev_rdma_t rdma, uint32_t num)
{
	doca_dpa_dev_rdma_receive_ack(rdma, num);
	return 0;
}

__dpa_rpc__ uint64_t signal_peer(doca_dpa_dev_rdma_t rdma, doca_dpa_dev_sync_event_remote_net_t event, uint64_t to_add,
				 uint64_t value)
{
	if (to_add)
		doca_dpa_dev_rdma_signal_add(rdma, 0, event, value);
	else
		doca_dpa_dev_rdma_signal_set(rdma, 0, event, value);
	return 0;
}

/* ---- asynchronous operations ---- */

__dpa_rpc__ uint64_t copy_async(doca_dpa_dev_async_ops_t queue, struct request request)
{
	doca_dpa_dev_post_memcpy(queue, request.dst_map, request.dst, request.src_map, request.src, request.len,
				 request.flags);
	return 0;
}

__dpa_rpc__ uint64_t wait_async(doca_dpa_dev_async_ops_t queue, doca_dpa_dev_sync_event_t event, uint64_t is_greater,
				uint64_t value)
{
	if (is_greater)
		doca_dpa_dev_sync_event_post_wait_gt(queue, event, value);
	else
		doca_dpa_dev_sync_event_post_wait_ne(queue, event, value);
	return 0;
}

__dpa_global__ void launch_copy(doca_dpa_dev_async_ops_t queue)
{
	doca_dpa_dev_post_memcpy(queue, 0, 0, 0, 0, 8, DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
}

/* A thread that a completion activates: it sets the event of its argument, and waits for the next one. */
struct waiter {
	doca_dpa_dev_completion_t completion;
	doca_dpa_dev_sync_event_t event;
};

__dpa_global__ void on_completion(uint64_t arg)
{
	const struct waiter *waiter = (const struct waiter *)arg;
	doca_dpa_dev_completion_element_t element;

	while (doca_dpa_dev_get_completion(waiter->completion, &element)) {
		doca_dpa_dev_completion_ack(waiter->completion, 1);
		doca_dpa_dev_sync_event_update_add(waiter->event, 1);
	}
	doca_dpa_dev_completion_request_notification(waiter->completion);
	doca_dpa_dev_thread_reschedule();
}
