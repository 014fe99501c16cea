/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of both halves of the pipeline. */
#include "pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "cannot %s: %s\n", what, doca_error_get_descr(result));
	exit(EXIT_FAILURE);
}

void must_begin(doca_error_t result, const char *what)
{
	must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, what);
}

struct doca_dev *open_device(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	must(doca_devinfo_create_list(&list, &count), "list the devices");
	for (uint32_t i = 0; i < count && !dev; i++) {
		uint8_t is_equal = 0;

		must(doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &is_equal), "compare a PCI address");
		if (is_equal)
			must(doca_dev_open(list[i], &dev), "open the device");
	}
	must(dev ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find the device");
	doca_devinfo_destroy_list(list);
	return dev;
}

void progress(struct doca_pe *pe)
{
	static const struct timespec moment = { .tv_nsec = 20000 };

	if (!doca_pe_progress(pe))
		nanosleep(&moment, NULL);
}

void run_task(struct doca_pe *pe, struct doca_task *task, const bool *is_over, const char *what)
{
	must(doca_task_submit(task), what);
	while (!*is_over)
		progress(pe);
	must(doca_task_get_status(task), what);
	doca_task_free(task);
}

void start_ctx(struct doca_pe *pe, struct doca_ctx *ctx, const char *what)
{
	must(doca_pe_connect_ctx(pe, ctx), what);
	must_begin(doca_ctx_start(ctx), what);
}

void stop_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	must_begin(doca_ctx_stop(ctx), "stop a context");
	while (doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		progress(pe);
}

struct doca_mmap *map_memory(struct doca_dev *dev, void *addr, size_t len, uint32_t access)
{
	struct doca_mmap *mmap;

	must(doca_mmap_create(&mmap), "create a memory map");
	must(doca_mmap_add_dev(mmap, dev), "add the device");
	must(doca_mmap_set_memrange(mmap, addr, len), "set its range");
	must(doca_mmap_set_permissions(mmap, access), "set its permissions");
	must(doca_mmap_start(mmap), "start it");
	return mmap;
}

struct doca_buf_inventory *make_inventory(void)
{
	struct doca_buf_inventory *inventory;

	must(doca_buf_inventory_create(4, &inventory), "create an inventory");
	must(doca_buf_inventory_start(inventory), "start it");
	return inventory;
}

struct doca_buf *get_buf(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr, size_t len,
			 size_t data_len)
{
	struct doca_buf *buf;

	must(doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, data_len, &buf), "get a buffer");
	return buf;
}
