/* SPDX-License-Identifier: BSD-3-Clause */
/* MsgQs: messages between this processor and kernels, in both directions. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "dpa_msgq_util.h"
#include "log_file.h"
#include "unordered.h"

static struct doca_dev *dev;

/* ---- a dialogue ---- */

static void test_message_wakes_a_thread_which_answers(void **state)
{
	static const char text[] = "56 bytes are what DPUmesh sends, and 60 its limit: so.";
	struct msgq_rig *rig = *state;

	msgq_run_echo(rig);
	msgq_post(rig, 1);
	assert_ok(msgq_try_send(rig, text, sizeof(text)));
	msgq_progress_until(rig, &rig->num_received, 1);
	assert_int_equal(rig->last_len, sizeof(text));
	assert_string_equal(rig->last, text);
	msgq_progress_until(rig, &rig->num_sent, 1);
	assert_int_equal(msgq_read_args(rig).activations, 1);
}

static void test_dialogue_goes_on(void **state)
{
	struct msgq_rig *rig = *state;

	msgq_run_echo(rig);
	rig->reposts = true;
	msgq_post(rig, MSGQ_DEPTH);
	for (unsigned int i = 0; i < 1000; i++) {
		msgq_send_byte(rig, (uint8_t)i);
		msgq_progress_until(rig, &rig->num_received, i + 1);
		assert_int_equal(rig->last[0], (uint8_t)i);
	}
	msgq_progress_until(rig, &rig->num_sent, 1000);
	assert_int_equal(msgq_read_args(rig).messages, 1000);
}

/* ---- to the DPA ---- */

static void test_ids_begin_with_one(void **state)
{
	struct msgq_rig *rig = *state;
	uint32_t consumer, producer;

	assert_ok(doca_comch_consumer_get_id(rig->dpa_consumer, &consumer));
	assert_ok(doca_comch_producer_get_id(rig->cpu_producer, &producer));
	assert_int_equal(consumer, 1);
	assert_int_equal(producer, 2);
	assert_int_equal(rig->handles.consumer_id, 1);
}

static void test_kernel_takes_messages_in_order(void **state)
{
	struct msgq_rig *rig = *state;
	doca_dpa_dev_uintptr_t place;
	uint32_t producer;

	assert_ok(doca_dpa_mem_alloc(rig->dpa, sizeof(producer), &place));
	MSGQ_RPC(rig, post_receives, rig->handles.consumer, 3u);
	for (uint8_t i = 1; i <= 3; i++)
		msgq_send_byte(rig, i);
	msgq_progress_until(rig, &rig->num_sent, 3);
	for (uint8_t i = 1; i <= 3; i++)
		assert_int_equal(MSGQ_RPC(rig, take_message, rig->handles.consumer_completion, place), i);
	assert_int_equal(MSGQ_RPC(rig, take_message, rig->handles.consumer_completion, (uint64_t)0), 256);
	assert_ok(doca_dpa_d2h_memcpy(rig->dpa, &producer, place, sizeof(producer)));
	assert_int_equal(producer, 2);
	assert_ok(doca_dpa_mem_free(rig->dpa, place));
}

static void test_without_a_receive_the_send_is_refused_for_now(void **state)
{
	struct msgq_rig *rig = *state;

	assert_doca(msgq_try_send(rig, "a", 1), DOCA_ERROR_AGAIN);
	MSGQ_RPC(rig, post_receives, rig->handles.consumer, 1u);
	msgq_send_byte(rig, 'b');
	assert_doca(msgq_try_send(rig, "c", 1), DOCA_ERROR_AGAIN);
	msgq_progress_until(rig, &rig->num_sent, 1);
	assert_int_equal(MSGQ_RPC(rig, take_message, rig->handles.consumer_completion, (uint64_t)0), 'b');
}

