/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of RDMA between kernels of processes. */
#include "dpa_end.h"

#include <stdio.h>
#include <string.h>

#include <doca_ctx.h>

#include "doca_device.h"

#define HEAP_BYTES 4096
#define ACCESS                                                                                          \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

enum { FLUSH = 1, NUM_ADDS = 16 };

/* Places in the heap of each process. */
enum { OWN_TEXT = 0, WRITTEN = 256, MESSAGE = 512, COUNTER = 1024 };

extern struct doca_dpa_app *dpa_rdma_app;
doca_dpa_func_t post_request, post_many, wait_completions;

static void open_rdma(struct dpa_end *end)
{
	MUST(doca_dpa_completion_create(end->dpa, 64, &end->completion));
	MUST(doca_dpa_completion_start(end->completion));
	MUST(doca_dpa_completion_get_dpa_handle(end->completion, &end->completion_handle));
	MUST(doca_rdma_create(end->dev, &end->rdma));
	MUST(doca_rdma_set_permissions(end->rdma, ACCESS));
	MUST(doca_ctx_set_datapath_on_dpa(doca_rdma_as_ctx(end->rdma), end->dpa));
	MUST(doca_rdma_dpa_completion_attach(end->rdma, end->completion));
	MUST(doca_ctx_start(doca_rdma_as_ctx(end->rdma)));
	MUST(doca_rdma_get_dpa_handle(end->rdma, &end->handle));
}

void dpa_end_open(struct dpa_end *end, struct dpa_offer *offer)
{
	const void *details, *map;

	end->dev = device_open(NULL);
	MUST(doca_dpa_create(end->dev, &end->dpa));
	MUST(doca_dpa_set_app(end->dpa, dpa_rdma_app));
	MUST(doca_dpa_start(end->dpa));
	MUST(doca_dpa_mem_alloc(end->dpa, HEAP_BYTES, &end->memory));
	MUST(doca_dpa_memset(end->dpa, end->memory, 0, HEAP_BYTES));
	MUST(doca_dpa_mem_alloc(end->dpa, 64 * sizeof(struct completed), &end->results));
	open_rdma(end);
	MUST(doca_mmap_create(&end->map));
	MUST(doca_mmap_set_permissions(end->map, ACCESS));
	MUST(doca_mmap_set_dpa_memrange(end->map, end->dpa, end->memory, HEAP_BYTES));
	MUST(doca_mmap_start(end->map));
	MUST(doca_mmap_dev_get_dpa_handle(end->map, end->dev, &end->map_handle));
	MUST(doca_rdma_export(end->rdma, &details, &offer->details_len, &end->connection));
	MUST(doca_mmap_export_rdma(end->map, end->dev, &map, &offer->map_len));
	CHECK(offer->details_len <= sizeof(offer->details) && offer->map_len <= sizeof(offer->map));
	memcpy(offer->details, details, offer->details_len);
	memcpy(offer->map, map, offer->map_len);
	offer->addr = end->memory;
}

static void post(const struct dpa_end *end, struct request request)
{
	uint64_t value;

	request.rdma = end->handle;
	request.flags = FLUSH;
	MUST(doca_dpa_rpc(end->dpa, post_request, &value, request));
}

static void post_receive(const struct dpa_end *end)
{
	post(end, (struct request){
			  .op = REQUEST_RECEIVE, .dst_map = end->map_handle, .dst = end->memory + MESSAGE, .len = 64 });
}

void dpa_end_connect(struct dpa_end *end, const struct dpa_offer *peer)
{
	MUST(doca_rdma_connect(end->rdma, peer->details, peer->details_len, end->connection));
	MUST(doca_mmap_create_from_export(NULL, peer->map, peer->map_len, end->dev, &end->other));
	MUST(doca_mmap_dev_get_dpa_handle(end->other, end->dev, &end->other_handle));
	end->other_addr = peer->addr;
	post_receive(end);
}

void dpa_end_close(struct dpa_end *end)
{
	MUST(doca_mmap_destroy(end->other));
	MUST(doca_mmap_destroy(end->map));
	MUST(doca_ctx_stop(doca_rdma_as_ctx(end->rdma)));
	MUST(doca_rdma_destroy(end->rdma));
	MUST(doca_dpa_completion_destroy(end->completion));
	MUST(doca_dpa_destroy(end->dpa));
	MUST(doca_dev_close(end->dev));
}

struct completed dpa_end_wait_one(const struct dpa_end *end)
{
	struct completed completed;
	uint64_t value;

	MUST(doca_dpa_rpc(end->dpa, wait_completions, &value, end->completion_handle, UINT64_C(1), end->results));
	MUST(doca_dpa_d2h_memcpy(end->dpa, &completed, end->results, sizeof(completed)));
	return completed;
}

void dpa_end_post_send(const struct dpa_end *end)
{
	post(end, (struct request){
			  .op = REQUEST_SEND, .src_map = end->map_handle, .src = end->memory + OWN_TEXT, .len = 64 });
}

/* Write, add many times, and send, while the peer does the same. */
void dpa_end_exchange(const struct dpa_end *end, const char *text)
{
	struct request add = { .rdma = end->handle,
			       .op = REQUEST_ADD,
			       .dst_map = end->other_handle,
			       .dst = end->other_addr + COUNTER,
			       .value = 3,
			       .flags = FLUSH };
	unsigned int num_sent = 0, num_received = 0;
	char own[64] = { 0 };
	uint64_t value;

	snprintf(own, sizeof(own), "%s", text);
	MUST(doca_dpa_h2d_memcpy(end->dpa, end->memory + OWN_TEXT, own, sizeof(own)));
	post(end, (struct request){ .op = REQUEST_WRITE,
				    .dst_map = end->other_handle,
				    .dst = end->other_addr + WRITTEN,
				    .src_map = end->map_handle,
				    .src = end->memory + OWN_TEXT,
				    .len = 64 });
	MUST(doca_dpa_rpc(end->dpa, post_many, &value, add, (uint64_t)NUM_ADDS));
	dpa_end_post_send(end);
	while (num_sent < NUM_ADDS + 2 || num_received < 1) {
		struct completed completed = dpa_end_wait_one(end);

		CHECK(completed.type == DPA_SENT || completed.type == DPA_RECEIVED);
		*(completed.type == DPA_SENT ? &num_sent : &num_received) += 1;
	}
}

void dpa_end_check_memory(const struct dpa_end *end, const char *text)
{
	uint8_t heap[COUNTER + 8];
	uint64_t count;

	MUST(doca_dpa_d2h_memcpy(end->dpa, heap, end->memory, sizeof(heap)));
	CHECK(strcmp((const char *)heap + WRITTEN, text) == 0);
	CHECK(strcmp((const char *)heap + MESSAGE, text) == 0);
	memcpy(&count, heap + COUNTER, sizeof(count));
	CHECK(count == 3 * NUM_ADDS);
}
