/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages over Comch's fast path: one producer, one consumer. */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "comch.h"
#include "dma.h"
#include "measure.h"
#include "memory.h"

#define SEED 13

/* Shared by both: the address of the producer's memory. */
struct bench_fast_source {
	pid_t pid;
	uint8_t *memory;
};

struct fast {
	const struct bench_fast_cfg *cfg;
	struct bench_comch control;
	uint8_t *memory;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf **bufs;
	struct doca_task **tasks; /* one for each block */
	struct doca_pe *pe;       /* of the fast path */
	struct doca_ctx *ctx;
	struct doca_comch_producer *producer;
	struct doca_comch_consumer *consumer;
	uint64_t begun, done, failed; /* messages sent, or receives posted; ended, badly */
	uint64_t read;                /* by process_vm_readv */
	bool ends;
};

static size_t len_of(const struct bench_fast_cfg *cfg)
{
	return (size_t)cfg->block_bytes * cfg->num_blocks;
}

static int fail(const char *what, doca_error_t result)
{
	return bench_fail("%s: %s", what, doca_error_get_descr(result));
}

/* ---- memory ---- */

static doca_error_t make_buf(struct fast *fast, uint32_t i)
{
	uint8_t *block = fast->memory + (size_t)i * fast->cfg->block_bytes;

	if (fast->control.server)
		return doca_buf_inventory_buf_get_by_addr(fast->inventory, fast->mmap, block, fast->cfg->block_bytes,
							  &fast->bufs[i]);
	return doca_buf_inventory_buf_get_by_data(fast->inventory, fast->mmap, block, fast->cfg->block_bytes,
						  &fast->bufs[i]);
}

static int open_memory(struct fast *fast)
{
	const struct bench_fast_cfg *cfg = fast->cfg;
	doca_error_t result;

	fast->memory = bench_memory_new(len_of(cfg));
	fast->bufs = calloc(cfg->num_blocks, sizeof(*fast->bufs));
	fast->tasks = calloc(cfg->num_blocks, sizeof(*fast->tasks));
	if (!fast->memory || !fast->bufs || !fast->tasks)
		return -1;
	if (bench_map(fast->control.dev, fast->memory, len_of(cfg), true, &fast->mmap) < 0)
		return -1;
	if (fast->control.client) {
		bench_memory_fill(fast->memory, len_of(cfg), SEED);
		*cfg->source = (struct bench_fast_source){ .pid = getpid(), .memory = fast->memory };
	}
	result = doca_buf_inventory_create(cfg->num_blocks, &fast->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(fast->inventory);
	for (uint32_t i = 0; i < cfg->num_blocks && result == DOCA_SUCCESS; i++)
		result = make_buf(fast, i);
	if (result == DOCA_SUCCESS)
		result = doca_pe_create(&fast->pe);
	return result == DOCA_SUCCESS ? 0 : fail("buffers", result);
}

static int start(struct fast *fast)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
	doca_error_t result = doca_pe_connect_ctx(fast->pe, fast->ctx);

	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(fast->ctx, (union doca_data){ .ptr = fast });
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(fast->ctx);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		return fail("starting a consumer or producer", result);
	while (doca_ctx_get_state(fast->ctx, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_STARTING) {
		doca_pe_progress(fast->control.pe); /* announces it */
		doca_pe_progress(fast->pe);
	}
	return state == DOCA_CTX_STATE_RUNNING ? 0 : bench_fail("a consumer or producer does not start");
}

/* ---- the consumer ---- */

/* Block by block: if fewer receives are posted than there are blocks, the next one uses an idle block. */
static int post_next(struct fast *fast)
{
	uint32_t i = (uint32_t)(fast->begun % fast->cfg->num_blocks);
	doca_error_t result;

	doca_buf_reset_data_len(fast->bufs[i]);
	result = doca_task_submit(fast->tasks[i]);
	if (result != DOCA_SUCCESS)
		return fail("a receive can't be posted", result);
	fast->begun++;
	return 0;
}

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			union doca_data ctx_data)
{
	struct fast *fast = ctx_data.ptr;

	if (fast->ends)
		return;
	fast->done++;
	if (post_next(fast) < 0)
		fast->failed++;
}

