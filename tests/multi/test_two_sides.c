/* SPDX-License-Identifier: BSD-3-Clause */
/* A host process and a DPU process on one card, through the public headers. The
 * build runs this program for each data path (BFSIM_PATH), in both directions (EXPORTER). */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "cmocka_test.h"
#include "tests/api/lost_memory.h"
#include "tests/common/under_valgrind.h"
#include "two_sides.h"
#include "doca_device.h"

#define MIB   (1024u * 1024)
#define TASKS 16

/* The DPU's side: everything that a DMA application has. */
struct dpu {
	struct doca_dev *dev;
	struct doca_mmap *local;
	uint8_t *memory;
	size_t bytes;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_dma *dma;
	unsigned int done, failed;
	doca_error_t last_error;
};

static bool wants_shared(void)
{
	const char *path = getenv("BFSIM_PATH");

	return path && strcmp(path, "mapped") == 0;
}

/* Give the task and its buffers back. */
static void release(struct doca_dma_task_memcpy *task)
{
	assert_ok(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	assert_ok(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void on_done(struct doca_dma_task_memcpy *task, union doca_data user_data, union doca_data ctx_data)
{
	((struct dpu *)ctx_data.ptr)->done++;
	release(task);
}

static void on_failed(struct doca_dma_task_memcpy *task, union doca_data user_data, union doca_data ctx_data)
{
	struct dpu *dpu = ctx_data.ptr;

	dpu->failed++;
	dpu->last_error = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	release(task);
}

static struct doca_mmap *make_local(struct dpu *dpu, void *memory, size_t bytes)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory, bytes));
	assert_ok(doca_mmap_add_dev(mmap, dpu->dev));
	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

static void dpu_start(struct dpu *dpu, size_t bytes)
{
	union doca_data self = { .ptr = dpu };

	*dpu = (struct dpu){ .dev = device_open(NULL), .memory = calloc(1, bytes), .bytes = bytes };
	assert_non_null(dpu->memory);
	dpu->local = make_local(dpu, dpu->memory, bytes);
	assert_ok(doca_buf_inventory_create(1024, &dpu->inventory));
	assert_ok(doca_buf_inventory_start(dpu->inventory));
	assert_ok(doca_pe_create(&dpu->pe));
	assert_ok(doca_dma_create(dpu->dev, &dpu->dma));
	assert_ok(doca_pe_connect_ctx(dpu->pe, doca_dma_as_ctx(dpu->dma)));
	assert_ok(doca_ctx_set_user_data(doca_dma_as_ctx(dpu->dma), self));
	assert_ok(doca_dma_task_memcpy_set_conf(dpu->dma, on_done, on_failed, TASKS));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(dpu->dma)));
}

static enum doca_ctx_states state_of(struct dpu *dpu)
{
	enum doca_ctx_states state;

	assert_ok(doca_ctx_get_state(doca_dma_as_ctx(dpu->dma), &state));
	return state;
}

static void dpu_end(struct dpu *dpu)
{
	doca_ctx_stop(doca_dma_as_ctx(dpu->dma));
	while (state_of(dpu) != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(dpu->pe);
	assert_ok(doca_dma_destroy(dpu->dma));
	assert_ok(doca_pe_destroy(dpu->pe));
	assert_ok(doca_buf_inventory_destroy(dpu->inventory));
	assert_ok(doca_mmap_destroy(dpu->local));
	assert_ok(doca_dev_close(dpu->dev));
	free(dpu->memory);
}

static struct doca_mmap *import(struct dpu *dpu, const struct host *host)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create_from_export(NULL, host->descriptor, host->descriptor_bytes, dpu->dev, &mmap));
	return mmap;
}