/* The completion context has room for MSGQ_DEPTH messages: one more waits until one is acknowledged. */
static void test_message_waits_for_room_in_the_completion_context(void **state)
{
	struct msgq_rig *rig = *state;
	uint64_t completion = rig->handles.consumer_completion;

	MSGQ_RPC(rig, post_receives, rig->handles.consumer, MSGQ_DEPTH);
	for (uint8_t i = 0; i < MSGQ_DEPTH; i++)
		msgq_send_byte(rig, i);
	msgq_progress_until(rig, &rig->num_sent, MSGQ_DEPTH);
	assert_int_equal(MSGQ_RPC(rig, take_without_ack, completion), 1);
	MSGQ_RPC(rig, post_receives, rig->handles.consumer, 1u);
	msgq_send_byte(rig, MSGQ_DEPTH);
	msgq_progress_until(rig, &rig->num_sent, MSGQ_DEPTH + 1);
	for (uint8_t i = 1; i < MSGQ_DEPTH; i++)
		assert_int_equal(MSGQ_RPC(rig, take_message, completion, (uint64_t)0), i);
	assert_int_equal(MSGQ_RPC(rig, take_message, completion, (uint64_t)0), MSGQ_DEPTH);
}

static void test_more_receives_than_the_queue_has_are_fatal(void **state)
{
	struct msgq_rig *rig = *state;

	MSGQ_RPC(rig, post_receives, rig->handles.consumer, MSGQ_DEPTH);
	MSGQ_RPC_FAILS(rig, post_receives, rig->handles.consumer, 1u);
}

static void test_message_is_gone_once_it_is_acknowledged(void **state)
{
	struct msgq_rig *rig = *state;

	MSGQ_RPC(rig, post_receives, rig->handles.consumer, 1u);
	msgq_send_byte(rig, 'x');
	msgq_progress_until(rig, &rig->num_sent, 1);
	MSGQ_RPC_FAILS(rig, read_acked_message, rig->handles.consumer_completion);
}

static void test_send_takes_neither_no_bytes_nor_too_many(void **state)
{
	static uint8_t bytes[MSGQ_IMM_BYTES + 1];
	struct msgq_rig *rig = *state;

	MSGQ_RPC(rig, post_receives, rig->handles.consumer, 1u);
	assert_invalid(msgq_try_send(rig, bytes, sizeof(bytes)));
	assert_invalid(msgq_try_send(rig, NULL, 0));
	assert_ok(msgq_try_send(rig, bytes, MSGQ_IMM_BYTES));
}

/* ---- from the DPA ---- */

#define NUM_IN_TURN 1000

#define SENT   ((uint64_t)0 << 32 | 0x123456)
#define FAILED ((uint64_t)13 << 32 | 0x123456)

static void test_kernel_sends_and_gets_a_completion(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;

	assert_int_equal(MSGQ_RPC(rig, is_consumer_empty, handles->producer, handles->consumer_id), 1);
	msgq_post(rig, 1);
	assert_int_equal(MSGQ_RPC(rig, is_consumer_empty, handles->producer, handles->consumer_id), 0);
	MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, 32u, 1u);
	assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), SENT);
	assert_true(MSGQ_RPC(rig, take_sent, handles->producer_completion) == UINT64_MAX);
	msgq_progress_until(rig, &rig->num_received, 1);
	assert_int_equal(rig->last_len, 32);
	assert_int_equal(rig->last[31], 63);
	assert_int_equal(rig->last_producer, 2);
}

static void test_send_without_report_has_no_completion(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;

	msgq_post(rig, 2);
	MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, 1u, 2u);
	MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, 2u, 1u);
	assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), SENT);
	assert_true(MSGQ_RPC(rig, take_sent, handles->producer_completion) == UINT64_MAX);
	msgq_progress_until(rig, &rig->num_received, 2);
}

