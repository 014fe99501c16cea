/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers: creation, configuration and states, and their receive tasks. */
#include "comch_fast.h"
#include "log_file.h"

/* unreachable: doca_comch_consumer_create DOCA_ERROR_NOT_PERMITTED: both ends of a connection are of one version
 * unreachable: doca_comch_consumer_destroy DOCA_ERROR_INITIALIZATION: nothing is initialized to destroy one
 */

static void some_recv(struct doca_comch_consumer_task_post_recv *task, union doca_data a, union doca_data b)
{
}

/* A client that stays until the DPU's side of a test has ended, and a server for which the same is true. */
static void stay(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	comch_sync_recv_progressing(side);
	comch_end(client);
}

static void end(struct comch_actor *server)
{
	comch_sync_send(server->side, 0);
	comch_until(server->side, strstr(server->side->trace, "disconnected"));
	comch_end(server);
}

/* ---- creation ---- */

static void refuse_map(struct side *side, struct arena *arena, uint32_t access)
{
	struct doca_mmap *map = arena_map(arena, 0, 4096, access);
	struct doca_comch_consumer *consumer;

	EXPECT(doca_comch_consumer_create(side->connection, map, &consumer), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_destroy(map));
}

static void test_consumer_is_made_of_a_connection_and_a_writable_map_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	struct arena *arena = arena_open(side->dev);
	struct doca_comch_consumer *consumer = NULL;
	struct doca_mmap *empty;
	uint32_t id, len;

	/* provokes: doca_comch_consumer_create DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_consumer_create(NULL, arena->mmap, &consumer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_create(side->connection, NULL, &consumer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_create(side->connection, arena->mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_create(side->connection, (struct doca_mmap *)side->dev, &consumer),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_create((struct doca_comch_connection *)arena->mmap, arena->mmap, &consumer),
	       DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_create(&empty));
	EXPECT(doca_comch_consumer_create(side->connection, empty, &consumer), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_destroy(empty));
	refuse_map(side, arena, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	refuse_map(side, arena, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	refuse_map(side, arena, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	CHECK(!consumer);
	MUST(doca_comch_consumer_create(side->connection, arena->mmap, &consumer));
	/* provokes: doca_comch_consumer_get_id DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_consumer_get_id(consumer, &id));
	CHECK(id > 0);
	EXPECT(doca_comch_consumer_get_id(consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_get_id(NULL, &id), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comch_consumer_get_imm_data_len DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_consumer_get_imm_data_len(consumer, &len));
	CHECK(len == 32);
	EXPECT(doca_comch_consumer_get_imm_data_len(consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_get_imm_data_len(NULL, &len), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_consumer_destroy(consumer));
	/* provokes: doca_comch_consumer_destroy DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_consumer_destroy(consumer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK(!doca_comch_consumer_as_ctx(consumer) && !doca_comch_consumer_as_ctx(NULL));
	arena_close(arena);
	end(server);
}

static void test_consumer_needs_an_established_connection_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, "nobody");
	struct arena *arena = arena_open(side->dev);
	struct doca_comch_connection *connection;
	struct doca_comch_consumer *consumer;

	comch_start(client);
	EXPECT(doca_comch_client_get_connection(client->client, &connection), DOCA_ERROR_BAD_STATE);
	EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
	MUST(doca_comch_client_get_connection(client->client, &connection));
	/* provokes: doca_comch_consumer_create DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_consumer_create(connection, arena->mmap, &consumer), DOCA_ERROR_BAD_STATE);
	comch_end(client);
	EXPECT(doca_comch_consumer_create(connection, arena->mmap, &consumer), DOCA_ERROR_INVALID_VALUE);
	arena_close(arena);
}

static void test_connection_has_as_many_consumers_as_the_device_takes_dpu(struct side *side)
{
	struct doca_dev *small = comch_open("03:00.2");
	struct doca_dev_rep *rep = comch_open_rep(small, "b1:00.1");
	struct comch_actor *server = comch_server(side, small, rep, COMCH_NAME);
	struct arena *arena = arena_open(small);
	struct doca_comch_consumer *consumers[2], *more;

	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\n");
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 2; i++)
			MUST(doca_comch_consumer_create(side->connection, arena->mmap, &consumers[i]));
		/* provokes: doca_comch_consumer_create DOCA_ERROR_NO_MEMORY */
		EXPECT(doca_comch_consumer_create(side->connection, arena->mmap, &more), DOCA_ERROR_NO_MEMORY);
		MUST(doca_comch_consumer_destroy(consumers[0]));
		MUST(doca_comch_consumer_create(side->connection, arena->mmap, &consumers[0]));
		for (int i = 0; i < 2; i++)
			MUST(doca_comch_consumer_destroy(consumers[i]));
	}
	arena_close(arena);
	end(server);
	MUST(doca_dev_rep_close(rep));
	MUST(doca_dev_close(small));
}

