/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs in which a sync event tells another thread that a copy is complete: too early, or in time. */
#include "racebench.h"

#include <pthread.h>

#include <doca_sync_event.h>

struct pair {
	struct rig *rig;
	const struct racebench_args *args;
	struct doca_sync_event *event;
	bool reads; /* the destination; else writes the source */
	pthread_t thread;
};

static void *touch_after_event(void *arg)
{
	struct pair *pair = arg;

	MUST(doca_sync_event_wait_gt(pair->event, 0, UINT64_MAX));
	if (pair->reads)
		racebench_read(pair->rig, pair->args, DST, SRC);
	else
		racebench_write(pair->rig, pair->args, SRC);
	return NULL;
}

static void open_pair(struct pair *pair, const struct racebench_args *args, bool reads)
{
	*pair = (struct pair){ .rig = racebench_rig(), .args = args, .reads = reads };
	MUST(doca_sync_event_create(&pair->event));
	MUST(doca_sync_event_add_publisher_location_cpu(pair->event, pair->rig->dev));
	MUST(doca_sync_event_add_subscriber_location_cpu(pair->event, pair->rig->dev));
	MUST(doca_sync_event_start(pair->event));
	CHECK(pthread_create(&pair->thread, NULL, touch_after_event, pair) == 0);
}

static void close_pair(struct pair *pair)
{
	CHECK(pthread_join(pair->thread, NULL) == 0);
	rig_drain(pair->rig);
	MUST(doca_sync_event_stop(pair->event));
	MUST(doca_sync_event_destroy(pair->event));
	rig_close(pair->rig);
}

static void tell_early(const struct racebench_args *args, bool reads)
{
	struct pair pair;

	open_pair(&pair, args, reads);
	racebench_copy(pair.rig, args, 1, DST, SRC);
	MUST(doca_sync_event_update_set(pair.event, 1));
	close_pair(&pair);
}

static void tell_in_time(const struct racebench_args *args, bool reads)
{
	struct pair pair;

	open_pair(&pair, args, reads);
	racebench_copy(pair.rig, args, 1, DST, SRC);
	rig_drain(pair.rig);
	MUST(doca_sync_event_update_set(pair.event, 1));
	close_pair(&pair);
}

static void read_early(const struct racebench_args *args)
{
	tell_early(args, true);
}

static void written_early(const struct racebench_args *args)
{
	tell_early(args, false);
}

static void read_in_time(const struct racebench_args *args)
{
	tell_in_time(args, true);
}

static void written_in_time(const struct racebench_args *args)
{
	tell_in_time(args, false);
}

static void tell(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	const struct pair *pair = rig->arg;
	uint64_t before;

	doca_task_free(doca_dma_task_memcpy_as_task(task));
	MUST(doca_sync_event_update_add(pair->event, 1, &before));
}

static void told_in_callback(const struct racebench_args *args)
{
	struct pair pair;

	open_pair(&pair, args, true);
	pair.rig->arg = &pair;
	pair.rig->on_task = tell;
	racebench_copy(pair.rig, args, 1, DST, SRC);
	rig_drain(pair.rig);
	close_pair(&pair);
}

/* ---- the table ---- */

#define P(name, function, ...) RACEBENCH_PROGRAM(sync, name, 1, run, function, __VA_ARGS__)

const struct racebench_program sync_programs[] = {
	P(destination_read_before_completion_racy, read_early, RACEBENCH_SMALL),
	P(destination_read_before_completion_64k_racy, read_early, RACEBENCH_LARGE),
	P(destination_read_before_completion_list_racy, read_early, RACEBENCH_SMALL, .is_list = true),
	P(source_written_before_completion_racy, written_early, RACEBENCH_SMALL),
	P(source_written_before_completion_64k_racy, written_early, RACEBENCH_BYTES(65536, 0)),
	P(destination_read_after_completion_clean, read_in_time, RACEBENCH_SMALL),
	P(destination_read_after_completion_64k_clean, read_in_time, RACEBENCH_LARGE),
	P(destination_read_after_completion_list_clean, read_in_time, RACEBENCH_SMALL, .is_list = true),
	P(source_written_after_completion_clean, written_in_time, RACEBENCH_SMALL),
	P(source_written_after_completion_64k_clean, written_in_time, RACEBENCH_LARGE),
	P(told_in_callback_clean, told_in_callback, RACEBENCH_SMALL),
	{ 0 },
};