static void test_kernels_messages_wait_for_receives(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;

	for (uint32_t len = 1; len <= MSGQ_DEPTH; len++)
		MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, len, 1u);
	assert_true(MSGQ_RPC(rig, take_sent, handles->producer_completion) == UINT64_MAX);
	for (uint32_t len = 1; len <= MSGQ_DEPTH; len++) {
		msgq_post(rig, 1);
		assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), SENT);
		msgq_progress_until(rig, &rig->num_received, len);
		assert_int_equal(rig->last_len, len);
	}
}

static void test_messages_that_wait_fail_as_their_consumer_stops(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;

	for (uint32_t len = 1; len <= 2; len++)
		MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, len, 1u);
	msgq_stop(rig, doca_comch_consumer_as_ctx(rig->cpu_consumer));
	assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), FAILED);
	assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), FAILED);
}

static struct doca_comch_consumer *open_other_consumer(struct msgq_rig *rig, uint32_t *ret_id)
{
	struct doca_comch_consumer *consumer;
	struct doca_ctx *ctx;

	assert_ok(doca_comch_msgq_consumer_create(rig->from_dpa, &consumer));
	assert_ok(doca_comch_consumer_set_imm_data_len(consumer, MSGQ_IMM_BYTES));
	assert_ok(doca_comch_consumer_task_post_recv_set_conf(consumer, msgq_on_received, msgq_on_receive_error, 1));
	ctx = doca_comch_consumer_as_ctx(consumer);
	assert_ok(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = rig }));
	assert_ok(doca_pe_connect_ctx(rig->pe, ctx));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_comch_consumer_get_id(consumer, ret_id));
	return consumer;
}

/* The completion context has no room, as a message that has waited is sent: its completion is lost. The message behind it goes, too. */
static void test_full_completion_context_holds_up_no_message(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;
	struct doca_comch_consumer_task_post_recv *task;
	uint32_t other;
	struct doca_comch_consumer *consumer = open_other_consumer(rig, &other);

	rig->reposts = true;
	msgq_post(rig, 1);
	for (uint32_t i = 0; i < 2 * MSGQ_DEPTH; i++) {
		MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, 1u, 1u);
		rig->reposts = i + 1 < 2 * MSGQ_DEPTH;
		msgq_progress_until(rig, &rig->num_received, i + 1);
	}
	assert_ok(doca_comch_consumer_task_post_recv_alloc_init(consumer, NULL, &task));
	assert_ok(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, 2u, 1u);
	MSGQ_RPC(rig, send_bytes, handles->producer, other, 3u, 2u);
	msgq_post(rig, 1);
	msgq_progress_until(rig, &rig->num_received, 2 * MSGQ_DEPTH + 2);
	assert_int_equal(rig->lens[2 * MSGQ_DEPTH] + rig->lens[2 * MSGQ_DEPTH + 1], 5);
	msgq_stop(rig, doca_comch_consumer_as_ctx(consumer));
	assert_ok(doca_comch_consumer_destroy(consumer));
}

static void *receive_all(void *arg)
{
	msgq_progress_until(arg, &((struct msgq_rig *)arg)->num_received, NUM_IN_TURN);
	return NULL;
}

/* The kernel posts a message at the same time as the only receive is posted again. */
static void test_message_meets_a_receive_that_is_posted_meanwhile(void **state)
{
	struct msgq_rig *rig = *state;
	pthread_t receiver;

	rig->reposts = true;
	msgq_post(rig, 1);
	assert_int_equal(pthread_create(&receiver, NULL, receive_all, rig), 0);
	MSGQ_RPC(rig, send_in_turn, rig->handles, (uint32_t)NUM_IN_TURN);
	pthread_join(receiver, NULL);
}

static void test_more_messages_than_the_producer_has_are_fatal(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;

	for (uint32_t len = 1; len <= MSGQ_DEPTH; len++)
		MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, len, 1u);
	MSGQ_RPC_FAILS(rig, send_bytes, handles->producer, handles->consumer_id, 1u, 1u);
}

