/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes of the work-queue generation on one card, and the end of one of them. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_sync_event.h>

#include "tests/multi/actor.h"

#define LEN 8192
#define FILL 0x5a

#define MUST(call) PROC_NEED((call) == DOCA_SUCCESS)

static char *dir;
static struct proc card, host, dpu;

/* What the host gives away. */
struct gift {
	uint64_t addr;
	size_t map_len, event_len;
	uint8_t map[512], event[512];
};

static int setup(void **state)
{
	(void)state;
	dir = proc_make_dir();
	daemon_start(&card, dir, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	proc_kill_all();
	proc_remove_dir(dir);
	return 0;
}

/* ---- both sides ---- */

static struct doca_dev *enter(const char *side)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	setenv("BFSIM_SESSION", dir, 1);
	setenv("BFSIM_SIDE", side, 1);
	MUST(doca_devinfo_list_create(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++)
		if (doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_list_destroy(list));
	PROC_NEED(dev);
	return dev;
}

/* ---- the host's ---- */

static struct doca_mmap *map_of(struct doca_dev *dev, char *memory)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(NULL, &mmap));
	MUST(doca_mmap_start(mmap));
	MUST(doca_mmap_dev_add(mmap, dev));
	MUST(doca_mmap_populate(mmap, memory, LEN, 4096, NULL, NULL));
	return mmap;
}

static struct doca_sync_event *event_of(struct doca_dev *dev)
{
	struct doca_sync_event *event;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_publisher_add_location_cpu(event, dev));
	MUST(doca_sync_event_subscriber_add_location_dpu(event));
	MUST(doca_sync_event_start(event));
	return event;
}

static void be_host(int talk, const void *arg)
{
	struct doca_dev *dev = enter("host");
	char *memory = malloc(LEN), word;
	struct doca_mmap *mmap = map_of(dev, memory);
	struct doca_sync_event *event = event_of(dev);
	struct gift gift = {.addr = (uintptr_t)memory};
	const uint8_t *bytes;
	void *descriptor;

	(void)arg;
	memset(memory, FILL, LEN);
	MUST(doca_mmap_export(mmap, dev, &descriptor, &gift.map_len));
	MUST(doca_sync_event_export_to_dpu(event, dev, &bytes, &gift.event_len));
	PROC_NEED(gift.map_len <= sizeof(gift.map) && gift.event_len <= sizeof(gift.event));
	memcpy(gift.map, descriptor, gift.map_len);
	memcpy(gift.event, bytes, gift.event_len);
	free(descriptor);
	proc_say(talk, &gift, sizeof(gift));
	proc_hear(talk, &word, 1); /* 'q', or it is killed meanwhile */
	MUST(doca_mmap_destroy(mmap));
	MUST(doca_sync_event_destroy(event)); /* last: it is what the DPU waits for */
	MUST(doca_dev_close(dev));
	free(memory);
}

/* ---- the DPU's: says 'r' when it has copied, 'w' before it waits, and at last what became of it ---- */

struct engine {
	struct doca_dev *dev;
	struct doca_mmap *own, *remote;
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	struct doca_sync_event *event;
	struct doca_workq *workq;
	struct doca_buf *from, *to, *local;
};

static void add(struct doca_ctx *ctx, struct doca_dev *dev, struct doca_workq *workq)
{
	if (dev)
		MUST(doca_ctx_dev_add(ctx, dev));
	MUST(doca_ctx_start(ctx));
	MUST(doca_ctx_workq_add(ctx, workq));
}

static struct engine start(char *memory, const struct gift *gift)
{
	struct engine engine = {.dev = enter("dpu")};
	void *remote = (void *)(uintptr_t)gift->addr;

	engine.own = map_of(engine.dev, memory);
	MUST(doca_mmap_create_from_export(NULL, gift->map, gift->map_len, engine.dev, &engine.remote));
	MUST(doca_sync_event_create_from_export(engine.dev, gift->event, gift->event_len, &engine.event));
	MUST(doca_buf_inventory_create(NULL, 3, DOCA_BUF_EXTENSION_NONE, &engine.inventory));
	MUST(doca_buf_inventory_start(engine.inventory));
	MUST(doca_workq_create(8, &engine.workq));
	MUST(doca_dma_create(&engine.dma));
	add(doca_dma_as_ctx(engine.dma), engine.dev, engine.workq);
	add(doca_sync_event_as_ctx(engine.event), NULL, engine.workq);
	MUST(doca_buf_inventory_buf_by_data(engine.inventory, engine.remote, remote, LEN / 2, &engine.from));
	MUST(doca_buf_inventory_buf_by_addr(engine.inventory, engine.own, memory, LEN / 2, &engine.to));
	MUST(doca_buf_inventory_buf_by_data(engine.inventory, engine.own, memory + LEN / 2, LEN / 2, &engine.local));
	return engine;
}

