/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers and producers on threads of their own, each with its own progress engine. */
#include "comch_fast.h"
#include "unordered.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS   3
#define ROUNDS    24
#define NUM_EARLY ((ROUNDS + 2) / 3) /* of those: stopped before the other end knows */
#define MESSAGES  300

struct worker {
	pthread_t thread;
	struct side side; /* its own engine and trace */
	struct doca_comch_connection *connection;
	uint32_t peer; /* a consumer of the other end */
};

static atomic_int num_working;

static void start_workers(struct worker *workers, struct side *side, void *(*work)(void *), uint32_t peer)
{
	atomic_store(&num_working, THREADS);
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .side = *side, .connection = side->connection, .peer = peer };
		comch_forget(&workers[i].side);
		workers[i].side.is_busy = true; /* the main thread receives the other side's synchronisation */
		MUST(doca_pe_create(&workers[i].side.pe));
		CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	}
}

static void join_workers(struct worker *workers)
{
	for (int i = 0; i < THREADS; i++) {
		CHECK(pthread_join(workers[i].thread, NULL) == 0);
		MUST(doca_pe_destroy(workers[i].side.pe));
	}
}

/* The main thread drives the control path. */
static void progress_until_done(struct side *side)
{
	while (atomic_load(&num_working) > 0)
		if (!doca_pe_progress(side->pe))
			sched_yield();
}

/* ---- consumers that start and stop ---- */

static void *live_and_die(void *arg)
{
	struct worker *worker = arg;
	struct arena *arena = arena_open(worker->side.dev);
	struct doca_comch_consumer *consumer;
	struct comch_actor *actor;

	for (int round = 0; round < ROUNDS; round++) {
		actor = fast_consumer(&worker->side, worker->connection, arena, &consumer);
		if (round % 3 == 0) { /* the consumer stops before the other end knows of it */
			EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_IN_PROGRESS);
		} else {
			fast_start(actor);
			fast_post(consumer, 1, NULL);
		}
		fast_end_consumer(actor, consumer);
		comch_forget(&worker->side);
	}
	arena_close(arena);
	atomic_fetch_sub(&num_working, 1);
	return NULL;
}

static void test_consumers_come_and_go_on_their_threads_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	static struct worker workers[THREADS];

	start_workers(workers, side, live_and_die, 0);
	progress_until_done(side);
	join_workers(workers);
	comch_sync_send(side, 0);
	comch_expect(side, "disconnected\n");
	comch_end(server);
}

static void count_consumer(struct comch_actor *actor, struct doca_comch_connection *connection)
{
	if (strcmp(actor->side->trace, "new consumer\n") == 0)
		actor->side->num_messages++;
	else
		actor->side->num_sent++;
	comch_forget(actor->side);
}

static void test_consumers_come_and_go_on_their_threads_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	client->on.consumer = count_consumer;
	comch_sync_recv_progressing(side);
	/* No consumer expires before it is announced. The synchronisation may arrive before earlier events, so
	 * equal counts are not enough. */
	comch_until(side, side->num_messages == side->num_sent && side->num_messages >= THREADS * (ROUNDS - NUM_EARLY));
	CHECK(side->num_messages <= THREADS * ROUNDS);
	comch_end(client);
}

/* ---- messages ---- */

static void *produce(void *arg)
{
	struct worker *worker = arg;
	struct doca_comch_producer *producer;
	struct comch_actor *actor = fast_producer(&worker->side, worker->connection, &producer);
	uint32_t id;

	worker->side.is_quiet = true;
	MUST(doca_comch_producer_get_id(producer, &id));
	fast_start(actor);
	for (uint32_t i = 0; i < MESSAGES;) {
		const uint32_t imm[] = { id, i };
		struct doca_comch_producer_task_send *send;

		comch_until(&worker->side, worker->side.num_sent + FAST_TASKS > i);
		MUST(doca_comch_producer_task_send_alloc_init(producer, NULL, (uint8_t *)(uintptr_t)imm, sizeof(imm),
							      worker->peer, &send));
		if (doca_task_submit(doca_comch_producer_task_send_as_task(send)) == DOCA_SUCCESS) {
			i++;
			continue;
		}
		doca_task_free(doca_comch_producer_task_send_as_task(send));
		if (!doca_pe_progress(worker->side.pe))
			sched_yield();
	}
	comch_until(&worker->side, worker->side.num_sent == MESSAGES);
	fast_end_producer(actor, producer);
	atomic_fetch_sub(&num_working, 1);
	return NULL;
}

