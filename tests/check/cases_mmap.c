/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about memory maps. */
#include "cases.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bfsim.h>

static struct rig *open_running(void)
{
	return rig_start(rig_open(NULL));
}

/* A second map over the first half of the rig's arena. */
static struct doca_mmap *half_map(struct rig *rig, uint32_t permissions)
{
	return rig_make_mmap(rig->dev, rig->arena, rig->arena_bytes / 2, permissions);
}

/* Copy 64 bytes at @src to the rig's place for them; returns the source, which the case returns. */
static struct doca_buf *submit_from(struct rig *rig, struct doca_mmap *map)
{
	struct doca_buf *src = rig_buf(rig, map, rig->arena, 64, 0, 64);

	MUST(doca_task_submit(rig_task(rig, 1, src, rig_dst(rig, rig->arena_bytes / 2, 64))));
	return src;
}

static void return_buf(struct rig *rig, struct doca_buf *buf)
{
	for (size_t i = 0; i < rig->num_bufs; i++)
		if (rig->bufs[i] == buf)
			rig->bufs[i] = NULL;
	MUST(doca_buf_dec_refcount(buf, NULL));
}

static void close_map_and_rig(struct rig *rig, struct doca_mmap *mmap)
{
	for (size_t i = 0; i < rig->num_bufs; i++)
		doca_buf_dec_refcount(rig->bufs[i], NULL);
	rig->num_bufs = 0;
	end_context(rig);
	MUST(doca_mmap_destroy(mmap));
	rig_close(rig);
}

/* ---- permissions ---- */

static void write_to_read_only_map(void)
{
	struct rig *rig = open_running();
	struct doca_mmap *map = half_map(rig, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);

	MUST(doca_task_submit(
		rig_task(rig, 1, rig_src(rig, rig->arena_bytes / 2, 64), rig_buf(rig, map, rig->arena, 64, 0, 0))));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	close_map_and_rig(rig, map);
}

static void read_from_read_only_map(void)
{
	struct rig *rig = open_running();
	struct doca_mmap *map = half_map(rig, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);

	submit_from(rig, map);
	rig_drain(rig);
	close_map_and_rig(rig, map);
}

/* ---- configuration ---- */

static struct doca_mmap *make_unstarted(struct rig *rig)
{
	struct doca_mmap *map;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, rig->dev));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_ONLY));
	MUST(doca_mmap_set_memrange(map, rig->arena, 4096));
	return map;
}

static void set_range_twice(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_mmap *map = make_unstarted(rig);

	CHECK(doca_mmap_set_memrange(map, rig->arena + 4096, 4096) == DOCA_ERROR_NOT_PERMITTED);
	close_map_and_rig(rig, map);
}

static void set_ranges_of_two_maps(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_mmap *map = make_unstarted(rig);

	MUST(doca_mmap_destroy(map));
	close_map_and_rig(rig, make_unstarted(rig));
}

static void export_before_start(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_mmap *map = make_unstarted(rig);
	const void *desc;
	size_t len;

	CHECK(doca_mmap_export_pci(map, rig->dev, &desc, &len) == DOCA_ERROR_NOT_PERMITTED);
	close_map_and_rig(rig, map);
}

/* A device of the DPU side can't export; the refusal is not for the state. */
static void export_after_start(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_mmap *map = make_unstarted(rig);
	const void *desc;
	size_t len;

	MUST(doca_mmap_start(map));
	(void)doca_mmap_export_pci(map, rig->dev, &desc, &len);
	close_map_and_rig(rig, map);
}

static void add_device_after_start(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_dev *second = rig_open_dev(1);

	CHECK(doca_mmap_add_dev(rig->mmap, second) == DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_dev_close(second));
	rig_close(rig);
}

static void add_device_after_stop(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_dev *second = rig_open_dev(1);

	MUST(doca_mmap_stop(rig->mmap));
	MUST(doca_mmap_add_dev(rig->mmap, second));
	MUST(doca_mmap_start(rig->mmap));
	MUST(doca_mmap_stop(rig->mmap));
	MUST(doca_mmap_rm_dev(rig->mmap, second));
	MUST(doca_dev_close(second));
	rig_close(rig);
}

static void copy_from_map_of(struct rig *rig, struct doca_dev *second)
{
	struct doca_mmap *map;
	struct doca_buf *src;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, second));
	if (second != rig->dev)
		MUST(doca_mmap_add_dev(map, rig->dev));
	MUST(doca_mmap_set_memrange(map, rig->arena, 4096));
	MUST(doca_mmap_start(map));
	src = submit_from(rig, map);
	rig_drain(rig);
	return_buf(rig, src);
	end_context(rig);
	MUST(doca_mmap_destroy(map));
}

