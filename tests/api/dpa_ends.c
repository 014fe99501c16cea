/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of RDMA on the DPA. */
#include "dpa_ends.h"

#include <doca_ctx.h>
#include <string.h>

#include "cmocka_test.h"
#include "doca_check.h"
#include "rdma_util.h"

/* Written by dpacc. */
extern struct doca_dpa_app *dpa_rdma_app;
doca_dpa_func_t post_request, wait_completions, look;

struct doca_dev *ends_dev;
struct doca_dpa *ends_dpa;
struct end end_a, end_b;
bool ends_are_patient;
static doca_dpa_dev_uintptr_t ends_results; /* of wait_completions() */

struct doca_mmap *ends_map_heap(doca_dpa_dev_uintptr_t addr, size_t len, uint32_t access, doca_dpa_dev_mmap_t *ret)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_permissions(map, access));
	assert_ok(doca_mmap_set_dpa_memrange(map, ends_dpa, addr, len));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_dev_get_dpa_handle(map, ends_dev, ret));
	return map;
}

static void make_end(struct end *end, uint32_t access, uint32_t map_access)
{
	assert_ok(doca_dpa_completion_create(ends_dpa, ENDS_COMPLETIONS, &end->completion));
	assert_ok(doca_dpa_completion_start(end->completion));
	assert_ok(doca_dpa_completion_get_dpa_handle(end->completion, &end->completion_handle));
	assert_ok(doca_rdma_create(ends_dev, &end->rdma));
	end->ctx = doca_rdma_as_ctx(end->rdma);
	assert_ok(doca_rdma_set_permissions(end->rdma, access));
	assert_ok(doca_rdma_set_max_num_connections(end->rdma, 2));
	assert_ok(doca_ctx_set_datapath_on_dpa(end->ctx, ends_dpa));
	if (ends_are_patient)
		assert_ok(doca_rdma_set_rnr_retry_count(end->rdma, 7));
	assert_ok(doca_rdma_set_recv_queue_size(end->rdma, 2));
	assert_ok(doca_rdma_dpa_completion_attach(end->rdma, end->completion));
	assert_ok(doca_ctx_start(end->ctx));
	assert_ok(doca_rdma_get_dpa_handle(end->rdma, &end->handle));
	assert_ok(doca_dpa_mem_alloc(ends_dpa, ENDS_HEAP_BYTES, &end->memory));
	assert_ok(doca_dpa_memset(ends_dpa, end->memory, 0, ENDS_HEAP_BYTES));
	end->map = ends_map_heap(end->memory, ENDS_HEAP_BYTES, map_access, &end->map_handle);
}

static void import_other(struct end *end, struct end *peer)
{
	const void *exported;
	size_t len;

	assert_ok(doca_mmap_export_rdma(peer->map, ends_dev, &exported, &len));
	assert_ok(doca_mmap_create_from_export(NULL, exported, len, ends_dev, &end->other));
	assert_ok(doca_mmap_dev_get_dpa_handle(end->other, ends_dev, &end->other_handle));
}

void ends_connect(void)
{
	const void *details[2];
	size_t len[2];

	assert_ok(doca_rdma_export(end_a.rdma, &details[0], &len[0], &end_a.connection));
	assert_ok(doca_rdma_export(end_b.rdma, &details[1], &len[1], &end_b.connection));
	assert_ok(doca_rdma_connect(end_a.rdma, details[1], len[1], end_a.connection));
	assert_ok(doca_rdma_connect(end_b.rdma, details[0], len[0], end_b.connection));
}

static void destroy_end(struct end *end)
{
	if (end->other)
		assert_ok(doca_mmap_destroy(end->other));
	assert_ok(doca_mmap_destroy(end->map));
	assert_ok(doca_ctx_stop(end->ctx));
	assert_ok(doca_rdma_destroy(end->rdma));
	assert_ok(doca_dpa_completion_destroy(end->completion));
	memset(end, 0, sizeof(*end));
}

static void open_dpa(void)
{
	assert_ok(doca_dpa_create(ends_dev, &ends_dpa));
	assert_ok(doca_dpa_set_app(ends_dpa, dpa_rdma_app));
	assert_ok(doca_dpa_start(ends_dpa));
	assert_ok(doca_dpa_mem_alloc(ends_dpa, ENDS_COMPLETIONS * sizeof(struct completed), &ends_results));
}

void ends_open(uint32_t access, uint32_t map_access)
{
	open_dpa();
	make_end(&end_a, RDMA_ALL_ACCESS, RDMA_ALL_ACCESS);
	make_end(&end_b, access, map_access);
	import_other(&end_a, &end_b);
	import_other(&end_b, &end_a);
}

int ends_setup(void **state)
{
	ends_open(RDMA_ALL_ACCESS, RDMA_ALL_ACCESS);
	ends_connect();
	return 0;
}

int ends_teardown(void **state)
{
	destroy_end(&end_a);
	destroy_end(&end_b);
	assert_ok(doca_dpa_destroy(ends_dpa));
	return 0;
}

/* ---- what the host does ---- */

void ends_put(doca_dpa_dev_uintptr_t addr, const char *text)
{
	assert_ok(doca_dpa_h2d_memcpy(ends_dpa, addr, (void *)(uintptr_t)text, strlen(text) + 1));
}

void ends_assert_text(doca_dpa_dev_uintptr_t addr, const char *text)
{
	char found[64];

	assert_ok(doca_dpa_d2h_memcpy(ends_dpa, found, addr, sizeof(found)));
	assert_string_equal(found, text);
}

uint64_t ends_read_word(doca_dpa_dev_uintptr_t addr)
{
	uint64_t word;

	assert_ok(doca_dpa_d2h_memcpy(ends_dpa, &word, addr, sizeof(word)));
	return word;
}

struct request request_from(const struct end *end, enum request_op op, uint64_t len)
{
	struct request request = { .rdma = end->handle, .op = op, .len = len, .flags = FLUSH };
	bool to_peer = op == REQUEST_WRITE || op == REQUEST_WRITE_IMM || op == REQUEST_ADD;
	doca_dpa_dev_uintptr_t other = end == &end_a ? end_b.memory : end_a.memory;

	request.dst_map = to_peer ? end->other_handle : end->map_handle;
	request.dst = to_peer ? other : end->memory;
	request.src_map = op == REQUEST_READ ? end->other_handle : end->map_handle;
	request.src = op == REQUEST_READ ? other : end->memory;
	return request;
}

struct request request_with_connection(struct request request, const struct doca_rdma_connection *connection)
{
	assert_ok(doca_rdma_connection_get_id(connection, &request.connection));
	return request;
}

void ends_post(struct request request)
{
	uint64_t value;

	assert_ok(doca_dpa_rpc(ends_dpa, post_request, &value, request));
}

void ends_wait(const struct end *end, uint64_t num, struct completed *ret)
{
	uint64_t value;

	assert_ok(doca_dpa_rpc(ends_dpa, wait_completions, &value, end->completion_handle, num, ends_results));
	assert_ok(doca_dpa_d2h_memcpy(ends_dpa, ret, ends_results, num * sizeof(*ret)));
}

struct completed ends_wait_one(const struct end *end)
{
	struct completed completed;

	ends_wait(end, 1, &completed);
	return completed;
}

bool ends_has_completion(const struct end *end)
{
	uint64_t value;

	assert_ok(doca_dpa_rpc(ends_dpa, look, &value, end->completion_handle));
	return value;
}

void ends_receive(const struct end *end, uint64_t len)
{
	struct request request = request_from(end, REQUEST_RECEIVE, len);

	request.dst += 256;
	ends_post(request);
}
