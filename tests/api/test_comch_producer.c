/* SPDX-License-Identifier: BSD-3-Clause */
/* Producers: creation, configuration and states, and their send tasks. */
#include <doca_log.h>
#include <stdio.h>
#include <string.h>

#include "comch_fast.h"
#include "log_file.h"

/* unreachable: doca_comch_producer_create DOCA_ERROR_NOT_PERMITTED: both ends of a connection are of one version
 * unreachable: doca_comch_producer_destroy DOCA_ERROR_INITIALIZATION: nothing is initialized to destroy one
 */

#define MANY 5000

static void some_send(struct doca_comch_producer_task_send *task, union doca_data a, union doca_data b)
{
}

static void test_producer_is_made_of_an_established_connection_dpu(struct side *side)
{
	struct doca_dev *small = comch_open("03:00.2");
	struct doca_dev_rep *rep = comch_open_rep(small, "b1:00.1");
	struct comch_actor *server = comch_server(side, small, rep, COMCH_NAME);

	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\ndisconnected\n");
	comch_end(server);
	MUST(doca_dev_rep_close(rep));
	MUST(doca_dev_close(small));
}

static void test_producer_is_made_of_an_established_connection_host(struct side *side)
{
	struct doca_dev *small = comch_open("b1:00.1");
	struct comch_actor *client = comch_client(side, small, COMCH_NAME);
	struct doca_comch_producer *producers[3], *more = NULL;
	struct doca_comch_connection *connection;
	FILE *log = log_file_open(DOCA_LOG_LEVEL_ERROR);
	uint32_t id, other;

	comch_start(client);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	MUST(doca_comch_client_get_connection(client->client, &connection));
	/* provokes: doca_comch_producer_create DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_producer_create(NULL, &more), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_create(connection, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_create((struct doca_comch_connection *)side->pe, &more), DOCA_ERROR_INVALID_VALUE);
	for (int i = 0; i < 3; i++)
		MUST(doca_comch_producer_create(connection, &producers[i]));
	/* provokes: doca_comch_producer_create DOCA_ERROR_NO_MEMORY */
	EXPECT(doca_comch_producer_create(connection, &more), DOCA_ERROR_NO_MEMORY);
	CHECK(!more);
	CHECK(log_file_has(log, "doca_comch_producer_create: the connection has 3 producers, the device's limit"));
	/* provokes: doca_comch_producer_get_id DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_producer_get_id(producers[0], &id));
	MUST(doca_comch_producer_get_id(producers[1], &other));
	CHECK(id > 0 && other > 0 && id != other);
	EXPECT(doca_comch_producer_get_id(NULL, &id), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_get_id(producers[0], NULL), DOCA_ERROR_INVALID_VALUE);
	for (int i = 0; i < 3; i++)
		MUST(doca_comch_producer_destroy(producers[i]));
	/* provokes: doca_comch_producer_destroy DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_producer_destroy(producers[0]), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK(!doca_comch_producer_as_ctx(producers[0]) && !doca_comch_producer_as_ctx(NULL));
	EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
	/* provokes: doca_comch_producer_create DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_producer_create(connection, &more), DOCA_ERROR_BAD_STATE);
	comch_end(client);
	EXPECT(doca_comch_producer_create(connection, &more), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_dev_close(small));
}

static void test_producer_is_configured_while_idle_only_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_close(&fast);
}

static void test_producer_is_configured_while_idle_only_host(struct side *side)
{
	struct doca_comch_producer_task_send *send;
	struct doca_comch_producer *producer;
	struct doca_comch_gpu_producer *gpu_handle;
	doca_dpa_dev_comch_producer_t handle;
	FILE *log = log_file_open(DOCA_LOG_LEVEL_ERROR);
	struct comch_actor *actor;
	struct fast fast;

	fast_open_host(&fast, side);
	MUST(doca_comch_producer_create(side->connection, &producer));
	actor = comch_actor(side, "producer", doca_comch_producer_as_ctx(producer));
	/* provokes: doca_comch_producer_get_dpa_handle DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_producer_get_dpa_handle(producer, &handle), DOCA_ERROR_BAD_STATE);
	EXPECT(doca_comch_producer_set_dev_max_num_send(producer, 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_set_dev_max_num_send(producer, 8), DOCA_ERROR_NOT_SUPPORTED);
	EXPECT(doca_comch_producer_set_dev_num_send(producer, 0), DOCA_ERROR_INVALID_VALUE); /* its name in 2.7 */
	EXPECT(doca_comch_producer_set_dev_num_send(producer, 8), DOCA_ERROR_NOT_SUPPORTED);
	EXPECT(doca_comch_producer_get_gpu_handle(producer, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_get_gpu_handle(producer, &gpu_handle), DOCA_ERROR_NOT_SUPPORTED);
	EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_BAD_STATE); /* no tasks */
	/* provokes: doca_comch_producer_task_send_set_conf DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_producer_task_send_set_conf(producer, some_send, some_send, 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_task_send_set_conf(producer, some_send, some_send, 2049), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_task_send_set_conf(producer, NULL, some_send, 1), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_task_send_set_conf(producer, some_send, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_task_send_set_conf(NULL, some_send, some_send, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_producer_task_send_set_conf(producer, some_send, some_send, 2048));
	EXPECT(doca_comch_producer_task_send_alloc_init(producer, NULL, NULL, 0, 1, &send), DOCA_ERROR_BAD_STATE);
	CHECK(log_file_has(log, "doca_comch_producer_task_send_alloc_init: the context is not running"));
	MUST(doca_ctx_start(actor->ctx));
	/* provokes: doca_comch_producer_task_send_alloc_init DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_producer_task_send_set_conf DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_producer_task_send_set_conf(producer, some_send, some_send, 1), DOCA_ERROR_BAD_STATE);
	EXPECT(doca_comch_producer_destroy(producer), DOCA_ERROR_IN_USE);
	EXPECT(doca_comch_producer_task_send_alloc_init(NULL, NULL, NULL, 0, 1, &send), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_task_send_alloc_init(producer, NULL, NULL, 0, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_producer_task_send_alloc_init(producer, NULL, NULL, 1, 1, &send), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_ctx_stop(actor->ctx)); /* nothing is in flight */
	comch_expect(side, "producer: idle -> running\nproducer: running -> stopping\nproducer: stopping -> idle\n");
	fast_end_producer(actor, producer);
	comch_forget(side);
	fast_close(&fast);
}

