/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of connections, for the tests of libdoca_rdma. */
#include "rdma_rig.h"

#include <string.h>

#define MUST(call) assert_int_equal(call, DOCA_SUCCESS)

static void open_memory(struct end *end, uint32_t access)
{
	end->memory = test_calloc(1, END_BYTES);
	MUST(doca_mmap_create(NULL, &end->map));
	MUST(doca_mmap_set_memrange(end->map, end->memory, END_BYTES));
	MUST(doca_mmap_dev_add(end->map, end->dev));
	MUST(doca_mmap_set_permissions(end->map, DOCA_ACCESS_LOCAL_READ_WRITE | access));
	MUST(doca_mmap_start(end->map));
	MUST(doca_buf_inventory_create(NULL, 64, DOCA_BUF_EXTENSION_NONE, &end->inventory));
	MUST(doca_buf_inventory_start(end->inventory));
}

struct end *end_new(uint32_t access)
{
	struct end *end = test_calloc(1, sizeof(*end));

	end->dev = rig_open(0);
	open_memory(end, access);
	MUST(doca_rdma_create(&end->rdma));
	end->ctx = doca_rdma_as_ctx(end->rdma);
	MUST(doca_ctx_dev_add(end->ctx, end->dev));
	MUST(doca_rdma_set_permissions(end->rdma, access));
	MUST(doca_workq_create(END_DEPTH, &end->workq));
	return end;
}

void end_start(struct end *end)
{
	MUST(doca_ctx_start(end->ctx));
	MUST(doca_ctx_workq_add(end->ctx, end->workq));
}

void end_connect(struct end *end, const struct end *peer)
{
	const void *details;
	size_t len;

	MUST(doca_rdma_export(peer->rdma, &details, &len));
	MUST(doca_rdma_connect(end->rdma, details, len));
	if (end->peer_map || doca_mmap_export_rdma(peer->map, peer->dev, &details, &len) != DOCA_SUCCESS)
		return;
	MUST(doca_mmap_create_from_export(NULL, details, len, end->dev, &end->peer_map));
}

void ends_open(struct end **ret_a, struct end **ret_b, uint32_t access)
{
	*ret_a = end_new(access);
	*ret_b = end_new(access);
	end_start(*ret_a);
	end_start(*ret_b);
	end_connect(*ret_a, *ret_b);
	end_connect(*ret_b, *ret_a);
}

void end_close(struct end *end)
{
	MUST(doca_ctx_workq_rm(end->ctx, end->workq));
	MUST(doca_workq_destroy(end->workq));
	MUST(doca_ctx_stop(end->ctx));
	MUST(doca_ctx_dev_rm(end->ctx, end->dev));
	MUST(doca_rdma_destroy(end->rdma));
	MUST(doca_buf_inventory_destroy(end->inventory));
	if (end->peer_map)
		MUST(doca_mmap_destroy(end->peer_map));
	MUST(doca_mmap_destroy(end->map));
	MUST(doca_dev_close(end->dev));
	test_free(end->memory);
	test_free(end);
}

/* ---- buffers ---- */

static struct doca_buf *buf_of(struct end *end, struct doca_mmap *map, size_t offset, size_t len, size_t data_len)
{
	struct doca_buf *buf;
	size_t map_len;
	void *start;

	MUST(doca_mmap_get_memrange(map, &start, &map_len));
	MUST(doca_buf_inventory_buf_by_addr(end->inventory, map, (char *)start + offset, len, &buf));
	MUST(doca_buf_set_data(buf, (char *)start + offset, data_len));
	return buf;
}

struct doca_buf *end_buf(struct end *end, size_t offset, size_t len, size_t data_len)
{
	return buf_of(end, end->map, offset, len, data_len);
}

struct doca_buf *end_peer_buf(struct end *end, size_t offset, size_t len, size_t data_len)
{
	return buf_of(end, end->peer_map, offset, len, data_len);
}

/* ---- jobs ---- */

