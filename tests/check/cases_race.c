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

const struct check_case race_cases[] = {
	{ "tasks-overlap", tasks_overlap, tasks_share_a_source },
	{ "source-modified", source_modified, neighbour_of_source_modified },
	{ "destination-touched", destination_touched, neighbour_of_destination_touched },
	{ 0 },
};
