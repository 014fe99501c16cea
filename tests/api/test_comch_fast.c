/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path: messages from producers to consumers, and sends that are refused or fail. */

#include "comch_fast.h"

/* ---- parts of a message ---- */

static void test_message_is_data_or_immediate_data_or_both_dpu(struct side *side)
{
	struct fast fast;
	struct doca_buf *with_data;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, 5));
	fast_post(fast.consumer, 2, NULL);
	fast_post(fast.consumer, 3, arena_empty(fast.arena, 100, 100));
	fast_post(fast.consumer, 4, arena_empty(fast.arena, 200, 10)); /* shorter than the message: no match */
	with_data = arena_text(fast.arena, 300, "before, ");
	MUST(doca_buf_dec_refcount(with_data, NULL));
	with_data = arena_empty(fast.arena, 300, 20);
	MUST(doca_buf_set_data(with_data, fast.arena->bytes + 300, 8));
	fast_post(fast.consumer, 5, with_data);
	fast_post(fast.consumer, 6, arena_empty(fast.arena, 4096, 300000));
	comch_sync_send(side, 0);
	comch_expect(side,
		     "got 1: \"hello\"\ngot 2: + \"imm\"\ngot 3: \"data\" + \"12345678901234567890123456789012\"\n"
		     "got 4: + \"no data\"\ngot 5: \"before, behind\"\ngot 6: 300000 bytes\n");
	for (size_t i = 0; i < 300000; i++)
		CHECK(fast.arena->bytes[4096 + i] == (uint8_t)(i * 7 + (i >> 8)));
	CHECK(fast.arena->bytes[4096 + 300000] == 0);
	(void)comch_sync_recv_progressing(side); /* or the producer may hear of the consumer's end first */
	fast_close(&fast);
}

static void test_message_is_data_or_immediate_data_or_both_host(struct side *side)
{
	struct fast fast;
	struct doca_buf *large;

	fast_open_host(&fast, side);
	comch_sync_recv(side);
	fast_put(fast.producer, 1, arena_text(fast.arena, 0, "hello"), NULL, fast.peer);
	fast_put(fast.producer, 2, NULL, "imm", fast.peer);
	fast_put(fast.producer, 3, arena_text(fast.arena, 100, "data"), "12345678901234567890123456789012", fast.peer);
	fast_put(fast.producer, 4, NULL, "no data", fast.peer);
	fast_put(fast.producer, 5, arena_text(fast.arena, 200, "behind"), NULL, fast.peer);
	large = arena_empty(fast.arena, 4096, 300000);
	for (size_t i = 0; i < 300000; i++)
		fast.arena->bytes[4096 + i] = (uint8_t)(i * 7 + (i >> 8));
	MUST(doca_buf_set_data(large, fast.arena->bytes + 4096, 300000));
	fast_put(fast.producer, 6, large, NULL, fast.peer);
	comch_expect(side, "put 1\nput 2\nput 3\nput 4\nput 5\nput 6\n");
	comch_sync_send(side, 0);
	fast_close(&fast);
}

/* After the submission, the memory of immediate data is the user's again. */
static void test_immediate_data_is_taken_at_submission_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, NULL);
	fast_post(fast.consumer, 2, NULL);
	comch_sync_send(side, 0);
	comch_expect(side, "got 1: + \"one\"\ngot 2: + \"two\"\n");
	comch_sync_recv_progressing(side);
	fast_close(&fast);
}

static void test_immediate_data_is_taken_at_submission_host(struct side *side)
{
	struct doca_comch_producer_task_send *tasks[2];
	char imm[] = "???";
	struct fast fast;

	fast_open_host(&fast, side);
	comch_sync_recv(side);
	for (uint64_t i = 0; i < 2; i++)
		tasks[i] = fast_send(fast.producer, i + 1, NULL, imm, fast.peer);
	for (int i = 0; i < 2; i++) { /* staged, so that no send runs before the memory is overwritten */
		memcpy(imm, i == 0 ? "one" : "two", 3);
		MUST(doca_task_submit_ex(doca_comch_producer_task_send_as_task(tasks[i]), 0));
	}
	memcpy(imm, "!!!", 3);
	doca_ctx_flush_tasks(fast.actor->ctx);
	comch_expect(side, "put 1\nput 2\n");
	comch_sync_send(side, 0);
	fast_close(&fast);
}

