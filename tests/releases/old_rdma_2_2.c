/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of release 2.2: memory that a peer writes and reads, and a message, by jobs of libdoca_rdma. old_rdma.c says how it is
 * called, and is the same of later releases. */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_rdma.h>

#include "old_card.h"
#include "old_descriptors.h"

static char memory[ROOM];
static struct doca_dev *dev;
static struct doca_mmap *map, *lent;
static struct doca_buf_inventory *inventory;
static struct doca_rdma *rdma;
static struct doca_ctx *ctx;
static struct doca_workq *queue;

/* ---- descriptors ---- */

static void exchange(bool asks, const char *to, const char *from)
{
	struct descriptor own[2], peer[2];
	const void *bytes;
	size_t len;

	must(doca_rdma_export(rdma, &bytes, &len), "export the connection");
	own[0] = descriptor_of(bytes, len);
	must(doca_mmap_export_rdma(map, dev, &bytes, &len), "export the memory");
	own[1] = descriptor_of(bytes, len);
	if (asks) {
		get_descriptors(from, peer, 2);
		put_descriptors(to, own, 1);
		must(doca_mmap_create_from_export(NULL, peer[1].bytes, peer[1].len, dev, &lent), "import the memory");
	} else {
		put_descriptors(to, own, 2);
		get_descriptors(from, peer, 1);
	}
	must(doca_rdma_connect(rdma, peer[0].bytes, peer[0].len), "connect");
}

/* ---- jobs ---- */

static struct doca_buf *buf_of(struct doca_mmap *of, void *addr, size_t len, bool has_data)
{
	struct doca_buf *buf;

	must(has_data ? doca_buf_inventory_buf_by_data(inventory, of, addr, len, &buf) :
			doca_buf_inventory_buf_by_addr(inventory, of, addr, len, &buf),
	     "make a buffer");
	return buf;
}

static void let_go(struct doca_buf *buf)
{
	must(doca_buf_refcount_rm(buf, NULL), "free a buffer");
}

/* Submit the job, and wait for its end. */
static struct doca_rdma_result run(struct doca_job *job, int type, const char *what)
{
	struct doca_rdma_result result;
	struct doca_event event = { .result.ptr = &result };
	doca_error_t retrieved;

	job->type = type;
	job->flags = DOCA_JOB_FLAGS_NONE;
	job->ctx = ctx;
	must(doca_workq_submit(queue, job), "submit a job");
	while ((retrieved = doca_workq_progress_retrieve(queue, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
	       DOCA_ERROR_AGAIN)
		sched_yield();
	must(retrieved, what);
	must(result.result, what);
	return result;
}

static void copy(int type, struct doca_buf *dst, struct doca_buf *src, const char *what)
{
	struct doca_rdma_job_read_write job = { .dst_buff = dst, .src_buff = src };

	run(&job.base, type, what);
	let_go(src);
	let_go(dst);
}

static void ask(void)
{
	struct doca_rdma_job_send message = { .immediate_data = IMMEDIATE };
	struct doca_buf *src;
	void *start;
	size_t len;

	must(doca_mmap_get_memrange(lent, &start, &len), "find the peer's memory");
	memcpy(memory, LENT, sizeof(LENT));
	copy(DOCA_RDMA_JOB_WRITE, buf_of(lent, start, sizeof(LENT), false), buf_of(map, memory, sizeof(LENT), true),
	     "write");
	copy(DOCA_RDMA_JOB_READ, buf_of(map, memory + ROOM / 2, sizeof(LENT), false),
	     buf_of(lent, start, sizeof(LENT), true), "read");
	printf("read: %s\n", memory + ROOM / 2);
	memcpy(memory, MESSAGE, sizeof(MESSAGE));
	src = buf_of(map, memory, sizeof(MESSAGE), true);
	message.src_buff = src;
	run(&message.base, DOCA_RDMA_JOB_SEND_IMM, "send");
	let_go(src);
}

static void answer(void)
{
	struct doca_buf *dst = buf_of(map, memory + ROOM / 2, ROOM / 2, false);
	struct doca_rdma_job_recv job = { .dst_buff = dst };
	struct doca_rdma_result result = run(&job.base, DOCA_RDMA_JOB_RECV, "receive");

	printf("memory: %s\n", memory);
	printf("heard: %s, %u bytes, %x\n", memory + ROOM / 2, result.length, result.immediate_data);
	let_go(dst);
}

/* ---- objects ---- */

static void make_memory(void)
{
	must(doca_mmap_create(NULL, &map), "make a map");
	must(doca_mmap_dev_add(map, dev), "add the device");
	must(doca_mmap_set_memrange(map, memory, sizeof(memory)), "set its range");
	must(doca_mmap_set_permissions(map,
				       DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE),
	     "set its permissions");
	must(doca_mmap_start(map), "start it");
	must(doca_buf_inventory_create(NULL, 4, DOCA_BUF_EXTENSION_NONE, &inventory), "make an inventory");
	must(doca_buf_inventory_start(inventory), "start it");
}

static void make_context(void)
{
	must(doca_rdma_create(&rdma), "make a context");
	ctx = doca_rdma_as_ctx(rdma);
	must(doca_ctx_dev_add(ctx, dev), "add the device");
	must(doca_rdma_set_permissions(rdma, DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE), "set its permissions");
	must(doca_ctx_start(ctx), "start it");
	must(doca_workq_create(4, &queue), "make a queue");
	must(doca_ctx_workq_add(ctx, queue), "add the queue");
}

static void free_all(void)
{
	if (lent)
		must(doca_mmap_destroy(lent), "destroy the peer's map");
	must(doca_ctx_workq_rm(ctx, queue), "remove the queue");
	must(doca_workq_destroy(queue), "destroy it");
	must(doca_ctx_stop(ctx), "stop");
	must(doca_ctx_dev_rm(ctx, dev), "remove the device");
	must(doca_rdma_destroy(rdma), "destroy the context");
	must(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	must(doca_mmap_destroy(map), "destroy the map");
	must(doca_dev_close(dev), "close the device");
}

int main(int argc, char **argv)
{
	bool asks;

	must(argc == 4 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE, "take three arguments");
	asks = strcmp(argv[1], "ask") == 0;
	dev = open_first();
	make_memory();
	make_context();
	exchange(asks, argv[2], argv[3]);
	asks ? ask() : answer();
	free_all();
	return EXIT_SUCCESS;
}
