/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts and work queues: additions, the order of destruction, and jobs. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"
#include "log_child.h"

static struct doca_workq *queue_new(uint32_t depth)
{
	struct doca_workq *workq;

	assert_int_equal(doca_workq_create(depth, &workq), DOCA_SUCCESS);
	return workq;
}

static doca_error_t retrieve(struct doca_workq *workq, struct doca_event *ev)
{
	doca_error_t result;

	do
		result = doca_workq_progress_retrieve(workq, ev, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	return result;
}

static void expect(struct doca_workq *workq, uint64_t id)
{
	struct doca_event event;

	assert_int_equal(retrieve(workq, &event), DOCA_SUCCESS);
	assert_int_equal(event.user_data.u64, id);
}

/* ---- additions ---- */

static void test_queues_of_one_context_have_their_own_events(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_dma_job_memcpy one = rig_job(rig, copy.to, copy.from, 1), two = rig_job(rig, copy.to, copy.from, 2);
	struct doca_workq *other = queue_new(2);
	struct doca_event event;

	assert_int_equal(doca_ctx_workq_add(rig->ctx, other), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(rig->workq, &one.base), DOCA_SUCCESS);
	expect(rig->workq, 1);
	assert_int_equal(doca_workq_progress_retrieve(other, &event, 0), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_workq_submit(other, &two.base), DOCA_SUCCESS);
	expect(other, 2);
	assert_int_equal(doca_workq_progress_retrieve(rig->workq, &event, 0), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_ctx_workq_rm(rig->ctx, other), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_rm(rig->ctx, other), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_workq_destroy(other), DOCA_SUCCESS);
	rig_copy_free(&copy);
}

static void test_contexts_of_one_queue_work_at_the_same_time(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig), other = rig_copy_new(rig); /* contexts may work at the same time */
	struct doca_dma_job_memcpy one = rig_job(rig, copy.to, copy.from, 1),
				   two = rig_job(rig, other.to, other.from, 2);
	struct doca_event event;
	struct doca_dma *dma;
	uint64_t ids = 0;

	assert_int_equal(doca_dma_create(&dma), DOCA_SUCCESS);
	two.base.ctx = doca_dma_as_ctx(dma);
	assert_int_equal(doca_workq_submit(rig->workq, &two.base), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_dev_add(two.base.ctx, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(two.base.ctx), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(rig->workq, &two.base), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_ctx_workq_add(two.base.ctx, rig->workq), DOCA_SUCCESS);
	for (int i = 0; i < RIG_DEPTH; i++)
		assert_int_equal(doca_workq_submit(rig->workq, i % 2 ? &two.base : &one.base), DOCA_SUCCESS);
	for (int i = 0; i < RIG_DEPTH; i++) {
		assert_int_equal(retrieve(rig->workq, &event), DOCA_SUCCESS);
		ids += event.user_data.u64;
	}
	assert_int_equal(ids, 3 * RIG_DEPTH / 2);
	assert_int_equal(doca_ctx_workq_rm(two.base.ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(rig->workq, &two.base), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_dma_destroy(dma), DOCA_SUCCESS); /* it was never stopped */
	assert_int_equal(doca_workq_submit(rig->workq, &two.base), DOCA_ERROR_INVALID_VALUE);
	rig_copy_free(&other);
	rig_copy_free(&copy);
}

/* A job in flight, or an event that was not retrieved, keeps the context in the queue. */
static void test_a_queue_with_jobs_is_not_removed(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, 1);

	for (int i = 0; i < 2; i++)
		assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_ERROR_NOT_PERMITTED);
	expect(rig->workq, 1);
	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_ERROR_NOT_PERMITTED);
	expect(rig->workq, 1);
	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
	rig_copy_free(&copy);
}

static struct doca_workq *narrow_queue_new(struct rig *rig, uint32_t depth)
{
	struct doca_workq *narrow = queue_new(depth);
	uint32_t told;