static void copy_without_device(void)
{
	struct rig *rig = open_running();
	struct doca_dev *second = rig_open_dev(1);
	struct doca_mmap *map = rig_make_mmap(second, rig->arena, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	submit_from(rig, map);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	close_map_and_rig(rig, map);
	MUST(doca_dev_close(second));
}

static void copy_with_second_device(void)
{
	struct rig *rig = open_running();
	struct doca_dev *second = rig_open_dev(1);

	copy_from_map_of(rig, second);
	MUST(doca_dev_close(second));
	rig_close(rig);
}

/* ---- the end ---- */

static void destroy_in_flight(void)
{
	struct rig *rig = open_running();
	struct doca_mmap *map = half_map(rig, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	submit_from(rig, map);
	CHECK(doca_mmap_destroy(map) == DOCA_ERROR_NOT_PERMITTED);
	rig_drain(rig);
	close_map_and_rig(rig, map);
}

static void destroy_while_others_are_in_flight(void)
{
	struct rig *rig = open_running();
	struct doca_mmap *map = half_map(rig, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src;

	src = submit_from(rig, map);
	rig_drain(rig);
	return_buf(rig, src);
	rig_submit_small(rig, 2);
	CHECK(bfsim_check_mute_begin("mmap-destroyed-before-context") == 0);
	MUST(doca_mmap_destroy(map));
	CHECK(bfsim_check_mute_end("mmap-destroyed-before-context") == 0);
	rig_drain(rig);
	rig_close(rig);
}

static void destroy_with_buffers(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_mmap *map = half_map(rig, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	rig_buf(rig, map, rig->arena, 64, 0, 64);
	CHECK(doca_mmap_destroy(map) == DOCA_ERROR_NOT_PERMITTED);
	close_map_and_rig(rig, map);
}

static void destroy_without_buffers(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_mmap *map = half_map(rig, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	rig_src(rig, 0, 64);
	return_buf(rig, rig_buf(rig, map, rig->arena, 64, 0, 64));
	MUST(doca_mmap_destroy(map));
	rig_close(rig);
}

#define PAGES_BYTES 8192
#define ROOM_BYTES  ((size_t)1 << 30)

/* Pages far from all others: where they are unmapped, no stack of a new thread is mapped. */
static void *map_pages(void)
{
	uint8_t *room = mmap(NULL, ROOM_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *pages;

	CHECK(room != MAP_FAILED);
	CHECK(munmap(room, ROOM_BYTES) == 0);
	pages = mmap(room + ROOM_BYTES / 2, PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages == room + ROOM_BYTES / 2);
	return pages;
}

static void unmap_before_destroy(void)
{
	struct rig *rig = rig_open(NULL);
	void *pages = map_pages();
	struct doca_mmap *map = rig_make_mmap(rig->dev, pages, PAGES_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	CHECK(munmap(pages, PAGES_BYTES) == 0);
	close_map_and_rig(rig, map);
}

/* The child does not have the pages, as it would not after madvise(MADV_DONTFORK): its map was never registered. That it
 * uses its parent's map is another rule's matter. */
static void unmap_in_child(struct doca_mmap *map, void *pages)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		CHECK(bfsim_check_mute_begin("used-after-fork") == 0);
		CHECK(munmap(pages, PAGES_BYTES) == 0);
		MUST(doca_mmap_destroy(map));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void unmap_after_destroy(void)
{
	struct rig *rig = rig_open(NULL);
	void *pages = map_pages();
	struct doca_mmap *map = rig_make_mmap(rig->dev, pages, PAGES_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	unmap_in_child(map, pages);
	close_map_and_rig(rig, map);
	CHECK(munmap(pages, PAGES_BYTES) == 0);
}

/* Unmap a source, or not, before a task is submitted that uses it. Map it again before the task runs. */
static void copy_from_pages(bool unmaps)
{
	struct rig *rig = open_running();
	void *pages = map_pages();
	struct doca_mmap *map = rig_make_mmap(rig->dev, pages, PAGES_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = rig_buf(rig, map, pages, 64, 0, 64);
	struct doca_task *task = rig_task(rig, 1, src, rig_dst(rig, 0, 64));

	if (unmaps)
		CHECK(munmap(pages, PAGES_BYTES) == 0);
	MUST(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE));
	if (unmaps)
		CHECK(mmap(pages, PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			   0) == pages);
	rig_submit_small(rig, 2); /* rings the doorbell */
	rig_drain(rig);
	close_map_and_rig(rig, map);
	CHECK(munmap(pages, PAGES_BYTES) == 0);
}

static void copy_from_unmapped(void)
{
	copy_from_pages(true);
}

/* The program has a handler of its own for faults. */
static void copy_from_unmapped_with_handler(void)
{
	CHECK(signal(SIGSEGV, SIG_IGN) != SIG_ERR);
	copy_from_pages(true);
}

static void copy_from_mapped(void)
{
	copy_from_pages(false);
}

/* ---- permissions that no task needs ---- */

static void copy_from_map_with(uint32_t permissions)
{
	struct rig *rig = open_running();
	struct doca_mmap *map = half_map(rig, permissions);
	struct doca_buf *src = submit_from(rig, map);

	rig_drain(rig);
	return_buf(rig, src);
	close_map_and_rig(rig, map);
}

static void read_writable_map(void)
{
	copy_from_map_with(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

static void read_readable_map(void)
{
	copy_from_map_with(DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
}

/* ---- threads ---- */

struct export_thread {
	struct doca_dev *dev;
	struct doca_mmap *map;
	uint32_t delay; /* id of the fault */
	atomic_bool has_ended;
};

static void *export_slowly(void *arg)
{
	struct export_thread *thread = arg;
	const void *bytes;
	size_t len;

	MUST(doca_mmap_export_pci(thread->map, thread->dev, &bytes, &len));
	atomic_store(&thread->has_ended, true);
	return NULL;
}

static void wait_for_export(uint32_t delay, uint64_t count)
{
	struct bfsim_fault fault = { 0 };

	while (fault.fired < count)
		CHECK(bfsim_fault_get(delay, &fault) == 0);
}

/* Ask for the range while another thread is in its export, the @count-th. Returns false if that ended before. */
static bool use_during_export(struct export_thread *thread, uint64_t count)
{
	pthread_t id;
	void *addr;
	size_t len;
	bool is_during;

	atomic_store(&thread->has_ended, false);
	CHECK(pthread_create(&id, NULL, export_slowly, thread) == 0);
	wait_for_export(thread->delay, count);
	MUST(doca_mmap_get_memrange(thread->map, &addr, &len));
	is_during = !atomic_load(&thread->has_ended);
	CHECK(pthread_join(id, NULL) == 0);
	return is_during;
}

/* The main thread uses the map while another thread is in an export, which a fault makes longer. On a busy machine the
 * main thread may come too late. */
static void use_in_two_threads(bool thread_safe)
{
	struct export_thread thread;
	uint64_t count = 1;
	uint8_t *block;

	setenv("BFSIM_SIDE", "host", 1);
	CHECK(bfsim_fault_add("mmap.export delay=200ms", &thread.delay) == 0);
	thread.dev = rig_open_dev(0);
	block = calloc(1, 4096);
	CHECK(block);
	MUST(doca_mmap_create(&thread.map));
	if (thread_safe)
		MUST(doca_mmap_enable_thread_safety(thread.map));
	MUST(doca_mmap_add_dev(thread.map, thread.dev));
	MUST(doca_mmap_set_permissions(thread.map, DOCA_ACCESS_FLAG_PCI_READ_ONLY));
	MUST(doca_mmap_set_memrange(thread.map, block, 4096));
	MUST(doca_mmap_start(thread.map));
	while (!use_during_export(&thread, count))
		count++;
	MUST(doca_mmap_destroy(thread.map));
	MUST(doca_dev_close(thread.dev));
	free(block);
}

static void share_map(void)
{
	use_in_two_threads(false);
}

static void share_thread_safe_map(void)
{
	use_in_two_threads(true);
}

/* A map of one thread may get the address of another thread's map, while the call that destroyed that one returns. */
static void *use_own_maps(void *block)
{
	for (int i = 0; i < 5000; i++) {
		struct doca_mmap *map;

		MUST(doca_mmap_create(&map));
		MUST(doca_mmap_set_memrange(map, block, 4096));
		MUST(doca_mmap_destroy(map));
	}
	return NULL;
}

static void use_maps_of_each_thread(void)
{
	static uint8_t blocks[2][4096];
	pthread_t id;

	CHECK(pthread_create(&id, NULL, use_own_maps, blocks[0]) == 0);
	use_own_maps(blocks[1]);
	CHECK(pthread_join(id, NULL) == 0);
}

const struct check_case mmap_cases[] = {
	{ "permission-missing", write_to_read_only_map, read_from_read_only_map },
	{ "range-set-twice", set_range_twice, set_ranges_of_two_maps },
	{ "mmap-outlives-memory", unmap_before_destroy, unmap_after_destroy },
	{ "task-memory-gone", copy_from_unmapped, copy_from_mapped },
	{ "task-memory-gone@handler", copy_from_unmapped_with_handler, copy_from_mapped },
	{ "mmap-ended-in-flight", destroy_in_flight, destroy_while_others_are_in_flight },
	{ "export-before-start", export_before_start, export_after_start },
	{ "mmap-configured-late", add_device_after_start, add_device_after_stop },
	{ "mmap-without-device", copy_without_device, copy_with_second_device },
	{ "mmap-shared-by-threads", share_map, share_thread_safe_map },
	{ "mmap-shared-by-threads@own", share_map, use_maps_of_each_thread },
	{ "permission-unused", read_writable_map, read_readable_map },
	{ "mmap-ended-with-buffers", destroy_with_buffers, destroy_without_buffers },
	{ 0 },
};
