/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about performance. */
#include <bfsim.h>

#include "cases.h"

#define NUM_TASKS 12000

static void keep(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	rig->trace->text[0] = '\0';
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
}

/* Copies of @bytes, with up to @depth in flight. */
static void copy_many(size_t bytes, uint32_t depth)
{
	struct rig *rig = rig_open(NULL);
	struct doca_task *tasks[RIG_TASKS];

	rig->on_task = keep;
	rig_start(rig);
	for (uint32_t i = 0; i < depth; i++)
		tasks[i] = rig_task(rig, i, rig_src(rig, i * bytes, bytes), rig_dst(rig, 32768 + i * bytes, bytes));
	for (uint32_t done = 0; done < NUM_TASKS; done += depth) {
		for (uint32_t i = 0; i < depth; i++)
			MUST(doca_task_submit(tasks[i]));
		rig_drain(rig);
	}
	for (uint32_t i = 0; i < depth; i++)
		doca_task_free(tasks[i]);
	rig_close(rig);
}

static void one_in_flight(void)
{
	copy_many(4096, 1);
}

static void small_copies(void)
{
	copy_many(64, 8);
}

static void large_copies(void)
{
	copy_many(4096, 4);
}

/* ---- maps ---- */

static void map_per_operation(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig_submit_small(rig, 1);
	rig_drain(rig);
	for (int i = 0; i < 1000; i++) {
		struct doca_mmap *mmap = rig_make_mmap(rig->dev, rig->arena, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

		MUST(doca_mmap_destroy(mmap));
	}
	rig_close(rig);
}

static void few_maps(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	for (int i = 0; i < 10; i++) {
		struct doca_mmap *mmap = rig_make_mmap(rig->dev, rig->arena, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

		rig_submit_small(rig, 1);
		rig_drain(rig);
		MUST(doca_mmap_destroy(mmap));
	}
	rig_close(rig);
}

/* ---- polling ---- */

#define POLL_MS        500
#define POLLS_PER_TASK 4000

static void poll_for_nothing(struct rig *rig)
{
	struct rig_deadline end = rig_deadline_in(POLL_MS);

	while (!rig_is_over(end))
		CHECK(!doca_pe_progress(rig->pe));
}

/* A busy machine may leave the program too little time to be seen polling: it tries again, and less than a time slice will do. */
static void empty_progress(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct rig_deadline deadline = rig_deadline();
	uint64_t hits = 0;

	CHECK(setenv("BFSIM_CHECK_STALL_TIMEOUT", "2", 1) == 0);
	while (hits == 0 && !rig_is_over(deadline)) {
		poll_for_nothing(rig);
		CHECK(bfsim_check_hits("empty-progress", &hits) == 0);
		rig_submit_small(rig, 1);
		rig_drain(rig);
	}
	rig_close(rig);
}

/* Many polls that find nothing, with work now and then. */
static void poll_between_tasks(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	CHECK(setenv("BFSIM_CHECK_STALL_TIMEOUT", "2", 1) == 0);
	for (int i = 0; i < 100 * POLLS_PER_TASK; i++) {
		if (i % POLLS_PER_TASK == 0)
			rig_submit_small(rig, 1);
		doca_pe_progress(rig->pe);
	}
	rig_close(rig);
}

const struct check_case perf_cases[] = {
	{ "one-in-flight", one_in_flight, large_copies },
	{ "small-copies", small_copies, large_copies },
	{ "map-per-operation", map_per_operation, few_maps },
	{ "empty-progress", empty_progress, poll_between_tasks },
	{ 0 },
};