static void test_full_completion_context_is_fatal(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;

	rig->reposts = true;
	msgq_post(rig, 2 * MSGQ_DEPTH);
	for (uint32_t i = 0; i < 2 * MSGQ_DEPTH; i++) {
		MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, 1u, 1u);
		msgq_progress_until(rig, &rig->num_received, i + 1);
	}
	rig->reposts = false;
	MSGQ_RPC_FAILS(rig, send_bytes, handles->producer, handles->consumer_id, 1u, 1u);
}

/* After a failed send, all fail. */
static void test_unknown_consumer_fails_the_producer(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;

	msgq_post(rig, 1);
	MSGQ_RPC(rig, send_bytes, handles->producer, 77u, 1u, 1u);
	assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), FAILED);
	MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, 1u, 1u);
	assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), FAILED);
	assert_int_equal(rig->num_received, 0);
}

static void test_too_long_message_fails_the_producer(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;

	msgq_post(rig, 1);
	MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, MSGQ_IMM_BYTES + 1u, 1u);
	assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), FAILED);
	MSGQ_RPC_FAILS(rig, send_bytes, handles->producer, handles->consumer_id, 65u, 1u);
}

/* ---- copies ---- */

struct copy_rig {
	uint8_t from[256], to[256];
	struct doca_mmap *source, *target;
	struct copy_args args;
};