	assert_int_equal(doca_workq_get_depth(narrow, &told), DOCA_SUCCESS);
	assert_int_equal(told, depth);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, narrow), DOCA_SUCCESS);
	return narrow;
}

static void narrow_queue_end(struct rig *rig, struct doca_workq *narrow)
{
	assert_int_equal(doca_ctx_workq_rm(rig->ctx, narrow), DOCA_SUCCESS);
	assert_int_equal(doca_workq_destroy(narrow), DOCA_SUCCESS);
}

/* As published programs of 1.5 do: each job has one event, in order, also when the rounds grow. */
static void test_jobs_beyond_the_depth_are_accepted(void **state)
{
	const uint64_t rounds[] = { 1, 2, 33, 1024, 5, 1500 };
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_workq *narrow = narrow_queue_new(rig, 32);

	for (size_t round = 0; round < sizeof(rounds) / sizeof(rounds[0]); round++) {
		for (uint64_t i = 0; i < rounds[round]; i++) {
			struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, i);

			assert_int_equal(doca_workq_submit(narrow, &job.base), DOCA_SUCCESS);
		}
		for (uint64_t i = 0; i < rounds[round]; i++)
			expect(narrow, i);
	}
	narrow_queue_end(rig, narrow);
	rig_copy_free(&copy);
}

/* Events of jobs that completed are queued while others are in flight: the context of a failed job stops. */
static void test_jobs_beyond_the_depth_are_cancelled_by_a_failed_one(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_buf *small = rig_room(rig, copy.to_map, copy.dst + 100, 1);
	struct doca_workq *narrow = narrow_queue_new(rig, 4);
	struct doca_event event;

	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 100; i++) {
			struct doca_dma_job_memcpy job = rig_job(rig, i == 50 ? small : copy.to, copy.from, i);

			assert_int_equal(doca_workq_submit(narrow, &job.base), DOCA_SUCCESS);
		}
		for (uint64_t i = 0; i < 100; i++) {
			assert_int_equal(retrieve(narrow, &event), i < 50 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
			assert_int_equal(event.user_data.u64, i);
		}
	}
	narrow_queue_end(rig, narrow);
	rig_return(small);
	rig_copy_free(&copy);
}

#define DEVICE_LIMIT 65536 /* dma-max-tasks of the profile */

static void test_the_devices_limit_is_the_end(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_workq *narrow = narrow_queue_new(rig, 3);
	struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, 7);

	for (int i = 0; i < DEVICE_LIMIT; i++)
		assert_int_equal(doca_workq_submit(narrow, &job.base), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(narrow, &job.base), DOCA_ERROR_NO_MEMORY);
	expect(narrow, 7);
	assert_int_equal(doca_workq_submit(narrow, &job.base), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(narrow, &job.base), DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < DEVICE_LIMIT; i++)
		expect(narrow, 7);
	narrow_queue_end(rig, narrow);
	rig_copy_free(&copy);
}

/* In a child, whose log is read: 100 jobs in flight in a queue of depth 5, twice. */
static void exceed_depth_twice(void)
{
	void *state;
	struct rig_copy copy;
	struct doca_workq *narrow;

	rig_setup(&state);
	copy = rig_copy_new(state);
	narrow = narrow_queue_new(state, 5);
	for (uint64_t i = 0; i < 200; i++) {
		struct doca_dma_job_memcpy job = rig_job(state, copy.to, copy.from, i);

		assert_int_equal(doca_workq_submit(narrow, &job.base), DOCA_SUCCESS);
		if (i >= 100)
			expect(narrow, i - 100);
	}
	for (uint64_t i = 100; i < 200; i++)
		expect(narrow, i);
	narrow_queue_end(state, narrow);
	rig_copy_free(&copy);
	rig_teardown(&state);
}

static void test_jobs_beyond_the_depth_are_warned_of_once(void **state)
{
	const struct child_output *output = in_child(exceed_depth_twice);

	assert_int_equal(count_of(output->err, "the depth of 5"), 1);
}

/* ---- jobs that fail ---- */