static void stop(struct engine *engine)
{
	MUST(doca_buf_refcount_rm(engine->from, NULL));
	MUST(doca_buf_refcount_rm(engine->to, NULL));
	MUST(doca_buf_refcount_rm(engine->local, NULL));
	MUST(doca_ctx_workq_rm(doca_dma_as_ctx(engine->dma), engine->workq));
	MUST(doca_ctx_workq_rm(doca_sync_event_as_ctx(engine->event), engine->workq));
	MUST(doca_workq_destroy(engine->workq));
	MUST(doca_sync_event_destroy(engine->event));
	MUST(doca_dma_destroy(engine->dma));
	MUST(doca_mmap_destroy(engine->remote));
	MUST(doca_mmap_destroy(engine->own));
	MUST(doca_buf_inventory_destroy(engine->inventory));
	MUST(doca_dev_close(engine->dev));
}

static doca_error_t finish(struct engine *engine)
{
	struct doca_event ev;
	doca_error_t result;

	do
		result = doca_workq_progress_retrieve(engine->workq, &ev, 0);
	while (result == DOCA_ERROR_AGAIN);
	PROC_NEED(result == DOCA_SUCCESS || ev.result.u64 == DOCA_ERROR_IO_FAILED);
	return result;
}

static doca_error_t copy(struct engine *engine, const struct doca_buf *from)
{
	struct doca_dma_job_memcpy job = {
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = doca_dma_as_ctx(engine->dma)},
		.dst_buff = engine->to,
		.src_buff = from,
	};

	MUST(doca_workq_submit(engine->workq, &job.base));
	return finish(engine);
}

static doca_error_t wait_for_one(struct engine *engine, int talk)
{
	struct doca_sync_event_job_wait job = {
		.base = {.type = DOCA_SYNC_EVENT_JOB_WAIT_GT, .ctx = doca_sync_event_as_ctx(engine->event)},
		.mask = UINT64_MAX,
	};

	MUST(doca_workq_submit(engine->workq, &job.base));
	proc_say(talk, "w", 1);
	return finish(engine);
}

/* What the host's end makes of a wait, a copy, and of a copy of our own afterwards. */
struct outcome {
	doca_error_t wait, read, local, at_once;
};

static void be_dpu(int talk, const void *arg)
{
	struct outcome outcome;
	char *memory = malloc(LEN);
	struct engine engine;
	uint64_t value;

	memset(memory, 1, LEN);
	engine = start(memory, arg);
	MUST(copy(&engine, engine.from));
	PROC_NEED(memory[0] == FILL && memory[LEN / 2 - 1] == FILL);
	outcome.wait = wait_for_one(&engine, talk);
	outcome.read = copy(&engine, engine.from);
	outcome.local = copy(&engine, engine.local);
	PROC_NEED(memory[0] == 1);
	outcome.at_once = doca_sync_event_get(engine.event, &value);
	proc_say(talk, &outcome, sizeof(outcome));
	stop(&engine);
	free(memory);
}

static struct outcome run(bool kill_host)
{
	struct outcome outcome;
	struct gift gift;
	char word;

	proc_start(&host, be_host, NULL);
	proc_hear(host.talk, &gift, sizeof(gift));
	proc_start(&dpu, be_dpu, &gift);
	proc_hear(dpu.talk, &word, 1);
	if (kill_host) {
		proc_signal(&host, SIGKILL);
	} else {
		proc_say(host.talk, "q", 1);
		proc_end(&host);
	}
	proc_hear(dpu.talk, &outcome, sizeof(outcome));
	proc_end(&dpu);
	return outcome;
}

static void check(struct outcome outcome)
{
	assert_int_equal(outcome.wait, DOCA_ERROR_IO_FAILED);
	assert_int_equal(outcome.read, DOCA_ERROR_IO_FAILED);
	assert_int_equal(outcome.local, DOCA_SUCCESS);
	assert_int_equal(outcome.at_once, DOCA_ERROR_IO_FAILED);
}

/* Jobs end with an event, and the queue serves those that have nothing to do with the dead. */
static void test_jobs_for_a_dead_host_fail_and_others_go_on(void **state)
{
	(void)state;
	check(run(true));
}

static void test_jobs_for_what_the_host_took_back_fail_and_others_go_on(void **state)
{
	(void)state;
	check(run(false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_jobs_for_a_dead_host_fail_and_others_go_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jobs_for_what_the_host_took_back_fail_and_others_go_on, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