static void open_copy(struct copy_rig *copy, uint32_t target_access)
{
	struct doca_mmap **maps[] = { &copy->source, &copy->target };
	uint8_t *memory[] = { copy->from, copy->to };

	for (int i = 0; i < 2; i++) {
		assert_ok(doca_mmap_create(maps[i]));
		assert_ok(doca_mmap_add_dev(*maps[i], api_dev()));
		assert_ok(doca_mmap_set_permissions(*maps[i], i ? target_access : DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
		assert_ok(doca_mmap_set_memrange(*maps[i], memory[i], sizeof(copy->from)));
		assert_ok(doca_mmap_start(*maps[i]));
	}
	memset(copy->from, 'f', sizeof(copy->from));
	memset(copy->to, 't', sizeof(copy->to));
	copy->args = (struct copy_args){ .dst = (uintptr_t)copy->to, .src = (uintptr_t)copy->from, .len = 128 };
	assert_ok(doca_mmap_dev_get_dpa_handle(copy->source, api_dev(), &copy->args.src_map));
	assert_ok(doca_mmap_dev_get_dpa_handle(copy->target, api_dev(), &copy->args.dst_map));
}

static void close_copy(struct copy_rig *copy)
{
	assert_ok(doca_mmap_destroy(copy->source));
	assert_ok(doca_mmap_destroy(copy->target));
}

static void expect_copy(struct msgq_rig *rig, uint32_t access)
{
	struct copy_rig copy;

	open_copy(&copy, access);
	msgq_post(rig, 1);
	MSGQ_RPC(rig, copy_and_tell, rig->handles.producer, rig->handles.consumer_id, copy.args);
	msgq_progress_until(rig, &rig->num_received, 1);
	assert_memory_equal(rig->last, "copy", 4);
	assert_memory_equal(copy.to, copy.from, 128);
	assert_int_equal(copy.to[128], 't');
	assert_int_equal(MSGQ_RPC(rig, take_sent, rig->handles.producer_completion), SENT);
	close_copy(&copy);
}

static void test_copy_is_done_when_its_message_is_there(void **state)
{
	expect_copy(*state, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

/* As public programs do. */
static void test_permission_for_the_other_side_is_one_to_write(void **state)
{
	expect_copy(*state, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
}

/* Each wrong copy fails a producer, copies nothing and sends nothing. */
static void expect_failed_copy(struct msgq_rig *rig, const struct copy_rig *copy, struct copy_args args)
{
	struct doca_ctx *ctx = doca_comch_producer_as_ctx(rig->dpa_producer);

	MSGQ_RPC(rig, copy_and_tell, rig->handles.producer, rig->handles.consumer_id, args);
	assert_int_equal(MSGQ_RPC(rig, take_sent, rig->handles.producer_completion), FAILED);
	assert_int_equal(copy->to[0], 't');
	msgq_stop(rig, ctx);
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_comch_producer_get_dpa_handle(rig->dpa_producer, &rig->handles.producer));
}

static void test_wrong_copies_fail_the_producer(void **state)
{
	struct msgq_rig *rig = *state;
	struct copy_args args;
	struct copy_rig copy;

	open_copy(&copy, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	msgq_post(rig, 1);
	args = copy.args;
	args.dst_map = 0;
	expect_failed_copy(rig, &copy, args);
	args = copy.args;
	args.src_map += 1;
	expect_failed_copy(rig, &copy, args);
	args = copy.args;
	args.dst += 129;
	expect_failed_copy(rig, &copy, args);
	args = copy.args;
	args.src -= 1;
	expect_failed_copy(rig, &copy, args);
	args = copy.args;
	args.len = UINT64_MAX - 64;
	expect_failed_copy(rig, &copy, args);
	assert_int_equal(rig->num_received, 0);
	close_copy(&copy);
}

/* The copy's turn comes behind the message that waits. */
static void test_wrong_copy_fails_in_its_turn(void **state)
{
	struct msgq_rig *rig = *state;
	struct echo_args *handles = &rig->handles;
	const struct copy_args none = { .len = 8 };

	MSGQ_RPC(rig, send_bytes, handles->producer, handles->consumer_id, 1u, 1u);
	MSGQ_RPC(rig, copy_and_tell, handles->producer, handles->consumer_id, none);
	assert_true(MSGQ_RPC(rig, take_sent, handles->producer_completion) == UINT64_MAX);
	msgq_post(rig, 1);
	assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), SENT);
	assert_int_equal(MSGQ_RPC(rig, take_sent, handles->producer_completion), FAILED);
	msgq_progress_until(rig, &rig->num_received, 1);
}

static void test_copy_to_a_map_that_is_read_only_fails(void **state)
{
	struct msgq_rig *rig = *state;
	struct copy_rig copy;

	open_copy(&copy, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	msgq_post(rig, 1);
	expect_failed_copy(rig, &copy, copy.args);
	close_copy(&copy);
}

static void test_msgqs_take_no_buffers(void **state)
{
	FILE *log = log_file_open(DOCA_LOG_LEVEL_ERROR);
	struct msgq_rig *rig = *state;
	struct doca_comch_consumer_task_post_recv *receive;
	struct doca_comch_producer_task_send *send;
	struct doca_buf_inventory *inventory;
	struct copy_rig copy;
	struct doca_buf *buf;

	open_copy(&copy, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	assert_ok(doca_buf_inventory_create(1, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, copy.target, copy.to, 8, &buf));
	MSGQ_RPC(rig, post_receives, rig->handles.consumer, 1u);
	assert_ok(doca_comch_producer_task_send_alloc_init(rig->cpu_producer, buf, NULL, 0, 1, &send));
	assert_invalid(doca_task_submit(doca_comch_producer_task_send_as_task(send)));
	assert_true(log_file_has(log, "a MsgQ sends immediate data only"));
	doca_task_free(doca_comch_producer_task_send_as_task(send));
	assert_ok(doca_comch_consumer_task_post_recv_alloc_init(rig->cpu_consumer, buf, &receive));
	assert_invalid(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(receive)));
	assert_true(log_file_has(log, "a MsgQ brings immediate data only"));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(receive));
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	close_copy(&copy);
}

/* ---- states ---- */

static void test_stop_flushes_the_cpus_receives(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_ctx *ctx = doca_comch_consumer_as_ctx(rig->cpu_consumer);

	msgq_post(rig, 3);
	msgq_stop(rig, ctx);
	assert_int_equal(rig->num_receive_errors, 3);
	MSGQ_RPC(rig, send_bytes, rig->handles.producer, rig->handles.consumer_id, 1u, 1u);
	assert_int_equal(MSGQ_RPC(rig, take_sent, rig->handles.producer_completion), FAILED);
}

static void test_handles_end_with_their_contexts(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_ctx *ctx = doca_comch_producer_as_ctx(rig->dpa_producer);
	doca_dpa_dev_comch_producer_t handle;

	msgq_stop(rig, ctx);
	/* provokes: doca_comch_producer_get_dpa_handle DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comch_producer_get_dpa_handle(rig->dpa_producer, &handle), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_consumer_get_dpa_handle DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comch_consumer_get_dpa_handle(rig->cpu_consumer, &handle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_comch_producer_get_dpa_handle(rig->dpa_producer, &handle));
	assert_true(handle != rig->handles.producer);
	MSGQ_RPC_FAILS(rig, send_bytes, rig->handles.producer, rig->handles.consumer_id, 1u, 1u);
}

/* The child has no thread that runs its parent's kernels, of which one sleeps. */
static void test_child_destroys_its_parents_ends(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_ctx *ctx[] = { doca_comch_producer_as_ctx(rig->cpu_producer),
				   doca_comch_producer_as_ctx(rig->dpa_producer),
				   doca_comch_consumer_as_ctx(rig->cpu_consumer),
				   doca_comch_consumer_as_ctx(rig->dpa_consumer) };
	pid_t child;

	msgq_run_echo(rig);
	child = api_fork();
	if (child == 0) {
		int num_failed = 0;

		for (int i = 0; i < 4; i++)
			num_failed += doca_ctx_stop(ctx[i]) != DOCA_SUCCESS;
		num_failed += doca_comch_producer_destroy(rig->dpa_producer) != DOCA_SUCCESS;
		num_failed += doca_comch_consumer_destroy(rig->dpa_consumer) != DOCA_SUCCESS;
		num_failed += doca_comch_consumer_completion_stop(rig->taken) != DOCA_SUCCESS;
		num_failed += doca_comch_consumer_completion_destroy(rig->taken) != DOCA_SUCCESS;
		num_failed += doca_dpa_completion_stop(rig->sent) != DOCA_SUCCESS;
		num_failed += doca_dpa_completion_destroy(rig->sent) != DOCA_SUCCESS;
		_exit(num_failed);
	}
	api_join(child);
	msgq_post(rig, 1);
	msgq_send_byte(rig, 5);
	msgq_progress_until(rig, &rig->num_received, 1);
}

static void test_what_is_in_use_does_not_stop(void **state)
{
	struct msgq_rig *rig = *state;

	assert_doca(doca_comch_msgq_stop(rig->to_dpa), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_comch_msgq_destroy(rig->to_dpa), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_comch_msgq_set_dpa_producer(rig->to_dpa, rig->dpa), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_comch_consumer_completion_stop(rig->taken), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_comch_consumer_completion_destroy(rig->taken), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_consumer_completion_set_imm_data_len DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comch_consumer_completion_set_imm_data_len(rig->taken, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_dpa_completion_stop DOCA_ERROR_BAD_STATE */
	assert_doca(doca_dpa_completion_stop(rig->sent), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_dpa_completion_destroy DOCA_ERROR_BAD_STATE */
	assert_doca(doca_dpa_completion_destroy(rig->sent), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_thread_destroy(rig->thread), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_stop(rig->dpa), DOCA_ERROR_IN_USE);
}

static void test_msgq_has_as_many_ends_as_configured(void **state)
{
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct msgq_rig *rig = *state;

	assert_doca(doca_comch_msgq_consumer_create(rig->to_dpa, &consumer), DOCA_ERROR_NO_MEMORY);
	assert_doca(doca_comch_msgq_producer_create(rig->to_dpa, &producer), DOCA_ERROR_NO_MEMORY);
}

/* ---- locks, at which the thread sanitizer looks ---- */

static void start_producer(void *producer)
{
	assert_ok(doca_ctx_start(doca_comch_producer_as_ctx(producer)));
}

static void post_receive(void *rig)
{
	msgq_post(rig, 1);
}

/* A receive wakes the producers that wait for one: it goes through their list. */
static void test_producers_start_and_receives_are_posted_under_the_msgqs_lock(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_comch_producer *producers[3];
	struct doca_dpa_completion *sent[3];
	static struct unordered calls;

	for (int i = 0; i < 3; i++) {
		assert_ok(doca_dpa_completion_create(rig->dpa, MSGQ_DEPTH, &sent[i]));
		assert_ok(doca_dpa_completion_start(sent[i]));
		producers[i] = msgq_new_dpa_producer(rig, sent[i]);
	}
	unordered_run(&calls, start_producer, producers[0]);
	unordered_run(&calls, start_producer, producers[1]);
	unordered_run(&calls, post_receive, rig);
	unordered_run(&calls, start_producer, producers[2]);
	unordered_end(&calls);
	for (int i = 0; i < 3; i++) {
		msgq_stop(rig, doca_comch_producer_as_ctx(producers[i]));
		assert_ok(doca_comch_producer_destroy(producers[i]));
		assert_ok(doca_dpa_completion_destroy(sent[i]));
	}
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, msgq_setup, msgq_teardown)

static const struct CMUnitTest tests[] = {
	WITH_RIG(test_message_wakes_a_thread_which_answers),
	WITH_RIG(test_dialogue_goes_on),
	WITH_RIG(test_ids_begin_with_one),
	WITH_RIG(test_kernel_takes_messages_in_order),
	WITH_RIG(test_without_a_receive_the_send_is_refused_for_now),
	WITH_RIG(test_message_waits_for_room_in_the_completion_context),
	WITH_RIG(test_more_receives_than_the_queue_has_are_fatal),
	WITH_RIG(test_message_is_gone_once_it_is_acknowledged),
	WITH_RIG(test_send_takes_neither_no_bytes_nor_too_many),
	WITH_RIG(test_kernel_sends_and_gets_a_completion),
	WITH_RIG(test_send_without_report_has_no_completion),
	WITH_RIG(test_kernels_messages_wait_for_receives),
	WITH_RIG(test_messages_that_wait_fail_as_their_consumer_stops),
	WITH_RIG(test_full_completion_context_holds_up_no_message),
	WITH_RIG(test_message_meets_a_receive_that_is_posted_meanwhile),
	WITH_RIG(test_more_messages_than_the_producer_has_are_fatal),
	WITH_RIG(test_full_completion_context_is_fatal),
	WITH_RIG(test_unknown_consumer_fails_the_producer),
	WITH_RIG(test_too_long_message_fails_the_producer),
	WITH_RIG(test_copy_is_done_when_its_message_is_there),
	WITH_RIG(test_permission_for_the_other_side_is_one_to_write),
	WITH_RIG(test_wrong_copies_fail_the_producer),
	WITH_RIG(test_wrong_copy_fails_in_its_turn),
	WITH_RIG(test_copy_to_a_map_that_is_read_only_fails),
	WITH_RIG(test_msgqs_take_no_buffers),
	WITH_RIG(test_stop_flushes_the_cpus_receives),
	WITH_RIG(test_handles_end_with_their_contexts),
	WITH_RIG(test_child_destroys_its_parents_ends),
	WITH_RIG(test_what_is_in_use_does_not_stop),
	WITH_RIG(test_msgq_has_as_many_ends_as_configured),
	WITH_RIG(test_producers_start_and_receives_are_posted_under_the_msgqs_lock),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(tests) });
}