/* Each failed job becomes an event. The next job succeeds. */
static void test_every_job_in_flight_has_its_event_when_one_fails(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_buf *small = rig_room(rig, copy.to_map, copy.dst + 100, 1);
	struct doca_event event;
	uint64_t seen = 0;

	for (uint64_t i = 0; i < RIG_DEPTH; i++) {
		struct doca_dma_job_memcpy job = rig_job(rig, i == 2 ? small : copy.to, copy.from, 1u << i);

		assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	}
	for (uint64_t i = 0; i < RIG_DEPTH; i++) {
		doca_error_t result = retrieve(rig->workq, &event);

		assert_int_equal(result, event.result.u64 == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
		if (event.user_data.u64 == 1u << 2)
			assert_int_equal(event.result.u64, DOCA_ERROR_IO_FAILED);
		seen |= event.user_data.u64;
	}
	assert_int_equal(seen, (1u << RIG_DEPTH) - 1);
	assert_int_equal(doca_workq_progress_retrieve(rig->workq, &event, 0), DOCA_ERROR_AGAIN);
	rig_return(small);
	rig_copy_free(&copy);
}

static void test_buffers_that_are_none_are_refused(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_buf *stale = rig_room(rig, copy.to_map, copy.dst, 1);
	struct doca_dma_job_memcpy job;

	rig_return(stale);
	job = rig_job(rig, stale, copy.from, 1);
	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_ERROR_INVALID_VALUE);
	job = rig_job(rig, NULL, copy.from, 1);
	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_ERROR_INVALID_VALUE);
	job = rig_job(rig, copy.to, (struct doca_buf *)rig->workq, 1);
	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_ERROR_INVALID_VALUE);
	for (int i = 0; i < RIG_DEPTH; i++) { /* refused jobs take no place in the queue */
		job = rig_job(rig, copy.to, copy.from, 1);
		assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	}
	for (int i = 0; i < RIG_DEPTH; i++)
		expect(rig->workq, 1);
	rig_copy_free(&copy);
}

/* ---- destinations ---- */

/* As in 2.2: bytes go behind the data if there is room. */
static void test_data_is_appended_while_there_is_room(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_buf *wide = rig_room(rig, copy.to_map, copy.dst + 1000, 128);
	struct doca_dma_job_memcpy job = rig_job(rig, wide, copy.from, 1);
	struct doca_event event;
	size_t len;

	for (size_t i = 1; i <= 2; i++) {
		assert_int_equal(rig_do(rig, &job, &event), DOCA_SUCCESS);
		assert_int_equal(doca_buf_get_data_len(wide, &len), DOCA_SUCCESS);
		assert_int_equal(len, i * 64);
	}
	assert_int_equal(copy.dst[1127], 'x');
	assert_int_equal(copy.dst[1128], 0);
	rig_return(wide);
	rig_copy_free(&copy);
}

/* Each job writes to the place that the destination had when it was submitted. */
static void test_jobs_in_flight_share_a_destination(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_buf *from = rig_data(rig, copy.from_map, copy.src, RIG_COPY_SIZE);
	struct doca_event event;
	size_t len;

	for (uint64_t i = 0; i < 8; i++) {
		struct doca_dma_job_memcpy job = rig_job(rig, copy.to, from, i);

		assert_int_equal(doca_buf_set_data(from, copy.src + 64 * i, 64), DOCA_SUCCESS);
		memset(copy.src + 64 * i, 'a' + (int)i, 64);
		assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	}
	assert_int_equal(doca_buf_set_data(from, copy.src + 1024, 64), DOCA_SUCCESS);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(retrieve(rig->workq, &event), DOCA_SUCCESS);
	assert_int_equal(copy.dst[0], 'h');
	assert_int_equal(copy.dst[63], 'h');
	assert_int_equal(doca_buf_get_data_len(copy.to, &len), DOCA_SUCCESS);
	assert_int_equal(len, 64);
	rig_return(from);
	rig_copy_free(&copy);
}

