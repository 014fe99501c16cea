/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig: a device, memory, a progress engine and a DMA context, with a trace of callbacks. */
#include "dma_util.h"

#include <poll.h>
#include <stdarg.h>
#include <time.h>

/* ---- the trace ---- */

void rig_note(struct rig *rig, const char *format, ...)
{
	size_t used = strlen(rig->trace->text);
	va_list args;

	va_start(args, format);
	vsnprintf(rig->trace->text + used, sizeof(rig->trace->text) - used, format, args);
	va_end(args);
}

static const char *state_name(enum doca_ctx_states state)
{
	static const char *const names[] = {
		[DOCA_CTX_STATE_IDLE] = "idle",
		[DOCA_CTX_STATE_STARTING] = "starting",
		[DOCA_CTX_STATE_RUNNING] = "running",
		[DOCA_CTX_STATE_STOPPING] = "stopping",
	};

	return names[state];
}

static void react(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	if (rig->on_task)
		rig->on_task(rig, task);
	else
		doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct rig *rig = ctx_data.ptr;

	rig_note(rig, "task %" PRIu64 " done\n", task_data.u64);
	CHECK(doca_task_get_status(doca_dma_task_memcpy_as_task(task)) == DOCA_SUCCESS);
	react(rig, task);
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct rig *rig = ctx_data.ptr;
	doca_error_t status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));

	rig_note(rig, "task %" PRIu64 " failed: %s\n", task_data.u64, doca_error_get_name(status));
	react(rig, task);
}

static void state_changed(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	struct rig *rig = data.ptr;

	CHECK(ctx == rig->ctx);
	CHECK(rig_state(rig) == next);
	rig_note(rig, "%s -> %s\n", state_name(prev), state_name(next));
	if (rig->on_state)
		rig->on_state(rig, next);
}

/* ---- life ---- */

struct doca_dev *rig_open_dev(uint32_t index)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	CHECK(index < count);
	MUST(doca_dev_open(list[index], &dev));
	MUST(doca_devinfo_destroy_list(list));
	return dev;
}

struct doca_mmap *rig_make_mmap(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_add_dev(mmap, dev));
	MUST(doca_mmap_set_permissions(mmap, permissions));
	MUST(doca_mmap_set_memrange(mmap, addr, len));
	MUST(doca_mmap_start(mmap));
	return mmap;
}

uint8_t rig_byte(size_t offset)
{
	return (uint8_t)(offset * 31 + offset / 251);
}

static void make_arena(struct rig *rig, size_t bytes)
{
	rig->arena_bytes = bytes;
	rig->arena = malloc(bytes);
	CHECK(rig->arena);
	for (size_t i = 0; i < bytes; i++)
		rig->arena[i] = rig_byte(i);
}

static void make_dma(struct rig *rig, uint32_t num_tasks)
{
	MUST(doca_dma_create(rig->dev, &rig->dma));
	rig->ctx = doca_dma_as_ctx(rig->dma);
	CHECK(rig->ctx);
	MUST(doca_dma_task_memcpy_set_conf(rig->dma, done, failed, num_tasks));
	MUST(doca_ctx_set_user_data(rig->ctx, (union doca_data){ .ptr = rig }));
	MUST(doca_ctx_set_state_changed_cb(rig->ctx, state_changed));
	MUST(doca_pe_connect_ctx(rig->pe, rig->ctx));
}

struct rig *rig_open(const struct rig_cfg *cfg)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct rig_cfg defaults = { 0 };

	CHECK(rig);
	cfg = cfg ? cfg : &defaults;
	rig->beside = cfg->beside;
	rig->trace = rig->beside ? rig->beside->trace : &rig->own_trace;
	rig->dev = rig_open_dev(0);
	make_arena(rig, cfg->arena_bytes ? cfg->arena_bytes : RIG_ARENA_BYTES);
	rig->mmap = rig_make_mmap(rig->dev, rig->arena, rig->arena_bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(RIG_BUFS, &rig->inventory));
	MUST(doca_buf_inventory_start(rig->inventory));
	if (rig->beside)
		rig->pe = rig->beside->pe;
	else
		MUST(doca_pe_create(&rig->pe));
	make_dma(rig, cfg->num_tasks ? cfg->num_tasks : RIG_TASKS);
	return rig;
}

struct rig *rig_start(struct rig *rig)
{
	MUST(doca_ctx_start(rig->ctx));
	rig->trace->text[0] = '\0';
	return rig;
}