static void test_producers_send_from_their_threads_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	static struct worker workers[THREADS];

	comch_expect(side, "new consumer\n");
	start_workers(workers, side, produce, side->consumer);
	progress_until_done(side);
	join_workers(workers);
	comch_until(side, strstr(side->trace, "disconnected"));
	comch_end(server);
}

static uint32_t next_of[64];
static uint32_t num_received;

/* Each producer's messages arrive in order; then post again. */
static void take(struct comch_actor *actor, struct doca_task *task)
{
	struct doca_comch_consumer_task_post_recv *recv = (struct doca_comch_consumer_task_post_recv *)task;
	uint32_t imm[2];

	if (doca_task_get_status(task) != DOCA_SUCCESS) {
		doca_task_free(task);
		return;
	}
	CHECK(doca_comch_consumer_task_post_recv_get_imm_data_len(recv) == sizeof(imm));
	memcpy(imm, doca_comch_consumer_task_post_recv_get_imm_data(recv), sizeof(imm));
	CHECK(imm[0] == doca_comch_consumer_task_post_recv_get_producer_id(recv) && imm[0] < 64);
	CHECK(imm[1] == next_of[imm[0]]++);
	num_received++;
	MUST(doca_task_submit(task));
}

static void test_producers_send_from_their_threads_host(struct side *side)
{
	struct comch_actor *client = comch_call(side), *actor;
	struct arena *arena = arena_open(side->dev);
	struct doca_comch_consumer *consumer;

	side->is_quiet = true;
	actor = fast_consumer(side, side->connection, arena, &consumer);
	actor->on.task = take;
	fast_start(actor);
	for (uint64_t i = 0; i < FAST_TASKS; i++)
		fast_post(consumer, i, NULL);
	comch_until(side, num_received == THREADS * MESSAGES);
	fast_end_consumer(actor, consumer);
	comch_end(client);
	arena_close(arena);
}

/* ---- the connection ends during the threads' work ---- */

static void *start_until_it_is_gone(void *arg)
{
	struct worker *worker = arg;
	struct arena *arena = arena_open(worker->side.dev);
	struct doca_comch_consumer *consumer;
	struct comch_actor *actor = fast_consumer(&worker->side, worker->connection, arena, &consumer);
	doca_error_t result;

	while ((result = doca_ctx_start(actor->ctx)) == DOCA_ERROR_IN_PROGRESS) {
		for (int i = 0; i < 20; i++)
			doca_pe_progress(worker->side.pe);
		result = doca_ctx_stop(actor->ctx);
		CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
		comch_until(&worker->side, comch_state(actor) == DOCA_CTX_STATE_IDLE);
		comch_forget(&worker->side);
	}
	CHECK(result == DOCA_ERROR_NOT_CONNECTED);
	fast_end_consumer(actor, consumer);
	arena_close(arena);
	atomic_fetch_sub(&num_working, 1);
	return NULL;
}

static void test_connection_goes_while_threads_start_consumers_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	static struct worker workers[THREADS];

	start_workers(workers, side, start_until_it_is_gone, 0);
	comch_sync_send(side, 0);
	progress_until_done(side);
	join_workers(workers);
	comch_until(side, strstr(side->trace, "disconnected"));
	comch_end(server);
}