/* ---- tasks ---- */

static struct doca_task *kept;

static void keep(struct comch_actor *actor, struct doca_task *task)
{
	kept = task;
}

static void test_send_task_can_be_changed_between_flights_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, 10));
	fast_post(fast.consumer, 2, NULL);
	comch_sync_send(side, 0);
	comch_expect(side, "got 1: \"first\"\ngot 2: + \"second\"\n");
	fast_close(&fast);
}

static void test_send_task_can_be_changed_between_flights_host(struct side *side)
{
	struct doca_comch_producer_task_send *sends[FAST_TASKS], *more;
	uint8_t imm[] = "second";
	struct doca_buf *buf;
	struct fast fast;

	fast_open_host(&fast, side);
	comch_sync_recv(side);
	fast.actor->on.task = keep;
	buf = arena_text(fast.arena, 0, "first");
	for (uint64_t i = 0; i < FAST_TASKS; i++)
		sends[i] = fast_send(fast.producer, i, buf, NULL, fast.peer);
	/* provokes: doca_comch_producer_task_send_alloc_init DOCA_ERROR_NO_MEMORY */
	EXPECT(doca_comch_producer_task_send_alloc_init(fast.producer, buf, NULL, 0, 1, &more), DOCA_ERROR_NO_MEMORY);
	MUST(doca_task_submit_ex(doca_comch_producer_task_send_as_task(sends[0]), 0));
	doca_comch_producer_task_send_set_buf(sends[0], NULL); /* refused, all three: it is in flight */
	doca_comch_producer_task_send_set_imm_data(sends[0], imm, 6);
	doca_comch_producer_task_send_set_consumer_id(sends[0], 77);
	CHECK(doca_comch_producer_task_send_get_buf(sends[0]) == buf);
	CHECK(!doca_comch_producer_task_send_get_imm_data(sends[0]));
	CHECK(doca_comch_producer_task_send_get_consumer_id(sends[0]) == fast.peer);
	doca_ctx_flush_tasks(fast.actor->ctx);
	comch_expect(side, "put 0\n");
	CHECK(kept == doca_comch_producer_task_send_as_task(sends[0]));
	doca_comch_producer_task_send_set_buf(sends[0], NULL);
	doca_comch_producer_task_send_set_imm_data(sends[0], imm, 6);
	CHECK(doca_comch_producer_task_send_get_imm_data(sends[0]) == imm);
	CHECK(doca_comch_producer_task_send_get_imm_data_len(sends[0]) == 6);
	MUST(doca_task_submit(kept));
	comch_expect(side, "put 0\n");
	doca_comch_producer_task_send_set_imm_data(sends[0], NULL, 6);
	CHECK(doca_comch_producer_task_send_get_imm_data_len(sends[0]) == 0);
	EXPECT(doca_task_submit(kept), DOCA_ERROR_INVALID_VALUE); /* nothing to send */
	MUST(doca_buf_set_data(buf, fast.arena->bytes + ARENA_BYTES, 1));
	doca_comch_producer_task_send_set_buf(sends[0], buf);
	EXPECT(doca_task_submit(kept), DOCA_ERROR_INVALID_VALUE); /* data outside of the map */
	for (int i = 0; i < FAST_TASKS; i++)
		doca_task_free(doca_comch_producer_task_send_as_task(sends[i]));
	CHECK(!doca_comch_producer_task_send_as_task(sends[0]) && !doca_comch_producer_task_send_as_task(NULL));
	CHECK(!doca_comch_producer_task_send_get_buf(NULL) && !doca_comch_producer_task_send_get_imm_data(sends[0]));
	CHECK(doca_comch_producer_task_send_get_consumer_id(NULL) == 0);
	doca_comch_producer_task_send_set_buf(NULL, buf);
	doca_comch_producer_task_send_set_imm_data(sends[0], imm, 1);
	doca_comch_producer_task_send_set_consumer_id(NULL, 1);
	MUST(doca_buf_dec_refcount(buf, NULL));
	fast.actor->on.task = NULL;
	fast_close(&fast);
}

