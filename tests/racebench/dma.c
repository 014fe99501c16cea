/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with one copy at a time: its source and its destination are touched too early, or in time. */
#include "racebench.h"

#include <pthread.h>

/* ---- races ---- */

static void source_modified(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_write(rig, args, SRC);
}

static void destination_written(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_write(rig, args, DST);
}

static void destination_read(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_read(rig, args, DST, SRC);
}

/* The task waits for a doorbell, and owns its memory all the same. */
static void source_modified_before_doorbell(struct rig *rig, const struct racebench_args *args)
{
	MUST(doca_task_submit_ex(racebench_task(rig, args, 1, DST, SRC), 0));
	racebench_write(rig, args, SRC);
	doca_ctx_flush_tasks(rig->ctx);
}

/* The next message is prepared in the buffer of the last one. */
static void source_reused_in_loop(struct rig *rig, const struct racebench_args *args)
{
	for (uint64_t i = 0; i < 4; i++) {
		memset(rig->arena + SRC, (int)i, args->len);
		racebench_copy(rig, args, i, DST + i * (AREA_BYTES / 4), SRC);
	}
}

/* A stop begins to cancel: until the context is idle, the task owns its memory. */
static void destination_read_while_stopping(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	EXPECT(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	racebench_read(rig, args, DST, DST);
}

/* ---- the same in time ---- */

static void source_modified_after_completion(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	rig_drain(rig);
	racebench_write(rig, args, SRC);
}

static void destination_written_after_completion(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	rig_drain(rig);
	racebench_write(rig, args, DST);
}

static void destination_read_after_completion(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	rig_drain(rig);
	racebench_read(rig, args, DST, SRC);
}

static void touch_both(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	const struct racebench_args *args = rig->arg;

	racebench_read(rig, args, DST, SRC);
	racebench_write(rig, args, DST);
	racebench_write(rig, args, SRC);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void touched_in_callback(struct rig *rig, const struct racebench_args *args)
{
	rig->arg = (void *)(uintptr_t)args;
	rig->on_task = touch_both;
	racebench_copy(rig, args, 1, DST, SRC);
}

/* The device only reads the source, and so does the program. */
static void source_read_in_flight(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_read(rig, args, SRC, SRC);
}

/* The bytes before and behind what the task owns. */
static void neighbours_written(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST + 64, SRC + 64);
	rig->arena[SRC + 63]++;
	rig->arena[SRC + 64 + args->len]++;
	rig->arena[DST + 63]++;
	rig->arena[DST + 64 + args->len]++;
}

/* The task counts from its submission on. */
static void source_prepared_after_allocation(struct rig *rig, const struct racebench_args *args)
{
	struct doca_task *task = racebench_task(rig, args, 1, DST, SRC);

	racebench_write(rig, args, SRC);
	racebench_write(rig, args, DST);
	MUST(doca_task_submit(task));
}

static void prepared_before_doorbell(struct rig *rig, const struct racebench_args *args)
{
	racebench_write(rig, args, SRC);
	MUST(doca_task_submit_ex(racebench_task(rig, args, 1, DST, SRC), 0));
	doca_ctx_flush_tasks(rig->ctx);
	rig_drain(rig);
	racebench_write(rig, args, SRC);
}

static void source_reused_after_each_completion(struct rig *rig, const struct racebench_args *args)
{
	for (uint64_t i = 0; i < 4; i++) {
		memset(rig->arena + SRC, (int)i, args->len);
		racebench_copy(rig, args, i, DST, SRC);
		rig_drain(rig);
	}
}

/* One buffer is filled while the other one is copied. */
static void double_buffering(struct rig *rig, const struct racebench_args *args)
{
	for (uint64_t i = 0; i < 6; i++) {
		memset(rig->arena + (i % 2 ? SRC2 : SRC), (int)i, args->len);
		rig_drain(rig);
		racebench_copy(rig, args, i, DST, i % 2 ? SRC2 : SRC);
	}
}

static void touched_after_stop(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	rig_drain(rig);
	MUST(doca_ctx_stop(rig->ctx));
	racebench_read(rig, args, DST, SRC);
	racebench_write(rig, args, DST);
}

/* ---- a thread that waits for the completion ---- */

struct waiter {
	struct rig *rig;
	const struct racebench_args *args;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_done;
};

static void *read_when_told(void *arg)
{
	struct waiter *waiter = arg;

	pthread_mutex_lock(&waiter->lock);
	while (!waiter->is_done)
		pthread_cond_wait(&waiter->changed, &waiter->lock);
	pthread_mutex_unlock(&waiter->lock);
	racebench_read(waiter->rig, waiter->args, DST, SRC);
	racebench_write(waiter->rig, waiter->args, SRC);
	return NULL;
}

static void tell(struct waiter *waiter)
{
	pthread_mutex_lock(&waiter->lock);
	waiter->is_done = true;
	pthread_cond_signal(&waiter->changed);
	pthread_mutex_unlock(&waiter->lock);
}

static void with_waiter(struct rig *rig, const struct racebench_args *args, bool is_early)
{
	struct waiter waiter = { rig, args, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, read_when_told, &waiter) == 0);
	racebench_copy(rig, args, 1, DST, SRC);
	if (!is_early)
		rig_drain(rig);
	tell(&waiter);
	CHECK(pthread_join(thread, NULL) == 0);
}

