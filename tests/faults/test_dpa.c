/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the DPA: the calls that run kernels, notifications, kernels. Each cell ends with a context that works. */
#include <bfsim.h>
#include <doca_dpa.h>
#include <doca_sync_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "cell.h"

/* Device code of tests/api/dpa/kernels.c. */
extern struct doca_dpa_app *dpa_test_app;
doca_dpa_func_t add, notify, record_rank, run_thread;

struct storage {
	doca_dpa_dev_sync_event_t event;
	uint64_t runs, rank;
	bool finishes;
};

static struct doca_dpa *open_dpa(struct side *side, bool starts)
{
	struct doca_dpa *dpa;

	MUST(doca_dpa_create(side->dev, &dpa));
	MUST(doca_dpa_set_app(dpa, dpa_test_app));
	if (starts)
		MUST(doca_dpa_start(dpa));
	return dpa;
}

static void expect_work(struct doca_dpa *dpa)
{
	uint64_t sum = 0;

	MUST(doca_dpa_rpc(dpa, add, &sum, UINT64_C(40), UINT32_C(2)));
	CHECK(sum == 42);
}

/* The cell gives the call's result and duration. */
#define EXPECT_HIT(call)                                                               \
	do {                                                                           \
		uint64_t begin_ns_ = bfsim_now_ns();                                   \
		EXPECT(call, cell_is("fail") ? DOCA_ERROR_TIME_OUT : DOCA_SUCCESS);    \
		CHECK(!cell_is("delay") || cell_since_ns(begin_ns_) >= CELL_DELAY_NS); \
		cell_expect_hit();                                                     \
	} while (0)

static void start_dpu(struct side *side)
{
	struct doca_dpa *dpa = open_dpa(side, false);

	cell_arm();
	EXPECT_HIT(doca_dpa_start(dpa));
	MUST(doca_dpa_start(dpa));
	expect_work(dpa);
	MUST(doca_dpa_destroy(dpa));
}

static void copy_dpu(struct side *side)
{
	struct doca_dpa *dpa = open_dpa(side, true);
	uint64_t here = 5, there = 0;
	doca_dpa_dev_uintptr_t addr;

	MUST(doca_dpa_mem_alloc(dpa, sizeof(here), &addr));
	MUST(doca_dpa_memset(dpa, addr, 0, sizeof(here)));
	cell_arm();
	EXPECT_HIT(doca_dpa_h2d_memcpy(dpa, addr, &here, sizeof(here)));
	MUST(doca_dpa_d2h_memcpy(dpa, &there, addr, sizeof(there)));
	CHECK(there == (cell_is("fail") ? 0u : 5u));
	MUST(doca_dpa_mem_free(dpa, addr));
	MUST(doca_dpa_destroy(dpa));
}

static atomic_bool has_returned;

static void *call_for_ever(void *dpa)
{
	uint64_t sum;

	doca_dpa_rpc(dpa, add, &sum, UINT64_C(1), UINT32_C(1));
	atomic_store(&has_returned, true);
	return NULL;
}

static void rpc_dpu(struct side *side)
{
	struct doca_dpa *dpa = open_dpa(side, true);
	pthread_t thread;
	uint64_t sum = 0;

	cell_arm();
	if (cell_is("hang")) {
		CHECK(pthread_create(&thread, NULL, call_for_ever, dpa) == 0);
		pthread_detach(thread);
		while (!cell_has_hit())
			sched_yield();
		cell_expect_hit();
		expect_work(dpa);
		CHECK(!atomic_load(&has_returned));
		MUST(doca_dpa_destroy(dpa));
		return;
	}
	EXPECT_HIT(doca_dpa_rpc(dpa, add, &sum, UINT64_C(1), UINT32_C(2)));
	CHECK(sum == (cell_is("fail") ? 0u : 3u));
	expect_work(dpa);
	MUST(doca_dpa_destroy(dpa));
}

static struct doca_sync_event *open_event(struct side *side, struct doca_dpa *dpa,
					  doca_dpa_dev_sync_event_t *ret_handle)
{
	struct doca_sync_event *event;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_dpa(event, dpa));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, side->dev));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_get_dpa_handle(event, dpa, ret_handle));
	return event;
}

static void launch_dpu(struct side *side)
{
	struct doca_dpa *dpa = open_dpa(side, true);
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = open_event(side, dpa, &handle);
	uint64_t value, runs = cell_is("delay") ? 2 : 1;
	doca_dpa_dev_uintptr_t ranks;

	MUST(doca_dpa_mem_alloc(dpa, sizeof(uint64_t), &ranks));
	cell_arm();
	EXPECT_HIT(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, event, 1, 1, record_rank, ranks, UINT64_C(0)));
	MUST(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, event, 1, 1, record_rank, ranks, UINT64_C(0)));
	MUST(doca_sync_event_wait_gt(event, runs - 1, UINT64_MAX));
	expect_work(dpa);
	MUST(doca_sync_event_get(event, &value));
	CHECK(value == runs);
	MUST(doca_sync_event_destroy(event));
	MUST(doca_dpa_mem_free(dpa, ranks));
	MUST(doca_dpa_destroy(dpa));
}

