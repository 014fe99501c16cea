/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about the life of objects. Handles that are used twice are copies, as the compiler sees some mistakes. */
#include <doca_sync_event.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

/* ---- used after the end ---- */

static void free_twice(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	doca_task_free(task);
	doca_task_free(task);
	rig_close(rig);
}

/* The second allocation gets the handle of the first one. */
static void free_two(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	doca_task_free(task);
	CHECK(rig_small_task(rig, 2) == task);
	doca_task_free(task);
	rig_close(rig);
}

/* The submission is refused, also while the checker does not watch each call. */
static void submit_freed_when_busy(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	doca_task_free(task);
	be_busy(rig);
	CHECK(doca_task_submit(task) == DOCA_ERROR_INVALID_VALUE);
	rig_close(rig);
}

static void ignore_copy(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
}

static void free_in_flight_twice(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_task *task;

	MUST(doca_dma_task_memcpy_set_conf(rig->dma, ignore_copy, ignore_copy, 4));
	rig_start(rig);
	task = rig_small_task(rig, 1);
	MUST(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE));
	doca_task_free(task);
	doca_task_free(task);
	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	rig_close(rig);
}

static struct doca_buf *take_buf(struct rig *rig)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_args(rig->inventory, rig->mmap, rig->arena, 64, rig->arena, 64, &buf));
	return buf;
}

static void return_twice(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_buf *buf = take_buf(rig);

	MUST(doca_buf_dec_refcount(buf, NULL));
	CHECK(doca_buf_dec_refcount(buf, NULL) != DOCA_SUCCESS);
	rig_close(rig);
}

static void return_two_references(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_buf *buf = take_buf(rig);

	MUST(doca_buf_inc_refcount(buf, NULL));
	MUST(doca_buf_dec_refcount(buf, NULL));
	MUST(doca_buf_dec_refcount(buf, NULL));
	CHECK(take_buf(rig) == buf);
	MUST(doca_buf_dec_refcount(buf, NULL));
	rig_close(rig);
}

static void progress_destroyed(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_pe *pe;

	MUST(doca_pe_create(&pe));
	MUST(doca_pe_destroy(pe));
	CHECK(doca_pe_progress(pe) == 0);
	rig_close(rig);
}

/* The second engine may have the first one's handle. */
static void progress_second(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_pe *pe;

	MUST(doca_pe_create(&pe));
	MUST(doca_pe_destroy(pe));
	MUST(doca_pe_create(&pe));
	CHECK(doca_pe_progress(pe) == 0);
	MUST(doca_pe_destroy(pe));
	rig_close(rig);
}

static void get_destroyed_event(void)
{
	struct doca_sync_event *event;
	uint64_t value;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_destroy(event));
	CHECK(doca_sync_event_get(event, &value) == DOCA_ERROR_INVALID_VALUE);
}

static void create_event_again(void)
{
	struct doca_sync_event *event;

	for (int i = 0; i < 2; i++) {
		MUST(doca_sync_event_create(&event));
		MUST(doca_sync_event_destroy(event));
	}
}

