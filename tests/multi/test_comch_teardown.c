/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers that are destroyed at awkward moments: with their client at once, while the other end polls nothing, or
 * after their connection. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <doca_comch_consumer.h>
#include <doca_mmap.h>

#include "cmocka_test.h"
#include "comch_endpoint.h"

#define QUEUE 4
#define MANY_CONSUMERS \
	1000 /* more handshake messages than the daemon and its socket keep for a process that reads none */

/* ---- consumers that are destroyed at once ---- */

struct memory {
	uint8_t bytes[4096];
	struct doca_mmap *mmap;
};

static void memory_open(struct memory *memory, struct doca_dev *dev)
{
	MUST(doca_mmap_create(&memory->mmap));
	MUST(doca_mmap_set_memrange(memory->mmap, memory->bytes, sizeof(memory->bytes)));
	MUST(doca_mmap_set_permissions(memory->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_add_dev(memory->mmap, dev));
	MUST(doca_mmap_start(memory->mmap));
}

static void unused(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data data)
{
	CHECK(!"a receive ends that was never posted");
}

static struct doca_comch_consumer *open_consumer(struct doca_comch_connection *connection, struct memory *memory,
						 struct loop *loop)
{
	struct doca_comch_consumer *consumer;

	MUST(doca_comch_consumer_create(connection, memory->mmap, &consumer));
	MUST(doca_pe_connect_ctx(loop->pe, doca_comch_consumer_as_ctx(consumer)));
	MUST(doca_comch_consumer_task_post_recv_set_conf(consumer, unused, unused, 1));
	return consumer;
}

/* Programs that a role might start get no descriptor of ours. */
static void need_closed_on_exec(void)
{
	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);

		CHECK(flags < 0 || flags & FD_CLOEXEC);
	}
}

static void start(struct doca_comch_consumer *consumer)
{
	CHECK(doca_ctx_start(doca_comch_consumer_as_ctx(consumer)) == DOCA_ERROR_IN_PROGRESS);
}

static enum doca_ctx_states state_of(struct doca_comch_consumer *consumer)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(doca_comch_consumer_as_ctx(consumer), &state));
	return state;
}

static void stop(struct doca_comch_consumer *consumer, struct loop *loop)
{
	doca_error_t result = doca_ctx_stop(doca_comch_consumer_as_ctx(consumer));

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	LOOP_UNTIL(loop, state_of(consumer) == DOCA_CTX_STATE_IDLE);
}

/* ---- the other end: a server that counts ---- */

struct count {
	unsigned int new, expired, disconnected;
	unsigned int live; /* at the first disconnect: reported as new, and not as expired */
	uint64_t received;
};

static void count_consumer(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t id,
			   bool is_new)
{
	struct count *count = endpoint->cfg.owner;

	if (is_new)
		count->new ++;
	else
		count->expired++;
}

static void count_disconnect(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct count *count = endpoint->cfg.owner;

	count->live = count->new - count->expired;
	count->disconnected++;
}

/* Sends 'l' when it listens and 'c' when a client is connected; then polls nothing until the next command. Sends
 * its counters at the end. */
static void run_counter(int ctl)
{
	struct count count = { 0 };
	struct endpoint_cfg cfg = { .name = "teardown",
				    .owner = &count,
				    .recv_queue = QUEUE,
				    .consumer = count_consumer,
				    .disconnected = count_disconnect };
	struct doca_dev *dev;
	struct endpoint endpoint;
	struct loop loop;
	char byte;

	proc_recv(ctl, &byte, 1);
	loop_open(&loop, true);
	dev = device_open(NULL);
	endpoint_open_server(&endpoint, &cfg, &loop, dev);
	endpoint_start(&endpoint);
	proc_send(ctl, "l", 1);
	LOOP_UNTIL(&loop, endpoint.num_connected == 1);
	proc_send(ctl, "c", 1);
	proc_recv(ctl, &byte, 1);
	LOOP_UNTIL(&loop, count.disconnected == 1);
	count.received = endpoint.received;
	proc_send(ctl, &count, sizeof(count));
	endpoint_stop(&endpoint);
	endpoint_close(&endpoint);
	loop_close(&loop);
	MUST(doca_dev_close(dev));
}

/* ---- its clients ---- */

struct client {
	int ctl;
	struct loop loop;
	struct doca_dev *dev;
	struct endpoint endpoint;
	struct memory memory;
};

static void client_open(struct client *client, int ctl, uint32_t recv_queue)
{
	struct endpoint_cfg cfg = { .name = "teardown", .recv_queue = recv_queue };
	char byte;

	client->ctl = ctl;
	proc_recv(ctl, &byte, 1);
	loop_open(&client->loop, true);
	client->dev = device_open(NULL);
	endpoint_open_client(&client->endpoint, &cfg, &client->loop, client->dev);
	endpoint_start(&client->endpoint);
	LOOP_UNTIL(&client->loop, client->endpoint.state == DOCA_CTX_STATE_RUNNING);
	memory_open(&client->memory, client->dev);
}