/* Staged sends that are never flushed fail when the producer stops, and their receives are free for other producers. */
static void test_staged_sends_fail_when_the_producer_stops_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, NULL);
	fast_post(fast.consumer, 2, NULL);
	comch_sync_send(side, 0);
	comch_expect(side, "got 1: + \"c\"\ngot 2: + \"d\"\n");
	fast_close(&fast);
}

static void test_staged_sends_fail_when_the_producer_stops_host(struct side *side)
{
	struct doca_comch_producer_task_send *send;
	struct fast fast;

	fast_open_host(&fast, side);
	comch_sync_recv(side);
	for (uint64_t i = 0; i < 2; i++) {
		send = fast_send(fast.producer, i, NULL, "a", fast.peer);
		MUST(doca_task_submit_ex(doca_comch_producer_task_send_as_task(send), 0));
	}
	EXPECT(fast_try(fast.producer, 2, NULL, "b", fast.peer), DOCA_ERROR_AGAIN);
	EXPECT(doca_ctx_stop(fast.actor->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_expect(side, "producer: running -> stopping\nput 0 failed: DOCA_ERROR_IO_FAILED\n"
			   "put 1 failed: DOCA_ERROR_IO_FAILED\nproducer: stopping -> idle\n");
	fast_start(fast.actor);
	fast_put(fast.producer, 3, NULL, "c", fast.peer);
	fast_put(fast.producer, 4, NULL, "d", fast.peer);
	comch_expect(side, "put 3\nput 4\n");
	fast_close(&fast);
}

/* ---- many ---- */

static struct fast storm;
static uint32_t num_received;

/* Receive the next number, and post again. */
static void take_number(struct comch_actor *actor, struct doca_task *task)
{
	struct doca_comch_consumer_task_post_recv *recv = (struct doca_comch_consumer_task_post_recv *)task;
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(recv);
	uint32_t number, imm;
	void *data;

	if (doca_task_get_status(task) != DOCA_SUCCESS) { /* the last ones, when it stops */
		actor->side->trace[0] = '\0';
		doca_task_free(task);
		MUST(doca_buf_dec_refcount(buf, NULL));
		return;
	}
	MUST(doca_buf_get_data(buf, &data));
	memcpy(&number, data, sizeof(number));
	memcpy(&imm, doca_comch_consumer_task_post_recv_get_imm_data(recv), sizeof(imm));
	CHECK(number == num_received && imm == num_received);
	num_received++;
	MUST(doca_buf_reset_data_len(buf));
	MUST(doca_task_submit(task));
}

static void test_many_messages_arrive_in_order_dpu(struct side *side)
{
	fast_open_dpu(&storm, side);
	side->is_quiet = true;
	storm.actor->on.task = take_number;
	for (uint64_t i = 0; i < FAST_TASKS; i++)
		fast_post(storm.consumer, i, arena_empty(storm.arena, i * 4096, 4096));
	comch_sync_send(side, 0);
	comch_until(side, num_received == MANY);
	fast_close(&storm);
}

static void test_many_messages_arrive_in_order_host(struct side *side)
{
	doca_error_t result;

	fast_open_host(&storm, side);
	side->is_quiet = true;
	comch_sync_recv(side);
	for (uint32_t i = 0; i < MANY; i++) {
		size_t len = i % 3 == 0 ? 4096 : 4 + i % 500; /* some through the queue, some directly */
		uint8_t *bytes = storm.arena->bytes + i % FAST_TASKS * 4096;
		struct doca_comch_producer_task_send *send;
		struct doca_buf *buf;

		comch_until(side, side->num_sent + FAST_TASKS > i);
		buf = arena_empty(storm.arena, i % FAST_TASKS * 4096, 4096);
		MUST(doca_buf_set_data(buf, bytes, len));
		memcpy(bytes, &i, sizeof(i));
		MUST(doca_comch_producer_task_send_alloc_init(storm.producer, buf, (uint8_t *)&i, sizeof(i), storm.peer,
							      &send));
		while ((result = doca_task_submit(doca_comch_producer_task_send_as_task(send))) == DOCA_ERROR_AGAIN)
			doca_pe_progress(side->pe);
		MUST(result);
	}
	comch_until(side, side->num_sent == MANY);
	fast_close(&storm);
}

/* ---- sizes ---- */

/* On the devices with small limits, which give 4096 bytes. */
static void test_messages_are_as_large_as_the_device_takes_dpu(struct side *side)
{
	struct doca_dev *small = comch_open("03:00.2");
	struct doca_dev_rep *rep = comch_open_rep(small, "b1:00.1");
	struct comch_actor *server = comch_server(side, small, rep, COMCH_NAME), *actor;
	struct arena *arena = arena_open(small);
	struct doca_buf *too_large = arena_empty(arena, 0, 4097);
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_consumer *consumer;

	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\n");
	actor = fast_consumer(side, side->connection, arena, &consumer);
	fast_start(actor);
	recv = fast_recv(consumer, 1, too_large);
	EXPECT(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)), DOCA_ERROR_INVALID_VALUE);
	doca_comch_consumer_task_post_recv_set_buf(recv, arena_empty(arena, 8192, 4096));
	MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)));
	comch_sync_send(side, 0);
	comch_expect(side, "got 1: 4096 bytes\n");
	MUST(doca_buf_dec_refcount(too_large, NULL));
	fast_end_consumer(actor, consumer);
	comch_meet_progressing(side);
	comch_end(server);
	arena_close(arena);
	MUST(doca_dev_rep_close(rep));
	MUST(doca_dev_close(small));
}