/* A map's handle as the second argument. */
static void take_of_destroyed_map(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_mmap *mmap = rig_make_mmap(rig->dev, rig->arena, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *buf;

	MUST(doca_mmap_destroy(mmap));
	CHECK(doca_buf_inventory_buf_get_by_args(rig->inventory, mmap, rig->arena, 64, rig->arena, 64, &buf) !=
	      DOCA_SUCCESS);
	rig_close(rig);
}

static void take_of_second_map(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_mmap *mmap = NULL;
	struct doca_buf *buf;

	for (int i = 0; i < 2; i++) {
		mmap = rig_make_mmap(rig->dev, rig->arena, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
		MUST(doca_buf_inventory_buf_get_by_args(rig->inventory, mmap, rig->arena, 64, rig->arena, 64, &buf));
		MUST(doca_buf_dec_refcount(buf, NULL));
		MUST(doca_mmap_destroy(mmap));
	}
	rig_close(rig);
}

static struct doca_dma *create_dma(struct rig *rig)
{
	struct doca_dma *dma;

	MUST(doca_dma_create(rig->dev, &dma));
	return dma;
}

static void destroy_context_twice(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_dma *dma = create_dma(rig);

	MUST(doca_dma_destroy(dma));
	CHECK(doca_dma_destroy(dma) == DOCA_ERROR_INVALID_VALUE);
	rig_close(rig);
}

/* A handle that is none, and a NULL, are other mistakes. */
static void destroy_null(void)
{
	struct rig *rig = rig_open(NULL);

	MUST(doca_dma_destroy(create_dma(rig)));
	CHECK(doca_dma_destroy(NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_mmap_destroy((struct doca_mmap *)rig->arena) == DOCA_ERROR_INVALID_VALUE);
	rig_close(rig);
}

/* The conversion to a context returns no error. */
static void convert_destroyed_context(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_dma *dma = create_dma(rig);

	MUST(doca_dma_destroy(dma));
	CHECK(!doca_dma_as_ctx(dma));
	rig_close(rig);
}

/* ---- fork ---- */

/* Run @use in a child. A child that ends by _exit() runs no handlers. */
static void in_child(struct rig *rig, void (*use)(struct rig *rig))
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		use(rig);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void submit_parents(struct rig *rig)
{
	CHECK(doca_task_submit(rig->arg) == DOCA_ERROR_BAD_STATE);
}

static void progress_parents(struct rig *rig)
{
	CHECK(doca_pe_progress(rig->pe) == 0);
}

/* The child creates what it uses, and takes buffers of the inventory that it inherited. */
static void use_own(struct rig *parents)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_buf *buf;

	rig_submit_small(rig, 1);
	rig_drain(rig);
	MUST(doca_buf_inventory_buf_get_by_args(parents->inventory, rig->mmap, rig->arena, 64, rig->arena, 64, &buf));
	MUST(doca_buf_dec_refcount(buf, NULL));
	rig_close(rig);
}

static void with_child(void (*use)(struct rig *rig))
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig->arg = rig_small_task(rig, 1);
	in_child(rig, use);
	doca_task_free(rig->arg);
	rig_close(rig);
}

static void submit_in_child(void)
{
	with_child(submit_parents);
}

static void progress_in_child(void)
{
	with_child(progress_parents);
}

static void be_independent_in_child(void)
{
	with_child(use_own);
}

/* ---- exit ---- */

static void exit_in_flight(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	MUST(doca_task_submit_ex(rig_small_task(rig, 1), DOCA_TASK_SUBMIT_FLAG_NONE));
}

/* The context is idle; device, map and engine are left to the exit. A child that exits has left nothing. */
static void exit_idle(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	pid_t child = fork();
	int status;

	if (child == 0)
		exit(0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	MUST(doca_ctx_stop(rig->ctx));
}

static struct doca_mmap *export_map(struct doca_dev **ret_dev)
{
	static uint8_t memory[4096];
	struct doca_mmap *map;
	const void *bytes;
	size_t len;

	setenv("BFSIM_SIDE", "host", 1);
	*ret_dev = rig_open_dev(0);
	map = rig_make_mmap(*ret_dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_mmap_export_pci(map, *ret_dev, &bytes, &len));
	return map;
}

static void exit_exported(void)
{
	struct doca_dev *dev;

	export_map(&dev);
}

static void exit_stopped(void)
{
	struct doca_dev *dev;

	MUST(doca_mmap_stop(export_map(&dev)));
}

/* ---- the context that used a map ---- */

/* Copy within a map of its own, and destroy that before or after the context. */
static void copy_in_map(bool destroys_first)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_mmap *map = rig_make_mmap(rig->dev, rig->arena, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src = rig_buf(rig, map, rig->arena, 64, 0, 64);
	struct doca_buf *dst = rig_buf(rig, map, rig->arena + 64, 64, 0, 0);

	MUST(doca_task_submit(rig_task(rig, 1, src, dst)));
	rig_drain(rig);
	rig->num_bufs = 0;
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	if (destroys_first)
		MUST(doca_mmap_destroy(map));
	end_context(rig);
	if (!destroys_first)
		MUST(doca_mmap_destroy(map));
	rig_close(rig);
}

static void destroy_map_first(void)
{
	copy_in_map(true);
}

static void destroy_context_first(void)
{
	copy_in_map(false);
}

const struct check_case life_cases[] = {
	{ "mmap-destroyed-before-context", destroy_map_first, destroy_context_first },
	{ "used-after-destroy", free_twice, free_two },
	{ "used-after-destroy@busy", submit_freed_when_busy, free_two },
	{ "used-after-destroy@in-flight", free_in_flight_twice, free_two },
	{ "used-after-destroy@buffer", return_twice, return_two_references },
	{ "used-after-destroy@engine", progress_destroyed, progress_second },
	{ "used-after-destroy@event", get_destroyed_event, create_event_again },
	{ "used-after-destroy@map", take_of_destroyed_map, take_of_second_map },
	{ "used-after-destroy@context", destroy_context_twice, destroy_null },
	{ "used-after-destroy@convert", convert_destroyed_context, destroy_null },
	{ "used-after-fork", submit_in_child, be_independent_in_child },
	{ "used-after-fork@progress", progress_in_child, be_independent_in_child },
	{ "left-at-exit", exit_in_flight, exit_idle },
	{ "left-at-exit@exported", exit_exported, exit_stopped },
	{ 0 },
};