/* A lost wake-up: the thread runs at the next notification. */
static void notify_dpu(struct side *side)
{
	struct doca_dpa *dpa = open_dpa(side, true);
	struct storage storage = { 0 };
	struct doca_sync_event *event = open_event(side, dpa, &storage.event);
	struct doca_dpa_notification_completion *notification;
	doca_dpa_dev_notification_completion_t handle;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t addr;
	uint64_t value, begin_ns;

	MUST(doca_dpa_mem_alloc(dpa, sizeof(storage), &addr));
	MUST(doca_dpa_h2d_memcpy(dpa, addr, &storage, sizeof(storage)));
	MUST(doca_dpa_thread_create(dpa, &thread));
	MUST(doca_dpa_thread_set_func_arg(thread, run_thread, 1));
	MUST(doca_dpa_thread_set_local_storage(thread, addr));
	MUST(doca_dpa_thread_start(thread));
	MUST(doca_dpa_notification_completion_create(dpa, thread, &notification));
	MUST(doca_dpa_notification_completion_start(notification));
	MUST(doca_dpa_notification_completion_get_dpa_handle(notification, &handle));
	MUST(doca_dpa_thread_run(thread));
	cell_arm();
	begin_ns = bfsim_now_ns();
	MUST(doca_dpa_rpc(dpa, notify, &value, handle));
	cell_expect_hit();
	if (cell_is("drop"))
		MUST(doca_dpa_rpc(dpa, notify, &value, handle));
	MUST(doca_sync_event_wait_gt(event, 0, UINT64_MAX));
	CHECK(!cell_is("delay") || cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	MUST(doca_dpa_d2h_memcpy(dpa, &storage, addr, sizeof(storage)));
	CHECK(storage.runs == 1);
	MUST(doca_dpa_notification_completion_destroy(notification));
	MUST(doca_dpa_thread_destroy(thread));
	MUST(doca_sync_event_destroy(event));
	MUST(doca_dpa_mem_free(dpa, addr));
	MUST(doca_dpa_destroy(dpa));
}

static void kernel_dpu(struct side *side)
{
	struct doca_dpa *dpa = open_dpa(side, true);
	bool is_fatal = cell_is("fatal");
	uint64_t begin_ns, sum = 0;
	char path[64];

	cell_arm();
	begin_ns = bfsim_now_ns();
	EXPECT(doca_dpa_rpc(dpa, add, &sum, UINT64_C(1), UINT32_C(2)), is_fatal ? DOCA_ERROR_DRIVER : DOCA_SUCCESS);
	CHECK(!cell_is("delay") || cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	cell_expect_hit();
	EXPECT(doca_dpa_peek_at_last_error(dpa), is_fatal ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS);
	if (is_fatal) {
		snprintf(path, sizeof(path), "/tmp/doca_dpa_fatal.%d.crash", (int)getpid());
		CHECK(unlink(path) == 0);
		MUST(doca_dpa_stop(dpa));
		MUST(doca_dpa_start(dpa));
	}
	expect_work(dpa);
	MUST(doca_dpa_destroy(dpa));
}

static const struct cell cells[] = {
	{ "dpa.start", "fail", "nth=1 fail=TIME_OUT", start_dpu, comch_nothing, NULL, NULL },
	{ "dpa.start", "delay", "nth=1 delay=500ms", start_dpu, comch_nothing, NULL, NULL },
	{ "dpa.copy", "fail", "size=8 nth=1 fail=TIME_OUT", copy_dpu, comch_nothing, NULL, NULL },
	{ "dpa.copy", "delay", "nth=1 delay=500ms", copy_dpu, comch_nothing, NULL, NULL },
	{ "dpa.rpc", "fail", "nth=1 fail=TIME_OUT", rpc_dpu, comch_nothing, NULL, NULL },
	{ "dpa.rpc", "delay", "nth=1 delay=500ms", rpc_dpu, comch_nothing, NULL, NULL },
	{ "dpa.rpc", "hang", "nth=1 hang", rpc_dpu, comch_nothing, NULL, NULL },
	{ "dpa.launch", "fail", "nth=1 fail=TIME_OUT", launch_dpu, comch_nothing, NULL, NULL },
	{ "dpa.launch", "delay", "nth=1 delay=500ms", launch_dpu, comch_nothing, NULL, NULL },
	{ "dpa.launch", "drop", "nth=1 drop", launch_dpu, comch_nothing, NULL, NULL },
	{ "dpa.notify", "drop", "nth=1 drop", notify_dpu, comch_nothing, NULL, NULL },
	{ "dpa.notify", "delay", "nth=1 delay=500ms", notify_dpu, comch_nothing, NULL, NULL },
	{ "dpa.kernel", "delay", "nth=1 delay=500ms", kernel_dpu, comch_nothing, NULL, NULL },
	{ "dpa.kernel", "fatal", "nth=1 fatal", kernel_dpu, comch_nothing, NULL, NULL },
};

int main(void)
{
	return cell_run("dpa", cells, sizeof(cells) / sizeof(cells[0]));
}