/* One task between lists of @segments buffers. */
/* Not before the next doorbell. */
static void stage(struct dpu *dpu, struct doca_mmap *from, uint8_t *src, struct doca_mmap *to, uint8_t *dst, size_t len,
		  unsigned int segments)
{
	struct doca_buf *src_list = NULL, *dst_list = NULL, *buf;
	struct doca_dma_task_memcpy *task;
	union doca_data none = { 0 };

	for (unsigned int i = 0; i < segments; i++) {
		size_t at = len / segments * i, part = i + 1 < segments ? len / segments : len - at;

		assert_ok(doca_buf_inventory_buf_get_by_data(dpu->inventory, from, src + at, part, &buf));
		if (i == 0)
			src_list = buf;
		else
			assert_ok(doca_buf_chain_list(src_list, buf));
		assert_ok(doca_buf_inventory_buf_get_by_addr(dpu->inventory, to, dst + at, part, &buf));
		if (i == 0)
			dst_list = buf;
		else
			assert_ok(doca_buf_chain_list(dst_list, buf));
	}
	assert_ok(doca_dma_task_memcpy_alloc_init(dpu->dma, src_list, dst_list, none, &task));
	assert_ok(doca_task_submit_ex(doca_dma_task_memcpy_as_task(task), DOCA_TASK_SUBMIT_FLAG_NONE));
}

static void submit(struct dpu *dpu, struct doca_mmap *from, uint8_t *src, struct doca_mmap *to, uint8_t *dst,
		   size_t len, unsigned int segments)
{
	stage(dpu, from, src, to, dst, len, segments);
	doca_ctx_flush_tasks(doca_dma_as_ctx(dpu->dma));
}

static void wait_all(struct dpu *dpu)
{
	size_t in_flight = 1;

	while (in_flight > 0) {
		doca_pe_progress(dpu->pe);
		assert_ok(doca_pe_get_num_inflight_tasks(dpu->pe, &in_flight));
	}
}

/* After a failed task the context stops by itself: see it idle, start it again. */
static void restart(struct dpu *dpu)
{
	while (state_of(dpu) != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(dpu->pe);
	dpu->done = dpu->failed = 0;
	assert_ok(doca_ctx_start(doca_dma_as_ctx(dpu->dma)));
}

static uint8_t *at(const struct host *host, size_t offset)
{
	return (uint8_t *)(uintptr_t)host->addr + offset;
}

static void assert_pattern(const uint8_t *memory, size_t offset, size_t len)
{
	uint8_t *expected = malloc(offset + len);
	size_t i = 0;

	assert_non_null(expected);
	host_pattern_fill(expected, offset + len);
	if (memcmp(memory, expected + offset, len) != 0) {
		while (memory[i] == expected[offset + i])
			i++;
		fail_msg("byte %zu is %u, not %u", offset + i, memory[i], expected[offset + i]);
	}
	free(expected);
}

/* Shared memory of this process. */
static unsigned long shared_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[128];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "RssShmem: %lu", &kib) == 1)
			break;
	fclose(file);
	return kib;
}

/* A large copy by shm goes through buffers that the exporter gives back later, a second after the last event. */
static void test_buffers_of_a_large_copy_are_given_back(void **state)
{
	struct host_cfg cfg = { .bytes = MIB, .wait = HOST_SLEEPS };
	const char *path = getenv("BFSIM_PATH");
	struct host host;
	struct dpu dpu;
	struct doca_mmap *mmap;
	unsigned long with_buffers;

	if (!path || strcmp(path, "shm") != 0)
		skip();
	host_start(&host, &cfg);
	dpu_start(&dpu, cfg.bytes);
	mmap = import(&dpu, &host);
	for (int i = 0; i < 2; i++) { /* the second one gets its buffers anew */
		memset(dpu.memory, 0, cfg.bytes);
		submit(&dpu, mmap, at(&host, 0), dpu.local, dpu.memory, cfg.bytes, 1);
		wait_all(&dpu);
		assert_pattern(dpu.memory, 0, cfg.bytes);
		with_buffers = shared_kib();
		while (i == 0 && shared_kib() + 256 > with_buffers)
			poll(NULL, 0, 10);
	}
	assert_ok(doca_mmap_destroy(mmap));
	host_end(&host);
	dpu_end(&dpu);
}

/* 8 MiB in 16 tasks of 512 KiB, all in flight at once, each in lists of 5 uneven segments. */
static void read_all_of(enum host_wait wait)
{
	struct host_cfg cfg = { .bytes = 8 * MIB, .shared = wants_shared(), .wait = wait };
	size_t each = cfg.bytes / TASKS;
	struct host host;
	struct dpu dpu;
	struct doca_mmap *mmap;

	host_start(&host, &cfg);
	dpu_start(&dpu, cfg.bytes);
	mmap = import(&dpu, &host);
	for (size_t offset = 0; offset < cfg.bytes; offset += each)
		submit(&dpu, mmap, at(&host, offset), dpu.local, dpu.memory + offset, each, 5);
	wait_all(&dpu);
	assert_int_equal(dpu.done, TASKS);
	assert_pattern(dpu.memory, 0, cfg.bytes);
	assert_ok(doca_mmap_destroy(mmap));
	host_end(&host);
	dpu_end(&dpu);
}

