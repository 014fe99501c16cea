/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose kernels use RDMA and asynchronous operations, with the kernels of tests/api; it prints their completions.
 *
 *   dpa_rdma_worker [ROUNDS]
 */
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "open.h"
#include "tests/api/dpa/rdma_kernels.h"

extern struct doca_dpa_app *dpa_rdma_app;
doca_dpa_func_t post_request, wait_completions, wait_async;

enum { HEAP_BYTES = 4096, MAX_COMPLETIONS = 16, FLUSH = 1 };

#define ACCESS (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE)

static doca_dpa_dev_uintptr_t results;

struct ring {
	struct doca_dpa_completion *completion;
	doca_dpa_dev_completion_t handle;
};

struct end {
	struct ring ring;
	struct doca_rdma *rdma;
	struct doca_rdma_connection *connection;
	doca_dpa_dev_rdma_t handle;
	doca_dpa_dev_uintptr_t memory;
	struct doca_mmap *map, *other;
	doca_dpa_dev_mmap_t map_handle, other_handle;
};

static void open_ring(struct ring *ring)
{
	OK(doca_dpa_completion_create(dpa, MAX_COMPLETIONS, &ring->completion));
	OK(doca_dpa_completion_start(ring->completion));
	OK(doca_dpa_completion_get_dpa_handle(ring->completion, &ring->handle));
}

static void open_end(struct end *end)
{
	open_ring(&end->ring);
	OK(doca_rdma_create(dev, &end->rdma));
	OK(doca_rdma_set_permissions(end->rdma, ACCESS));
	OK(doca_ctx_set_datapath_on_dpa(doca_rdma_as_ctx(end->rdma), dpa));
	OK(doca_rdma_dpa_completion_attach(end->rdma, end->ring.completion));
	OK(doca_ctx_start(doca_rdma_as_ctx(end->rdma)));
	OK(doca_rdma_get_dpa_handle(end->rdma, &end->handle));
	OK(doca_dpa_mem_alloc(dpa, HEAP_BYTES, &end->memory));
	OK(doca_mmap_create(&end->map));
	OK(doca_mmap_set_permissions(end->map, ACCESS));
	OK(doca_mmap_set_dpa_memrange(end->map, dpa, end->memory, HEAP_BYTES));
	OK(doca_mmap_start(end->map));
	OK(doca_mmap_dev_get_dpa_handle(end->map, dev, &end->map_handle));
}

static void reach(struct end *end, struct end *peer)
{
	const void *exported;
	size_t len;

	OK(doca_mmap_export_rdma(peer->map, dev, &exported, &len));
	OK(doca_mmap_create_from_export(NULL, exported, len, dev, &end->other));
	OK(doca_mmap_dev_get_dpa_handle(end->other, dev, &end->other_handle));
}

static void connect_ends(struct end *a, struct end *b)
{
	const void *details[2];
	size_t len[2];

	OK(doca_rdma_export(a->rdma, &details[0], &len[0], &a->connection));
	OK(doca_rdma_export(b->rdma, &details[1], &len[1], &b->connection));
	OK(doca_rdma_connect(a->rdma, details[1], len[1], a->connection));
	OK(doca_rdma_connect(b->rdma, details[0], len[0], b->connection));
}

static void close_end(struct end *end)
{
	OK(doca_mmap_destroy(end->other));
	OK(doca_mmap_destroy(end->map));
	OK(doca_ctx_stop(doca_rdma_as_ctx(end->rdma)));
	OK(doca_rdma_destroy(end->rdma));
	OK(doca_dpa_completion_destroy(end->ring.completion));
}

static void post(struct request request)
{
	uint64_t value;

	OK(doca_dpa_rpc(dpa, post_request, &value, request));
}

static void print_completions(const char *name, const struct ring *ring, uint64_t num)
{
	struct completed completed[MAX_COMPLETIONS];
	uint64_t value;

	OK(doca_dpa_rpc(dpa, wait_completions, &value, ring->handle, num, results));
	OK(doca_dpa_d2h_memcpy(dpa, completed, results, num * sizeof(completed[0])));
	for (uint64_t i = 0; i < num; i++)
		printf("%s: type %" PRIu64 ", index %" PRIu64 "\n", name, completed[i].type, completed[i].index);
}

/* A message, a write and a read at once, of a length that grows. */
static void run_rdma(unsigned long rounds)
{
	struct end a = { 0 }, b = { 0 };

	open_end(&a);
	open_end(&b);
	reach(&a, &b);
	reach(&b, &a);
	connect_ends(&a, &b);
	for (unsigned long i = 0; i < rounds; i++) {
		struct request request = { .rdma = b.handle,
					   .op = REQUEST_RECEIVE,
					   .dst_map = b.map_handle,
					   .dst = b.memory,
					   .len = HEAP_BYTES };

		post(request);
		request = (struct request){ .rdma = a.handle, .op = REQUEST_SEND, .len = 64 * (i + 1), .flags = FLUSH };
		request.src_map = a.map_handle;
		request.src = a.memory;
		post(request);
		request.op = REQUEST_WRITE;
		request.dst_map = a.other_handle;
		request.dst = b.memory;
		post(request);
		request.op = REQUEST_READ;
		request.dst_map = a.map_handle;
		request.dst = a.memory;
		request.src_map = a.other_handle;
		request.src = b.memory;
		post(request);
		print_completions("b", &b.ring, 1);
		print_completions("a", &a.ring, 3);
	}
	close_end(&a);
	close_end(&b);
}

static struct doca_sync_event *open_event(doca_dpa_dev_sync_event_t *ret_handle)
{
	struct doca_sync_event *event;

	OK(doca_sync_event_create(&event));
	OK(doca_sync_event_add_publisher_location_cpu(event, dev));
	OK(doca_sync_event_add_subscriber_location_dpa(event, dpa));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_get_dpa_handle(event, dpa, ret_handle));
	return event;
}

/* A kernel's wait for what the host sets. */
static void run_async(unsigned long rounds)
{
	struct ring ring;
	struct doca_dpa_async_ops *queue;
	doca_dpa_dev_async_ops_t handle;
	doca_dpa_dev_sync_event_t event_handle;
	struct doca_sync_event *event = open_event(&event_handle);
	uint64_t value;

	open_ring(&ring);
	OK(doca_dpa_async_ops_create(dpa, 4, 0, &queue));
	OK(doca_dpa_async_ops_attach(queue, ring.completion));
	OK(doca_dpa_async_ops_start(queue));
	OK(doca_dpa_async_ops_get_dpa_handle(queue, &handle));
	for (uint64_t i = 0; i < rounds; i++) {
		OK(doca_dpa_rpc(dpa, wait_async, &value, handle, event_handle, UINT64_C(1), i));
		OK(doca_sync_event_update_set(event, i + 1));
		print_completions("wait", &ring, 1);
	}
	OK(doca_dpa_async_ops_destroy(queue));
	OK(doca_dpa_completion_destroy(ring.completion));
	OK(doca_sync_event_destroy(event));
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 8;

	open_dpa(dpa_rdma_app);
	OK(doca_dpa_mem_alloc(dpa, MAX_COMPLETIONS * sizeof(struct completed), &results));
	run_rdma(rounds);
	run_async(rounds);
	OK(doca_dpa_mem_free(dpa, results));
	OK(doca_dpa_destroy(dpa));
	OK(doca_dev_close(dev));
	return 0;
}