static void close_dma(struct rig *rig)
{
	doca_error_t result = doca_ctx_stop(rig->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	MUST(doca_dma_destroy(rig->dma));
}

/* Members of lists go back with their heads, and the test may have returned some: only the sum counts. */
static void return_bufs(struct rig *rig)
{
	uint32_t num_free;

	for (size_t i = 0; i < rig->num_bufs; i++)
		doca_buf_dec_refcount(rig->bufs[i], NULL);
	MUST(doca_buf_inventory_get_num_free_elements(rig->inventory, &num_free));
	CHECK(num_free == RIG_BUFS);
}

void rig_close(struct rig *rig)
{
	rig->on_task = NULL;
	rig->on_state = NULL;
	if (rig->dma)
		close_dma(rig);
	if (!rig->beside)
		MUST(doca_pe_destroy(rig->pe));
	return_bufs(rig);
	MUST(doca_buf_inventory_destroy(rig->inventory));
	MUST(doca_mmap_destroy(rig->mmap));
	MUST(doca_dev_close(rig->dev));
	free(rig->arena);
	free(rig);
}

int rig_setup_idle(void **state)
{
	*state = rig_open(NULL);
	return 0;
}

int rig_setup_running(void **state)
{
	*state = rig_start(rig_open(NULL));
	return 0;
}

int rig_teardown(void **state)
{
	rig_close(*state);
	return 0;
}

/* ---- buffers ---- */

struct doca_buf *rig_buf(struct rig *rig, struct doca_mmap *mmap, void *addr, size_t len, size_t data_offset,
			 size_t data_len)
{
	struct doca_buf *buf;

	CHECK(rig->num_bufs < RIG_BUFS);
	MUST(doca_buf_inventory_buf_get_by_args(rig->inventory, mmap, addr, len, (char *)addr + data_offset, data_len,
						&buf));
	rig->bufs[rig->num_bufs++] = buf;
	return buf;
}

struct doca_buf *rig_src(struct rig *rig, size_t offset, size_t len)
{
	return rig_buf(rig, rig->mmap, rig->arena + offset, len, 0, len);
}

struct doca_buf *rig_dst(struct rig *rig, size_t offset, size_t len)
{
	return rig_buf(rig, rig->mmap, rig->arena + offset, len, 0, 0);
}

size_t rig_data_len(const struct doca_buf *buf)
{
	size_t len;

	MUST(doca_buf_get_data_len(buf, &len));
	return len;
}

bool rig_was_copied(const struct rig *rig, size_t to, size_t from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (rig->arena[to + i] != rig_byte(from + i))
			return false;
	return true;
}

bool rig_is_untouched(const struct rig *rig, size_t offset, size_t len)
{
	return rig_was_copied(rig, offset, offset, len);
}

/* ---- tasks ---- */

struct doca_dma_task_memcpy *rig_memcpy(struct rig *rig, uint64_t number, const struct doca_buf *src,
					struct doca_buf *dst)
{
	struct doca_dma_task_memcpy *task;

	MUST(doca_dma_task_memcpy_alloc_init(rig->dma, src, dst, (union doca_data){ .u64 = number }, &task));
	return task;
}

struct doca_task *rig_task(struct rig *rig, uint64_t number, const struct doca_buf *src, struct doca_buf *dst)
{
	return doca_dma_task_memcpy_as_task(rig_memcpy(rig, number, src, dst));
}

static size_t small_from(uint64_t number)
{
	return number * 64;
}

size_t rig_small_to(const struct rig *rig, uint64_t number)
{
	return rig->arena_bytes / 2 + small_from(number);
}

struct doca_task *rig_small_task(struct rig *rig, uint64_t number)
{
	return rig_task(rig, number, rig_src(rig, small_from(number), 64), rig_dst(rig, rig_small_to(rig, number), 64));
}

bool rig_small_is_done(const struct rig *rig, uint64_t number)
{
	return rig_was_copied(rig, rig_small_to(rig, number), small_from(number), 64);
}

void rig_submit_small(struct rig *rig, uint64_t number)
{
	MUST(doca_task_submit(rig_small_task(rig, number)));
}

/* ---- progress ---- */

enum doca_ctx_states rig_state(const struct rig *rig)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(rig->ctx, &state));
	return state;
}

size_t rig_in_flight(const struct rig *rig)
{
	size_t count;

	MUST(doca_ctx_get_num_inflight_tasks(rig->ctx, &count));
	return count;
}

size_t rig_pe_in_flight(const struct rig *rig)
{
	size_t count;

	MUST(doca_pe_get_num_inflight_tasks(rig->pe, &count));
	return count;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct rig_deadline rig_deadline_in(uint64_t ms)
{
	return (struct rig_deadline){ now_ns() + ms * 1000000 };
}

struct rig_deadline rig_deadline(void)
{
	return rig_deadline_in(RIG_DEADLINE_S * UINT64_C(1000));
}

bool rig_is_over(struct rig_deadline deadline)
{
	return now_ns() >= deadline.at_ns;
}

void rig_drain(struct rig *rig)
{
	struct rig_deadline deadline = rig_deadline();

	while (rig_pe_in_flight(rig) > 0) {
		doca_pe_progress(rig->pe);
		CHECK(!rig_is_over(deadline));
	}
}

void rig_progress_to(struct rig *rig, enum doca_ctx_states state)
{
	struct rig_deadline deadline = rig_deadline();

	while (rig_state(rig) != state) {
		doca_pe_progress(rig->pe);
		CHECK(!rig_is_over(deadline));
	}
}

/* The engine's thread may write there at the same time. The test waits for that write, which is no defect of the
 * program, so the race detector ignores this function. */
__attribute__((no_sanitize("address", "thread"))) static bool peek(const volatile uint8_t *memory, size_t from,
								   size_t len)
{
	for (size_t i = len; i > 0; i--)
		if (memory[i - 1] != (uint8_t)((from + i - 1) * 31 + (from + i - 1) / 251))
			return false;
	return true;
}

bool rig_wait_in_memory(const struct rig *rig, uint64_t number)
{
	struct rig_deadline deadline = rig_deadline();

	while (!peek(rig->arena + rig_small_to(rig, number), small_from(number), 64)) {
		if (rig_is_over(deadline))
			return false;
		poll(NULL, 0, 1);
	}
	return true;
}

bool rig_wait_readable(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, RIG_DEADLINE_S * 1000) == 1 && pollfd.revents == POLLIN;
}

bool rig_is_readable(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1;
}