static void told_before_completion(struct rig *rig, const struct racebench_args *args)
{
	with_waiter(rig, args, true);
}

static void told_after_completion(struct rig *rig, const struct racebench_args *args)
{
	with_waiter(rig, args, false);
}

/* ---- the table ---- */

#define P(name, function, ...) RACEBENCH_PROGRAM(dma, name, 1, run_in_rig, function, __VA_ARGS__)

const struct racebench_program dma_programs[] = {
	P(source_modified_64_first_racy, source_modified, RACEBENCH_BYTES(64, 0)),
	P(source_modified_64_last_racy, source_modified, RACEBENCH_BYTES(64, 63)),
	P(source_modified_64k_first_racy, source_modified, RACEBENCH_BYTES(65536, 0)),
	P(source_modified_64k_last_racy, source_modified, RACEBENCH_BYTES(65536, 65535)),
	P(source_modified_1k_middle_racy, source_modified, RACEBENCH_BYTES(1024, 500)),
	P(source_modified_64k_middle_racy, source_modified, RACEBENCH_LARGE),
	P(source_modified_list_racy, source_modified, RACEBENCH_BYTES(64, 40), .is_list = true),
	P(source_modified_large_list_racy, source_modified, RACEBENCH_BYTES(65536, 65535), .is_list = true),
	P(source_modified_by_thread_racy, source_modified, RACEBENCH_SMALL, .in_other_thread = true),
	P(source_modified_by_thread_64k_racy, source_modified, RACEBENCH_BYTES(65536, 0), .in_other_thread = true),
	P(source_modified_before_doorbell_racy, source_modified_before_doorbell, RACEBENCH_SMALL),
	P(source_modified_before_doorbell_list_racy, source_modified_before_doorbell, RACEBENCH_SMALL, .is_list = true),
	P(source_reused_in_loop_racy, source_reused_in_loop, RACEBENCH_SMALL),
	P(source_reused_in_loop_16k_racy, source_reused_in_loop, RACEBENCH_BYTES(16384, 0)),
	P(destination_written_64_first_racy, destination_written, RACEBENCH_BYTES(64, 0)),
	P(destination_written_64_last_racy, destination_written, RACEBENCH_BYTES(64, 63)),
	P(destination_written_64k_first_racy, destination_written, RACEBENCH_BYTES(65536, 0)),
	P(destination_written_64k_last_racy, destination_written, RACEBENCH_BYTES(65536, 65535)),
	P(destination_written_64k_middle_racy, destination_written, RACEBENCH_LARGE),
	P(destination_written_list_racy, destination_written, RACEBENCH_BYTES(64, 40), .is_list = true),
	P(destination_written_by_thread_racy, destination_written, RACEBENCH_SMALL, .in_other_thread = true),
	P(destination_written_by_thread_64k_racy, destination_written, RACEBENCH_BYTES(65536, 65535),
	  .in_other_thread = true),
	P(destination_read_64_racy, destination_read, RACEBENCH_SMALL),
	P(destination_read_64k_racy, destination_read, RACEBENCH_LARGE),
	P(destination_read_list_racy, destination_read, RACEBENCH_SMALL, .is_list = true),
	P(destination_read_by_thread_racy, destination_read, RACEBENCH_SMALL, .in_other_thread = true),
	P(destination_read_while_stopping_racy, destination_read_while_stopping, RACEBENCH_SMALL),
	P(thread_told_before_completion_racy, told_before_completion, RACEBENCH_SMALL),
	P(thread_told_before_completion_64k_racy, told_before_completion, RACEBENCH_BYTES(65536, 0)),
	P(source_modified_after_64_clean, source_modified_after_completion, RACEBENCH_SMALL),
	P(source_modified_after_64k_clean, source_modified_after_completion, RACEBENCH_LARGE),
	P(source_modified_after_list_clean, source_modified_after_completion, RACEBENCH_SMALL, .is_list = true),
	P(source_modified_after_by_thread_clean, source_modified_after_completion, RACEBENCH_SMALL,
	  .in_other_thread = true),
	P(destination_written_after_64_clean, destination_written_after_completion, RACEBENCH_SMALL),
	P(destination_written_after_64k_clean, destination_written_after_completion, RACEBENCH_LARGE),
	P(destination_written_after_by_thread_clean, destination_written_after_completion, RACEBENCH_SMALL,
	  .in_other_thread = true),
	P(destination_read_after_64_clean, destination_read_after_completion, RACEBENCH_SMALL),
	P(destination_read_after_64k_clean, destination_read_after_completion, RACEBENCH_LARGE),
	P(destination_read_after_list_clean, destination_read_after_completion, RACEBENCH_SMALL, .is_list = true),
	P(destination_read_after_by_thread_clean, destination_read_after_completion, RACEBENCH_SMALL,
	  .in_other_thread = true),
	P(touched_in_callback_64_clean, touched_in_callback, RACEBENCH_SMALL),
	P(touched_in_callback_64k_clean, touched_in_callback, RACEBENCH_LARGE),
	P(touched_in_callback_by_thread_clean, touched_in_callback, RACEBENCH_SMALL, .in_other_thread = true),
	P(source_read_in_flight_64_clean, source_read_in_flight, RACEBENCH_SMALL),
	P(source_read_in_flight_64k_clean, source_read_in_flight, RACEBENCH_LARGE),
	P(source_read_in_flight_by_thread_clean, source_read_in_flight, RACEBENCH_SMALL, .in_other_thread = true),
	P(neighbours_written_64_clean, neighbours_written, RACEBENCH_SMALL),
	P(neighbours_written_64k_clean, neighbours_written, RACEBENCH_LARGE),
	P(source_prepared_after_allocation_clean, source_prepared_after_allocation, RACEBENCH_SMALL),
	P(prepared_before_doorbell_clean, prepared_before_doorbell, RACEBENCH_SMALL),
	P(source_reused_after_each_completion_clean, source_reused_after_each_completion, RACEBENCH_SMALL),
	P(source_reused_after_each_completion_64k_clean, source_reused_after_each_completion, RACEBENCH_LARGE),
	P(double_buffering_64_clean, double_buffering, RACEBENCH_SMALL),
	P(double_buffering_64k_clean, double_buffering, RACEBENCH_LARGE),
	P(touched_after_stop_clean, touched_after_stop, RACEBENCH_SMALL),
	P(thread_told_after_completion_clean, told_after_completion, RACEBENCH_SMALL),
	P(thread_told_after_completion_64k_clean, told_after_completion, RACEBENCH_LARGE),
	{ 0 },
};
