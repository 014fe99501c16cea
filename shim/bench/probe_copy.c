/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies by DMA tasks, between this process's memory and an exporter's or its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bfsim.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_pe.h>

#include "probe.h"

struct setup {
	const struct probe_copy_cfg *cfg;
	struct doca_dev *dev;
	struct doca_mmap *source, *target;
	uint8_t *source_addr, *target_addr;
};

struct slot {
	struct doca_dma_task_memcpy *task;
	struct doca_buf *from, *to;
	uint64_t began_ns;
};

struct worker {
	const struct setup *setup;
	unsigned int number;
	pthread_t thread;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_buf_inventory *inventory;
	struct slot *slots;
	struct probe_times times;
	uint64_t num_submitted;
};

static void submit(struct worker *worker, struct slot *slot)
{
	probe_must(doca_buf_reset_data_len(slot->to), "reset a buffer");
	slot->began_ns = bfsim_now_ns();
	probe_must(doca_task_submit(doca_dma_task_memcpy_as_task(slot->task)), "submit a task");
	worker->num_submitted++;
}

static void on_done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct worker *worker = ctx_data.ptr;
	struct slot *slot = task_data.ptr;

	(void)task;
	worker->times.latencies[worker->times.count++] = bfsim_now_ns() - slot->began_ns;
	if (worker->num_submitted < worker->setup->cfg->count)
		submit(worker, slot);
}

static void on_error(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	probe_must(doca_task_get_status(doca_dma_task_memcpy_as_task(task)), "copy");
}

static void prepare(struct worker *worker)
{
	const struct setup *setup = worker->setup;
	union doca_data data = { .ptr = worker };

	probe_must(doca_pe_create(&worker->pe), "create a progress engine");
	probe_must(doca_dma_create(setup->dev, &worker->dma), "create a context");
	probe_must(doca_dma_task_memcpy_set_conf(worker->dma, on_done, on_error, setup->cfg->depth), "configure it");
	probe_must(doca_ctx_set_user_data(doca_dma_as_ctx(worker->dma), data), "set its data");
	probe_must(doca_pe_connect_ctx(worker->pe, doca_dma_as_ctx(worker->dma)), "connect it");
	probe_must(doca_ctx_start(doca_dma_as_ctx(worker->dma)), "start it");
	probe_must(doca_buf_inventory_create(2 * setup->cfg->depth, &worker->inventory), "create an inventory");
	probe_must(doca_buf_inventory_start(worker->inventory), "start it");
	worker->slots = probe_calloc(setup->cfg->depth, sizeof(*worker->slots));
	worker->times.latencies = probe_calloc(setup->cfg->count, sizeof(*worker->times.latencies));
	for (unsigned int i = 0; i < setup->cfg->depth; i++) {
		struct slot *slot = &worker->slots[i];
		size_t offset = ((size_t)worker->number * setup->cfg->depth + i) * setup->cfg->size;

		probe_must(doca_buf_inventory_buf_get_by_data(worker->inventory, setup->source,
							      setup->source_addr + offset, setup->cfg->size,
							      &slot->from),
			   "get a buffer");
		probe_must(doca_buf_inventory_buf_get_by_addr(worker->inventory, setup->target,
							      setup->target_addr + offset, setup->cfg->size, &slot->to),
			   "get a buffer");
		probe_must(doca_dma_task_memcpy_alloc_init(worker->dma, slot->from, slot->to,
							   (union doca_data){ .ptr = slot }, &slot->task),
			   "make a task");
	}
}