/* ---- refusals ---- */

static void test_send_needs_a_posted_receive_that_is_large_enough_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	comch_sync_recv_progressing(side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, 4));
	comch_sync_send(side, 0);
	comch_expect(side, "got 1: \"1234\"\n");
	fast_post(fast.consumer, 2, NULL);
	comch_sync_send(side, 0);
	comch_expect(side, "got 2: + \"x\"\n");
	fast_close(&fast);
}

static void test_send_needs_a_posted_receive_that_is_large_enough_host(struct side *side)
{
	struct fast fast;
	struct doca_buf *five, *four;

	fast_open_host(&fast, side);
	five = arena_text(fast.arena, 0, "12345");
	four = arena_text(fast.arena, 100, "1234");
	EXPECT(fast_try(fast.producer, 1, four, NULL, fast.peer), DOCA_ERROR_AGAIN);
	EXPECT(fast_try(fast.producer, 1, NULL, "x", fast.peer), DOCA_ERROR_AGAIN);
	comch_sync_send(side, 0);
	comch_sync_recv(side);
	EXPECT(fast_try(fast.producer, 1, five, NULL, fast.peer), DOCA_ERROR_INVALID_VALUE);
	fast_put(fast.producer, 1, four, NULL, fast.peer);
	comch_expect(side, "put 1\n");
	comch_sync_recv(side);
	four = arena_text(fast.arena, 100, "1234");
	EXPECT(fast_try(fast.producer, 2, four, NULL, fast.peer), DOCA_ERROR_INVALID_VALUE); /* no buffer there */
	fast_put(fast.producer, 2, NULL, "x", fast.peer);
	comch_expect(side, "put 2\n");
	MUST(doca_buf_dec_refcount(five, NULL));
	MUST(doca_buf_dec_refcount(four, NULL));
	fast_close(&fast);
}

static void test_send_of_what_is_wrong_is_refused_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	doca_ctx_stop(fast.actor->ctx);
	comch_until(side, comch_state(fast.actor) == DOCA_CTX_STATE_IDLE);
	MUST(doca_comch_consumer_set_imm_data_len(fast.consumer, 3));
	fast_start(fast.actor);
	comch_forget(side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, 100));
	comch_sync_send(side, 0);
	comch_expect(side, "got 1: \"well\" + \"imm\"\n");
	fast_close(&fast);
}

