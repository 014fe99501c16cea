/* SPDX-License-Identifier: BSD-3-Clause */
/* Setters and getters of RDMA's tasks: what allocate_init was given, what a setter changes, and handles that are none. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "rdma_util.h"

struct pair {
	struct peer *a, *b;
	struct doca_buf *bufs[2];
};

static int open_pair(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	pair->a = peer_open(0, RDMA_ALL_ACCESS);
	pair->b = peer_open(0, RDMA_ALL_ACCESS);
	peer_start(pair->a);
	peer_start(pair->b);
	peers_connect(pair->a, pair->b);
	peers_connect(pair->a, pair->b);
	peer_share_event(pair->b, pair->a);
	for (int i = 0; i < 2; i++)
		pair->bufs[i] = peer_buf(pair->a, 64 * (size_t)i, 64, 8);
	*state = pair;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *pair = *state;

	for (int i = 0; i < 2; i++)
		MUST(doca_buf_dec_refcount(pair->bufs[i], NULL));
	peer_close(pair->a);
	peer_close(pair->b);
	free(pair);
	return 0;
}

static void test_members_of_send(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_send *task;

	MUST(doca_rdma_task_send_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0],
					       (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_send_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_send_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_send_get_src_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_send_get_rdma_connection(task), pair->a->connections[0]);
	doca_rdma_task_send_set_src_buf(task, pair->bufs[1]);
	doca_rdma_task_send_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_send_get_src_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_send_get_rdma_connection(task), pair->a->connections[1]);
	assert_null(doca_rdma_task_send_as_task(NULL));
	assert_null(doca_rdma_task_send_get_src_buf(NULL));
	doca_rdma_task_send_set_src_buf(NULL, pair->bufs[0]); /* logged */
	assert_result(doca_rdma_task_send_allocate_init(NULL, pair->a->connections[0], pair->bufs[0],
							(union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_send_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0],
							(union doca_data){ .u64 = 5 }, NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_send_allocate_init(pair->a->rdma, pair->b->connections[0], pair->bufs[0],
							(union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_send_as_task(task));
	assert_null(doca_rdma_task_send_as_task(task)); /* freed */
}

static void test_members_of_send_imm(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_send_imm *task;

	MUST(doca_rdma_task_send_imm_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0], 7,
						   (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_send_imm_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_send_imm_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_send_imm_get_src_buf(task), pair->bufs[0]);
	assert_int_equal(doca_rdma_task_send_imm_get_immediate_data(task), 7);
	assert_ptr_equal(doca_rdma_task_send_imm_get_rdma_connection(task), pair->a->connections[0]);
	doca_rdma_task_send_imm_set_src_buf(task, pair->bufs[1]);
	doca_rdma_task_send_imm_set_immediate_data(task, 8);
	doca_rdma_task_send_imm_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_send_imm_get_src_buf(task), pair->bufs[1]);
	assert_int_equal(doca_rdma_task_send_imm_get_immediate_data(task), 8);
	assert_ptr_equal(doca_rdma_task_send_imm_get_rdma_connection(task), pair->a->connections[1]);
	assert_null(doca_rdma_task_send_imm_as_task(NULL));
	assert_null(doca_rdma_task_send_imm_get_src_buf(NULL));
	doca_rdma_task_send_imm_set_src_buf(NULL, pair->bufs[0]); /* logged */
	assert_int_equal(doca_rdma_task_send_imm_get_immediate_data(NULL), 0);
	doca_rdma_task_send_imm_set_immediate_data(NULL, 7); /* logged */
	assert_result(doca_rdma_task_send_imm_allocate_init(NULL, pair->a->connections[0], pair->bufs[0], 7,
							    (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_send_imm_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0], 7,
							    (union doca_data){ .u64 = 5 }, NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_send_imm_allocate_init(pair->a->rdma, pair->b->connections[0], pair->bufs[0], 7,
							    (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_send_imm_as_task(task));
	assert_null(doca_rdma_task_send_imm_as_task(task)); /* freed */
}

static void test_members_of_read(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_read *task;

	MUST(doca_rdma_task_read_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0], pair->bufs[0],
					       (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_read_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_read_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_read_get_src_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_read_get_dst_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_read_get_rdma_connection(task), pair->a->connections[0]);
	doca_rdma_task_read_set_src_buf(task, pair->bufs[1]);
	doca_rdma_task_read_set_dst_buf(task, pair->bufs[1]);
	doca_rdma_task_read_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_read_get_src_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_read_get_dst_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_read_get_rdma_connection(task), pair->a->connections[1]);
	assert_null(doca_rdma_task_read_as_task(NULL));
	assert_null(doca_rdma_task_read_get_src_buf(NULL));
	doca_rdma_task_read_set_src_buf(NULL, pair->bufs[0]); /* logged */
	assert_null(doca_rdma_task_read_get_dst_buf(NULL));
	doca_rdma_task_read_set_dst_buf(NULL, pair->bufs[0]); /* logged */
	assert_result(doca_rdma_task_read_allocate_init(NULL, pair->a->connections[0], pair->bufs[0], pair->bufs[0],
							(union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_read_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0],
							pair->bufs[0], (union doca_data){ .u64 = 5 }, NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_read_allocate_init(pair->a->rdma, pair->b->connections[0], pair->bufs[0],
							pair->bufs[0], (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_task_read_get_result_len(task), 0);
	doca_task_free(doca_rdma_task_read_as_task(task));
	assert_null(doca_rdma_task_read_as_task(task)); /* freed */
}

static void test_members_of_write(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_write *task;

	MUST(doca_rdma_task_write_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0], pair->bufs[0],
						(union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_write_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_write_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_write_get_src_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_write_get_dst_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_write_get_rdma_connection(task), pair->a->connections[0]);
	doca_rdma_task_write_set_src_buf(task, pair->bufs[1]);
	doca_rdma_task_write_set_dst_buf(task, pair->bufs[1]);
	doca_rdma_task_write_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_write_get_src_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_write_get_dst_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_write_get_rdma_connection(task), pair->a->connections[1]);
	assert_null(doca_rdma_task_write_as_task(NULL));
	assert_null(doca_rdma_task_write_get_src_buf(NULL));
	doca_rdma_task_write_set_src_buf(NULL, pair->bufs[0]); /* logged */
	assert_null(doca_rdma_task_write_get_dst_buf(NULL));
	doca_rdma_task_write_set_dst_buf(NULL, pair->bufs[0]); /* logged */
	assert_result(doca_rdma_task_write_allocate_init(NULL, pair->a->connections[0], pair->bufs[0], pair->bufs[0],
							 (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_write_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0],
							 pair->bufs[0], (union doca_data){ .u64 = 5 }, NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_write_allocate_init(pair->a->rdma, pair->b->connections[0], pair->bufs[0],
							 pair->bufs[0], (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_write_as_task(task));
	assert_null(doca_rdma_task_write_as_task(task)); /* freed */
}

static void test_members_of_write_imm(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_write_imm *task;

	MUST(doca_rdma_task_write_imm_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0],
						    pair->bufs[0], 7, (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_write_imm_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_write_imm_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_write_imm_get_src_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_write_imm_get_dst_buf(task), pair->bufs[0]);
	assert_int_equal(doca_rdma_task_write_imm_get_immediate_data(task), 7);
	assert_ptr_equal(doca_rdma_task_write_imm_get_rdma_connection(task), pair->a->connections[0]);
	doca_rdma_task_write_imm_set_src_buf(task, pair->bufs[1]);
	doca_rdma_task_write_imm_set_dst_buf(task, pair->bufs[1]);
	doca_rdma_task_write_imm_set_immediate_data(task, 8);
	doca_rdma_task_write_imm_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_write_imm_get_src_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_write_imm_get_dst_buf(task), pair->bufs[1]);
	assert_int_equal(doca_rdma_task_write_imm_get_immediate_data(task), 8);
	assert_ptr_equal(doca_rdma_task_write_imm_get_rdma_connection(task), pair->a->connections[1]);
	assert_null(doca_rdma_task_write_imm_as_task(NULL));
	assert_null(doca_rdma_task_write_imm_get_src_buf(NULL));
	doca_rdma_task_write_imm_set_src_buf(NULL, pair->bufs[0]); /* logged */
	assert_null(doca_rdma_task_write_imm_get_dst_buf(NULL));
	doca_rdma_task_write_imm_set_dst_buf(NULL, pair->bufs[0]); /* logged */
	assert_int_equal(doca_rdma_task_write_imm_get_immediate_data(NULL), 0);
	doca_rdma_task_write_imm_set_immediate_data(NULL, 7); /* logged */
	assert_result(doca_rdma_task_write_imm_allocate_init(NULL, pair->a->connections[0], pair->bufs[0],
							     pair->bufs[0], 7, (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_write_imm_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0],
							     pair->bufs[0], 7, (union doca_data){ .u64 = 5 }, NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_write_imm_allocate_init(pair->a->rdma, pair->b->connections[0], pair->bufs[0],
							     pair->bufs[0], 7, (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_write_imm_as_task(task));
	assert_null(doca_rdma_task_write_imm_as_task(task)); /* freed */
}

static void test_members_of_atomic_cmp_swp(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_atomic_cmp_swp *task;

	MUST(doca_rdma_task_atomic_cmp_swp_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0],
							 pair->bufs[0], 7, 7, (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_atomic_cmp_swp_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_atomic_cmp_swp_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_atomic_cmp_swp_get_dst_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_atomic_cmp_swp_get_result_buf(task), pair->bufs[0]);
	assert_int_equal(doca_rdma_task_atomic_cmp_swp_get_cmp_data(task), 7);
	assert_int_equal(doca_rdma_task_atomic_cmp_swp_get_swap_data(task), 7);
	assert_ptr_equal(doca_rdma_task_atomic_cmp_swp_get_rdma_connection(task), pair->a->connections[0]);
	doca_rdma_task_atomic_cmp_swp_set_dst_buf(task, pair->bufs[1]);
	doca_rdma_task_atomic_cmp_swp_set_result_buf(task, pair->bufs[1]);
	doca_rdma_task_atomic_cmp_swp_set_cmp_data(task, 8);
	doca_rdma_task_atomic_cmp_swp_set_swap_data(task, 8);
	doca_rdma_task_atomic_cmp_swp_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_atomic_cmp_swp_get_dst_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_atomic_cmp_swp_get_result_buf(task), pair->bufs[1]);
	assert_int_equal(doca_rdma_task_atomic_cmp_swp_get_cmp_data(task), 8);
	assert_int_equal(doca_rdma_task_atomic_cmp_swp_get_swap_data(task), 8);
	assert_ptr_equal(doca_rdma_task_atomic_cmp_swp_get_rdma_connection(task), pair->a->connections[1]);
	assert_null(doca_rdma_task_atomic_cmp_swp_as_task(NULL));
	assert_null(doca_rdma_task_atomic_cmp_swp_get_dst_buf(NULL));
	doca_rdma_task_atomic_cmp_swp_set_dst_buf(NULL, pair->bufs[0]); /* logged */
	assert_null(doca_rdma_task_atomic_cmp_swp_get_result_buf(NULL));
	doca_rdma_task_atomic_cmp_swp_set_result_buf(NULL, pair->bufs[0]); /* logged */
	assert_int_equal(doca_rdma_task_atomic_cmp_swp_get_cmp_data(NULL), 0);
	doca_rdma_task_atomic_cmp_swp_set_cmp_data(NULL, 7); /* logged */
	assert_int_equal(doca_rdma_task_atomic_cmp_swp_get_swap_data(NULL), 0);
	doca_rdma_task_atomic_cmp_swp_set_swap_data(NULL, 7); /* logged */
	assert_result(doca_rdma_task_atomic_cmp_swp_allocate_init(NULL, pair->a->connections[0], pair->bufs[0],
								  pair->bufs[0], 7, 7, (union doca_data){ .u64 = 5 },
								  &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_atomic_cmp_swp_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0],
								  pair->bufs[0], 7, 7, (union doca_data){ .u64 = 5 },
								  NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_atomic_cmp_swp_allocate_init(pair->a->rdma, pair->b->connections[0], pair->bufs[0],
								  pair->bufs[0], 7, 7, (union doca_data){ .u64 = 5 },
								  &task),
		      DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_atomic_cmp_swp_as_task(task));
	assert_null(doca_rdma_task_atomic_cmp_swp_as_task(task)); /* freed */
}

static void test_members_of_atomic_fetch_add(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_atomic_fetch_add *task;

	MUST(doca_rdma_task_atomic_fetch_add_allocate_init(pair->a->rdma, pair->a->connections[0], pair->bufs[0],
							   pair->bufs[0], 7, (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_atomic_fetch_add_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_atomic_fetch_add_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_atomic_fetch_add_get_dst_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_atomic_fetch_add_get_result_buf(task), pair->bufs[0]);
	assert_int_equal(doca_rdma_task_atomic_fetch_add_get_add_data(task), 7);
	assert_ptr_equal(doca_rdma_task_atomic_fetch_add_get_rdma_connection(task), pair->a->connections[0]);
	doca_rdma_task_atomic_fetch_add_set_dst_buf(task, pair->bufs[1]);
	doca_rdma_task_atomic_fetch_add_set_result_buf(task, pair->bufs[1]);
	doca_rdma_task_atomic_fetch_add_set_add_data(task, 8);
	doca_rdma_task_atomic_fetch_add_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_atomic_fetch_add_get_dst_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_atomic_fetch_add_get_result_buf(task), pair->bufs[1]);
	assert_int_equal(doca_rdma_task_atomic_fetch_add_get_add_data(task), 8);
	assert_ptr_equal(doca_rdma_task_atomic_fetch_add_get_rdma_connection(task), pair->a->connections[1]);
	assert_null(doca_rdma_task_atomic_fetch_add_as_task(NULL));
	assert_null(doca_rdma_task_atomic_fetch_add_get_dst_buf(NULL));
	doca_rdma_task_atomic_fetch_add_set_dst_buf(NULL, pair->bufs[0]); /* logged */
	assert_null(doca_rdma_task_atomic_fetch_add_get_result_buf(NULL));
	doca_rdma_task_atomic_fetch_add_set_result_buf(NULL, pair->bufs[0]); /* logged */
	assert_int_equal(doca_rdma_task_atomic_fetch_add_get_add_data(NULL), 0);
	doca_rdma_task_atomic_fetch_add_set_add_data(NULL, 7); /* logged */
	assert_result(doca_rdma_task_atomic_fetch_add_allocate_init(NULL, pair->a->connections[0], pair->bufs[0],
								    pair->bufs[0], 7, (union doca_data){ .u64 = 5 },
								    &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_atomic_fetch_add_allocate_init(pair->a->rdma, pair->a->connections[0],
								    pair->bufs[0], pair->bufs[0], 7,
								    (union doca_data){ .u64 = 5 }, NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_atomic_fetch_add_allocate_init(pair->a->rdma, pair->b->connections[0],
								    pair->bufs[0], pair->bufs[0], 7,
								    (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_atomic_fetch_add_as_task(task));
	assert_null(doca_rdma_task_atomic_fetch_add_as_task(task)); /* freed */
}

static void test_members_of_receive(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_receive *task;

	MUST(doca_rdma_task_receive_allocate_init(pair->a->rdma, pair->bufs[0], (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_receive_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_receive_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_receive_get_dst_buf(task), pair->bufs[0]);
	doca_rdma_task_receive_set_dst_buf(task, pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_receive_get_dst_buf(task), pair->bufs[1]);
	assert_null(doca_rdma_task_receive_as_task(NULL));
	assert_null(doca_rdma_task_receive_get_dst_buf(NULL));
	doca_rdma_task_receive_set_dst_buf(NULL, pair->bufs[0]); /* logged */
	assert_result(doca_rdma_task_receive_allocate_init(NULL, pair->bufs[0], (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(
		doca_rdma_task_receive_allocate_init(pair->a->rdma, pair->bufs[0], (union doca_data){ .u64 = 5 }, NULL),
		DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_task_receive_get_result_len(task), 0);
	assert_null(doca_rdma_task_receive_get_result_rdma_connection(task));
	doca_task_free(doca_rdma_task_receive_as_task(task));
	assert_null(doca_rdma_task_receive_as_task(task)); /* freed */
}

static void test_members_of_remote_net_sync_event_get(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_remote_net_sync_event_get *task;

	MUST(doca_rdma_task_remote_net_sync_event_get_allocate_init(pair->a->rdma, pair->a->connections[0],
								    pair->a->events[0], pair->bufs[0],
								    (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_remote_net_sync_event_get_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_remote_net_sync_event_get_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_sync_event(task), pair->a->events[0]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(task), pair->a->connections[0]);
	doca_rdma_task_remote_net_sync_event_get_set_sync_event(task, pair->a->events[1]);
	doca_rdma_task_remote_net_sync_event_get_set_dst_buf(task, pair->bufs[1]);
	doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_sync_event(task), pair->a->events[1]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(task), pair->a->connections[1]);
	assert_null(doca_rdma_task_remote_net_sync_event_get_as_task(NULL));
	assert_null(doca_rdma_task_remote_net_sync_event_get_get_sync_event(NULL));
	doca_rdma_task_remote_net_sync_event_get_set_sync_event(NULL, pair->a->events[0]); /* logged */
	assert_null(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(NULL));
	doca_rdma_task_remote_net_sync_event_get_set_dst_buf(NULL, pair->bufs[0]); /* logged */
	assert_result(doca_rdma_task_remote_net_sync_event_get_allocate_init(NULL, pair->a->connections[0],
									     pair->a->events[0], pair->bufs[0],
									     (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_remote_net_sync_event_get_allocate_init(pair->a->rdma, pair->a->connections[0],
									     pair->a->events[0], pair->bufs[0],
									     (union doca_data){ .u64 = 5 }, NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_remote_net_sync_event_get_allocate_init(pair->a->rdma, pair->b->connections[0],
									     pair->a->events[0], pair->bufs[0],
									     (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_task_remote_net_sync_event_get_get_result_len(task), 0);
	doca_task_free(doca_rdma_task_remote_net_sync_event_get_as_task(task));
	assert_null(doca_rdma_task_remote_net_sync_event_get_as_task(task)); /* freed */
}

static void test_members_of_remote_net_sync_event_notify_set(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_remote_net_sync_event_notify_set *task;

	MUST(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(pair->a->rdma, pair->a->connections[0],
									   pair->a->events[0], pair->bufs[0],
									   (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(task), pair->a->events[0]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(task), pair->bufs[0]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(task),
			 pair->a->connections[0]);
	doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(task, pair->a->events[1]);
	doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(task, pair->bufs[1]);
	doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(task), pair->a->events[1]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(task), pair->bufs[1]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(task),
			 pair->a->connections[1]);
	assert_null(doca_rdma_task_remote_net_sync_event_notify_set_as_task(NULL));
	assert_null(doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(NULL));
	doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(NULL, pair->a->events[0]); /* logged */
	assert_null(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(NULL));
	doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(NULL, pair->bufs[0]); /* logged */
	assert_result(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
			      NULL, pair->a->connections[0], pair->a->events[0], pair->bufs[0],
			      (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
			      pair->a->rdma, pair->a->connections[0], pair->a->events[0], pair->bufs[0],
			      (union doca_data){ .u64 = 5 }, NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
			      pair->a->rdma, pair->b->connections[0], pair->a->events[0], pair->bufs[0],
			      (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
	assert_null(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task)); /* freed */
}

static void test_members_of_remote_net_sync_event_notify_add(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_remote_net_sync_event_notify_add *task;

	MUST(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(pair->a->rdma, pair->a->connections[0],
									   pair->a->events[0], pair->bufs[0], 7,
									   (union doca_data){ .u64 = 5 }, &task));
	assert_non_null(doca_rdma_task_remote_net_sync_event_notify_add_as_task(task));
	assert_true(doca_task_get_user_data(doca_rdma_task_remote_net_sync_event_notify_add_as_task(task)).u64 == 5);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(task), pair->a->events[0]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(task), pair->bufs[0]);
	assert_int_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(task), 7);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(task),
			 pair->a->connections[0]);
	doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(task, pair->a->events[1]);
	doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(task, pair->bufs[1]);
	doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(task, 8);
	doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(task, pair->a->connections[1]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(task), pair->a->events[1]);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(task), pair->bufs[1]);
	assert_int_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(task), 8);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(task),
			 pair->a->connections[1]);
	assert_null(doca_rdma_task_remote_net_sync_event_notify_add_as_task(NULL));
	assert_null(doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(NULL));
	doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(NULL, pair->a->events[0]); /* logged */
	assert_null(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(NULL));
	doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(NULL, pair->bufs[0]); /* logged */
	assert_int_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(NULL), 0);
	doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(NULL, 7); /* logged */
	assert_result(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
			      NULL, pair->a->connections[0], pair->a->events[0], pair->bufs[0], 7,
			      (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
			      pair->a->rdma, pair->a->connections[0], pair->a->events[0], pair->bufs[0], 7,
			      (union doca_data){ .u64 = 5 }, NULL),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
			      pair->a->rdma, pair->b->connections[0], pair->a->events[0], pair->bufs[0], 7,
			      (union doca_data){ .u64 = 5 }, &task),
		      DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_remote_net_sync_event_notify_add_as_task(task));
	assert_null(doca_rdma_task_remote_net_sync_event_notify_add_as_task(task)); /* freed */
}

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PAIR(test_members_of_send),
		WITH_PAIR(test_members_of_send_imm),
		WITH_PAIR(test_members_of_read),
		WITH_PAIR(test_members_of_write),
		WITH_PAIR(test_members_of_write_imm),
		WITH_PAIR(test_members_of_atomic_cmp_swp),
		WITH_PAIR(test_members_of_atomic_fetch_add),
		WITH_PAIR(test_members_of_receive),
		WITH_PAIR(test_members_of_remote_net_sync_event_get),
		WITH_PAIR(test_members_of_remote_net_sync_event_notify_set),
		WITH_PAIR(test_members_of_remote_net_sync_event_notify_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
