/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of RDMA that a device reports are those that it has: devices of data/rdma_limits.yaml. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "rdma_util.h"

enum device { SMALL, LARGE, SHORT_MESSAGES, WITHOUT_RDMA };

static struct doca_dev *open_dev(enum device index)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST(doca_dev_open(list[index], &dev));
	MUST(doca_devinfo_destroy_list(list));
	return dev;
}

struct fixture {
	struct doca_dev *dev;
	struct doca_rdma *rdma;
};

static struct fixture open_rdma(enum device device)
{
	struct fixture fixture = { .dev = open_dev(device) };

	MUST(doca_rdma_create(fixture.dev, &fixture.rdma));
	return fixture;
}

static void close_rdma(struct fixture *fixture)
{
	MUST(doca_rdma_destroy(fixture->rdma));
	MUST(doca_dev_close(fixture->dev));
}

static void on_receive(struct doca_rdma_task_receive *task, union doca_data user_data, union doca_data ctx_user_data)
{
	(void)user_data;
	(void)ctx_user_data;
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static uint32_t send_queue_of(const struct fixture *fixture)
{
	uint32_t got;

	MUST(doca_rdma_get_send_queue_size(fixture->rdma, &got));
	return got;
}

/* The default is 128, and sizes are rounded up to powers of two. */
static void test_send_queue_is_not_larger_than_the_device_has(void **state)
{
	struct fixture small = open_rdma(SMALL);

	assert_int_equal(send_queue_of(&small), 6);
	MUST(doca_rdma_set_send_queue_size(small.rdma, 3));
	assert_int_equal(send_queue_of(&small), 4);
	MUST(doca_rdma_set_send_queue_size(small.rdma, 5));
	assert_int_equal(send_queue_of(&small), 6);
	assert_result(doca_rdma_set_send_queue_size(small.rdma, 7), DOCA_ERROR_INVALID_VALUE);
	close_rdma(&small);
}

static void test_number_of_receives_is_that_of_the_receive_queue(void **state)
{
	struct fixture small = open_rdma(SMALL);
	uint32_t max;

	MUST(doca_rdma_cap_get_max_recv_queue_size(doca_dev_as_devinfo(small.dev), &max));
	MUST(doca_rdma_task_receive_set_conf(small.rdma, on_receive, on_receive, max));
	assert_result(doca_rdma_task_receive_set_conf(small.rdma, on_receive, on_receive, max + 1),
		      DOCA_ERROR_INVALID_VALUE);
	close_rdma(&small);
}

static void test_lists_and_gids_are_those_of_the_device(void **state)
{
	struct fixture small = open_rdma(SMALL);
	struct doca_rdma_gid gids[3];

	MUST(doca_rdma_set_max_send_buf_list_len(small.rdma, 2));
	assert_result(doca_rdma_set_max_send_buf_list_len(small.rdma, 3), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_rdma_task_receive_set_dst_buf_list_len(small.rdma, 3));
	assert_result(doca_rdma_task_receive_set_dst_buf_list_len(small.rdma, 4), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_rdma_set_gid_index(small.rdma, 1));
	assert_result(doca_rdma_set_gid_index(small.rdma, 2), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_rdma_cap_get_gid(doca_dev_as_devinfo(small.dev), 0, 2, gids));
	assert_result(doca_rdma_cap_get_gid(doca_dev_as_devinfo(small.dev), 0, 3, gids), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_cap_get_gid(doca_dev_as_devinfo(small.dev), 1, UINT32_MAX, gids),
		      DOCA_ERROR_INVALID_VALUE);
	close_rdma(&small);
}

static void test_largest_limits_do_not_wrap(void **state)
{
	struct fixture large = open_rdma(LARGE);
	uint32_t max;

	MUST(doca_rdma_set_send_queue_size(large.rdma, (1u << 31) + 1));
	assert_true(send_queue_of(&large) == UINT32_MAX);
	MUST(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(doca_dev_as_devinfo(large.dev),
								 DOCA_RDMA_TRANSPORT_TYPE_RC, &max));
	assert_true(max == UINT32_MAX);
	MUST(doca_rdma_task_receive_set_dst_buf_list_len(large.rdma, max));
	close_rdma(&large);
}

/* Tasks of 2^37 bytes, so many that the size of all wraps to 2^37. */
static void test_tasks_that_are_too_large_fail_the_start(void **state)
{
	struct fixture large = open_rdma(LARGE);
	struct doca_ctx *ctx = doca_rdma_as_ctx(large.rdma);
	struct doca_pe *pe;

	MUST(doca_pe_create(&pe));
	MUST(doca_pe_connect_ctx(pe, ctx));
	MUST(doca_rdma_task_receive_set_dst_buf_list_len(large.rdma, UINT32_MAX));
	MUST(doca_rdma_task_receive_set_conf(large.rdma, on_receive, on_receive, UINT32_MAX));
	assert_result(doca_ctx_start(ctx), DOCA_ERROR_INITIALIZATION);
	MUST(doca_rdma_task_receive_set_dst_buf_list_len(large.rdma, 1));
	MUST(doca_rdma_task_receive_set_conf(large.rdma, on_receive, on_receive, 1));
	MUST(doca_ctx_start(ctx));
	MUST(doca_ctx_stop(ctx));
	MUST(doca_rdma_destroy(large.rdma));
	MUST(doca_pe_destroy(pe));
	MUST(doca_dev_close(large.dev));
}

static void test_message_is_not_larger_than_the_device_has(void **state)
{
	struct peer *a = peer_open(SHORT_MESSAGES, RDMA_ALL_ACCESS), *b = peer_open(SHORT_MESSAGES, RDMA_ALL_ACCESS);

	peer_start(a);
	peer_start(b);
	peers_connect(a, b);
	a->may_be_refused = true;
	peer_receive(b, 1, peer_buf(b, 0, 8192, 0));
	peer_send(a, 2, peer_buf(a, 0, 4097, 4097));
	peer_send(a, 3, peer_buf(a, 0, 4096, 4096));
	peer_write(a, 4, peer_buf(a, 0, 4097, 4097), peer_remote_buf(a, b, 0, 8192, 0));
	peer_read(a, 5, peer_remote_buf(a, b, 0, 4097, 4097), peer_buf(a, 0, 8192, 0));
	peers_drain(a, b, 0);
	assert_peer_trace(a, "send 2 refused\nwrite 4 refused\nread 5 refused\nsend 3 done\n");
	assert_peer_trace(b, "receive 1 done: 4096 bytes by SEND\n");
	peer_close(a);
	peer_close(b);
}

static void test_device_without_rdma_has_no_contexts(void **state)
{
	struct doca_dev *dev = open_dev(WITHOUT_RDMA);
	struct doca_rdma *rdma;

	assert_doca(doca_rdma_create(dev, &rdma), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_rdma_cap_task_send_is_supported(doca_dev_as_devinfo(dev)), DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_dev_close(dev));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send_queue_is_not_larger_than_the_device_has),
		cmocka_unit_test(test_number_of_receives_is_that_of_the_receive_queue),
		cmocka_unit_test(test_lists_and_gids_are_those_of_the_device),
		cmocka_unit_test(test_largest_limits_do_not_wrap),
		cmocka_unit_test(test_tasks_that_are_too_large_fail_the_start),
		cmocka_unit_test(test_message_is_not_larger_than_the_device_has),
		cmocka_unit_test(test_device_without_rdma_has_no_contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
