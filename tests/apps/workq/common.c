/* SPDX-License-Identifier: BSD-3-Clause */
#include "common.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include <doca_buf.h>

#define QUEUE_DEPTH 32
#define LOOK_AGAIN_NS 2000000
#define PATIENCE_S 30

static void give_up(const char *what, const char *path)
{
	fprintf(stderr, "%s ", what);
	perror(path);
	exit(EXIT_FAILURE);
}

struct bytes bytes_of_zeros(size_t len)
{
	struct bytes bytes = {.addr = calloc(1, len ? len : 1), .len = len};

	if (!bytes.addr)
		give_up("no memory for", "a buffer");
	return bytes;
}

static struct bytes read_all(FILE *file, const char *path)
{
	struct bytes bytes;
	struct stat status;

	if (fstat(fileno(file), &status) < 0)
		give_up("look at", path);
	bytes = bytes_of_zeros((size_t)status.st_size);
	if (fread(bytes.addr, 1, bytes.len, file) != bytes.len)
		give_up("read", path);
	fclose(file);
	return bytes;
}

struct bytes bytes_of_file(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		give_up("open", path);
	return read_all(file, path);
}

void bytes_to_file(struct bytes bytes, const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes.addr, 1, bytes.len, file) != bytes.len || fclose(file) != 0)
		give_up("write", path);
}

void bytes_publish(struct bytes bytes, const char *path)
{
	char new_path[PATH_MAX];

	snprintf(new_path, sizeof(new_path), "%s.new", path);
	bytes_to_file(bytes, new_path);
	if (rename(new_path, path) < 0)
		give_up("rename to", path);
}

struct bytes bytes_await(const char *path)
{
	const struct timespec pause = {.tv_nsec = LOOK_AGAIN_NS};
	FILE *file = fopen(path, "rb");

	for (long waited_ns = 0; !file && waited_ns < PATIENCE_S * 1000000000L; waited_ns += LOOK_AGAIN_NS) {
		nanosleep(&pause, NULL);
		file = fopen(path, "rb");
	}
	if (!file)
		give_up("wait for", path);
	return read_all(file, path);
}

struct doca_dev *open_copying_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	MUST(doca_devinfo_list_create(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++)
		if (doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_list_destroy(list));
	if (!dev) {
		fprintf(stderr, "no device here can copy\n");
		exit(EXIT_FAILURE);
	}
	return dev;
}

struct engine engine_start(struct doca_dev *dev)
{
	struct engine engine = {.dev = dev};

	MUST(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &engine.inventory));
	MUST(doca_buf_inventory_start(engine.inventory));
	MUST(doca_workq_create(QUEUE_DEPTH, &engine.workq));
	MUST(doca_dma_create(&engine.dma));
	engine.ctx = doca_dma_as_ctx(engine.dma);
	MUST(doca_ctx_dev_add(engine.ctx, dev));
	MUST(doca_ctx_start(engine.ctx));
	MUST(doca_ctx_workq_add(engine.ctx, engine.workq));
	return engine;
}

void engine_stop(struct engine *engine)
{
	MUST(doca_ctx_workq_rm(engine->ctx, engine->workq));
	MUST(doca_ctx_stop(engine->ctx));
	MUST(doca_ctx_dev_rm(engine->ctx, engine->dev));
	MUST(doca_dma_destroy(engine->dma));
	MUST(doca_workq_destroy(engine->workq));
	MUST(doca_buf_inventory_destroy(engine->inventory));
}

doca_error_t engine_copy(struct engine *engine, struct doca_buf *to, const struct doca_buf *from)
{
	const struct doca_dma_job_memcpy job = {
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = engine->ctx},
		.dst_buff = to,
		.src_buff = from,
	};
	struct doca_event event = {0};
	doca_error_t result;

	MUST(doca_workq_submit(engine->workq, &job.base));
	do
		result = doca_workq_progress_retrieve(engine->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	if (event.type != DOCA_DMA_JOB_MEMCPY) {
		fprintf(stderr, "an event of type %d\n", event.type);
		exit(EXIT_FAILURE);
	}
	return result == DOCA_SUCCESS || result == DOCA_ERROR_IO_FAILED ? (doca_error_t)event.result.u64 : result;
}
