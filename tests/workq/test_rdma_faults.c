/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at RDMA jobs, and at the function of their context. */
#include <bfsim.h>
#include <stdio.h>
#include <string.h>

#include "rdma_rig.h"

#define BYTES 64

static void add_fault(const char *rule)
{
	assert_int_equal(bfsim_fault_add(rule, NULL), 0);
}

/* ---- each kind of job ---- */

static struct doca_buf *used[2];
static int num_used;

static struct doca_buf *use(struct doca_buf *buf)
{
	used[num_used++] = buf;
	return buf;
}

static void return_used(void)
{
	while (num_used > 0)
		rig_return(used[--num_used]);
}

static doca_error_t submit(struct end *end, int type)
{
	switch (type) {
	case DOCA_RDMA_JOB_RECV:
		return end_receive(end, 1, use(end_buf(end, 0, BYTES, 0)));
	case DOCA_RDMA_JOB_SEND:
		return end_send(end, 1, use(end_buf(end, 0, BYTES, BYTES)));
	case DOCA_RDMA_JOB_SEND_IMM:
		return end_send_imm(end, 1, use(end_buf(end, 0, BYTES, BYTES)), 7);
	case DOCA_RDMA_JOB_READ:
		return end_read(end, 1, use(end_buf(end, 0, BYTES, 0)), use(end_peer_buf(end, 0, BYTES, BYTES)));
	case DOCA_RDMA_JOB_WRITE:
		return end_write(end, 1, use(end_peer_buf(end, 0, BYTES, 0)), use(end_buf(end, 0, BYTES, BYTES)));
	case DOCA_RDMA_JOB_WRITE_IMM:
		return end_write_imm(end, 1, use(end_peer_buf(end, 0, BYTES, 0)), use(end_buf(end, 0, BYTES, BYTES)),
				     7);
	case DOCA_RDMA_JOB_ATOMIC_CMP_SWP:
		return end_swap(end, 1, use(end_peer_buf(end, 0, 8, 8)), use(end_buf(end, 0, 8, 0)), 0, 1);
	default:
		return end_add(end, 1, use(end_peer_buf(end, 0, 8, 8)), use(end_buf(end, 0, 8, 0)), 1);
	}
}

static const struct {
	const char *op;
	int type;
} kinds[] = {
	{ "rdma.receive", DOCA_RDMA_JOB_RECV },
	{ "rdma.send", DOCA_RDMA_JOB_SEND },
	{ "rdma.send_imm", DOCA_RDMA_JOB_SEND_IMM },
	{ "rdma.read", DOCA_RDMA_JOB_READ },
	{ "rdma.write", DOCA_RDMA_JOB_WRITE },
	{ "rdma.write_imm", DOCA_RDMA_JOB_WRITE_IMM },
	{ "rdma.cmp_swp", DOCA_RDMA_JOB_ATOMIC_CMP_SWP },
	{ "rdma.fetch_add", DOCA_RDMA_JOB_ATOMIC_FETCH_ADD },
};

/* Submit a job of each kind, with what it needs at the peer, under a fault; expect an event with @wanted. */
static void for_each_kind(const char *action, doca_error_t wanted)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct end *a, *b;
		struct end_event got;
		char rule[128];

		snprintf(rule, sizeof(rule), "%s nth=1 %s", kinds[i].op, action);
		add_fault(rule);
		ends_open(&a, &b, ALL_ACCESS);
		assert_int_equal(submit(a, kinds[i].type), DOCA_SUCCESS);
		if (kinds[i].type == DOCA_RDMA_JOB_RECV)
			assert_int_equal(end_send(b, 2, NULL), DOCA_SUCCESS);
		else
			assert_int_equal(end_receive(b, 2, NULL), DOCA_SUCCESS);
		got = end_retrieve(a);
		assert_int_equal(got.event.type, kinds[i].type);
		assert_int_equal(got.result.result, wanted);
		assert_int_equal(got.retrieved, DOCA_ERROR_IO_FAILED);
		assert_int_equal(bfsim_fault_unfired(NULL), 0);
		assert_int_equal(bfsim_fault_clear(), 0);
		return_used();
		if (kinds[i].type == DOCA_RDMA_JOB_RECV)
			end_retrieve(b);
		end_close(a);
		end_close(b);
	}
}

static void test_a_failed_job_of_each_kind_has_the_status_of_the_rule(void **state)
{
	for_each_kind("fail=DRIVER", DOCA_ERROR_DRIVER);
}