static void test_connection_goes_while_threads_start_consumers_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	client->on.consumer = count_consumer;
	comch_sync_recv(side);
	comch_until(side, side->num_messages > 20);
	comch_end(client);
}

/* ---- locks, at which the thread sanitizer looks ---- */

#define LARGE 4096 /* a message for which a producer imports the consumer's memory */

static struct unordered calls;

/* A producer with an engine of its own, so that each can have a thread. */
struct path {
	struct side side;
	struct comch_actor *actor;
	struct doca_comch_producer *producer;
	struct doca_comch_producer_task_send *send;
};

/* All are idle; or the first @num_started run. */
static void open_paths(struct path *paths, int num, int num_started, struct side *side)
{
	for (int i = 0; i < num; i++) {
		paths[i] = (struct path){ .side = *side };
		comch_forget(&paths[i].side);
		MUST(doca_pe_create(&paths[i].side.pe));
		paths[i].actor = fast_producer(&paths[i].side, side->connection, &paths[i].producer);
		if (i < num_started)
			fast_start(paths[i].actor);
	}
}

static void close_paths(struct path *paths, int num)
{
	for (int i = 0; i < num; i++) {
		fast_end_producer(paths[i].actor, paths[i].producer);
		MUST(doca_pe_destroy(paths[i].side.pe));
	}
}

static void start_path(void *path)
{
	fast_start(((struct path *)path)->actor);
}

static void stop_path(void *path)
{
	MUST(doca_ctx_stop(((struct path *)path)->actor->ctx));
}

/* Its job does not run before the flush. */
static void send_on_path(void *path)
{
	MUST(doca_task_submit_ex(doca_comch_producer_task_send_as_task(((struct path *)path)->send),
				 DOCA_TASK_SUBMIT_FLAG_NONE));
}

static void start_path_in_vain(void *path)
{
	EXPECT(doca_ctx_start(((struct path *)path)->actor->ctx), DOCA_ERROR_NOT_CONNECTED);
}

struct new_producer {
	struct doca_comch_connection *connection;
	struct doca_comch_producer *producer;
};

static void create_producer(void *arg)
{
	struct new_producer *new = arg;

	MUST(doca_comch_producer_create(new->connection, &new->producer));
}

static void destroy_producer(void *producer)
{
	MUST(doca_comch_producer_destroy(((struct new_producer *)producer)->producer));
}

static void stop_server_in_vain(void *server)
{
	EXPECT(doca_ctx_stop(((struct comch_actor *)server)->ctx), DOCA_ERROR_IN_USE);
}

static void disconnect(void *arg)
{
	struct comch_actor *server = arg;

	MUST(doca_comch_server_disconnect(server->server, server->side->connection));
}

/* Two of each call, one after the other, as the second would read what the first has written. */
static void test_calls_of_other_threads_take_the_connections_locks_dpu(struct side *side)
{
	enum { STOPPED = 0, SENDING = 2, STARTED = 4, LATE = 6, NUM_PATHS };
	struct comch_actor *server = comch_serve(side);
	struct arena *arena = arena_open(side->dev);
	struct path paths[NUM_PATHS];
	struct new_producer producers[4];

	comch_expect(side, "new consumer\n");
	open_paths(paths, NUM_PATHS, STARTED, side);
	for (int i = 0; i < 2; i++) {
		struct doca_buf *message = arena_empty(arena, 0, LARGE);

		MUST(doca_buf_set_data(message, arena->bytes, LARGE));
		paths[SENDING + i].send =
			fast_send(paths[SENDING + i].producer, 0, message, NULL, paths[SENDING + i].side.consumer);
	}
	for (int i = 0; i < 4; i++) {
		producers[i].connection = side->connection;
		if (i < 2)
			create_producer(&producers[i]);
	}

	for (int i = 0; i < 2; i++)
		unordered_run(&calls, destroy_producer, &producers[i]);
	for (int i = 0; i < 2; i++)
		unordered_run(&calls, create_producer, &producers[2 + i]);
	for (int i = 0; i < 2; i++)
		unordered_run(&calls, send_on_path, &paths[SENDING + i]);
	for (int i = 0; i < 2; i++)
		unordered_run(&calls, stop_path, &paths[STOPPED + i]);
	for (int i = 0; i < 2; i++)
		unordered_run(&calls, start_path, &paths[STARTED + i]);
	unordered_run(&calls, stop_server_in_vain, server);
	comch_sync_send(side, 0); /* the other end announces a consumer, and the session's thread looks at the list */
	comch_expect(side, "new consumer\n");
	unordered_end(&calls);

	for (int i = 0; i < 2; i++) {
		doca_ctx_flush_tasks(paths[SENDING + i].actor->ctx);
		comch_until(&paths[SENDING + i].side, paths[SENDING + i].side.num_sent == 1);
		destroy_producer(&producers[2 + i]);
	}
	close_paths(paths, LATE);
	comch_sync_recv_progressing(side); /* the other end's consumer runs */
	unordered_run(&calls, disconnect, server);
	unordered_run(&calls, start_path_in_vain, &paths[LATE]);
	unordered_end(&calls);
	close_paths(&paths[LATE], 1);
	arena_close(arena);
	comch_end(server);
}