static void test_send_of_what_is_wrong_is_refused_host(struct side *side)
{
	struct doca_buf *list, *tail, *empty, *gone, *foreign;
	struct doca_dev *other_dev;
	struct arena *other;
	struct fast fast;

	fast_open_host(&fast, side);
	comch_sync_recv_progressing(side);
	comch_expect(side, "expired consumer\nnew consumer\n");
	list = arena_text(fast.arena, 0, "a");
	tail = arena_text(fast.arena, 10, "b");
	MUST(doca_buf_chain_list(list, tail));
	empty = arena_empty(fast.arena, 20, 10);
	gone = arena_text(fast.arena, 30, "c");
	MUST(doca_buf_dec_refcount(gone, NULL));
	other_dev = comch_open("b1:00.1");
	other = arena_open(other_dev);
	foreign = arena_text(other, 0, "d");
	EXPECT(fast_try(fast.producer, 1, list, NULL, fast.peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(fast_try(fast.producer, 1, tail, NULL, fast.peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(fast_try(fast.producer, 1, empty, NULL, fast.peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(fast_try(fast.producer, 1, gone, NULL, fast.peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(fast_try(fast.producer, 1, foreign, NULL, fast.peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(fast_try(fast.producer, 1, (struct doca_buf *)side->pe, NULL, fast.peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(fast_try(fast.producer, 1, NULL, NULL, fast.peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(fast_try(fast.producer, 1, NULL, "1234", fast.peer),
	       DOCA_ERROR_INVALID_VALUE); /* the consumer takes 3 */
	EXPECT(fast_try(fast.producer, 1, NULL, "x", fast.peer + 2), DOCA_ERROR_INVALID_VALUE);
	EXPECT(fast_try(fast.producer, 1, NULL, "x", 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(fast_try(fast.producer, 1, NULL, "x", UINT32_MAX), DOCA_ERROR_INVALID_VALUE);
	fast_put(fast.producer, 1, arena_text(fast.arena, 40, "well"), "imm", fast.peer);
	comch_expect(side, "put 1\n");
	MUST(doca_buf_dec_refcount(list, NULL));
	MUST(doca_buf_dec_refcount(empty, NULL));
	MUST(doca_buf_dec_refcount(foreign, NULL));
	arena_close(other);
	MUST(doca_dev_close(other_dev));
	comch_expect(side, "");
	fast_close(&fast);
}

/* ---- consumers that stop ---- */

static void test_posted_receives_fail_when_the_consumer_stops_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, 10));
	fast_post(fast.consumer, 2, NULL);
	EXPECT(doca_ctx_stop(fast.actor->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_expect(side, "consumer: running -> stopping\nrecv 1 failed: DOCA_ERROR_IO_FAILED\n"
			   "recv 2 failed: DOCA_ERROR_IO_FAILED\nconsumer: stopping -> idle\n");
	comch_sync_recv_progressing(side);
	fast_close(&fast);
}

static void test_posted_receives_fail_when_the_consumer_stops_host(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	comch_expect(side, "expired consumer\n");
	CHECK(side->consumer == fast.peer);
	EXPECT(fast_try(fast.producer, 1, NULL, "x", fast.peer), DOCA_ERROR_INVALID_VALUE);
	comch_sync_send(side, 0);
	fast_close(&fast);
}

static void keep(struct comch_actor *actor, struct doca_task *task)
{
}

/* Programs that clean up before they stop do this, against the reference: the library frees the tasks. */
static void test_consumer_stops_whose_posted_receives_were_freed_dpu(struct side *side)
{
	struct doca_buf *buf;
	struct doca_task *tasks[2];
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast.actor->on.task = keep;
	buf = arena_empty(fast.arena, 0, 10);
	tasks[0] = doca_comch_consumer_task_post_recv_as_task(fast_recv(fast.consumer, 1, buf));
	tasks[1] = doca_comch_consumer_task_post_recv_as_task(fast_recv(fast.consumer, 2, NULL));
	for (int i = 0; i < 2; i++) {
		MUST(doca_task_submit(tasks[i]));
		doca_task_free(tasks[i]);
	}
	MUST(doca_buf_dec_refcount(buf, NULL));
	EXPECT(doca_ctx_stop(fast.actor->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_expect(side, "consumer: running -> stopping\nrecv 1 failed: DOCA_ERROR_IO_FAILED\n"
			   "recv 2 failed: DOCA_ERROR_IO_FAILED\nconsumer: stopping -> idle\n");
	fast_close(&fast);
}

static void test_consumer_stops_whose_posted_receives_were_freed_host(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	comch_expect(side, "expired consumer\n");
	fast_close(&fast);
}

/* Consumers that start and stop before the endpoint progresses: no event reports them, and freed ones are not
 * accessed. */
static void test_consumer_may_live_faster_than_its_endpoint_progresses_dpu(struct side *side)
{
	struct doca_comch_consumer *second;
	struct fast fast;

	fast_open_dpu(&fast, side);
	comch_forget(side);
	for (int i = 0; i < 3; i++) {
		MUST(doca_ctx_stop(fast.actor->ctx));
		EXPECT(doca_ctx_start(fast.actor->ctx), DOCA_ERROR_IN_PROGRESS);
		MUST(doca_ctx_stop(fast.actor->ctx));
		EXPECT(doca_ctx_start(fast.actor->ctx), DOCA_ERROR_IN_PROGRESS);
	}
	MUST(doca_ctx_stop(fast.actor->ctx));
	fast_end_consumer(fast.actor, fast.consumer);
	comch_forget(side);
	fast.actor = fast_consumer(side, side->connection, fast.arena, &second);
	fast.consumer = second;
	comch_sync_send(side, 0);
	fast_start(fast.actor);
	comch_sync_recv_progressing(side);
	fast_close(&fast);
}

static void test_consumer_may_live_faster_than_its_endpoint_progresses_host(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	comch_sync_recv_progressing(side);
	comch_expect(side, "expired consumer\nnew consumer\n");
	CHECK(side->consumer != fast.peer);
	comch_sync_send(side, 0);
	fast_close(&fast);
}

/* ---- connections that end ---- */

static void test_connection_with_started_consumers_is_in_use_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	/* provokes: doca_comch_server_disconnect DOCA_ERROR_IN_USE */
	EXPECT(doca_comch_server_disconnect(fast.endpoint->server, side->connection), DOCA_ERROR_IN_USE);
	EXPECT(doca_ctx_stop(fast.endpoint->ctx), DOCA_ERROR_IN_USE);
	comch_meet_progressing(side);
	doca_ctx_stop(fast.actor->ctx);
	comch_until(side, comch_state(fast.actor) == DOCA_CTX_STATE_IDLE);
	MUST(doca_comch_server_disconnect(fast.endpoint->server,
					  side->connection)); /* idle consumers and producers do not hinder the end */
	EXPECT(doca_ctx_start(fast.actor->ctx), DOCA_ERROR_NOT_CONNECTED);
	comch_forget(side);
	fast_close(&fast);
}

static void test_connection_with_started_consumers_is_in_use_host(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	EXPECT(doca_ctx_stop(fast.endpoint->ctx), DOCA_ERROR_IN_USE);
	CHECK(comch_state(fast.endpoint) == DOCA_CTX_STATE_RUNNING);
	comch_meet_progressing(side);
	/* The server disconnects. Consumers and producers on the client stop, and then the client is idle. */
	comch_until(side, comch_state(fast.endpoint) == DOCA_CTX_STATE_IDLE);
	CHECK(comch_state(fast.actor) == DOCA_CTX_STATE_IDLE);
	EXPECT(doca_ctx_start(fast.actor->ctx), DOCA_ERROR_NOT_CONNECTED);
	fast_close(&fast);
}

static void test_consumer_and_its_receives_end_with_the_connection_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, 10));
	comch_sync_send(side, 0);
	comch_until(side, comch_state(fast.actor) == DOCA_CTX_STATE_IDLE && strstr(side->trace, "disconnected"));
	CHECK(strstr(side->trace, "recv 1 failed: DOCA_ERROR_CONNECTION_RESET\n"));
	EXPECT(doca_comch_connection_update_info(side->connection),
	       DOCA_ERROR_CONNECTION_ABORTED); /* the consumer holds the map */
	fast_end_consumer(fast.actor, fast.consumer);
	EXPECT(doca_comch_connection_update_info(side->connection), DOCA_ERROR_INVALID_VALUE);
	fast.consumer = NULL;
	fast_close(&fast);
}

static void test_consumer_and_its_receives_end_with_the_connection_host(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	fast_end_producer(fast.actor, fast.producer);
	fast.producer = NULL;
	comch_sync_recv(side);
	EXPECT(doca_ctx_stop(fast.endpoint->ctx), DOCA_ERROR_IN_PROGRESS);
	fast_close(&fast);
}

/* ---- memory that is gone ---- */

#define GONE       (512u * 1024) /* offset in the arena */
#define GONE_BYTES (64u * 1024)

/* Receive 1 gets a short message, which comes through the slot, 3 a long one, which the producer writes. */
static void test_posted_buffers_that_were_unmapped_fail_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, GONE, 64));
	fast_post(fast.consumer, 2, arena_empty(fast.arena, 0, 64));
	fast_post(fast.consumer, 3, arena_empty(fast.arena, GONE + 64, 8192));
	arena_unmap(fast.arena, GONE, GONE_BYTES);
	comch_sync_send(side, 0);
	comch_expect(side, "recv 1 failed: DOCA_ERROR_IO_FAILED\ngot 2: \"well\"\n"
			   "recv 3 failed: DOCA_ERROR_IO_FAILED\n");
	(void)comch_sync_recv_progressing(side);
	fast_close(&fast);
}

static void test_posted_buffers_that_were_unmapped_fail_host(struct side *side)
{
	struct fast fast;
	struct doca_buf *large;

	fast_open_host(&fast, side);
	comch_sync_recv(side);
	fast_put(fast.producer, 1, arena_text(fast.arena, 0, "short"), NULL, fast.peer);
	fast_put(fast.producer, 2, arena_text(fast.arena, 100, "well"), NULL, fast.peer);
	large = arena_empty(fast.arena, 4096, 8000);
	MUST(doca_buf_set_data(large, fast.arena->bytes + 4096, 8000));
	fast_put(fast.producer, 3, large, NULL, fast.peer);
	comch_expect(side, "put 1\nput 2\nproducer: running -> stopping\nput 3 failed: DOCA_ERROR_IO_FAILED\n"
			   "producer: stopping -> idle\n");
	comch_sync_send(side, 0);
	fast_close(&fast);
}

/* The consumer gets no bytes that were never sent: its receives fail. */
static void test_messages_that_were_unmapped_fail_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, 64));
	fast_post(fast.consumer, 2, arena_empty(fast.arena, 8192, 8192));
	comch_sync_send(side, 0);
	comch_expect(side, "recv 1 failed: DOCA_ERROR_IO_FAILED\n");
	comch_sync_send(side, 0);
	comch_expect(side, "recv 2 failed: DOCA_ERROR_IO_FAILED\n");
	(void)comch_sync_recv_progressing(side);
	fast_close(&fast);
}

/* Stage a send, and unmap its message. */
static void send_unmapped(struct fast *fast, uint64_t number, size_t len)
{
	struct doca_buf *buf = arena_empty(fast->arena, GONE, len);
	struct doca_task *task;

	MUST(doca_buf_set_data(buf, fast->arena->bytes + GONE, len));
	task = doca_comch_producer_task_send_as_task(fast_send(fast->producer, number, buf, NULL, fast->peer));
	MUST(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE));
	arena_unmap(fast->arena, GONE, GONE_BYTES);
	doca_ctx_flush_tasks(fast->actor->ctx);
}

static void test_messages_that_were_unmapped_fail_host(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	for (uint64_t number = 1; number <= 2; number++) {
		char text[128];

		snprintf(text, sizeof(text),
			 "producer: running -> stopping\nput %d failed: DOCA_ERROR_IO_FAILED\n"
			 "producer: stopping -> idle\n",
			 (int)number);
		comch_sync_recv(side);
		send_unmapped(&fast, number, number == 1 ? 64 : 8000);
		comch_expect(side, text);
		fast_start(fast.actor);
	}
	comch_forget(side);
	comch_sync_send(side, 0);
	fast_close(&fast);
}

static const struct CMUnitTest fast_tests[] = {
	COMCH_TEST(test_message_is_data_or_immediate_data_or_both),
	COMCH_TEST(test_immediate_data_is_taken_at_submission),
	COMCH_TEST(test_send_needs_a_posted_receive_that_is_large_enough),
	COMCH_TEST(test_send_of_what_is_wrong_is_refused),
	COMCH_TEST(test_posted_receives_fail_when_the_consumer_stops),
	COMCH_TEST(test_consumer_stops_whose_posted_receives_were_freed),
	COMCH_TEST(test_consumer_may_live_faster_than_its_endpoint_progresses),
	COMCH_TEST(test_connection_with_started_consumers_is_in_use),
	COMCH_TEST(test_consumer_and_its_receives_end_with_the_connection),
	COMCH_NATIVE_TEST(test_posted_buffers_that_were_unmapped_fail),
	COMCH_NATIVE_TEST(test_messages_that_were_unmapped_fail),
};

int main(void)
{
	return comch_run(fast_tests);
}
