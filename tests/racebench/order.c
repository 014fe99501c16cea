/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with several copies in flight: they wait for the wrong one, or let tasks use the same bytes. */
#include "racebench.h"

#define NUM_COPIES 8

/* ---- waits for another task ---- */

static void touch_other(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	const struct racebench_args *args = rig->arg;
	union doca_data number = doca_task_get_user_data(doca_dma_task_memcpy_as_task(task));

	if (number.u64 == 1)
		racebench_write(rig, args, DST2);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

/* The completion of the first task says nothing about the second. */
static void other_destination_written_in_callback(struct rig *rig, const struct racebench_args *args)
{
	rig->arg = (void *)(uintptr_t)args;
	rig->on_task = touch_other;
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_copy(rig, args, 2, DST2, SRC2);
}

static void both_completions_awaited(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_copy(rig, args, 2, DST2, SRC2);
	rig_drain(rig);
	racebench_read(rig, args, DST, SRC);
	racebench_read(rig, args, DST2, SRC2);
	racebench_write(rig, args, DST2);
}

static size_t copy_to(uint64_t i)
{
	return DST + i * (AREA_BYTES / NUM_COPIES);
}

static void submit_copies(struct rig *rig, const struct racebench_args *args)
{
	for (uint64_t i = 0; i < NUM_COPIES; i++)
		racebench_copy(rig, args, i, copy_to(i), SRC + i * (AREA_BYTES / NUM_COPIES));
}

static void use_copies(struct rig *rig, const struct racebench_args *args)
{
	for (uint64_t i = 0; i < NUM_COPIES; i++) {
		racebench_read(rig, args, copy_to(i), SRC + i * (AREA_BYTES / NUM_COPIES));
		racebench_write(rig, args, copy_to(i));
	}
}

/* Without ordered completions, the last task may complete first. */
static void use_all_after_last(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	union doca_data number = doca_task_get_user_data(doca_dma_task_memcpy_as_task(task));

	if (number.u64 == NUM_COPIES - 1)
		use_copies(rig, rig->arg);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void last_completion_awaited(struct rig *rig, const struct racebench_args *args)
{
	rig->arg = (void *)(uintptr_t)args;
	rig->on_task = use_all_after_last;
	submit_copies(rig, args);
}

static void all_completions_awaited(struct rig *rig, const struct racebench_args *args)
{
	submit_copies(rig, args);
	rig_drain(rig);
	use_copies(rig, args);
}

/* Two engines: the progress of one leaves the tasks of the other in flight. */
static void with_two_engines(struct rig *one, const struct racebench_args *args, bool drains_both)
{
	struct rig *two = racebench_rig();

	racebench_copy(one, args, 1, DST, SRC);
	racebench_copy(two, args, 2, DST, SRC);
	rig_drain(two);
	if (drains_both)
		rig_drain(one);
	racebench_read(two, args, DST, SRC);
	racebench_write(one, args, DST);
	racebench_finish(two);
}

static void other_engine_progressed(struct rig *rig, const struct racebench_args *args)
{
	with_two_engines(rig, args, false);
}

static void both_engines_progressed(struct rig *rig, const struct racebench_args *args)
{
	with_two_engines(rig, args, true);
}

/* ---- tasks that use the same bytes ---- */

static void same_destination(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_copy(rig, args, 2, DST, SRC2);
}

/* They have @args->at bytes in common. */
static void destinations_overlap(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_copy(rig, args, 2, DST + args->len - args->at, SRC2);
}

static void same_destination_of_two_contexts(struct rig *rig, const struct racebench_args *args)
{
	struct rig *beside = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));
	struct doca_task *task = rig_task(beside, 2, rig_src(beside, 0, args->len),
					  rig_buf(beside, rig->mmap, rig->arena + DST, args->len, 0, 0));

	racebench_copy(rig, args, 1, DST, SRC);
	MUST(doca_task_submit(task));
	rig_drain(rig);
	rig_close(beside);
}

/* The second copy reads what the first one writes. */
static void chain_at_once(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_copy(rig, args, 2, DST2, DST);
}

/* The second copy overwrites what the first one reads. */
static void source_overwritten_by_task(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_copy(rig, args, 2, SRC, SRC2);
}

static void neighbouring_destinations(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_copy(rig, args, 2, DST + args->len, SRC2);
	rig_drain(rig);
	racebench_read(rig, args, DST, SRC);
	racebench_read(rig, args, DST + args->len, SRC2);
}