/* In programs of 1.5 the data is the place to write to. The map is read-only, so the job fails. */
static void test_a_failed_job_leaves_its_full_destination_as_it_was(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_buf *full = rig_data(rig, copy.from_map, copy.src + 100, 80);
	struct doca_dma_job_memcpy job = rig_job(rig, full, copy.from, 1);
	struct doca_event event;
	void *data;
	size_t len;

	assert_int_equal(rig_do(rig, &job, &event), DOCA_ERROR_IO_FAILED);
	assert_int_equal(doca_buf_get_data(full, &data), DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_data_len(full, &len), DOCA_SUCCESS);
	assert_ptr_equal(data, copy.src + 100);
	assert_int_equal(len, 80);
	rig_return(full);
	rig_copy_free(&copy);
}

/* As in 1.5, where a job is submitted repeatedly: the list is written from its start. */
static void test_a_list_that_is_full_is_written_anew(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_buf *head = rig_room(rig, copy.to_map, copy.dst, 40),
			*rest = rig_room(rig, copy.to_map, copy.dst + 100, 40);
	struct doca_dma_job_memcpy job = rig_job(rig, head, copy.from, 1);
	struct doca_event event;
	size_t len;

	assert_int_equal(doca_buf_list_chain(head, rest), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		memset(copy.src, 'a' + i, 64);
		assert_int_equal(rig_do(rig, &job, &event), DOCA_SUCCESS);
		assert_int_equal(copy.dst[0], 'a' + i);
		assert_int_equal(copy.dst[39], 'a' + i);
		assert_int_equal(copy.dst[40], 0);
		assert_int_equal(copy.dst[123], 'a' + i);
		assert_int_equal(doca_buf_get_data_len(rest, &len), DOCA_SUCCESS);
		assert_int_equal(len, 24);
	}
	rig_return(head);
	rig_copy_free(&copy);
}

/* ---- sleeping ---- */

static void make_event_driven(struct rig *rig, struct pollfd *ret_wait)
{
	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_set_event_driven_enable(rig->workq, 1), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
	ret_wait->events = POLLIN;
	assert_int_equal(doca_workq_get_event_handle(rig->workq, &ret_wait->fd), DOCA_SUCCESS);
}

static void sleep_on(struct rig *rig, struct pollfd *wait)
{
	assert_int_equal(poll(wait, 1, 60000), 1);
	assert_int_equal(doca_workq_event_handle_clear(rig->workq, wait->fd), DOCA_SUCCESS);
}

static void test_a_queue_that_is_armed_before_the_job_wakes_its_sleeper(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct pollfd wait;

	make_event_driven(rig, &wait);
	for (uint64_t i = 0; i < 20; i++) {
		struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, i);

		assert_int_equal(doca_workq_event_handle_arm(rig->workq), DOCA_SUCCESS);
		assert_int_equal(poll(&wait, 1, 0), 0);
		assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
		sleep_on(rig, &wait);
		expect(rig->workq, i);
	}
	rig_copy_free(&copy);
}

/* The queue is still armed for the job after a failed one. */
static void test_failed_jobs_wake_sleepers_and_so_do_those_after_them(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_buf *small = rig_room(rig, copy.to_map, copy.dst, 1);
	struct doca_dma_job_memcpy bad = rig_job(rig, small, copy.from, 1), good = rig_job(rig, copy.to, copy.from, 2);
	struct doca_event event;
	struct pollfd wait;

	make_event_driven(rig, &wait);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(doca_workq_event_handle_arm(rig->workq), DOCA_SUCCESS);
		assert_int_equal(doca_workq_submit(rig->workq, &bad.base), DOCA_SUCCESS);
		sleep_on(rig, &wait);
		assert_int_equal(retrieve(rig->workq, &event), DOCA_ERROR_IO_FAILED);
		assert_int_equal(doca_workq_event_handle_arm(rig->workq), DOCA_SUCCESS);
		assert_int_equal(doca_workq_submit(rig->workq, &good.base), DOCA_SUCCESS);
		sleep_on(rig, &wait);
		expect(rig->workq, 2);
	}
	rig_return(small);
	rig_copy_free(&copy);
}