static void on_not_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			    union doca_data ctx_data)
{
	struct fast *fast = ctx_data.ptr;

	if (!fast->ends)
		fast->failed++;
}

static int open_consumer(struct fast *fast)
{
	doca_error_t result = doca_comch_consumer_create(fast->control.connection, fast->mmap, &fast->consumer);

	if (result != DOCA_SUCCESS)
		return fail("doca_comch_consumer_create", result);
	fast->ctx = doca_comch_consumer_as_ctx(fast->consumer);
	result = doca_comch_consumer_task_post_recv_set_conf(fast->consumer, on_received, on_not_received,
							     fast->cfg->num_blocks);
	if (result != DOCA_SUCCESS || start(fast) < 0)
		return -1;
	for (uint32_t i = 0; i < fast->cfg->num_blocks && result == DOCA_SUCCESS; i++) {
		struct doca_comch_consumer_task_post_recv *task;

		result = doca_comch_consumer_task_post_recv_alloc_init(fast->consumer, fast->bufs[i], &task);
		if (result == DOCA_SUCCESS)
			fast->tasks[i] = doca_comch_consumer_task_post_recv_as_task(task);
	}
	while (result == DOCA_SUCCESS && fast->begun < fast->cfg->depth)
		if (post_next(fast) < 0)
			return -1;
	return result == DOCA_SUCCESS ? 0 : fail("post receive tasks", result);
}

static int receive_all(struct fast *fast, uint32_t count)
{
	uint64_t last = fast->done + count;

	while (fast->done < last && fast->failed == 0)
		doca_pe_progress(fast->pe);
	return fast->failed == 0 ? 0 : -EIO;
}

/* ---- the producer ---- */

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct fast *)ctx_data.ptr)->done++;
}

static void on_not_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	on_sent(task, task_data, ctx_data);
	((struct fast *)ctx_data.ptr)->failed++;
}

static int open_producer(struct fast *fast)
{
	doca_error_t result = doca_comch_producer_create(fast->control.connection, &fast->producer);

	if (result != DOCA_SUCCESS)
		return fail("doca_comch_producer_create", result);
	fast->ctx = doca_comch_producer_as_ctx(fast->producer);
	result = doca_comch_producer_task_send_set_conf(fast->producer, on_sent, on_not_sent, fast->cfg->num_blocks);
	if (result != DOCA_SUCCESS || start(fast) < 0)
		return -1;
	while (fast->control.consumer == 0)
		doca_pe_progress(fast->control.pe);
	for (uint32_t i = 0; i < fast->cfg->num_blocks && result == DOCA_SUCCESS; i++) {
		struct doca_comch_producer_task_send *task;

		result = doca_comch_producer_task_send_alloc_init(fast->producer, fast->bufs[i], NULL, 0,
								  fast->control.consumer, &task);
		if (result == DOCA_SUCCESS)
			fast->tasks[i] = doca_comch_producer_task_send_as_task(task);
	}
	return result == DOCA_SUCCESS ? 0 : fail("send tasks", result);
}

static int send_all(struct fast *fast, uint32_t count)
{
	uint64_t last = fast->begun + count;

	while (fast->done < last && fast->failed == 0) {
		while (fast->begun < last && fast->begun - fast->done < fast->cfg->depth) {
			doca_error_t result = doca_task_submit(fast->tasks[fast->begun % fast->cfg->num_blocks]);

			if (result == DOCA_ERROR_AGAIN) /* no receive is posted */
				break;
			if (result != DOCA_SUCCESS)
				return fail("a message can't be sent", result);
			fast->begun++;
		}
		doca_pe_progress(fast->pe);
	}
	return fast->failed == 0 ? 0 : -EIO;
}

/* ---- both ---- */