static void client_close(struct client *client)
{
	endpoint_stop(&client->endpoint);
	endpoint_close(&client->endpoint);
	MUST(doca_mmap_destroy(client->memory.mmap));
	loop_close(&client->loop);
	MUST(doca_dev_close(client->dev));
}

static void say_and_wait(struct client *client)
{
	char byte;

	proc_send(client->ctl, "!", 1);
	proc_recv(client->ctl, &byte, 1);
}

static void run_short_consumer(int ctl)
{
	static struct client client;
	struct doca_comch_consumer *consumers[3];

	client_open(&client, ctl, 0);
	for (int i = 0; i < 3; i++) {
		consumers[i] = open_consumer(client.endpoint.connection, &client.memory, &client.loop);
		start(consumers[i]);
		need_closed_on_exec(); /* its announcement has not been sent yet */
		LOOP_UNTIL(&client.loop, state_of(consumers[i]) == DOCA_CTX_STATE_RUNNING);
	}
	for (int i = 0; i < 3; i++) {
		CHECK(doca_ctx_stop(doca_comch_consumer_as_ctx(consumers[i])) == DOCA_SUCCESS);
		MUST(doca_comch_consumer_destroy(consumers[i]));
	}
	client_close(&client);
}

/* When this returns, they are connected. */
static void start_both(struct proc *server, const struct peer_role *server_role, struct proc *client,
		       const struct peer_role *client_role)
{
	char byte;

	peer_start(server, "dpu", server_role, "!", 1);
	proc_recv(server->ctl, &byte, 1); /* the server listens: a client waits for it for some seconds only */
	peer_start(client, "host", client_role, "!", 1);
	proc_recv(server->ctl, &byte, 1);
}

/* The other end reports the existing consumers as expired before the disconnect. */
static void test_consumers_that_stop_with_their_client_expire_first(void **state)
{
	static const struct peer_role counter_role = { "counter", run_counter },
				      client_role = { "client", run_short_consumer };
	struct proc counter, client;
	struct count count;

	start_both(&counter, &counter_role, &client, &client_role);
	assert_int_equal(proc_wait(&client), 0); /* no room for all events of the other end */
	proc_send(counter.ctl, "!", 1);
	proc_recv(counter.ctl, &count, sizeof(count));
	assert_int_equal(count.new, 3);
	assert_int_equal(count.expired, 3);
	assert_int_equal(count.live, 0);
	assert_int_equal(proc_wait(&counter), 0);
	card_end();
}

/* A consumer is created twice; the other end learns of the first one later, as its queue is full. */
static void run_unpolled_consumer(int ctl)
{
	static struct client client;
	struct doca_comch_consumer *consumer;
	uint64_t messages = QUEUE + 3;

	client_open(&client, ctl, 0);
	for (uint32_t seq = 0; seq < messages; seq++)
		CHECK(note_send(&client.endpoint, client.endpoint.connection, 1, seq));
	consumer = open_consumer(client.endpoint.connection, &client.memory, &client.loop);
	for (int life = 0; life < 2; life++) {
		start(consumer);
		for (int i = 0; i < 20; i++)
			loop_turn(&client.loop, 1);
		CHECK(state_of(consumer) == DOCA_CTX_STATE_STARTING);
		stop(consumer, &client.loop);
	}
	MUST(doca_comch_consumer_destroy(consumer));
	say_and_wait(&client);
	LOOP_UNTIL(&client.loop, client.endpoint.sent == messages);
	client_close(&client);
}

static void test_consumer_that_lives_twice_before_the_other_end_hears_of_it_leaves_nothing(void **state)
{
	static const struct peer_role counter_role = { "counter", run_counter },
				      client_role = { "client", run_unpolled_consumer };
	struct proc counter, client;
	struct count count;
	char byte;

	start_both(&counter, &counter_role, &client, &client_role);
	proc_recv(client.ctl, &byte, 1);
	proc_send(counter.ctl, "!", 1);
	proc_send(client.ctl, "!", 1);
	proc_recv(counter.ctl, &count, sizeof(count));
	assert_int_equal(count.received, QUEUE + 3);
	assert_int_equal(count.live, 0);
	assert_int_equal(proc_wait(&client), 0);
	assert_int_equal(proc_wait(&counter), 0);
	card_end();
}

/* ---- a consumer that outlives its connection ---- */