static void two_readers(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	racebench_copy(rig, args, 2, DST2, SRC);
	rig_drain(rig);
	racebench_read(rig, args, DST, SRC);
	racebench_read(rig, args, DST2, SRC);
}

static void copy_on(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	const struct racebench_args *args = rig->arg;

	doca_task_free(doca_dma_task_memcpy_as_task(task));
	rig->on_task = NULL;
	racebench_copy(rig, args, 2, DST2, DST);
}

static void chain_by_callback(struct rig *rig, const struct racebench_args *args)
{
	rig->arg = (void *)(uintptr_t)args;
	rig->on_task = copy_on;
	racebench_copy(rig, args, 1, DST, SRC);
	rig_drain(rig);
	racebench_read(rig, args, DST2, SRC);
}

static void same_destination_in_turn(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	rig_drain(rig);
	racebench_copy(rig, args, 2, DST, SRC2);
	rig_drain(rig);
	racebench_read(rig, args, DST, SRC2);
}

static void source_overwritten_in_turn(struct rig *rig, const struct racebench_args *args)
{
	racebench_copy(rig, args, 1, DST, SRC);
	rig_drain(rig);
	racebench_copy(rig, args, 2, SRC, SRC2);
}

/* ---- the table ---- */

#define P(name, function, ...) RACEBENCH_PROGRAM(dma, name, 1, run_in_rig, function, __VA_ARGS__)

const struct racebench_program order_programs[] = {
	P(other_destination_written_in_callback_racy, other_destination_written_in_callback, RACEBENCH_SMALL),
	P(other_destination_written_in_callback_64k_racy, other_destination_written_in_callback,
	  RACEBENCH_BYTES(65536, 0)),
	P(last_completion_awaited_racy, last_completion_awaited, RACEBENCH_SMALL),
	P(last_completion_awaited_16k_racy, last_completion_awaited, RACEBENCH_BYTES(16384, 0)),
	P(other_engine_progressed_racy, other_engine_progressed, RACEBENCH_SMALL),
	P(other_engine_progressed_64k_racy, other_engine_progressed, RACEBENCH_BYTES(65536, 65535)),
	P(same_destination_racy, same_destination, RACEBENCH_SMALL),
	P(same_destination_list_racy, same_destination, RACEBENCH_SMALL, .is_list = true),
	P(same_destination_of_two_contexts_racy, same_destination_of_two_contexts, RACEBENCH_SMALL),
	P(destinations_overlap_1_byte_racy, destinations_overlap, RACEBENCH_BYTES(64, 1)),
	P(destinations_overlap_64k_racy, destinations_overlap, RACEBENCH_BYTES(65536, 4096)),
	P(chain_at_once_racy, chain_at_once, RACEBENCH_SMALL),
	P(chain_at_once_64k_racy, chain_at_once, RACEBENCH_LARGE),
	P(chain_at_once_list_racy, chain_at_once, RACEBENCH_SMALL, .is_list = true),
	P(source_overwritten_by_task_racy, source_overwritten_by_task, RACEBENCH_SMALL),
	P(source_overwritten_by_task_64k_racy, source_overwritten_by_task, RACEBENCH_LARGE),
	P(both_completions_awaited_clean, both_completions_awaited, RACEBENCH_SMALL),
	P(both_completions_awaited_64k_clean, both_completions_awaited, RACEBENCH_LARGE),
	P(all_completions_awaited_clean, all_completions_awaited, RACEBENCH_SMALL),
	P(all_completions_awaited_16k_clean, all_completions_awaited, RACEBENCH_BYTES(16384, 0)),
	P(both_engines_progressed_clean, both_engines_progressed, RACEBENCH_SMALL),
	P(neighbouring_destinations_64_clean, neighbouring_destinations, RACEBENCH_SMALL),
	P(neighbouring_destinations_64k_clean, neighbouring_destinations, RACEBENCH_BYTES(65536, 0)),
	P(two_readers_64_clean, two_readers, RACEBENCH_SMALL),
	P(two_readers_list_clean, two_readers, RACEBENCH_SMALL, .is_list = true),
	P(two_readers_64k_clean, two_readers, RACEBENCH_LARGE),
	P(chain_by_callback_64_clean, chain_by_callback, RACEBENCH_SMALL),
	P(chain_by_callback_64k_clean, chain_by_callback, RACEBENCH_LARGE),
	P(same_destination_in_turn_clean, same_destination_in_turn, RACEBENCH_SMALL),
	P(source_overwritten_in_turn_clean, source_overwritten_in_turn, RACEBENCH_SMALL),
	{ 0 },
};