static void test_connection_has_as_many_consumers_as_the_device_takes_host(struct side *side)
{
	struct doca_dev *small = comch_open("b1:00.1");
	struct comch_actor *client = comch_client(side, small, COMCH_NAME);

	comch_start(client);
	comch_sync_recv_progressing(side);
	comch_end(client);
	MUST(doca_dev_close(small));
}

/* ---- configuration and states ---- */

static void expect_settled(struct comch_actor *actor, struct doca_comch_consumer *consumer)
{
	/* provokes: doca_comch_consumer_set_imm_data_len DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_consumer_set_imm_data_len(consumer, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_consumer_task_post_recv_set_conf DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_consumer_task_post_recv_set_conf(consumer, some_recv, some_recv, 1), DOCA_ERROR_BAD_STATE);
	EXPECT(doca_comch_consumer_destroy(consumer), DOCA_ERROR_IN_USE);
	EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_BAD_STATE);
}

static void test_consumer_is_configured_while_idle_only_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side), *actor;
	struct arena *arena = arena_open(side->dev);
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_consumer *consumer;
	struct doca_comch_gpu_consumer *gpu_handle;
	doca_dpa_dev_comch_consumer_t handle;
	FILE *log = log_file_open(DOCA_LOG_LEVEL_ERROR);
	uint32_t len;

	MUST(doca_comch_consumer_create(side->connection, arena->mmap, &consumer));
	actor = comch_actor(side, "consumer", doca_comch_consumer_as_ctx(consumer));
	EXPECT(doca_comch_consumer_set_dev_max_num_recv(consumer, 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_set_dev_max_num_recv(consumer, 8), DOCA_ERROR_NOT_SUPPORTED);
	EXPECT(doca_comch_consumer_set_dev_num_recv(consumer, 0), DOCA_ERROR_INVALID_VALUE); /* its name in 2.7 */
	EXPECT(doca_comch_consumer_set_dev_num_recv(consumer, 8), DOCA_ERROR_NOT_SUPPORTED);
	EXPECT(doca_comch_consumer_get_gpu_handle(consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_get_gpu_handle(consumer, &gpu_handle), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_comch_consumer_get_dpa_handle DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_consumer_get_dpa_handle(consumer, &handle), DOCA_ERROR_BAD_STATE);
	EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_BAD_STATE); /* no tasks */
	/* provokes: doca_comch_consumer_task_post_recv_set_conf DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_consumer_task_post_recv_set_conf(consumer, some_recv, some_recv, 0),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_task_post_recv_set_conf(consumer, some_recv, some_recv, 2049),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_task_post_recv_set_conf(consumer, NULL, some_recv, 1), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_task_post_recv_set_conf(consumer, some_recv, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_task_post_recv_set_conf(NULL, some_recv, some_recv, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_consumer_task_post_recv_set_conf(consumer, some_recv, some_recv, 2048));
	/* provokes: doca_comch_consumer_set_imm_data_len DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_consumer_set_imm_data_len(consumer, 33), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_set_imm_data_len(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_consumer_set_imm_data_len(consumer, 32));
	MUST(doca_comch_consumer_set_imm_data_len(consumer, 0));
	MUST(doca_comch_consumer_get_imm_data_len(consumer, &len));
	CHECK(len == 0);
	/* provokes: doca_comch_consumer_task_post_recv_alloc_init DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_consumer_task_post_recv_alloc_init(consumer, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_task_post_recv_alloc_init(consumer, NULL, &recv), DOCA_ERROR_BAD_STATE);
	CHECK(log_file_has(log, "doca_comch_consumer_task_post_recv_alloc_init: the context is not running"));
	EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_IN_PROGRESS);
	expect_settled(actor, consumer);
	EXPECT(doca_comch_consumer_task_post_recv_alloc_init(consumer, NULL, &recv), DOCA_ERROR_BAD_STATE);
	comch_expect(side, "consumer: idle -> starting\nconsumer: starting -> running\n");
	expect_settled(actor, consumer);
	EXPECT(doca_mmap_stop(arena->mmap), DOCA_ERROR_NOT_PERMITTED);
	EXPECT(doca_mmap_destroy(arena->mmap), DOCA_ERROR_NOT_PERMITTED);
	EXPECT(doca_comch_consumer_get_dpa_handle(consumer, &handle), DOCA_ERROR_BAD_STATE);
	MUST(doca_ctx_stop(actor->ctx)); /* nothing is posted */
	MUST(doca_comch_consumer_set_imm_data_len(consumer, 1));
	fast_end_consumer(actor, consumer);
	arena_close(arena);
	end(server);
}

