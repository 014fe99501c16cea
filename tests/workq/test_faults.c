/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults in the work-queue generation: they hit calls of this generation. */
#include <bfsim.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "rig.h"

#define DEADLINE_MS 60000

static void add_fault(const char *rule)
{
	assert_int_equal(bfsim_fault_add(rule, NULL), 0);
}

static void test_start_that_a_fault_hits_fails_and_the_next_one_succeeds(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(rig->ctx), DOCA_SUCCESS);
	add_fault("ctx.start nth=1 fail=TIME_OUT");
	assert_int_equal(doca_ctx_start(rig->ctx), DOCA_ERROR_TIME_OUT);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_start(rig->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(bfsim_fault_unfired(NULL), 0);
}

/* The context of the core behind a queue is internal: a fault of doca_ctx_start does not hit it. */
static void test_adding_a_queue_starts_nothing_that_faults_could_hit(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	add_fault("ctx.start fail=TIME_OUT");
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(bfsim_fault_unfired(NULL), 1);
}

/* ---- functions that are reset ---- */

static void submit(struct rig *rig, const struct rig_copy *copy, uint64_t id, doca_error_t wanted)
{
	struct doca_dma_job_memcpy job = rig_job(rig, copy->to, copy->from, id);

	assert_int_equal(doca_workq_submit(rig->workq, &job.base), wanted);
}

static void expect_failure(struct rig *rig, uint64_t id)
{
	struct doca_event event;
	doca_error_t result;

	do
		result = doca_workq_progress_retrieve(rig->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	assert_int_equal(result, DOCA_ERROR_IO_FAILED);
	assert_int_equal(event.user_data.u64, id);
}

/* The context, queue and maps of before the reset stay unusable. A device that is opened again works. */
static void expect_end_and_new_beginning(struct rig *rig, struct rig_copy *copy)
{
	struct doca_event event;

	for (int i = 0; i < 3; i++) {
		submit(rig, copy, 9, DOCA_ERROR_BAD_STATE);
		assert_int_equal(doca_workq_progress_retrieve(rig->workq, &event, 0), DOCA_ERROR_AGAIN);
	}
	rig_copy_free(copy);
	assert_int_equal(rig_teardown((void **)&rig), 0);
	assert_int_equal(rig_setup((void **)&rig), 0);
	*copy = rig_copy_new(rig);
	submit(rig, copy, 10, DOCA_SUCCESS);
	while (doca_workq_progress_retrieve(rig->workq, &event, 0) == DOCA_ERROR_AGAIN)
		;
	assert_int_equal(event.user_data.u64, 10);
	assert_memory_equal(copy->dst, copy->src, 64);
	rig_copy_free(copy);
}

/* A destination full of data is overwritten, so that is where the fault's address is. */
static void test_a_fault_at_an_address_hits_a_job_that_overwrites_it(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, 1);
	struct doca_event event;
	char rule[128];

	snprintf(rule, sizeof(rule), "dma.memcpy addr=%#" PRIxPTR "..%#" PRIxPTR " fail=IO_FAILED", (uintptr_t)copy.dst,
		 (uintptr_t)copy.dst + 63);
	add_fault(rule);
	assert_int_equal(doca_buf_set_data(copy.to, copy.dst, 64), DOCA_SUCCESS);
	assert_int_equal(rig_do(rig, &job, &event), DOCA_ERROR_IO_FAILED);
	assert_int_equal(bfsim_fault_unfired(NULL), 0);
	rig_copy_free(&copy);
}

/* No job completes by itself: later jobs might otherwise complete before the reset. */
static void test_jobs_in_flight_fail_in_order_when_their_function_is_reset(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);

	add_fault("dma.memcpy hang");
	for (uint64_t id = 1; id <= 3; id++)
		submit(rig, &copy, id, DOCA_SUCCESS);
	add_fault("function reset");
	submit(rig, &copy, 4, DOCA_ERROR_BAD_STATE);
	for (uint64_t id = 1; id <= 3; id++)
		expect_failure(rig, id);
	assert_int_equal(bfsim_fault_clear(), 0);
	expect_end_and_new_beginning(rig, &copy);
}

static void test_queue_without_jobs_is_of_no_use_when_its_function_was_reset(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);

	add_fault("function reset");
	expect_end_and_new_beginning(rig, &copy);
}

static void test_queue_cannot_be_added_to_a_context_of_a_reset_function(void **state)
{
	struct rig *rig = *state;
	struct doca_workq *other;
	struct rig_copy copy = rig_copy_new(rig);

	assert_int_equal(doca_workq_create(RIG_DEPTH, &other), DOCA_SUCCESS);
	add_fault("function reset");
	assert_int_equal(doca_ctx_workq_add(rig->ctx, other), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_workq_destroy(other), DOCA_SUCCESS);
	expect_end_and_new_beginning(rig, &copy);
}

/* The context adds an event-driven queue for the test: the rig's is polled. */
static void test_a_reset_wakes_a_thread_that_sleeps_on_a_queue(void **state)
{
	struct rig *rig = *state;
	struct rig_copy copy = rig_copy_new(rig);
	struct pollfd wait = { .events = POLLIN };

	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_set_event_driven_enable(rig->workq, 1), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
	add_fault("dma.memcpy nth=1 hang");
	submit(rig, &copy, 1, DOCA_SUCCESS);
	assert_int_equal(doca_workq_get_event_handle(rig->workq, &wait.fd), DOCA_SUCCESS);
	assert_int_equal(doca_workq_event_handle_arm(rig->workq), DOCA_SUCCESS);
	assert_int_equal(poll(&wait, 1, 0), 0);
	add_fault("function remove");
	assert_int_equal(poll(&wait, 1, DEADLINE_MS), 1);
	assert_int_equal(doca_workq_event_handle_clear(rig->workq, wait.fd), DOCA_SUCCESS);
	expect_failure(rig, 1);
	add_fault("function add");
	expect_end_and_new_beginning(rig, &copy);
}

static int teardown(void **state)
{
	return bfsim_fault_clear() | rig_teardown(state);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, rig_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_start_that_a_fault_hits_fails_and_the_next_one_succeeds),
		TEST(test_adding_a_queue_starts_nothing_that_faults_could_hit),
		TEST(test_a_fault_at_an_address_hits_a_job_that_overwrites_it),
		TEST(test_jobs_in_flight_fail_in_order_when_their_function_is_reset),
		TEST(test_queue_without_jobs_is_of_no_use_when_its_function_was_reset),
		TEST(test_queue_cannot_be_added_to_a_context_of_a_reset_function),
		TEST(test_a_reset_wakes_a_thread_that_sleeps_on_a_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
