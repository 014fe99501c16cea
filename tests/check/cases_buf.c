/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about buffers and memcpy tasks. */
#include <bfsim.h>
#include <unistd.h>

#include "cases.h"

#if __has_include(<valgrind/valgrind.h>) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <valgrind/valgrind.h>
#define NEED_VALGRIND 1
#else
#define NEED_VALGRIND       0
#define RUNNING_ON_VALGRIND 0
#endif

static struct rig *open_running(void)
{
	return rig_start(rig_open(NULL));
}

static void return_buf(struct rig *rig, struct doca_buf *buf)
{
	for (size_t i = 0; i < rig->num_bufs; i++)
		if (rig->bufs[i] == buf)
			rig->bufs[i] = NULL;
	MUST(doca_buf_dec_refcount(buf, NULL));
}

/* The task fails, which stops the context. */
static void submit_and_fail(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	MUST(doca_task_submit(rig_task(rig, 1, src, dst)));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
}

static void submit_and_drain(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	MUST(doca_task_submit(rig_task(rig, 1, src, dst)));
	rig_drain(rig);
	rig_close(rig);
}

/* A source that goes into a list. It is returned with the list's head, so the rig does not return it. */
static struct doca_buf *inner_src(struct rig *rig, size_t offset, size_t len)
{
	struct doca_buf *buf = rig_src(rig, offset, len);

	rig->num_bufs--;
	return buf;
}

/* ---- overlap ---- */

static void copy_over_itself(void)
{
	struct rig *rig = open_running();

	submit_and_drain(rig, rig_src(rig, 0, 64), rig_dst(rig, 48, 64));
}

static void copy_over_itself_when_busy(void)
{
	struct rig *rig = open_running();

	be_busy(rig);
	submit_and_drain(rig, rig_src(rig, 0, 64), rig_dst(rig, 48, 64));
}

/* The destination's room overlaps with the source; the bytes that are written don't. */
static void copy_to_neighbour(void)
{
	struct rig *rig = open_running();
	struct doca_buf *list = rig_src(rig, 256, 64), *dst = rig_buf(rig, rig->mmap, rig->arena, 320, 0, 0);

	MUST(doca_buf_chain_list(list, inner_src(rig, 320, 64)));
	MUST(doca_task_submit(rig_task(rig, 2, list, dst)));
	submit_and_drain(rig, rig_src(rig, 512, 64), rig_dst(rig, 576, 64));
}

/* ---- sizes ---- */

static void copy_nothing(void)
{
	struct rig *rig = open_running();

	submit_and_fail(rig, rig_src(rig, 0, 0), rig_dst(rig, 64, 64));
}

static void copy_one_byte(void)
{
	struct rig *rig = open_running();
	struct doca_buf *list = rig_src(rig, 0, 0);

	MUST(doca_buf_chain_list(list, inner_src(rig, 1, 1)));
	submit_and_drain(rig, list, rig_dst(rig, 64, 64));
}

static void copy_twice(struct rig *rig, bool resets)
{
	struct doca_buf *src = rig_src(rig, 0, 64), *dst = rig_dst(rig, 64, 100);

	MUST(doca_task_submit(rig_task(rig, 1, src, dst)));
	rig_drain(rig);
	if (resets)
		MUST(doca_buf_reset_data_len(dst));
	MUST(doca_task_submit(rig_task(rig, 2, src, dst)));
}

static void copy_to_full_buffer(void)
{
	struct rig *rig = open_running();

	copy_twice(rig, false);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
}

static void copy_to_emptied_buffer(void)
{
	struct rig *rig = open_running();

	copy_twice(rig, true);
	rig_drain(rig);
	rig_close(rig);
}

static uint64_t max_bytes(const struct rig *rig)
{
	uint64_t bytes;

	MUST(doca_dma_cap_task_memcpy_get_max_buf_size(doca_dev_as_devinfo(rig->dev), &bytes));
	return bytes;
}

