/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies by DMA tasks, between this process's memory and an exporter's or its own. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <doca_dma.h>

#include "probe_tasks.h"

PROBE_CALLBACKS(dma_task_memcpy)

static struct doca_ctx *create(struct probe_worker *worker)
{
	struct doca_dma *dma;

	probe_must(doca_dma_create(worker->run->dev, &dma), "create a context");
	probe_must(
		doca_dma_task_memcpy_set_conf(dma, on_dma_task_memcpy, on_dma_task_memcpy_failed, worker->run->depth),
		"configure it");
	worker->instance = dma;
	return doca_dma_as_ctx(dma);
}

static struct doca_task *alloc(struct probe_worker *worker, struct doca_buf *from, struct doca_buf *to,
			       union doca_data task_data)
{
	struct doca_dma_task_memcpy *task;

	probe_must(doca_dma_task_memcpy_alloc_init(worker->instance, from, to, task_data, &task), "make a task");
	return doca_dma_task_memcpy_as_task(task);
}

static void destroy(struct probe_worker *worker)
{
	probe_must(doca_dma_destroy(worker->instance), "destroy the context");
}

static const struct probe_kind copies = { create, alloc, destroy };

/* The exporter's memory, when its descriptor is there. */
static struct doca_mmap *import_memory(struct probe_run *run, const char *path, uint8_t **ret_addr)
{
	struct doca_mmap *mmap;
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint8_t descriptor[1024];
	size_t len, bytes;
	void *addr;
	FILE *in;

	while (!(in = fopen(path, "rbe")))
		nanosleep(&pause, NULL);
	len = fread(descriptor, 1, sizeof(descriptor), in);
	fclose(in);
	run->dev = probe_open_first();
	probe_must(doca_mmap_create_from_export(NULL, descriptor, len, run->dev, &mmap), "import memory");
	probe_must(doca_mmap_get_memrange(mmap, &addr, &bytes), "get its range");
	*ret_addr = addr;
	return mmap;
}

static struct doca_mmap *map_own(const struct probe_run *run, uint8_t **ret_addr)
{
	size_t bytes = run->data_bytes * run->depth * run->threads;

	*ret_addr = probe_allocate(bytes);
	return probe_map(run->dev, *ret_addr, bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

static void map_both(struct probe_run *run, const struct probe_copy_cfg *cfg)
{
	struct doca_mmap **far = cfg->writes ? &run->target : &run->source,
			 **near = cfg->writes ? &run->source : &run->target;
	uint8_t **far_addr = cfg->writes ? &run->target_addr : &run->source_addr,
		**near_addr = cfg->writes ? &run->source_addr : &run->target_addr;

	if (cfg->path) {
		*far = import_memory(run, cfg->path, far_addr);
	} else {
		run->dev = probe_open_first();
		*far = map_own(run, far_addr);
	}
	*near = map_own(run, near_addr);
}

int probe_copy(const struct probe_copy_cfg *cfg)
{
	struct probe_run run = { .kind = &copies,
				 .source_bytes = cfg->size,
				 .target_bytes = cfg->size,
				 .data_bytes = cfg->size,
				 .depth = cfg->depth,
				 .threads = cfg->threads,
				 .count = cfg->count };

	map_both(&run, cfg);
	probe_tasks_measure(&run, cfg->size, cfg->path ? NULL : "in-place");
	probe_must(doca_mmap_destroy(run.source), "destroy a map");
	probe_must(doca_mmap_destroy(run.target), "destroy a map");
	probe_must(doca_dev_close(run.dev), "close the device");
	return EXIT_SUCCESS;
}
