/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA jobs in virtual time: a queue progresses the engine of its RDMA context beside its own, and time passes for both. */
#include <bfsim.h>
#include <poll.h>
#include <stdlib.h>

#include "rdma_rig.h"

static struct end *a, *b;

static int open_ends(void **state)
{
	ends_open(&a, &b, ALL_ACCESS);
	return 0;
}

static int close_ends(void **state)
{
	end_close(a);
	end_close(b);
	return 0;
}

static uint64_t write_ns(void)
{
	struct doca_buf *src = end_buf(a, 0, 64, 64), *dst = end_peer_buf(a, 0, 64, 0);
	uint64_t begin_ns = bfsim_now_ns();

	assert_int_equal(end_write(a, 1, dst, src), DOCA_SUCCESS);
	end_expect(a, DOCA_RDMA_JOB_WRITE, 1);
	rig_return(src);
	rig_return(dst);
	return bfsim_now_ns() - begin_ns;
}

static void test_a_write_takes_the_same_time_each_time(void **state)
{
	uint64_t first_ns = write_ns();

	assert_in_range(first_ns, 1000, 10000);
	for (int i = 0; i < 20; i++)
		assert_int_equal(write_ns(), first_ns);
}

/* The copy of 64 bytes ends before the write, which was submitted first. */
static void test_jobs_of_two_engines_end_in_the_order_of_time(void **state)
{
	void *rig_state;
	struct rig *rig;
	struct rig_copy copy;
	struct doca_dma_job_memcpy job;
	struct doca_buf *src = end_buf(a, 0, 32768, 32768), *dst = end_peer_buf(a, 0, 32768, 0);
	struct doca_rdma_job_read_write write;
	struct end_event got[2];

	rig_setup(&rig_state);
	rig = rig_state;
	copy = rig_copy_new(rig);
	job = rig_job(rig, copy.to, copy.from, 1);
	write = (struct doca_rdma_job_read_write){ .base = { .type = DOCA_RDMA_JOB_WRITE, .ctx = a->ctx },
						   .src_buff = src,
						   .dst_buff = dst };
	assert_int_equal(doca_ctx_workq_rm(a->ctx, a->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(a->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(rig->workq, &write.base), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	for (int i = 0; i < 2; i++) {
		got[i].event.result.ptr = &got[i].result;
		while (doca_workq_progress_retrieve(rig->workq, &got[i].event, 0) == DOCA_ERROR_AGAIN)
			;
	}
	assert_int_equal(got[0].event.type, DOCA_DMA_JOB_MEMCPY);
	assert_int_equal(got[1].event.type, DOCA_RDMA_JOB_WRITE);
	assert_int_equal(got[1].result.result, DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_rm(a->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(a->ctx, a->workq), DOCA_SUCCESS);
	rig_return(src);
	rig_return(dst);
	rig_copy_free(&copy);
	rig_teardown(&rig_state);
}

static void test_a_queue_that_sleeps_wakes_for_a_message(void **state)
{
	struct pollfd wait = { .events = POLLIN };
	struct doca_event event;

	assert_int_equal(doca_ctx_workq_rm(b->ctx, b->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_set_event_driven_enable(b->workq, 1), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(b->ctx, b->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_get_event_handle(b->workq, &wait.fd), DOCA_SUCCESS);
	assert_int_equal(end_receive(b, 1, NULL), DOCA_SUCCESS);
	assert_int_equal(end_send(a, 2, NULL), DOCA_SUCCESS);
	event.result.ptr = &(struct doca_rdma_result){ 0 };
	do {
		assert_int_equal(doca_workq_event_handle_arm(b->workq), DOCA_SUCCESS);
		assert_int_equal(poll(&wait, 1, 10000), 1);
		assert_int_equal(doca_workq_event_handle_clear(b->workq, wait.fd), DOCA_SUCCESS);
	} while (doca_workq_progress_retrieve(b->workq, &event, 0) == DOCA_ERROR_AGAIN);
	assert_int_equal(event.user_data.u64, 1);
	end_expect(a, DOCA_RDMA_JOB_SEND, 2);
}

static void test_a_queue_with_waiting_receives_is_removed(void **state)
{
	uint64_t begin_ns = bfsim_now_ns();

	assert_int_equal(end_receive(b, 1, NULL), DOCA_SUCCESS);
	assert_int_equal(end_receive(b, 2, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_rm(b->ctx, b->workq), DOCA_SUCCESS);
	assert_int_equal(bfsim_now_ns(), begin_ns);
	assert_int_equal(doca_ctx_workq_add(b->ctx, b->workq), DOCA_SUCCESS);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_ends, close_ends)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_write_takes_the_same_time_each_time),
		TEST(test_jobs_of_two_engines_end_in_the_order_of_time),
		TEST(test_a_queue_that_sleeps_wakes_for_a_message),
		TEST(test_a_queue_with_waiting_receives_is_removed),
	};

	setenv("BFSIM_CLOCK", "virtual", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