static void test_consumer_starts_on_a_map_that_is_there_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side), *actor;
	struct arena *arena = arena_open(side->dev);
	struct doca_mmap *map = arena_map(arena, 0, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct doca_comch_consumer *consumer;

	MUST(doca_comch_consumer_create(side->connection, map, &consumer));
	MUST(doca_comch_consumer_task_post_recv_set_conf(consumer, some_recv, some_recv, 1));
	actor = comch_actor(side, "consumer", doca_comch_consumer_as_ctx(consumer));
	MUST(doca_mmap_stop(map));
	EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_BAD_STATE);
	MUST(doca_mmap_destroy(map));
	EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_BAD_STATE);
	map = arena_map(arena, 0, 4096, DOCA_ACCESS_FLAG_PCI_READ_ONLY); /* maybe at the same address */
	EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_BAD_STATE);
	MUST(doca_mmap_destroy(map));
	fast_end_consumer(actor, consumer);
	arena_close(arena);
	end(server);
}

/* The endpoint announces it, by the same engine, which had no event for the endpoint when it was armed. */
static void test_consumer_starts_on_an_armed_engine_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side), *actor;
	struct arena *arena = arena_open(side->dev);
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
	struct doca_comch_consumer *consumer;

	actor = fast_consumer(side, side->connection, arena, &consumer);
	while (doca_pe_progress(side->pe))
		;
	MUST(doca_pe_request_notification(side->pe));
	EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 1000000 && state == DOCA_CTX_STATE_STARTING; i++) {
		doca_pe_progress(side->pe);
		MUST(doca_ctx_get_state(actor->ctx, &state));
	}
	CHECK(state == DOCA_CTX_STATE_RUNNING);
	MUST(doca_pe_clear_notification(side->pe, doca_event_invalid_handle));
	fast_end_consumer(actor, consumer);
	arena_close(arena);
	end(server);
}

/* ---- tasks ---- */