static void test_sleeping_hosts_memory_is_read(void **state)
{
	read_all_of(HOST_SLEEPS);
}

static void test_computing_hosts_memory_is_read(void **state)
{
	read_all_of(HOST_COMPUTES);
}

/* The host sums its bytes up itself: the writes arrived when their tasks completed. */
static void test_writes_arrive_before_their_completion(void **state)
{
	struct host_cfg cfg = {
		.bytes = 3 * MIB + 17, .writable = true, .shared = wants_shared(), .wait = HOST_SLEEPS
	};
	uint64_t expected = 0;
	struct host host;
	struct dpu dpu;
	struct doca_mmap *mmap;

	host_start(&host, &cfg);
	dpu_start(&dpu, cfg.bytes);
	mmap = import(&dpu, &host);
	for (size_t i = 0; i < cfg.bytes; i++) {
		dpu.memory[i] = (uint8_t)(i * 7 + 1);
		expected += dpu.memory[i] * (uint64_t)(i + 1);
	}
	for (size_t offset = 0; offset < cfg.bytes; offset += MIB) {
		size_t len = cfg.bytes - offset < MIB ? cfg.bytes - offset : MIB;

		submit(&dpu, dpu.local, dpu.memory + offset, mmap, at(&host, offset), len, 3);
	}
	wait_all(&dpu);
	assert_int_equal(dpu.failed, 0);
	assert_int_equal(host_checksum(&host), expected);
	assert_ok(doca_mmap_destroy(mmap));
	host_end(&host);
	dpu_end(&dpu);
}

static void test_two_hosts_memory_moves_through_the_dpu(void **state)
{
	struct host_cfg from_cfg = { .bytes = MIB, .shared = wants_shared(), .wait = HOST_SLEEPS };
	struct host_cfg to_cfg = { .bytes = MIB, .writable = true, .shared = wants_shared(), .wait = HOST_SLEEPS };
	struct host from, to;
	struct dpu dpu;
	struct doca_mmap *from_mmap, *to_mmap;
	uint64_t expected = 0;

	host_start(&from, &from_cfg);
	host_start(&to, &to_cfg);
	dpu_start(&dpu, 4096);
	from_mmap = import(&dpu, &from);
	to_mmap = import(&dpu, &to);
	/* The first half of one becomes the second half of the other. */
	submit(&dpu, from_mmap, at(&from, 0), to_mmap, at(&to, MIB / 2), MIB / 2, 1);
	wait_all(&dpu);
	assert_int_equal(dpu.done, 1);
	for (size_t i = 0; i < MIB; i++)
		expected += host_pattern(i % (MIB / 2)) * (uint64_t)(i + 1) * (i >= MIB / 2) +
			    host_pattern(i) * (uint64_t)(i + 1) * (i < MIB / 2);
	assert_int_equal(host_checksum(&to), expected);
	assert_ok(doca_mmap_destroy(from_mmap));
	assert_ok(doca_mmap_destroy(to_mmap));
	host_end(&from);
	host_end(&to);
	dpu_end(&dpu);
}

static void test_read_only_export_cannot_be_written(void **state)
{
	struct host_cfg cfg = { .bytes = 4096, .shared = wants_shared(), .wait = HOST_SLEEPS };
	struct host host;
	struct dpu dpu;
	struct doca_mmap *mmap;
	uint64_t before;

	host_start(&host, &cfg);
	before = host_checksum(&host);
	dpu_start(&dpu, 4096);
	mmap = import(&dpu, &host);
	submit(&dpu, dpu.local, dpu.memory, mmap, at(&host, 0), 4096, 1);
	wait_all(&dpu);
	assert_int_equal(dpu.failed, 1);
	assert_int_equal(dpu.last_error, DOCA_ERROR_IO_FAILED);
	assert_int_equal(host_checksum(&host), before);
	assert_ok(doca_mmap_destroy(mmap));
	host_end(&host);
	dpu_end(&dpu);
}