static void test_messages_are_as_large_as_the_device_takes_host(struct side *side)
{
	struct doca_dev *small = comch_open("b1:00.1");
	struct comch_actor *client = comch_client(side, small, COMCH_NAME), *actor;
	struct arena *arena = arena_open(small);
	struct doca_buf *buf = arena_empty(arena, 0, 8192);
	FILE *log = log_file_open(DOCA_LOG_LEVEL_ERROR);
	struct doca_comch_connection *connection;
	struct doca_comch_producer *producer;

	comch_start(client);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\nnew consumer\n");
	MUST(doca_comch_client_get_connection(client->client, &connection));
	actor = fast_producer(side, connection, &producer);
	fast_start(actor);
	comch_sync_recv(side);
	MUST(doca_buf_set_data(buf, arena->bytes, 4097));
	EXPECT(fast_try(producer, 1, buf, NULL, side->consumer), DOCA_ERROR_INVALID_VALUE);
	CHECK(log_file_has(log, "larger than doca_comch_producer_cap_get_max_buf_size()")); /* than the receive, too */
	MUST(doca_buf_set_data(buf, arena->bytes, 4096));
	fast_put(producer, 1, buf, NULL, side->consumer);
	comch_expect(side, "put 1\n");
	fast_end_producer(actor, producer);
	comch_meet_progressing(side);
	comch_end(client);
	arena_close(arena);
	MUST(doca_dev_close(small));
}

static const struct CMUnitTest producer_tests[] = {
	COMCH_TEST(test_producer_is_made_of_an_established_connection),
	COMCH_TEST(test_producer_is_configured_while_idle_only),
	COMCH_TEST(test_send_task_can_be_changed_between_flights),
	COMCH_TEST(test_staged_sends_fail_when_the_producer_stops),
	COMCH_TEST(test_many_messages_arrive_in_order),
	COMCH_TEST(test_messages_are_as_large_as_the_device_takes),
};

int main(void)
{
	return comch_run(producer_tests);
}