static void test_an_event_that_is_there_already_wakes_at_once(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, 1);
	struct pollfd wait;

	make_event_driven(rig, &wait);
	for (int i = 0; i < 2; i++)
		assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	expect(rig->workq, 1);
	assert_int_equal(doca_workq_event_handle_arm(rig->workq), DOCA_SUCCESS);
	sleep_on(rig, &wait);
	expect(rig->workq, 1);
	rig_copy_free(&copy);
}

static void test_only_event_driven_queues_are_slept_on(void **state)
{
	struct rig *rig = *state;
	uint8_t yes = 0;
	int handle;

	assert_int_equal(doca_workq_get_event_driven_enable(rig->workq, &yes), DOCA_SUCCESS);
	assert_int_equal(yes, 0);
	assert_int_equal(doca_workq_get_event_handle(rig->workq, &handle), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_workq_set_event_handle(rig->workq, 0, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_workq_event_handle_arm(rig->workq), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_workq_event_handle_clear(rig->workq, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_workq_set_event_driven_enable(rig->workq, 0), DOCA_SUCCESS);         /* as it is */
	assert_int_equal(doca_workq_set_event_driven_enable(rig->workq, 1), DOCA_ERROR_BAD_STATE); /* added */
	assert_int_equal(doca_workq_set_event_driven_enable(rig->workq, 2), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_event_driven_supported(rig->ctx, &yes), DOCA_SUCCESS);
	assert_int_equal(yes, 1);
}

/* ---- order of destruction ---- */

static void test_a_context_has_one_device_and_needs_it(void **state)
{
	struct rig *rig = *state;
	struct doca_dma *dma;
	struct doca_ctx *ctx;

	assert_int_equal(doca_dma_create(&dma), DOCA_SUCCESS);
	ctx = doca_dma_as_ctx(dma);
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_stop(ctx), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_workq_add(ctx, rig->workq), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_workq_rm(ctx, rig->workq), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_dev_rm(ctx, rig->dev), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_ctx_dev_add(ctx, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_dev_add(ctx, rig->dev), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_start(ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_dev_add(ctx, rig->dev), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_dev_rm(ctx, rig->dev), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_stop(ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_dev_rm(ctx, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_dma_destroy(dma), DOCA_SUCCESS);
}

static void test_a_device_that_a_context_has_is_not_closed(void **state)
{
	struct rig *rig = *state;
	struct doca_dma *dma;

	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(rig->dev), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_dma_create(&dma), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_dev_add(doca_dma_as_ctx(dma), rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_dma_destroy(dma), DOCA_SUCCESS); /* drops its reference */
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
}

static void test_handles_that_are_none_are_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_workq *queue = queue_new(1), *queues[] = { NULL, (struct doca_workq *)rig->dma, queue };
	struct doca_ctx *ctxs[] = { NULL, (struct doca_ctx *)rig->workq, NULL };
	struct doca_job job = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = rig->ctx };
	struct doca_event event;
	struct doca_dma *dma;
	uint32_t depth;
	uint8_t yes;

	assert_int_equal(doca_dma_create(&dma), DOCA_SUCCESS);
	ctxs[2] = doca_dma_as_ctx(dma);
	assert_int_equal(doca_dma_destroy(dma), DOCA_SUCCESS);
	assert_int_equal(doca_workq_destroy(queue), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(doca_workq_destroy(queues[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_workq_get_depth(queues[i], &depth), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_workq_submit(queues[i], &job), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_workq_progress_retrieve(queues[i], &event, 0), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_workq_set_event_driven_enable(queues[i], 1), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_workq_event_handle_arm(queues[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_ctx_workq_add(rig->ctx, queues[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_ctx_workq_rm(rig->ctx, queues[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_ctx_dev_add(ctxs[i], rig->dev), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_ctx_dev_rm(ctxs[i], rig->dev), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_ctx_start(ctxs[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_ctx_stop(ctxs[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_ctx_workq_add(ctxs[i], rig->workq), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_ctx_workq_rm(ctxs[i], rig->workq), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_ctx_get_event_driven_supported(ctxs[i], &yes), DOCA_ERROR_INVALID_VALUE);
		job.ctx = ctxs[i];
		assert_int_equal(doca_workq_submit(rig->workq, &job), DOCA_ERROR_INVALID_VALUE);
	}
	assert_null(doca_dma_as_ctx(NULL));
	assert_null(doca_dma_as_ctx(dma));
	assert_int_equal(doca_dma_destroy(dma), DOCA_ERROR_INVALID_VALUE);
}

static void test_arguments_are_looked_at(void **state)
{
	struct rig *rig = *state;
	struct doca_workq *queue;
	struct doca_event event;
	uint32_t count = 0;

	assert_int_equal(doca_workq_create(0, &queue), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_create(1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_get_depth(rig->workq, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_submit(rig->workq, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_progress_retrieve(rig->workq, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_progress_retrieve(rig->workq, &event, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_get_event_driven_enable(rig->workq, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_event_driven_supported(rig->ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_dev_add(rig->ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_max_num_ctx(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_max_num_ctx(&count), DOCA_SUCCESS);
	assert_true(count > 0);
	assert_int_equal(doca_dma_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_job_get_supported(NULL, DOCA_DMA_JOB_MEMCPY), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_job_get_supported(doca_dev_as_devinfo(rig->dev), 7), DOCA_ERROR_INVALID_VALUE);
}

/* ---- fork ---- */

/* In the child: jobs of the parent do not complete, new ones are refused, and teardown succeeds. */
static bool child_is_right(struct rig *rig, const struct doca_dma_job_memcpy *job)
{
	struct doca_event event;

	return doca_workq_submit(rig->workq, &job->base) == DOCA_ERROR_BAD_STATE &&
	       doca_workq_progress_retrieve(rig->workq, &event, 0) == DOCA_ERROR_AGAIN &&
	       doca_ctx_workq_rm(rig->ctx, rig->workq) == DOCA_SUCCESS && doca_ctx_stop(rig->ctx) == DOCA_SUCCESS &&
	       doca_workq_destroy(rig->workq) == DOCA_SUCCESS && doca_dma_destroy(rig->dma) == DOCA_SUCCESS;
}

static void test_a_forked_child_has_none_of_its_parents_jobs(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, 1);
	int status;
	pid_t pid;

	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child_is_right(rig, &job) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	expect(rig->workq, 1);
	rig_copy_free(&copy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_jobs_beyond_the_depth_are_warned_of_once), /* first: its child opens a card of its own */
		TEST(test_queues_of_one_context_have_their_own_events),
		TEST(test_contexts_of_one_queue_work_at_the_same_time),
		TEST(test_a_queue_with_jobs_is_not_removed),
		TEST(test_jobs_beyond_the_depth_are_accepted),
		TEST(test_jobs_beyond_the_depth_are_cancelled_by_a_failed_one),
		TEST(test_the_devices_limit_is_the_end),
		TEST(test_every_job_in_flight_has_its_event_when_one_fails),
		TEST(test_buffers_that_are_none_are_refused),
		TEST(test_data_is_appended_while_there_is_room),
		TEST(test_jobs_in_flight_share_a_destination),
		TEST(test_a_failed_job_leaves_its_full_destination_as_it_was),
		TEST(test_a_list_that_is_full_is_written_anew),
		TEST(test_a_queue_that_is_armed_before_the_job_wakes_its_sleeper),
		TEST(test_failed_jobs_wake_sleepers_and_so_do_those_after_them),
		TEST(test_an_event_that_is_there_already_wakes_at_once),
		TEST(test_only_event_driven_queues_are_slept_on),
		TEST(test_a_context_has_one_device_and_needs_it),
		TEST(test_a_device_that_a_context_has_is_not_closed),
		TEST(test_handles_that_are_none_are_refused),
		TEST(test_arguments_are_looked_at),
		TEST(test_a_forked_child_has_none_of_its_parents_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