/* Import through @dev, and return what was logged. */
static const char *log_of_refused_import(const struct host *host, struct doca_dev *dev, doca_error_t expected)
{
	static char text[4096];
	struct doca_mmap *mmap;
	FILE *log = tmpfile();
	int stderr_fd = dup(STDERR_FILENO);
	doca_error_t result;

	assert_non_null(log);
	assert_true(dup2(fileno(log), STDERR_FILENO) >= 0);
	result = doca_mmap_create_from_export(NULL, host->descriptor, host->descriptor_bytes, dev, &mmap);
	assert_true(dup2(stderr_fd, STDERR_FILENO) >= 0);
	close(stderr_fd);
	assert_int_equal(result, expected);
	rewind(log);
	text[fread(text, 1, sizeof(text) - 1, log)] = '\0';
	fclose(log);
	return text;
}

/* The first functions of the two sides belong together, the second one of the importer's side does not. The log names
 * all that a user needs. */
static void test_import_through_an_unrelated_function_is_refused(void **state)
{
	struct host_cfg cfg = { .bytes = 4096, .shared = wants_shared(), .wait = HOST_SLEEPS };
	struct doca_dev *unrelated;
	struct host host;
	const char *log;

	host_start(&host, &cfg);
	unrelated = device_open(dpu_exports() ? "b1:00.1" : "03:00.1");
	log = log_of_refused_import(&host, unrelated, DOCA_ERROR_NOT_PERMITTED);
	assert_non_null(strstr(log, "doca_mmap_create_from_export"));
	if (dpu_exports()) {
		assert_non_null(
			strstr(log, "host/0000:b1:00.1 can't import what was exported through dpu/0000:03:00.0"));
		assert_non_null(strstr(log, "dpu/0000:03:00.1 holds the representor of host/0000:b1:00.1"));
		assert_non_null(strstr(log, "list \"host/0000:b1:00.1\" under represents of dpu/0000:03:00.0"));
	} else {
		assert_non_null(
			strstr(log, "dpu/0000:03:00.1 can't import what was exported through host/0000:b1:00.0"));
		assert_non_null(strstr(log, "dpu/0000:03:00.0 holds the representor of host/0000:b1:00.0"));
		assert_non_null(strstr(log, "list \"host/0000:b1:00.0\" under represents of dpu/0000:03:00.1"));
	}
	assert_ok(doca_dev_close(unrelated));
	host_end(&host);
}

/* When doca_mmap_stop() has returned at the exporter, tasks fail and the descriptor is refused. */
static void test_stopped_map_is_out_of_reach(void **state)
{
	struct host_cfg cfg = { .bytes = 4096, .shared = wants_shared(), .wait = HOST_SLEEPS };
	struct host host;
	struct dpu dpu;
	struct doca_mmap *mmap, *again;

	host_start(&host, &cfg);
	dpu_start(&dpu, 4096);
	mmap = import(&dpu, &host);
	submit(&dpu, mmap, at(&host, 0), dpu.local, dpu.memory, 4096, 1);
	wait_all(&dpu);
	assert_int_equal(dpu.done, 1);
	host_stop_map(&host);
	submit(&dpu, mmap, at(&host, 0), dpu.local, dpu.memory, 4096, 1);
	wait_all(&dpu);
	assert_int_equal(dpu.failed, 1);
	assert_doca(doca_mmap_create_from_export(NULL, host.descriptor, host.descriptor_bytes, dpu.dev, &again),
		    DOCA_ERROR_DRIVER);
	assert_ok(doca_mmap_destroy(mmap));
	host_end(&host);
	dpu_end(&dpu);
}

/* One buffer of the host's memory and one of the DPU's, moved on behind each submission: each task copies between the
 * places that they had then. */