static struct rig *open_large(void)
{
	struct rig *rig = rig_start(rig_open(&(struct rig_cfg){ .arena_bytes = 8 << 20 }));

	CHECK(max_bytes(rig) < rig->arena_bytes / 2);
	return rig;
}

static void copy_too_much(void)
{
	struct rig *rig = open_large();
	size_t bytes = max_bytes(rig) + 1;

	submit_and_fail(rig, rig_src(rig, 0, bytes), rig_dst(rig, rig->arena_bytes / 2, bytes));
}

static void copy_most(void)
{
	struct rig *rig = open_large();
	size_t bytes = max_bytes(rig);

	submit_and_drain(rig, rig_src(rig, 0, bytes), rig_dst(rig, rig->arena_bytes / 2, bytes));
}

static uint32_t max_list_len(const struct rig *rig)
{
	uint32_t len;

	MUST(doca_dma_cap_task_memcpy_get_max_buf_list_len(doca_dev_as_devinfo(rig->dev), &len));
	return len;
}

static struct doca_buf *make_list(struct rig *rig, uint32_t len)
{
	struct doca_buf *list = rig_src(rig, 0, 16);

	for (uint32_t i = 1; i < len; i++)
		MUST(doca_buf_chain_list(list, inner_src(rig, i * 16, 16)));
	return list;
}

static void copy_long_list(void)
{
	struct rig *rig = open_running();

	submit_and_fail(rig, make_list(rig, max_list_len(rig) + 1), rig_dst(rig, 32768, 32768));
}

static void copy_longest_list(void)
{
	struct rig *rig = open_running();

	submit_and_drain(rig, make_list(rig, max_list_len(rig)), rig_dst(rig, 32768, 32768));
}

/* ---- buffers that are none ---- */

static void submit_after_return(void)
{
	struct rig *rig = open_running();
	struct doca_buf *src = rig_src(rig, 0, 64);
	struct doca_task *task = rig_task(rig, 1, src, rig_dst(rig, 64, 64));

	return_buf(rig, src);
	CHECK(doca_task_submit(task) == DOCA_ERROR_INVALID_VALUE);
	doca_task_free(task);
	rig_close(rig);
}

static void submit_with_second_reference(void)
{
	struct rig *rig = open_running();
	struct doca_buf *src = rig_src(rig, 0, 64);
	struct doca_task *task = rig_task(rig, 1, src, rig_dst(rig, 64, 64));

	MUST(doca_buf_inc_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_task_submit(task));
	rig_drain(rig);
	rig_close(rig);
}

/* ---- bytes that were not written ---- */

/* Run the case again under valgrind, if there is one. */
static void need_valgrind(const char *kind)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (RUNNING_ON_VALGRIND)
		return;
	CHECK(len > 0);
	self[len] = '\0';
	if (NEED_VALGRIND)
		execlp("valgrind", "valgrind", "-q", self, "source-not-written", kind, NULL);
	exit(CASE_SKIPPED);
}