static void release(struct worker *worker)
{
	for (unsigned int i = 0; i < worker->setup->cfg->depth; i++)
		doca_task_free(doca_dma_task_memcpy_as_task(worker->slots[i].task));
	if (doca_ctx_stop(doca_dma_as_ctx(worker->dma)) == DOCA_ERROR_IN_PROGRESS)
		while (doca_pe_progress(worker->pe))
			;
	probe_must(doca_dma_destroy(worker->dma), "destroy the context");
	probe_must(doca_pe_destroy(worker->pe), "destroy the progress engine");
	for (unsigned int i = 0; i < worker->setup->cfg->depth; i++) {
		doca_buf_dec_refcount(worker->slots[i].from, NULL);
		doca_buf_dec_refcount(worker->slots[i].to, NULL);
	}
	probe_must(doca_buf_inventory_destroy(worker->inventory), "destroy the inventory");
	free(worker->slots);
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	prepare(worker);
	worker->times.began_ns = bfsim_now_ns();
	for (unsigned int i = 0; i < worker->setup->cfg->depth && worker->num_submitted < worker->setup->cfg->count;
	     i++)
		submit(worker, &worker->slots[i]);
	while (worker->times.count < worker->setup->cfg->count)
		doca_pe_progress(worker->pe);
	worker->times.ended_ns = bfsim_now_ns();
	release(worker);
	return NULL;
}

/* The exporter's memory, when its descriptor is there. */
static struct doca_mmap *import_memory(struct setup *setup, uint8_t **ret_addr)
{
	struct doca_mmap *mmap;
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint8_t descriptor[1024];
	size_t len, bytes;
	void *addr;
	FILE *in;

	while (!(in = fopen(setup->cfg->path, "rbe")))
		nanosleep(&pause, NULL);
	len = fread(descriptor, 1, sizeof(descriptor), in);
	fclose(in);
	setup->dev = probe_open_first();
	probe_must(doca_mmap_create_from_export(NULL, descriptor, len, setup->dev, &mmap), "import memory");
	probe_must(doca_mmap_get_memrange(mmap, &addr, &bytes), "get its range");
	*ret_addr = addr;
	return mmap;
}

static struct doca_mmap *map_own(const struct setup *setup, uint8_t **ret_addr)
{
	size_t bytes = setup->cfg->size * setup->cfg->depth * setup->cfg->threads;

	*ret_addr = probe_allocate(bytes);
	return probe_map(setup->dev, *ret_addr, bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

static void map_both(struct setup *setup)
{
	struct doca_mmap **far = setup->cfg->writes ? &setup->target : &setup->source,
			 **near = setup->cfg->writes ? &setup->source : &setup->target;
	uint8_t **far_addr = setup->cfg->writes ? &setup->target_addr : &setup->source_addr,
		**near_addr = setup->cfg->writes ? &setup->source_addr : &setup->target_addr;

	if (setup->cfg->path) {
		*far = import_memory(setup, far_addr);
	} else {
		setup->dev = probe_open_first();
		*far = map_own(setup, far_addr);
	}
	*near = map_own(setup, near_addr);
}

static void run_workers(const struct setup *setup, struct worker *workers)
{
	for (unsigned int i = 0; i < setup->cfg->threads; i++) {
		workers[i] = (struct worker){ .setup = setup, .number = i };
		if (i > 0 && pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			probe_must(DOCA_ERROR_NO_MEMORY, "start a thread");
	}
	work(&workers[0]);
	for (unsigned int i = 1; i < setup->cfg->threads; i++)
		pthread_join(workers[i].thread, NULL);
}

int probe_copy(const struct probe_copy_cfg *cfg)
{
	struct worker *workers = probe_calloc(cfg->threads, sizeof(*workers));
	struct probe_times *times = probe_calloc(cfg->threads, sizeof(*times));
	struct setup setup = { .cfg = cfg };

	map_both(&setup);
	run_workers(&setup, workers);
	for (unsigned int i = 0; i < cfg->threads; i++)
		times[i] = workers[i].times;
	probe_print_result(times, cfg->threads, cfg->size, cfg->path ? NULL : "in-place");
	for (unsigned int i = 0; i < cfg->threads; i++)
		free(times[i].latencies);
	free(times);
	free(workers);
	probe_must(doca_mmap_destroy(setup.source), "destroy a map");
	probe_must(doca_mmap_destroy(setup.target), "destroy a map");
	probe_must(doca_dev_close(setup.dev), "close the device");
	return EXIT_SUCCESS;
}