static void test_buffers_that_move_in_flight_are_copied_as_submitted(void **state)
{
	struct host_cfg cfg = { .bytes = 4096, .shared = wants_shared(), .wait = HOST_SLEEPS };
	struct doca_dma_task_memcpy *tasks[4];
	struct doca_buf *src, *dst;
	struct doca_mmap *mmap;
	struct host host;
	struct dpu dpu;

	host_start(&host, &cfg);
	dpu_start(&dpu, 4096);
	mmap = import(&dpu, &host);
	for (size_t i = 0; i < 4; i++) {
		union doca_data none = { 0 };

		/* Each task has references of its own, which release() gives back. */
		if (i == 0) {
			assert_ok(doca_buf_inventory_buf_get_by_addr(dpu.inventory, mmap, at(&host, 0), 4096, &src));
			assert_ok(doca_buf_inventory_buf_get_by_addr(dpu.inventory, dpu.local, dpu.memory, 4096, &dst));
		} else {
			assert_ok(doca_buf_inc_refcount(src, NULL));
			assert_ok(doca_buf_inc_refcount(dst, NULL));
		}
		assert_ok(doca_buf_set_data(src, at(&host, 1024 * i), 100));
		assert_ok(doca_buf_set_data(dst, dpu.memory + 500 * i, 0));
		assert_ok(doca_dma_task_memcpy_alloc_init(dpu.dma, src, dst, none, &tasks[i]));
		assert_ok(doca_task_submit_ex(doca_dma_task_memcpy_as_task(tasks[i]), DOCA_TASK_SUBMIT_FLAG_NONE));
	}
	doca_ctx_flush_tasks(doca_dma_as_ctx(dpu.dma));
	wait_all(&dpu);
	assert_int_equal(dpu.done, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_pattern(dpu.memory + 500 * i, 1024 * i, 100);
		assert_int_equal(dpu.memory[500 * i + 100], 0);
	}
	assert_ok(doca_mmap_destroy(mmap));
	host_end(&host);
	dpu_end(&dpu);
}

/* "bfsim ps" names the path that the copy takes (EXPECT_PATH). */
static void test_status_names_the_path(void **state)
{
	struct host_cfg cfg = { .bytes = 4096, .shared = wants_shared(), .wait = HOST_SLEEPS };
	const char *expected = getenv("EXPECT_PATH");
	char command[4096], line[512], wanted[64];
	bool found = false;
	struct host host;
	struct dpu dpu;
	struct doca_mmap *mmap;
	FILE *status;

	if (!expected)
		skip();
	host_start(&host, &cfg);
	dpu_start(&dpu, 4096);
	mmap = import(&dpu, &host);
	snprintf(command, sizeof(command), "'%s' ps --json", getenv("BFSIM"));
	snprintf(wanted, sizeof(wanted), "\"path\":\"%s\"", expected);
	status = popen(command, "r");
	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		found |= strstr(line, wanted) != NULL;
	assert_int_equal(pclose(status), 0);
	assert_true(found);
	assert_ok(doca_mmap_destroy(mmap));
	host_end(&host);
	dpu_end(&dpu);
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Copy until a task fails; the exporter is killed after some copies succeeded. */
static void copy_until_killed(struct dpu *dpu, struct doca_mmap *mmap, struct host *host)
{
	struct timespec killed = { 0 };

	while (dpu->failed == 0) {
		size_t in_flight;

		assert_ok(doca_pe_get_num_inflight_tasks(dpu->pe, &in_flight));
		if (in_flight < TASKS && state_of(dpu) == DOCA_CTX_STATE_RUNNING)
			submit(dpu, mmap, at(host, 0), dpu->local, dpu->memory, MIB, 1);
		doca_pe_progress(dpu->pe);
		if (dpu->done >= 2 * TASKS && host->pid) {
			host_kill(host);
			clock_gettime(CLOCK_MONOTONIC, &killed);
		}
		if (!host->pid && seconds_since(&killed) > 10)
			fail_msg("tasks still succeed 10 s after the exporter died");
	}
	wait_all(dpu);
}

/* The exporter is killed during copies: running and later tasks fail, the survivor stops in order, and a new
 * exporter works as the first did. */
static void test_exporters_death_fails_tasks_and_nothing_else(void **state)
{
	struct host_cfg cfg = { .bytes = MIB, .shared = wants_shared(), .wait = HOST_SLEEPS };
	struct host host, fresh;
	struct dpu dpu;
	struct doca_mmap *mmap, *fresh_mmap;

	host_start(&host, &cfg);
	dpu_start(&dpu, MIB);
	mmap = import(&dpu, &host);
	copy_until_killed(&dpu, mmap, &host);
	assert_int_equal(dpu.last_error, DOCA_ERROR_IO_FAILED);
	restart(&dpu);
	submit(&dpu, mmap, at(&host, 0), dpu.local, dpu.memory, 4096, 1);
	wait_all(&dpu);
	assert_int_equal(dpu.failed, 1);
	restart(&dpu);
	host_start(&fresh, &cfg);
	fresh_mmap = import(&dpu, &fresh);
	memset(dpu.memory, 0, MIB);
	submit(&dpu, fresh_mmap, at(&fresh, 0), dpu.local, dpu.memory, MIB, 1);
	wait_all(&dpu);
	assert_int_equal(dpu.done, 1);
	assert_pattern(dpu.memory, 0, MIB);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(fresh_mmap));
	host_end(&fresh);
	dpu_end(&dpu);
}

