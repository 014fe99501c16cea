/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of release 2.2: copies memory by a job on a work queue. It is linked
 * with stubs of that release's libraries, which do nothing: its output shows
 * which libraries it runs with. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_version.h>

DOCA_LOG_REGISTER(OLD_JOBS);

#define COPY_BYTES 100000
#define JOB_ID     22

static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_get_error_string(result));
	exit(EXIT_FAILURE);
}

static struct doca_dev *open_first(void)
{
	struct doca_devinfo **list;
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_dev *dev;
	uint32_t num;

	must(doca_devinfo_list_create(&list, &num), "list the devices");
	must(num > 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find a device");
	must(doca_dma_job_get_supported(list[0], DOCA_DMA_JOB_MEMCPY), "ask for copies");
	must(doca_devinfo_get_pci_addr_str(list[0], address), "ask where it is");
	printf("device: %s\n", address);
	must(doca_dev_open(list[0], &dev), "open a device");
	must(doca_devinfo_list_destroy(list), "free the list");
	return dev;
}

static struct doca_mmap *map(struct doca_dev *dev, void *addr, size_t len)
{
	struct doca_mmap *mmap;

	must(doca_mmap_create(NULL, &mmap), "make a memory map");
	must(doca_mmap_set_memrange(mmap, addr, len), "set the range");
	must(doca_mmap_dev_add(mmap, dev), "add the device");
	must(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_WRITE), "set the permissions");
	must(doca_mmap_start(mmap), "start the memory map");
	return mmap;
}

static void run_job(struct doca_workq *workq, struct doca_ctx *ctx, const struct doca_buf *from, struct doca_buf *to)
{
	const struct doca_dma_job_memcpy job = {
		.base = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = ctx, .user_data.u64 = JOB_ID },
		.dst_buff = to,
		.src_buff = from,
	};
	struct doca_event event = { 0 };
	doca_error_t result;

	must(doca_workq_submit(workq, &job.base), "submit a job");
	do
		result = doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	must(result, "retrieve its event");
	must((doca_error_t)event.result.u64, "copy");
	must(event.user_data.u64 == JOB_ID ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "find the job in the event");
}

static void copy(struct doca_dev *dev, char *from, char *to, size_t len)
{
	struct doca_mmap *from_map = map(dev, from, len), *to_map = map(dev, to, len);
	struct doca_buf_inventory *inventory;
	struct doca_buf *from_buf, *to_buf;
	struct doca_workq *workq;
	struct doca_dma *dma;

	must(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &inventory), "make an inventory");
	must(doca_buf_inventory_start(inventory), "start it");
	must(doca_buf_inventory_buf_by_data(inventory, from_map, from, len, &from_buf), "get a buffer");
	must(doca_buf_inventory_buf_by_addr(inventory, to_map, to, len, &to_buf), "get another");
	must(doca_dma_create(&dma), "make a DMA context");
	must(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev), "give it the device");
	must(doca_ctx_start(doca_dma_as_ctx(dma)), "start it");
	must(doca_workq_create(1, &workq), "make a work queue");
	must(doca_ctx_workq_add(doca_dma_as_ctx(dma), workq), "add it");
	run_job(workq, doca_dma_as_ctx(dma), from_buf, to_buf);
	must(doca_ctx_workq_rm(doca_dma_as_ctx(dma), workq), "take it out again");
	must(doca_workq_destroy(workq), "destroy it");
	must(doca_ctx_stop(doca_dma_as_ctx(dma)), "stop the context");
	must(doca_ctx_dev_rm(doca_dma_as_ctx(dma), dev), "take its device");
	must(doca_dma_destroy(dma), "destroy it");
	must(doca_buf_refcount_rm(from_buf, NULL), "give the buffer back");
	must(doca_buf_refcount_rm(to_buf, NULL), "give the other back");
	must(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	must(doca_mmap_destroy(from_map), "destroy a memory map");
	must(doca_mmap_destroy(to_map), "destroy the other");
}

int main(int argc, char **argv)
{
	static char from[COPY_BYTES], to[COPY_BYTES];
	struct doca_dev *dev;

	must(doca_log_create_standard_backend(), "log to the standard streams");
	must(doca_argp_init("old_jobs", NULL), "make the parser");
	must(doca_argp_start(argc, argv), "parse");
	printf("version: %s\n", doca_version_runtime());
	for (size_t i = 0; i < COPY_BYTES; i++)
		from[i] = (char)(i % 251);
	dev = open_first();
	copy(dev, from, to, COPY_BYTES);
	must(doca_dev_close(dev), "close the device");
	printf("copied: %s\n", memcmp(from, to, COPY_BYTES) == 0 ? "the same" : "something else");
	DOCA_LOG_ERR("a record");
	must(doca_argp_destroy(), "destroy the parser");
	return EXIT_SUCCESS;
}