static void test_calls_of_other_threads_take_the_connections_locks_host(struct side *side)
{
	struct comch_actor *client = comch_call(side), *first, *second;
	struct doca_comch_consumer *receiver, *other;
	struct arena *arena = arena_open(side->dev);

	side->is_quiet = true;
	first = fast_consumer(side, side->connection, arena, &receiver);
	fast_start(first);
	for (size_t i = 0; i < 2; i++)
		fast_post(receiver, i, arena_empty(arena, i * LARGE, LARGE));
	comch_sync_recv_progressing(side);
	second = fast_consumer(side, side->connection, arena, &other);
	fast_start(second);
	comch_sync_send(side, 0);
	comch_until(side, comch_state(client) == DOCA_CTX_STATE_IDLE);
	fast_end_consumer(first, receiver);
	fast_end_consumer(second, other);
	comch_end(client);
	arena_close(arena);
}

#define RECV_QUEUE 4 /* fewer than COMCH_TASKS: the others wait for room */

static void progress_until_a_send_fails(void *arg)
{
	struct side *side = arg;

	comch_until(side, strstr(side->trace, "failed"));
}

/* The failed sends come before the callback of the connection's end, so the thread does no more than tell the producers. */
static void test_producers_are_told_of_a_lost_connection_under_its_lock_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	struct path paths[2];

	open_paths(paths, 2, 2, side);
	for (int i = 0; i < COMCH_TASKS; i++)
		comch_send(server, side->connection, i, "message");
	comch_sync_send(side, 0);
	unordered_run(&calls, progress_until_a_send_fails, side);
	for (int i = 0; i < 2; i++)
		unordered_run(&calls, stop_path, &paths[i]);
	unordered_end(&calls);
	comch_until(side, strstr(side->trace, "disconnected"));
	close_paths(paths, 2);
	comch_end(server);
}

static void test_producers_are_told_of_a_lost_connection_under_its_lock_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	MUST(doca_comch_client_set_recv_queue_size(client->client, RECV_QUEUE));
	comch_start(client);
	comch_until(side, comch_state(client) == DOCA_CTX_STATE_RUNNING);
	comch_sync_recv(side);
	comch_end(client);
}

static const struct CMUnitTest thread_tests[] = {
	COMCH_TEST(test_consumers_come_and_go_on_their_threads),
	COMCH_TEST(test_producers_send_from_their_threads),
	COMCH_TEST(test_connection_goes_while_threads_start_consumers),
	COMCH_TEST(test_calls_of_other_threads_take_the_connections_locks),
	COMCH_TEST(test_producers_are_told_of_a_lost_connection_under_its_lock),
};

int main(void)
{
	return comch_run(thread_tests);
}