/* The exporter's application gives up memory that it has exported: tasks fail, and nobody crashes or waits. */
static void test_memory_that_is_unmapped_fails_tasks(void **state)
{
	struct host_cfg cfg = { .bytes = 2 * MIB, .writable = true, .shared = wants_shared(), .wait = HOST_SLEEPS };

	for (int round = 0; round < 6; round++) {
		bool is_write = round % 2;
		struct host host;
		struct dpu dpu;
		struct doca_mmap *mmap;

		host_start(&host, &cfg);
		dpu_start(&dpu, cfg.bytes);
		mmap = import(&dpu, &host);
		submit(&dpu, mmap, at(&host, 0), dpu.local, dpu.memory, cfg.bytes, 1);
		wait_all(&dpu);
		assert_int_equal(dpu.done, 1);
		host_drop_half(&host);
		if (is_write)
			submit(&dpu, dpu.local, dpu.memory, mmap, at(&host, MIB / 2), MIB, 1);
		else
			submit(&dpu, mmap, at(&host, MIB / 2), dpu.local, dpu.memory, MIB, 1);
		wait_all(&dpu);
		assert_int_equal(dpu.failed, 1);
		assert_int_equal(dpu.last_error, DOCA_ERROR_IO_FAILED);
		restart(&dpu);
		submit(&dpu, mmap, at(&host, MIB), dpu.local, dpu.memory, 64, 1);
		wait_all(&dpu);
		assert_int_equal(dpu.last_error, DOCA_ERROR_IO_FAILED);
		if (!wants_shared()) { /* a truncated object is lost as a whole */
			restart(&dpu);
			submit(&dpu, mmap, at(&host, 0), dpu.local, dpu.memory, MIB, 1);
			wait_all(&dpu);
			assert_int_equal(dpu.done, 1);
			assert_pattern(dpu.memory, 0, MIB / 2);
		}
		assert_ok(doca_mmap_destroy(mmap));
		host_end(&host);
		dpu_end(&dpu);
	}
}

/* The importer's own memory, with which the exporter's bytes are exchanged. */
static void copy_without_own(struct dpu *dpu, struct doca_mmap *mmap, struct host *host, enum lost_way way,
			     bool is_write)
{
	struct lost_block block = lost_new(way);
	struct doca_mmap *own = make_local(dpu, block.bytes, LOST_BYTES);
	bool fails = lost_fails(way, !is_write);

	dpu->done = dpu->failed = 0;
	if (is_write)
		stage(dpu, own, block.bytes, mmap, at(host, 0), LOST_BYTES, 1);
	else
		stage(dpu, mmap, at(host, 0), own, block.bytes, LOST_BYTES, 1);
	lost_take(&block);
	doca_ctx_flush_tasks(doca_dma_as_ctx(dpu->dma));
	wait_all(dpu);
	if (dpu->failed != fails || dpu->done == fails)
		fail_msg("memory that is %s, %s: %u done", lost_name(way), is_write ? "source" : "destination",
			 dpu->done);
	if (fails)
		restart(dpu);
	lost_end(&block);
	assert_ok(doca_mmap_destroy(own));
}

