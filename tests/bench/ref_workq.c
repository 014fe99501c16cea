/* SPDX-License-Identifier: BSD-3-Clause */
/* memcpy jobs of the work-queue generation, compared with tasks (reference.h).
 *
 *   bfsim_bench_workq FD BLOCK_BYTES NUM_BLOCKS
 *   bfsim_bench_workq COUNT                      COUNT jobs of 64 bytes, for a count of instructions (count.h)
 *
 * A program of its own, as both generations name their libraries alike. It does
 * the same as dma.c does with tasks: block i of the source is copied to block i of the
 * target, order.count of them, order.depth in flight at most.
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <errno.h>
#include <stdlib.h>

#include "count.h"
#include "measure.h"
#include "memory.h"
#include "process.h"
#include "reference.h"

#define DEPTH 64
#define SEED  7

struct copier {
	uint32_t block_bytes, num_blocks, block;
	void *source, *target;
	struct doca_dev *dev;
	struct doca_mmap *from, *to;
	struct doca_buf_inventory *inventory;
	struct doca_ctx *ctx;
	struct doca_workq *workq;
	struct doca_dma_job_memcpy *jobs; /* one for each block, made once */
};

static void must(const char *what, doca_error_t result)
{
	if (result == DOCA_SUCCESS)
		return;
	bench_fail("%s: %s", what, doca_get_error_string(result));
	exit(EXIT_FAILURE);
}

static struct doca_dev *open_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	must("doca_devinfo_list_create", doca_devinfo_list_create(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++)
		if (doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS)
			must("doca_dev_open", doca_dev_open(list[i], &dev));
	doca_devinfo_list_destroy(list);
	return dev;
}

static struct doca_mmap *map(struct doca_dev *dev, void *addr, size_t len)
{
	struct doca_mmap *mmap;

	must("doca_mmap_create", doca_mmap_create(NULL, &mmap));
	must("doca_mmap_set_memrange", doca_mmap_set_memrange(mmap, addr, len));
	must("doca_mmap_dev_add", doca_mmap_dev_add(mmap, dev));
	must("doca_mmap_set_permissions", doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_WRITE));
	must("doca_mmap_start", doca_mmap_start(mmap));
	return mmap;
}

static void open_queue(struct copier *copier)
{
	struct doca_dma *dma;

	must("doca_workq_create", doca_workq_create(DEPTH, &copier->workq));
	must("doca_dma_create", doca_dma_create(&dma));
	copier->ctx = doca_dma_as_ctx(dma);
	must("doca_ctx_dev_add", doca_ctx_dev_add(copier->ctx, copier->dev));
	must("doca_ctx_start", doca_ctx_start(copier->ctx));
	must("doca_ctx_workq_add", doca_ctx_workq_add(copier->ctx, copier->workq));
}

static void make_jobs(struct copier *copier)
{
	size_t len = copier->block_bytes;

	must("doca_buf_inventory_create", doca_buf_inventory_create(NULL, 2 * (size_t)copier->num_blocks,
								    DOCA_BUF_EXTENSION_NONE, &copier->inventory));
	must("doca_buf_inventory_start", doca_buf_inventory_start(copier->inventory));
	for (uint32_t i = 0; i < copier->num_blocks; i++) {
		struct doca_buf *src, *dst;

		must("a buffer", doca_buf_inventory_buf_by_data(copier->inventory, copier->from,
								(char *)copier->source + i * len, len, &src));
		must("a buffer", doca_buf_inventory_buf_by_addr(copier->inventory, copier->to,
								(char *)copier->target + i * len, len, &dst));
		copier->jobs[i] = (struct doca_dma_job_memcpy){
			.base = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = copier->ctx, .user_data.u64 = i },
			.dst_buff = dst,
			.src_buff = src,
		};
	}
}

static void open_all(struct copier *copier)
{
	size_t len = (size_t)copier->block_bytes * copier->num_blocks;

	copier->source = bench_memory_new(len);
	copier->target = bench_memory_new(len);
	copier->jobs = calloc(copier->num_blocks, sizeof(*copier->jobs));
	if (!copier->source || !copier->target || !copier->jobs)
		exit(EXIT_FAILURE);
	bench_memory_fill(copier->source, len, SEED);
	copier->dev = open_device();
	copier->from = map(copier->dev, copier->source, len);
	copier->to = map(copier->dev, copier->target, len);
	open_queue(copier);
	make_jobs(copier);
}

static doca_error_t submit(struct copier *copier)
{
	const struct doca_dma_job_memcpy *job = &copier->jobs[copier->block];

	copier->block = copier->block + 1 == copier->num_blocks ? 0 : copier->block + 1;
	doca_buf_reset_data_len(job->dst_buff); /* a copy appends */
	return doca_workq_submit(copier->workq, &job->base);
}

static int copy(struct copier *copier, uint32_t count, uint32_t depth)
{
	uint32_t sent = 0, done = 0;
	struct doca_event event;

	while (done < count) {
		doca_error_t result = DOCA_SUCCESS;

		while (sent < count && sent - done < depth && result == DOCA_SUCCESS) {
			result = submit(copier);
			sent++;
		}
		if (result == DOCA_SUCCESS)
			result = doca_workq_progress_retrieve(copier->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
		if (result == DOCA_SUCCESS)
			done++;
		else if (result != DOCA_ERROR_AGAIN)
			return -EIO;
	}
	return 0;
}

/* All blocks have been copied, and are right. */
static int check(struct copier *copier)
{
	if (copy(copier, copier->num_blocks, 1) < 0)
		return -EIO;
	return bench_memory_check(copier->target, (size_t)copier->block_bytes * copier->num_blocks, SEED) < 0 ? -EIO :
														0;
}

static int count_jobs(uint32_t count)
{
	struct copier copier = { .block_bytes = BENCH_SMALL_BYTES, .num_blocks = BENCH_NUM_SMALL };
	int rc;

	open_all(&copier);
	rc = copy(&copier, BENCH_NUM_SMALL, BENCH_COUNT_BATCH);
	bench_count_toggle();
	if (rc == 0)
		rc = copy(&copier, count, BENCH_COUNT_BATCH);
	bench_count_toggle();
	return rc == 0 && check(&copier) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct bench_ref_answer answer = { 0 };
	struct bench_ref_order order;
	struct copier copier = { 0 };
	int fd = argc == 4 ? atoi(argv[1]) : -1;

	if (argc == 2)
		return count_jobs((uint32_t)atoi(argv[1]));
	if (fd < 0)
		return EXIT_FAILURE;
	copier.block_bytes = (uint32_t)atoi(argv[2]);
	copier.num_blocks = (uint32_t)atoi(argv[3]);
	open_all(&copier);
	bench_send(fd, &answer, sizeof(answer));
	while (bench_receive(fd, &order, sizeof(order)) == 0) {
		uint64_t start = bench_now_ns();

		answer.status =
			order.command == BENCH_REF_CHECK ? check(&copier) : copy(&copier, order.count, order.depth);
		answer.ns = bench_now_ns() - start;
		bench_send(fd, &answer, sizeof(answer));
	}
	return EXIT_SUCCESS; /* process exit closes all that is open */
}