static void run_late_consumer(int ctl)
{
	static struct client client;
	struct doca_comch_consumer *consumer;
	struct loop loop;
	unsigned int turns = 0;
	int64_t end;

	client_open(&client, ctl, 0);
	loop_open(&loop, true);
	consumer = open_consumer(client.endpoint.connection, &client.memory, &loop);
	start(consumer);
	while (state_of(consumer) == DOCA_CTX_STATE_STARTING) {
		loop_turn(&client.loop, 1);
		loop_turn(&loop, 1);
	}
	proc_send(ctl, "!", 1); /* the server may be killed */
	LOOP_UNTIL(&client.loop, client.endpoint.state == DOCA_CTX_STATE_STOPPING);
	for (end = proc_now_ms() + 500; proc_now_ms() < end; turns++)
		loop_turn(&client.loop, 100);
	CHECK(client.endpoint.state == DOCA_CTX_STATE_STOPPING);
	CHECK(turns < 50); /* the process slept */
	LOOP_UNTIL(&loop, state_of(consumer) == DOCA_CTX_STATE_IDLE);
	LOOP_UNTIL(&client.loop, client.endpoint.state == DOCA_CTX_STATE_IDLE);
	MUST(doca_comch_consumer_destroy(consumer));
	loop_close(&loop);
	client_close(&client);
}

/* The client stops when the consumer has; until then it waits without being busy. */
static void test_client_sleeps_until_its_consumers_have_stopped(void **state)
{
	static const struct peer_role counter_role = { "counter", run_counter },
				      client_role = { "client", run_late_consumer };
	struct proc counter, client;
	char byte;

	start_both(&counter, &counter_role, &client, &client_role);
	proc_send(counter.ctl, "!", 1);
	proc_recv(client.ctl, &byte, 1);
	proc_signal(&counter, SIGKILL);
	assert_int_equal(proc_wait(&client), 0);
	card_end();
}

/* ---- handshake messages that are not read ---- */

/* A server with so many consumers that the client would have to read many announcements. */
static void offer_many(int ctl)
{
	static struct doca_comch_consumer *consumers[MANY_CONSUMERS];
	static struct memory memory;
	struct count count = { 0 };
	struct endpoint_cfg cfg = { .name = "teardown", .owner = &count, .disconnected = count_disconnect };
	struct doca_comch_connection *connection;
	struct doca_dev *dev;
	struct endpoint endpoint;
	struct loop loop;
	char byte;

	proc_recv(ctl, &byte, 1);
	loop_open(&loop, true);
	dev = device_open(NULL);
	memory_open(&memory, dev);
	endpoint_open_server(&endpoint, &cfg, &loop, dev);
	endpoint_start(&endpoint);
	proc_send(ctl, "l", 1);
	LOOP_UNTIL(&loop, endpoint.num_connected == 1);
	connection = endpoint.connection;
	proc_send(ctl, "c", 1);
	proc_recv(ctl, &byte, 1);
	for (int i = 0; i < MANY_CONSUMERS; i++) {
		consumers[i] = open_consumer(connection, &memory, &loop);
		start(consumers[i]);
	}
	LOOP_UNTIL(&loop, count.disconnected == 1);
	for (int i = 0; i < MANY_CONSUMERS; i++) {
		LOOP_UNTIL(&loop, state_of(consumers[i]) == DOCA_CTX_STATE_IDLE);
		MUST(doca_comch_consumer_destroy(consumers[i]));
	}
	endpoint_stop(&endpoint);
	endpoint_close(&endpoint);
	MUST(doca_mmap_destroy(memory.mmap));
	loop_close(&loop);
	MUST(doca_dev_close(dev));
}

static void read_nothing(int ctl)
{
	static struct client client;

	client_open(&client, ctl, 8192);
	LOOP_UNTIL(&client.loop, client.endpoint.state == DOCA_CTX_STATE_IDLE);
	client_close(&client);
}

/* The daemon keeps so many handshake messages for a stopped process; then it refuses, and the connection ends at
 * both ends. */
static void test_connection_ends_when_its_handshake_messages_cannot_be_delivered(void **state)
{
	static const struct peer_role server_role = { "server", offer_many }, client_role = { "client", read_nothing };
	struct proc server, client;

	start_both(&server, &server_role, &client, &client_role);
	proc_signal(&client, SIGSTOP);
	proc_send(server.ctl, "!", 1);
	assert_int_equal(proc_wait(&server), 0);
	assert_int_equal(kill(client.pid, SIGCONT), 0);
	assert_int_equal(proc_wait(&client), 0);
	card_end();
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, card_setup, card_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_consumers_that_stop_with_their_client_expire_first),
		TEST(test_consumer_that_lives_twice_before_the_other_end_hears_of_it_leaves_nothing),
		TEST(test_client_sleeps_until_its_consumers_have_stopped),
		TEST(test_connection_ends_when_its_handshake_messages_cannot_be_delivered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