static void test_own_memory_that_is_gone_fails_tasks(void **state)
{
	struct host_cfg cfg = { .bytes = 2 * MIB, .writable = true, .shared = wants_shared(), .wait = HOST_SLEEPS };
	struct doca_mmap *mmap;
	struct host host;
	struct dpu dpu;

	if (RUNNING_ON_VALGRIND) /* it reports the accesses */
		skip();
	host_start(&host, &cfg);
	dpu_start(&dpu, cfg.bytes);
	mmap = import(&dpu, &host);
	for (int way = 0; way < LOST_NUM_WAYS; way++) {
		if (way == LOST_FREED) /* a thread of the session may map something there at once */
			continue;
		copy_without_own(&dpu, mmap, &host, way, false);
		copy_without_own(&dpu, mmap, &host, way, true);
	}
	dpu.done = 0;
	submit(&dpu, mmap, at(&host, MIB), dpu.local, dpu.memory, MIB, 1);
	wait_all(&dpu);
	assert_int_equal(dpu.done, 1);
	assert_pattern(dpu.memory, MIB, MIB);
	assert_ok(doca_mmap_destroy(mmap));
	host_end(&host);
	dpu_end(&dpu);
}

static void test_memory_is_unmapped_under_running_tasks(void **state)
{
	struct host_cfg cfg = { .bytes = 2 * MIB, .shared = wants_shared(), .wait = HOST_SLEEPS };

	for (int round = 0; round < 4; round++) {
		struct host host;
		struct dpu dpu;
		struct doca_mmap *mmap;

		host_start(&host, &cfg);
		dpu_start(&dpu, cfg.bytes);
		mmap = import(&dpu, &host);
		for (int i = 0; i < TASKS; i++)
			submit(&dpu, mmap, at(&host, 0), dpu.local, dpu.memory, cfg.bytes, 1);
		doca_pe_progress(dpu.pe);
		host_drop_half(&host); /* the engine's thread copies meanwhile */
		wait_all(&dpu);
		if (dpu.failed == 0) { /* a busy machine: all of them were over before the memory was gone */
			submit(&dpu, mmap, at(&host, 0), dpu.local, dpu.memory, cfg.bytes, 1);
			wait_all(&dpu);
		}
		assert_true(dpu.failed > 0);
		assert_int_equal(dpu.last_error, DOCA_ERROR_IO_FAILED);
		assert_ok(doca_mmap_destroy(mmap));
		host_end(&host);
		dpu_end(&dpu);
	}
}

/* The exporter returns from main() while its first importer connects: it ends with its own status, and the import
 * succeeds or is refused. */
static void test_exporter_exits_during_its_first_import(void **state)
{
	int rounds = getenv("EXITS") ? atoi(getenv("EXITS")) : 15;
	struct dpu dpu;

	dpu_start(&dpu, 4096);
	for (int round = 0; round < rounds; round++) {
		struct host_cfg cfg = { .bytes = 4096,
					.shared = wants_shared(),
					.wait = HOST_SLEEPS,
					.exit_after_us = 1 + (unsigned int)round % 30 * 50 };
		struct doca_mmap *mmap;
		struct host host;
		doca_error_t result;

		host_start(&host, &cfg);
		result = doca_mmap_create_from_export(NULL, host.descriptor, host.descriptor_bytes, dpu.dev, &mmap);
		if (result == DOCA_SUCCESS)
			assert_ok(doca_mmap_destroy(mmap));
		else
			assert_true(result == DOCA_ERROR_DRIVER || result == DOCA_ERROR_NOT_SUPPORTED);
		host_end(&host);
	}
	dpu_end(&dpu);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleeping_hosts_memory_is_read),
		cmocka_unit_test(test_computing_hosts_memory_is_read),
		cmocka_unit_test(test_buffers_of_a_large_copy_are_given_back),
		cmocka_unit_test(test_writes_arrive_before_their_completion),
		cmocka_unit_test(test_two_hosts_memory_moves_through_the_dpu),
		cmocka_unit_test(test_read_only_export_cannot_be_written),
		cmocka_unit_test(test_import_through_an_unrelated_function_is_refused),
		cmocka_unit_test(test_stopped_map_is_out_of_reach),
		cmocka_unit_test(test_buffers_that_move_in_flight_are_copied_as_submitted),
		cmocka_unit_test(test_status_names_the_path),
		cmocka_unit_test(test_exporters_death_fails_tasks_and_nothing_else),
		cmocka_unit_test(test_memory_that_is_unmapped_fails_tasks),
		cmocka_unit_test(test_memory_is_unmapped_under_running_tasks),
		cmocka_unit_test(test_own_memory_that_is_gone_fails_tasks),
		cmocka_unit_test(test_exporter_exits_during_its_first_import),
	};

	two_sides_main(argc, argv);
	return cmocka_run_group_tests(tests, session_start, session_end);
}