static void test_receive_of_what_is_wrong_is_refused_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side), *actor;
	struct arena *arena = arena_open(side->dev), *other = arena_open(side->dev);
	struct doca_comch_consumer *consumer;
	struct doca_comch_consumer_task_post_recv *recv, *more[FAST_TASKS];
	struct doca_buf *wrong[5], *good = arena_empty(arena, 0, 100);
	struct doca_task *task;

	actor = fast_consumer(side, side->connection, arena, &consumer);
	fast_start(actor);
	wrong[0] = arena_empty(other, 0, 10); /* of another map */
	wrong[1] = arena_empty(arena, 0, 10); /* a list, and what is inside */
	wrong[2] = arena_empty(arena, 10, 10);
	MUST(doca_buf_chain_list(wrong[1], wrong[2]));
	wrong[3] = arena_empty(arena, 0, 10); /* returned */
	MUST(doca_buf_dec_refcount(wrong[3], NULL));
	wrong[4] = arena_empty(arena, 0, 10); /* data outside of the map */
	MUST(doca_buf_set_data(wrong[4], arena->bytes + ARENA_BYTES, 10));
	EXPECT(doca_comch_consumer_task_post_recv_alloc_init(NULL, good, &recv), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_consumer_task_post_recv_alloc_init(consumer, good, NULL), DOCA_ERROR_INVALID_VALUE);
	recv = fast_recv(consumer, 1, NULL);
	task = doca_comch_consumer_task_post_recv_as_task(recv);
	for (int i = 0; i < 5; i++) {
		doca_comch_consumer_task_post_recv_set_buf(recv, wrong[i]);
		CHECK(doca_comch_consumer_task_post_recv_get_buf(recv) == wrong[i]);
		EXPECT(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
		EXPECT(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	}
	doca_comch_consumer_task_post_recv_set_buf(recv, (struct doca_buf *)side->dev);
	EXPECT(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
	for (int i = 1; i < FAST_TASKS; i++)
		more[i] = fast_recv(consumer, 1, NULL);
	/* provokes: doca_comch_consumer_task_post_recv_alloc_init DOCA_ERROR_NO_MEMORY */
	EXPECT(doca_comch_consumer_task_post_recv_alloc_init(consumer, NULL, &more[0]), DOCA_ERROR_NO_MEMORY);
	for (int i = 1; i < FAST_TASKS; i++)
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(more[i]));
	doca_comch_consumer_task_post_recv_set_buf(recv, good);
	MUST(doca_task_submit(task));
	EXPECT(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	doca_comch_consumer_task_post_recv_set_buf(recv, NULL); /* refused: it is in flight */
	CHECK(doca_comch_consumer_task_post_recv_get_buf(recv) == good);
	EXPECT(doca_ctx_stop(actor->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_expect(
		side,
		"consumer: running -> stopping\nrecv 1 failed: DOCA_ERROR_IO_FAILED\nconsumer: stopping -> idle\n");
	CHECK(!doca_comch_consumer_task_post_recv_as_task(NULL) && !doca_comch_consumer_task_post_recv_get_buf(NULL));
	CHECK(!doca_comch_consumer_task_post_recv_get_imm_data(NULL));
	CHECK(doca_comch_consumer_task_post_recv_get_imm_data_len(NULL) == 0);
	CHECK(doca_comch_consumer_task_post_recv_get_producer_id(NULL) == 0);
	doca_comch_consumer_task_post_recv_set_buf(NULL, good);
	MUST(doca_buf_dec_refcount(wrong[0], NULL));
	MUST(doca_buf_dec_refcount(wrong[1], NULL));
	MUST(doca_buf_dec_refcount(wrong[4], NULL));
	fast_end_consumer(actor, consumer);
	arena_close(other);
	arena_close(arena);
	end(server);
}

/* A control message's task is no receive task, nor the other way round. */
static void test_tasks_of_another_kind_are_recognised_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side), *actor;
	struct arena *arena = arena_open(side->dev);
	struct doca_comch_consumer *consumer;
	struct doca_comch_task_send *send = comch_task(server, side->connection, 1, "a", 1);
	struct doca_comch_consumer_task_post_recv *recv, *as_recv = (struct doca_comch_consumer_task_post_recv *)send;
	struct doca_comch_producer_task_send *as_put;

	actor = fast_consumer(side, side->connection, arena, &consumer);
	fast_start(actor);
	recv = fast_recv(consumer, 1, NULL);
	as_put = (struct doca_comch_producer_task_send *)recv;
	CHECK(!doca_comch_consumer_task_post_recv_as_task(as_recv));
	doca_comch_consumer_task_post_recv_set_buf(as_recv, NULL);
	CHECK(!doca_comch_consumer_task_post_recv_get_buf(as_recv));
	CHECK(!doca_comch_consumer_task_post_recv_get_imm_data(as_recv));
	CHECK(!doca_comch_producer_task_send_as_task(as_put));
	doca_comch_producer_task_send_set_imm_data(as_put, arena->bytes, 1);
	CHECK(!doca_comch_producer_task_send_get_imm_data(as_put));
	CHECK(doca_comch_producer_task_send_get_imm_data_len(as_put) == 0);
	CHECK(!doca_comch_task_send_as_task((struct doca_comch_task_send *)recv));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(recv));
	doca_task_free(doca_comch_task_send_as_task(send));
	fast_end_consumer(actor, consumer);
	arena_close(arena);
	end(server);
}

static const struct CMUnitTest consumer_tests[] = {
	COMCH_HALVES(test_consumer_is_made_of_a_connection_and_a_writable_map,
		     test_consumer_is_made_of_a_connection_and_a_writable_map_dpu, stay),
	COMCH_HOST_TEST(test_consumer_needs_an_established_connection),
	COMCH_TEST(test_connection_has_as_many_consumers_as_the_device_takes),
	COMCH_HALVES(test_consumer_is_configured_while_idle_only, test_consumer_is_configured_while_idle_only_dpu,
		     stay),
	COMCH_HALVES(test_consumer_starts_on_an_armed_engine, test_consumer_starts_on_an_armed_engine_dpu, stay),
	COMCH_HALVES(test_consumer_starts_on_a_map_that_is_there, test_consumer_starts_on_a_map_that_is_there_dpu,
		     stay),
	COMCH_HALVES(test_receive_of_what_is_wrong_is_refused, test_receive_of_what_is_wrong_is_refused_dpu, stay),
	COMCH_HALVES(test_tasks_of_another_kind_are_recognised, test_tasks_of_another_kind_are_recognised_dpu, stay),
};

int main(void)
{
	return comch_run(consumer_tests);
}
