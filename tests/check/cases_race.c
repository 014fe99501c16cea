/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about the memory of tasks in flight. */
#include "cases.h"

static void finish(struct rig *rig)
{
	rig_drain(rig);
	rig_close(rig);
}

static void tasks_overlap(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *first = rig_task(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 4096, 64));
	struct doca_task *second = rig_task(rig, 2, rig_src(rig, 4096 + 32, 64), rig_dst(rig, 8192, 64));

	MUST(doca_task_submit(first));
	MUST(doca_task_submit(second));
	finish(rig);
}

/* They read the same bytes, and write neighbours. */
static void tasks_share_a_source(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 4096, 64))));
	MUST(doca_task_submit(rig_task(rig, 2, rig_src(rig, 0, 64), rig_dst(rig, 4096 + 64, 64))));
	rig_drain(rig);
	MUST(doca_task_submit(rig_task(rig, 3, rig_src(rig, 4096, 64), rig_dst(rig, 8192, 64))));
	finish(rig);
}

static void source_modified(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 4096, 64))));
	rig->arena[17]++;
	finish(rig);
}

static void submit_copy(struct rig *rig)
{
	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 4096, 64))));
}

static void copy_in_time(struct rig *rig)
{
	submit_copy(rig);
}

static void copy_too_early(struct rig *rig)
{
	submit_copy(rig);
}

/* The submission that the report shows is at the same place of the stack as one before, by another caller. */
static void source_modified_after_another_copy(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	copy_in_time(rig);
	rig_drain(rig);
	copy_too_early(rig);
	rig->arena[17]++;
	finish(rig);
}

static void neighbour_of_source_modified(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 4096, 64))));
	rig->arena[64]++;
	rig_drain(rig);
	rig->arena[17]++;
	finish(rig);
}

static void destination_touched(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, 0, 10000), rig_dst(rig, 16384, 10000))));
	rig->arena[16384 + 9999] = 1;
	finish(rig);
}

static void neighbour_of_destination_touched(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, 0, 10000), rig_dst(rig, 16384, 10000))));
	rig->arena[16384 + 10000] = 1;
	rig_drain(rig);
	CHECK(rig_was_copied(rig, 16384, 0, 10000));
	rig->arena[16384 + 9999] = 1;
	finish(rig);
}

/* ---- strict: whole pages, the access itself ---- */

#define PAGES_BYTES ((size_t)65536) /* with pages of any size */

static struct rig *open_pages(size_t *ret_page)
{
	struct rig *rig = rig_start(rig_open(&(struct rig_cfg){ .arena_bytes = 4 * PAGES_BYTES }));
	size_t offset = -(uintptr_t)rig->arena % 4096;

	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, offset, PAGES_BYTES),
				       rig_dst(rig, offset + 2 * PAGES_BYTES, PAGES_BYTES))));
	*ret_page = offset;
	return rig;
}

static void read_byte(const struct rig *rig, size_t at)
{
	(void)((const volatile uint8_t *)rig->arena)[at];
}

static void read_destination(void)
{
	size_t page;
	struct rig *rig = open_pages(&page);

	read_byte(rig, page + 2 * PAGES_BYTES + 5000);
	finish(rig);
}

static void write_source(void)
{
	size_t page;
	struct rig *rig = open_pages(&page);

	rig->arena[page + 5000] = 1;
	finish(rig);
}

static void read_source_and_neighbours(void)
{
	size_t page;
	struct rig *rig = open_pages(&page);

	read_byte(rig, page + 5000);
	rig->arena[page + PAGES_BYTES] = 1;
	rig->arena[page + 2 * PAGES_BYTES - 1] = 1;
	rig_drain(rig);
	rig->arena[page + 5000] = 1;
	read_byte(rig, page + 2 * PAGES_BYTES + 5000);
	finish(rig);
}

const struct check_case race_cases[] = {
	{ "tasks-overlap", tasks_overlap, tasks_share_a_source },
	{ "source-modified", source_modified, neighbour_of_source_modified },
	{ "source-modified@callers", source_modified_after_another_copy, neighbour_of_source_modified },
	{ "destination-touched", destination_touched, neighbour_of_destination_touched },
	{ "source-modified@strict", write_source, read_source_and_neighbours },
	{ "destination-touched@strict", read_destination, read_source_and_neighbours },
	{ 0 },
};
