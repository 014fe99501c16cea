/* SPDX-License-Identifier: BSD-3-Clause */
/* A process whose recording is tested: copies within its own memory by DMA tasks.
 *
 *   trace_peer COUNT [big] [fail] [stay] [leave] [quit | die SIGNAL]
 *
 * COUNT tasks of 64 bytes, "big" ones of 64 KiB; "fail" adds one whose destination is too small.
 * With "leave" it ends without stopping its context; with "quit" it ends with status 11 in the callback of its last task, with
 * "die" by the signal of that number when one more task is in flight. With "stay" the process then prints "ready" and waits to be killed.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "../common/rest.h"

#define BYTES     64
#define BIG_BYTES 65536

static char memory[2 * BIG_BYTES];
static unsigned int num_ended;
static unsigned int quits_at; /* in the callback of that task */

static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "trace_peer: %s: %s\n", what, doca_error_get_descr(result));
	exit(EXIT_FAILURE);
}

static void ended(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	if (++num_ended == quits_at)
		exit(11);
}

static struct doca_dev *open_first(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	must(doca_devinfo_create_list(&list, &count), "list the devices");
	must(doca_dev_open(list[0], &dev), "open the first device");
	doca_devinfo_destroy_list(list);
	return dev;
}

static struct doca_mmap *map(struct doca_dev *dev)
{
	struct doca_mmap *mmap;

	must(doca_mmap_create(&mmap), "create a map");
	must(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), "set its range");
	must(doca_mmap_add_dev(mmap, dev), "add the device");
	must(doca_mmap_start(mmap), "start it");
	return mmap;
}

static struct doca_dma *start_context(struct doca_dev *dev, struct doca_pe *pe)
{
	struct doca_dma *dma;

	must(doca_dma_create(dev, &dma), "create a context");
	must(doca_dma_task_memcpy_set_conf(dma, ended, ended, 1), "configure it");
	must(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)), "connect it");
	must(doca_ctx_start(doca_dma_as_ctx(dma)), "start it");
	return dma;
}

static void run(struct doca_pe *pe, struct doca_dma_task_memcpy *task)
{
	unsigned int before = num_ended;

	must(doca_task_submit(doca_dma_task_memcpy_as_task(task)), "submit a task");
	while (num_ended == before)
		if (!doca_pe_progress(pe))
			rest_between_polls();
}

static bool has(char **words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words;
}

static void die(char **words, struct doca_dma_task_memcpy *task)
{
	while (strcmp(*words, "die") != 0)
		words++;
	must(doca_task_submit(doca_dma_task_memcpy_as_task(task)), "submit a task");
	raise(atoi(words[1]));
}

int main(int argc, char **argv)
{
	bool fail = has(argv, "fail"), stay = has(argv, "stay");
	size_t bytes = has(argv, "big") ? BIG_BYTES : BYTES;
	struct doca_dev *dev = open_first();
	struct doca_mmap *mmap = map(dev);
	struct doca_buf_inventory *inventory;
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	struct doca_dma *dma;
	struct doca_pe *pe;

	must(doca_pe_create(&pe), "create an engine");
	dma = start_context(dev, pe);
	must(doca_buf_inventory_create(2, &inventory), "create an inventory");
	must(doca_buf_inventory_start(inventory), "start it");
	must(doca_buf_inventory_buf_get_by_data(inventory, mmap, memory, bytes, &src), "get a source");
	must(doca_buf_inventory_buf_get_by_addr(inventory, mmap, memory + bytes, bytes, &dst), "get a destination");
	must(doca_dma_task_memcpy_alloc_init(dma, src, dst, (union doca_data){ .u64 = 0 }, &task), "make a task");
	quits_at = has(argv, "quit") ? (unsigned int)atoi(argv[1]) : 0;
	for (int i = 0; i < atoi(argv[1]); i++) {
		doca_buf_reset_data_len(dst);
		run(pe, task);
	}
	if (fail)
		run(pe, task);
	if (has(argv, "die")) {
		doca_buf_reset_data_len(dst);
		die(argv, task);
	}
	if (stay) {
		puts("ready");
		fflush(stdout);
		pause();
	}
	if (has(argv, "leave"))
		return EXIT_SUCCESS;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	if (doca_ctx_stop(doca_dma_as_ctx(dma)) == DOCA_ERROR_IN_PROGRESS)
		while (doca_pe_progress(pe))
			;
	must(doca_dma_destroy(dma), "destroy the context");
	must(doca_pe_destroy(pe), "destroy the engine");
	doca_buf_dec_refcount(src, NULL);
	doca_buf_dec_refcount(dst, NULL);
	must(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	must(doca_mmap_destroy(mmap), "destroy the map");
	must(doca_dev_close(dev), "close the device");
	return EXIT_SUCCESS;
}