static void test_a_refused_job_of_each_kind_is_not_in_flight(void **state)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct end *a, *b;
		char rule[128];

		snprintf(rule, sizeof(rule), "%s nth=1 refuse=AGAIN", kinds[i].op);
		add_fault(rule);
		ends_open(&a, &b, ALL_ACCESS);
		assert_int_equal(submit(a, kinds[i].type), DOCA_ERROR_AGAIN);
		return_used();
		assert_int_equal(bfsim_fault_unfired(NULL), 0);
		assert_int_equal(bfsim_fault_clear(), 0);
		end_close(a);
		end_close(b);
	}
}

/* A destination that is full of data is what the bits flip in. */
static void test_bits_flip_in_what_a_job_has_written(void **state)
{
	struct end *a, *b;
	struct doca_buf *src, *dst;

	ends_open(&a, &b, ALL_ACCESS);
	src = end_peer_buf(a, 0, BYTES, BYTES);
	dst = end_buf(a, 0, BYTES, BYTES);
	add_fault("rdma.read nth=2 flip=1");
	for (int i = 0; i < 2; i++) {
		memset(b->memory, 'x', BYTES);
		assert_int_equal(end_read(a, 1, dst, src), DOCA_SUCCESS);
		end_expect(a, DOCA_RDMA_JOB_READ, 1);
		assert_int_equal(memcmp(a->memory, b->memory, BYTES) == 0, i == 0);
	}
	assert_int_equal(bfsim_fault_clear(), 0);
	rig_return(src);
	rig_return(dst);
	end_close(a);
	end_close(b);
}

/* A receive that a fault holds for ever does not hold the queue. */
static void test_a_receive_that_hangs_goes_with_its_queue(void **state)
{
	struct end *a, *b;
	struct doca_event event;

	ends_open(&a, &b, 0);
	add_fault("rdma.receive nth=1 hang");
	assert_int_equal(end_receive(b, 1, NULL), DOCA_SUCCESS);
	assert_int_equal(end_send(a, 2, NULL), DOCA_SUCCESS);
	end_expect(a, DOCA_RDMA_JOB_SEND, 2);
	assert_int_equal(doca_workq_progress_retrieve(b->workq, &event, 0), DOCA_ERROR_AGAIN);
	assert_int_equal(bfsim_fault_clear(), 0);
	end_close(a);
	end_close(b);
}

/* ---- starts, functions ---- */

static void test_a_start_fails_once(void **state)
{
	struct end *end = end_new(0);

	add_fault("ctx.start nth=1 fail=TIME_OUT");
	assert_int_equal(doca_ctx_start(end->ctx), DOCA_ERROR_TIME_OUT);
	end_start(end);
	assert_int_equal(bfsim_fault_unfired(NULL), 0);
	assert_int_equal(bfsim_fault_clear(), 0);
	end_close(end);
}

/* Jobs in flight end; the context is of no use, and can be taken down. */
static void test_a_reset_ends_jobs_and_the_connection(void **state)
{
	struct end *a, *b;
	const void *details;
	size_t len;

	ends_open(&a, &b, ALL_ACCESS);
	assert_int_equal(end_receive(b, 1, NULL), DOCA_SUCCESS);
	add_fault("function reset");
	assert_int_equal(end_send(b, 2, NULL), DOCA_ERROR_BAD_STATE);
	assert_int_equal(end_retrieve(b).result.result, DOCA_ERROR_IO_FAILED);
	assert_int_equal(end_state(b), DOCA_RDMA_STATE_ERROR);
	for (int i = 0; i < 2; i++)
		assert_int_equal(end_receive(b, 3, NULL), DOCA_ERROR_BAD_STATE);
	while (doca_rdma_export(b->rdma, &details, &len) == DOCA_SUCCESS)
		doca_workq_progress_retrieve(b->workq, &(struct doca_event){ 0 }, 0);
	assert_int_equal(doca_rdma_export(b->rdma, &details, &len), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_connect(b->rdma, "", 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(bfsim_fault_clear(), 0);
	end_close(a);
	end_close(b);
	ends_open(&a, &b, ALL_ACCESS); /* on devices that are opened again */
	assert_int_equal(end_receive(b, 4, NULL), DOCA_SUCCESS);
	assert_int_equal(end_send(a, 5, NULL), DOCA_SUCCESS);
	end_expect(a, DOCA_RDMA_JOB_SEND, 5);
	end_expect(b, DOCA_RDMA_JOB_RECV, 4);
	end_close(a);
	end_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_failed_job_of_each_kind_has_the_status_of_the_rule),
		cmocka_unit_test(test_a_refused_job_of_each_kind_is_not_in_flight),
		cmocka_unit_test(test_bits_flip_in_what_a_job_has_written),
		cmocka_unit_test(test_a_receive_that_hangs_goes_with_its_queue),
		cmocka_unit_test(test_a_start_fails_once),
		cmocka_unit_test(test_a_reset_ends_jobs_and_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