/* The consumer's baseline: as many process_vm_readv() calls as messages. */
static int read_all(struct fast *fast, uint32_t count)
{
	uint32_t bytes = fast->cfg->block_bytes;

	for (; count > 0; count--) {
		size_t offset = (size_t)(fast->read++ % fast->cfg->num_blocks) * bytes;
		struct iovec here = { fast->memory + offset, bytes };
		struct iovec there = { fast->cfg->source->memory + offset, bytes };

		if (process_vm_readv(fast->cfg->source->pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
			return -errno;
	}
	return 0;
}

static int run(void *arg, const struct bench_ref_order *order)
{
	struct fast *fast = arg;

	if (order->command == BENCH_REF_CHECK)
		return bench_memory_check(fast->memory, len_of(fast->cfg), SEED) < 0 ? -EBADMSG : 0;
	if (order->command == BENCH_REF_READ)
		return order->begins ? 0 : read_all(fast, order->count);
	return order->begins ? send_all(fast, order->count) : receive_all(fast, order->count);
}

static void stop(struct fast *fast)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;

	fast->ends = true;
	doca_ctx_stop(fast->ctx);
	for (uint64_t none = fast->begun - fast->done; fast->consumer && none > 0; none--)
		doca_pe_progress(fast->pe); /* posted receives come back */
	for (uint32_t i = 0; i < fast->cfg->num_blocks; i++)
		if (fast->tasks[i])
			doca_task_free(fast->tasks[i]);
	while (doca_ctx_get_state(fast->ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(fast->pe);
	if (fast->consumer)
		doca_comch_consumer_destroy(fast->consumer);
	if (fast->producer)
		doca_comch_producer_destroy(fast->producer);
}

static int close_all(struct fast *fast)
{
	if (fast->ctx)
		stop(fast);
	if (fast->pe)
		doca_pe_destroy(fast->pe);
	for (uint32_t i = 0; i < fast->cfg->num_blocks && fast->bufs; i++)
		if (fast->bufs[i])
			doca_buf_dec_refcount(fast->bufs[i], NULL);
	if (fast->inventory)
		doca_buf_inventory_destroy(fast->inventory);
	if (fast->mmap)
		doca_mmap_destroy(fast->mmap);
	free(fast->bufs);
	free(fast->tasks);
	return bench_comch_close(&fast->control);
}

static int run_end(const struct bench_fast_cfg *cfg, bool is_server, int fd)
{
	struct fast fast = { .cfg = cfg };
	int rc = bench_comch_open(&cfg->comch, is_server, &fast.control);

	if (rc == 0)
		rc = bench_comch_start(&fast.control);
	if (rc == 0)
		rc = bench_comch_wait_connected(&fast.control);
	if (rc == 0)
		rc = open_memory(&fast);
	if (rc == 0)
		rc = is_server ? open_consumer(&fast) : open_producer(&fast);
	if (rc == 0)
		rc = bench_answer(fd, 0);
	if (rc == 0)
		bench_obey(fd, run, &fast);
	return close_all(&fast) < 0 ? -1 : rc;
}

static int run_first(void *arg, int fd)
{
	return run_end(arg, false, fd);
}

static int run_second(void *arg, int fd)
{
	return run_end(arg, true, fd);
}

int bench_comch_fast(struct bench_fast_cfg *cfg, struct bench_pair *ret_pair)
{
	*ret_pair = (struct bench_pair){ 0 };
	cfg->source = mmap(NULL, sizeof(*cfg->source), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cfg->source == MAP_FAILED)
		return bench_fail("no shared memory: %s", strerror(errno));
	return bench_pair_fork(run_first, run_second, cfg, ret_pair);
}

int bench_comch_fast_readv(void *pair, uint32_t count, uint64_t *ret_ns)
{
	int rc = bench_pair_order(pair, BENCH_REF_READ, count, ret_ns);

	return rc == 0 ? 0 : bench_fail("process_vm_readv: %s", strerror(-rc));
}