static void copy_block(uint8_t *block, size_t bytes)
{
	struct rig *rig = open_running();
	struct doca_mmap *map = rig_make_mmap(rig->dev, block, bytes, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = rig_buf(rig, map, block, bytes, 0, bytes);

	MUST(doca_task_submit(rig_task(rig, 1, src, rig_dst(rig, 0, bytes))));
	rig_drain(rig);
	return_buf(rig, src);
	end_context(rig);
	MUST(doca_mmap_destroy(map));
	rig_close(rig);
	free(block);
}

static void copy_unwritten(void)
{
	uint8_t *block;

	need_valgrind("provoke");
	block = malloc(256);
	CHECK(block);
	memset(block, 1, 200);
	copy_block(block, 256);
}

static void copy_written(void)
{
	uint8_t *block;

	need_valgrind("near-miss");
	block = malloc(256);
	CHECK(block);
	memset(block, 1, 200);
	copy_block(block, 200);
}

/* ---- life of buffers ---- */

static void return_in_flight(void)
{
	struct rig *rig = open_running();
	struct doca_buf *src = rig_src(rig, 0, 64);

	MUST(doca_task_submit(rig_task(rig, 1, src, rig_dst(rig, 64, 64))));
	return_buf(rig, src);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
}

static void return_to_self(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	return_buf(rig, rig->arg);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void return_in_callback(void)
{
	struct rig *rig = open_running();
	struct doca_buf *src = rig_src(rig, 0, 64);

	rig->on_task = return_to_self;
	rig->arg = src;
	MUST(doca_task_submit(rig_task(rig, 1, src, rig_dst(rig, 64, 64))));
	rig_drain(rig);
	rig_close(rig);
}

/* All buffers but @num_left. */
static void take_all_but(struct rig *rig, size_t num_left)
{
	while (rig->num_bufs < RIG_BUFS - num_left)
		rig_src(rig, 0, 64);
}

static void take_one_too_many(void)
{
	struct rig *rig = open_running();
	struct doca_buf *buf;

	rig_submit_small(rig, 1);
	take_all_but(rig, 0);
	CHECK(doca_buf_inventory_buf_get_by_data(rig->inventory, rig->mmap, rig->arena, 64, &buf) ==
	      DOCA_ERROR_NO_MEMORY);
	rig_drain(rig);
	rig_close(rig);
}

static void take_the_last(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_buf *buf;

	take_all_but(rig, 1);
	for (int i = 0; i < 3; i++) {
		MUST(doca_buf_inventory_buf_get_by_data(rig->inventory, rig->mmap, rig->arena, 64, &buf));
		MUST(doca_buf_dec_refcount(buf, NULL));
	}
	rig_close(rig);
}

/* A buffer of a thread-safe map, which is stopped before a task, or behind it. */
static void copy_from_thread_safe_map(bool stops_before)
{
	struct rig *rig = open_running();
	struct doca_mmap *map;
	struct doca_buf *src;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_enable_thread_safety(map));
	MUST(doca_mmap_add_dev(map, rig->dev));
	MUST(doca_mmap_set_memrange(map, rig->arena, 4096));
	MUST(doca_mmap_start(map));
	src = rig_buf(rig, map, rig->arena, 64, 0, 64);
	if (stops_before)
		MUST(doca_mmap_stop(map));
	MUST(doca_task_submit(rig_task(rig, 1, src, rig_dst(rig, 8192, 64))));
	if (stops_before)
		rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	else
		rig_drain(rig);
	return_buf(rig, src);
	end_context(rig);
	MUST(doca_mmap_destroy(map));
	rig_close(rig);
}

static void copy_from_stopped_map(void)
{
	copy_from_thread_safe_map(true);
}

/* A rule of the plan fails the task. */
static void copy_from_stopped_map_and_fail(void)
{
	CHECK(bfsim_fault_add("dma.memcpy nth=1 fail=IO_FAILED", NULL) == 0);
	copy_from_thread_safe_map(true);
}

static void copy_from_started_map(void)
{
	copy_from_thread_safe_map(false);
}

/* ---- data and lists ---- */

static void set_data_outside(void)
{
	struct rig *rig = rig_open(NULL);

	MUST(doca_buf_set_data(rig_src(rig, 128, 64), rig->arena + rig->arena_bytes - 32, 64));
	rig_close(rig);
}

static void set_data_at_end_of_map(void)
{
	struct rig *rig = rig_open(NULL);

	MUST(doca_buf_set_data(rig_src(rig, rig->arena_bytes - 64, 64), rig->arena + rig->arena_bytes - 32, 32));
	rig_close(rig);
}

static void set_data_beside(void)
{
	struct rig *rig = rig_open(NULL);

	MUST(doca_buf_set_data(rig_src(rig, 128, 64), rig->arena + 160, 64));
	rig_close(rig);
}

static void set_data_at_end(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_buf *buf = rig_src(rig, 128, 64);

	MUST(doca_buf_set_data(buf, rig->arena + 160, 32));
	MUST(doca_buf_set_data(buf, rig->arena + 192, 0));
	rig_close(rig);
}

static void take_outside(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_buf *buf;

	CHECK(doca_buf_inventory_buf_get_by_addr(rig->inventory, rig->mmap, rig->arena + rig->arena_bytes - 32, 64,
						 &buf) == DOCA_ERROR_INVALID_VALUE);
	rig_close(rig);
}

static void take_at_end(void)
{
	struct rig *rig = rig_open(NULL);

	rig_dst(rig, rig->arena_bytes - 64, 64);
	rig_close(rig);
}

static void chain_inner(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_buf *first = rig_src(rig, 0, 64), *second = rig_src(rig, 64, 64), *third = rig_src(rig, 128, 64);

	MUST(doca_buf_chain_list(first, second));
	CHECK(doca_buf_chain_list(third, second) == DOCA_ERROR_NOT_PERMITTED);
	rig_close(rig);
}

static void chain_unchained(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_buf *first = rig_src(rig, 0, 64), *second = rig_src(rig, 64, 64), *third = rig_src(rig, 128, 64);

	MUST(doca_buf_chain_list(first, second));
	MUST(doca_buf_unchain_list(first, second));
	MUST(doca_buf_chain_list(third, second));
	rig_close(rig);
}

/* ---- the flush flag ---- */

/* The hooks pause between the ticks of the watchdog, which a busy machine delays: poll until they have seen enough. */
static void wait_without_flush(void)
{
	struct rig *rig = open_running();
	struct rig_deadline end = rig_deadline_in(10000);
	uint64_t hits = 0;

	MUST(doca_task_submit_ex(rig_small_task(rig, 1), DOCA_TASK_SUBMIT_FLAG_NONE));
	while (hits == 0 && !rig_is_over(end)) {
		doca_pe_progress(rig->pe);
		CHECK(bfsim_check_hits("BFC-BUF-012", &hits) == 0);
	}
	rig_close(rig);
}

static void wait_with_flush(void)
{
	struct rig *rig = open_running();
	struct rig_deadline end;

	MUST(doca_task_submit_ex(rig_small_task(rig, 1), DOCA_TASK_SUBMIT_FLAG_NONE));
	CHECK(doca_pe_progress(rig->pe) == 0);
	MUST(doca_task_submit_ex(rig_small_task(rig, 2), DOCA_TASK_SUBMIT_FLAG_FLUSH));
	end = rig_deadline_in(20);
	while (!rig_is_over(end))
		doca_pe_progress(rig->pe);
	rig_close(rig);
}

const struct check_case buf_cases[] = {
	{ "buffer-returned-in-flight", return_in_flight, return_in_callback },
	{ "buffer-without-mmap", copy_from_stopped_map, copy_from_started_map },
	{ "buffer-without-mmap@fault", copy_from_stopped_map_and_fail, copy_from_started_map },
	{ "data-outside-buffer", set_data_outside, set_data_at_end_of_map },
	{ "data-beside-buffer", set_data_beside, set_data_at_end },
	{ "buffer-outside-mmap", take_outside, take_at_end },
	{ "chain-conditions", chain_inner, chain_unchained },
	{ "inventory-empty", take_one_too_many, take_the_last },
	{ "flush-missing", wait_without_flush, wait_with_flush },
	{ "task-overlaps-itself", copy_over_itself, copy_to_neighbour },
	{ "task-overlaps-itself@busy", copy_over_itself_when_busy, copy_to_neighbour },
	{ "task-without-data", copy_nothing, copy_one_byte },
	{ "list-too-long", copy_long_list, copy_longest_list },
	{ "task-too-large", copy_too_much, copy_most },
	{ "source-not-written", copy_unwritten, copy_written },
	{ "task-without-buffer", submit_after_return, submit_with_second_reference },
	{ "task-without-room", copy_to_full_buffer, copy_to_emptied_buffer },
	{ 0 },
};
