/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of release 2.5: copies memory by one DMA task, and uses functions
 * that later releases renamed. It is linked with stubs of that release's libraries,
 * which do nothing: its output shows which libraries it runs with. */
#include <stdbool.h>
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
#include <doca_pe.h>
#include <doca_sync_event.h>

DOCA_LOG_REGISTER(OLD_COPY);

#define COPY_BYTES 100000

struct task_result {
	bool is_done;
	doca_error_t status;
};

/* Exit with a message unless @result is DOCA_SUCCESS. */
static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(result));
	exit(EXIT_FAILURE);
}

static void show_record(char *text)
{
	printf("record: %s", strstr(text, "from a buffer") ? "from a buffer\n" : text);
}

static struct doca_dev *open_first(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t num;

	must(doca_devinfo_create_list(&list, &num), "list the devices");
	must(num > 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find a device");
	must(doca_dma_cap_task_memcpy_is_supported(list[0]), "ask for copies");
	must(doca_sync_event_cap_task_wait_gt_is_supported(list[0]), "ask for waits");
	must(doca_dev_open(list[0], &dev), "open a device");
	must(doca_devinfo_destroy_list(list), "free the list");
	return dev;
}

static struct doca_mmap *map(struct doca_dev *dev, void *addr, size_t len)
{
	struct doca_mmap *mmap;

	must(doca_mmap_create(&mmap), "make a memory map");
	must(doca_mmap_add_dev(mmap, dev), "add the device");
	must(doca_mmap_set_memrange(mmap, addr, len), "set the range");
	must(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE), "set the permissions");
	must(doca_mmap_start(mmap), "start the memory map");
	return mmap;
}

static void on_copied(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct task_result *result = task_data.ptr;

	(void)ctx_data;
	result->is_done = true;
	result->status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void run_task(struct doca_pe *pe, struct doca_dma *dma, const struct doca_buf *from, struct doca_buf *to)
{
	struct task_result result = { 0 };
	union doca_data data = { .ptr = &result };
	struct doca_dma_task_memcpy *task;

	must(doca_dma_task_memcpy_alloc_init(dma, from, to, data, &task), "make a task");
	must(doca_task_submit(doca_dma_task_memcpy_as_task(task)), "submit it");
	while (!result.is_done)
		doca_pe_progress(pe);
	must(result.status, "copy");
}

static void copy(struct doca_dev *dev, char *from, char *to, size_t len)
{
	struct doca_mmap *from_map = map(dev, from, len), *to_map = map(dev, to, len);
	struct doca_buf_inventory *inventory;
	struct doca_buf *from_buf, *to_buf;
	struct doca_dma *dma;
	struct doca_pe *pe;

	must(doca_buf_inventory_create(2, &inventory), "make an inventory");
	must(doca_buf_inventory_start(inventory), "start it");
	must(doca_buf_inventory_buf_get_by_data(inventory, from_map, from, len, &from_buf), "get a buffer");
	must(doca_buf_inventory_buf_get_by_addr(inventory, to_map, to, len, &to_buf), "get another");
	must(doca_pe_create(&pe), "make a progress engine");
	must(doca_dma_create(dev, &dma), "make a DMA context");
	must(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)), "connect the two");
	must(doca_dma_task_memcpy_set_conf(dma, on_copied, on_copied, 1), "configure it");
	must(doca_ctx_start(doca_dma_as_ctx(dma)), "start it");
	run_task(pe, dma, from_buf, to_buf);
	must(doca_ctx_stop(doca_dma_as_ctx(dma)), "stop it");
	must(doca_dma_destroy(dma), "destroy it");
	must(doca_pe_destroy(pe), "destroy the progress engine");
	must(doca_buf_dec_refcount(from_buf, NULL), "give the buffer back");
	must(doca_buf_dec_refcount(to_buf, NULL), "give the other back");
	must(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	must(doca_mmap_destroy(from_map), "destroy a memory map");
	must(doca_mmap_destroy(to_map), "destroy the other");
}

int main(int argc, char **argv)
{
	static char from[COPY_BYTES], to[COPY_BYTES], records[1024];
	struct doca_log_backend *backend;
	const char *address;
	struct doca_dev *dev;

	must(doca_log_backend_create_with_buffer(records, sizeof(records), show_record, &backend), "log to a buffer");
	must(doca_argp_init("old_copy", NULL), "make the parser");
	doca_argp_set_grpc_program();
	must(doca_argp_start(argc, argv), "parse");
	must(doca_argp_get_grpc_addr(&address), "get the address");
	printf("address: %s\n", address);
	for (size_t i = 0; i < COPY_BYTES; i++)
		from[i] = (char)(i % 251);
	dev = open_first();
	copy(dev, from, to, COPY_BYTES);
	must(doca_dev_close(dev), "close the device");
	printf("copied: %s\n", memcmp(from, to, COPY_BYTES) == 0 ? "the same" : "something else");
	DOCA_LOG_WARN("from a buffer");
	must(doca_argp_destroy(), "destroy the parser");
	return EXIT_SUCCESS;
}