static struct doca_job base_of(const struct end *end, int type, uint64_t id)
{
	return (struct doca_job){
		.type = type, .flags = DOCA_JOB_FLAGS_NONE, .ctx = end->ctx, .user_data = { .u64 = id }
	};
}

doca_error_t end_receive(struct end *end, uint64_t id, struct doca_buf *dst)
{
	struct doca_rdma_job_recv job = { .base = base_of(end, DOCA_RDMA_JOB_RECV, id), .dst_buff = dst };

	return doca_workq_submit(end->workq, &job.base);
}

doca_error_t end_send(struct end *end, uint64_t id, struct doca_buf *src)
{
	struct doca_rdma_job_send job = { .base = base_of(end, DOCA_RDMA_JOB_SEND, id),
					  .src_buff = src,
					  .immediate_data = 0xFEED };

	return doca_workq_submit(end->workq, &job.base);
}

doca_error_t end_send_imm(struct end *end, uint64_t id, struct doca_buf *src, uint32_t immediate)
{
	struct doca_rdma_job_send job = { .base = base_of(end, DOCA_RDMA_JOB_SEND_IMM, id),
					  .src_buff = src,
					  .immediate_data = immediate };

	return doca_workq_submit(end->workq, &job.base);
}

static doca_error_t read_write(struct end *end, int type, uint64_t id, struct doca_buf *dst, struct doca_buf *src,
			       uint32_t immediate)
{
	struct doca_rdma_job_read_write job = {
		.base = base_of(end, type, id), .dst_buff = dst, .src_buff = src, .immediate_data = immediate
	};

	return doca_workq_submit(end->workq, &job.base);
}

doca_error_t end_read(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *src)
{
	return read_write(end, DOCA_RDMA_JOB_READ, id, dst, src, 0xFEED);
}

doca_error_t end_write(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *src)
{
	return read_write(end, DOCA_RDMA_JOB_WRITE, id, dst, src, 0xFEED);
}

doca_error_t end_write_imm(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *src, uint32_t immediate)
{
	return read_write(end, DOCA_RDMA_JOB_WRITE_IMM, id, dst, src, immediate);
}

doca_error_t end_add(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *result, uint64_t addend)
{
	struct doca_rdma_job_atomic job = { .base = base_of(end, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, id),
					    .cmp_or_add_dest_buff = dst,
					    .result_buff = result,
					    .swap_or_add_data = addend,
					    .cmp_data = 0xFEED };

	return doca_workq_submit(end->workq, &job.base);
}

doca_error_t end_swap(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *result, uint64_t compare,
		      uint64_t swap)
{
	struct doca_rdma_job_atomic job = { .base = base_of(end, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, id),
					    .cmp_or_add_dest_buff = dst,
					    .result_buff = result,
					    .swap_or_add_data = swap,
					    .cmp_data = compare };

	return doca_workq_submit(end->workq, &job.base);
}

/* ---- events ---- */

struct end_event end_retrieve(struct end *end)
{
	struct end_event got;

	memset(&got, 0xEE, sizeof(got));
	got.event.result.ptr = &got.result;
	do
		got.retrieved = doca_workq_progress_retrieve(end->workq, &got.event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (got.retrieved == DOCA_ERROR_AGAIN);
	assert_ptr_equal(got.event.result.ptr, &got.result); /* the program's */
	return got;
}

struct end_event end_expect(struct end *end, int type, uint64_t id)
{
	struct end_event got = end_retrieve(end);

	assert_int_equal(got.retrieved, DOCA_SUCCESS);
	assert_int_equal(got.event.type, type);
	assert_int_equal(got.event.user_data.u64, id);
	assert_int_equal(got.result.result, DOCA_SUCCESS);
	assert_null(got.result.rdma_peer_addr);
	return got;
}

enum doca_rdma_state end_state(const struct end *end)
{
	enum doca_rdma_state state;

	MUST(doca_rdma_get_state(end->rdma, &state));
	return state;
}
