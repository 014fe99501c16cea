/* SPDX-License-Identifier: BSD-3-Clause */
/* A Comch client that spoils the descriptors that it shares with its server. The server goes on to serve others.
 *
 *   server   sleeps; sends each message back; on 's' of the test, sends to the hostile client on both paths
 *   hostile  connects, makes a consumer, goes to sleep, spoils all descriptors that it has, and does nothing more
 *   honest   connects, then sends and receives on each command; one connects before the hostile client, one after it
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_mmap.h>

#include "cmocka_test.h"
#include "comch_endpoint.h"

#define MAX_FDS 1024
#define ROUNDS  20

enum harm { HARM_FILL = 'f', HARM_SHUT_DOWN = 'd' };

/* ---- the server ---- */

struct server {
	struct endpoint endpoint;
	struct loop loop;
	struct doca_comch_connection *hostile; /* the one with a consumer */
	struct doca_comch_producer *producer;
	uint32_t consumer_id;
};

static void send_back(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		      uint32_t len)
{
	CHECK(endpoint_send(endpoint, connection, bytes, len));
}

static void on_producer_sent(struct doca_comch_producer_task_send *task, union doca_data task_data,
			     union doca_data data)
{
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void on_consumer(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t id, bool is_new)
{
	struct server *server = endpoint->cfg.owner;
	struct doca_ctx *ctx;

	if (!is_new)
		return;
	server->hostile = connection;
	server->consumer_id = id;
	MUST(doca_comch_producer_create(connection, &server->producer));
	ctx = doca_comch_producer_as_ctx(server->producer);
	MUST(doca_pe_connect_ctx(server->loop.pe, ctx));
	MUST(doca_comch_producer_task_send_set_conf(server->producer, on_producer_sent, on_producer_sent, 4));
	MUST(doca_ctx_start(ctx));
}

static void send_to_hostile(struct server *server)
{
	struct doca_comch_producer_task_send *task;
	uint8_t imm = 7;

	CHECK(note_send(&server->endpoint, server->hostile, 1, 0));
	MUST(doca_comch_producer_task_send_alloc_init(server->producer, NULL, &imm, 1, server->consumer_id, &task));
	MUST(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
}

static void run_server(int ctl)
{
	struct server server = { .producer = NULL };
	struct endpoint_cfg cfg = { .name = "target", .owner = &server, .message = send_back, .consumer = on_consumer };
	struct doca_dev *dev = device_open(NULL);
	char word;

	proc_recv(ctl, &word, 1);
	loop_open(&server.loop, true);
	loop_watch(&server.loop, ctl);
	endpoint_open_server(&server.endpoint, &cfg, &server.loop, dev);
	endpoint_start(&server.endpoint);
	proc_send(ctl, "r", 1);
	LOOP_UNTIL(&server.loop, server.hostile && proc_readable_within(ctl, 0));
	proc_recv(ctl, &word, 1);
	send_to_hostile(&server);
	proc_send(ctl, "s", 1);
	LOOP_UNTIL(&server.loop, proc_readable_within(ctl, 0)); /* serves until the test's end */
	_exit(0);                                               /* with all open, as a process that is killed */
}

/* ---- honest clients ---- */

struct client {
	struct endpoint endpoint;
	struct loop loop;
	struct doca_dev *dev;
};

static void open_client(struct client *client, const struct endpoint_cfg *cfg)
{
	client->dev = device_open(NULL);
	loop_open(&client->loop, true);
	endpoint_open_client(&client->endpoint, cfg, &client->loop, client->dev);
	endpoint_start(&client->endpoint);
	LOOP_UNTIL(&client->loop, client->endpoint.state == DOCA_CTX_STATE_RUNNING);
}

static void note_answer(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
			uint32_t len)
{
	CHECK(note_take(bytes, len, (uint32_t)endpoint->received - 1) == 2);
}

/* On each byte: as many messages, each after the answer to the one before. 'q' ends it. */
static void run_honest(int ctl)
{
	struct endpoint_cfg cfg = { .name = "target", .message = note_answer };
	struct client client;
	char word;

	proc_recv(ctl, &word, 1);
	open_client(&client, &cfg);
	proc_send(ctl, "c", 1);
	for (proc_recv(ctl, &word, 1); word != 'q'; proc_recv(ctl, &word, 1)) {
		uint64_t end = client.endpoint.received + ROUNDS;

		while (client.endpoint.received < end) {
			uint64_t next = client.endpoint.received + 1;

			CHECK(note_send(&client.endpoint, client.endpoint.connection, 2, (uint32_t)next - 1));
			LOOP_UNTIL(&client.loop, client.endpoint.received == next);
		}
		proc_send(ctl, "d", 1);
	}
	endpoint_stop(&client.endpoint);
	endpoint_close(&client.endpoint);
	loop_close(&client.loop);
	MUST(doca_dev_close(client.dev));
}

/* ---- the hostile client ---- */

/* Mark the open descriptors. */
static void list_fds(bool open[MAX_FDS])
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	CHECK(dir);
	while ((entry = readdir(dir)) != NULL) {
		int fd = atoi(entry->d_name);

		if (fd >= 0 && fd < MAX_FDS && fd != dirfd(dir))
			open[fd] = true;
	}
	closedir(dir);
}

/* A socket of a pair: the daemon's has a name. */
static bool is_of_a_pair(int fd)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);

	return getpeername(fd, (struct sockaddr *)&addr, &len) == 0 && addr.ss_family == AF_UNIX &&
	       len == sizeof(sa_family_t);
}

static void fill_eventfd(int fd)
{
	eventfd_t unused;

	CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	eventfd_read(fd, &unused);
	eventfd_write(fd, UINT64_MAX - 1);
}

/* Returns whether it was one to spoil. */
static bool spoil(int fd, enum harm harm)
{
	char path[64], link[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(readlink(path, link, sizeof(link) - 1) > 0);
	if (strcmp(link, "anon_inode:[eventfd]") == 0)
		fill_eventfd(fd);
	else if (!is_of_a_pair(fd))
		return false;
	else if (harm == HARM_SHUT_DOWN)
		shutdown(fd, SHUT_RDWR);
	else
		while (send(fd, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
			;
	CHECK(fcntl(fd, F_SETFL, 0) == 0);
	return true;
}

static void spoil_all(const bool before[MAX_FDS], enum harm harm)
{
	bool open[MAX_FDS] = { false };
	int count = 0;

	list_fds(open);
	for (int fd = 0; fd < MAX_FDS; fd++)
		if (open[fd] && !before[fd])
			count += spoil(fd, harm);
	CHECK(count >= 2); /* its own, and its server's */
}

static void on_receive(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data data)
{
}

static void note_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states from,
		       enum doca_ctx_states to)
{
	*(enum doca_ctx_states *)data.ptr = to;
}

/* A consumer with one posted receive. */
static void open_consumer(struct client *client)
{
	static uint8_t memory[64];
	static enum doca_ctx_states state;
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_comch_consumer *consumer;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	struct doca_buf *buf;
	struct doca_ctx *ctx;

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	MUST(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_add_dev(mmap, client->dev));
	MUST(doca_mmap_start(mmap));
	MUST(doca_buf_inventory_create(1, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_buf_inventory_buf_get_by_addr(inventory, mmap, memory, sizeof(memory), &buf));
	MUST(doca_comch_consumer_create(client->endpoint.connection, mmap, &consumer));
	ctx = doca_comch_consumer_as_ctx(consumer);
	MUST(doca_pe_connect_ctx(client->loop.pe, ctx));
	MUST(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = &state }));
	MUST(doca_ctx_set_state_changed_cb(ctx, note_state));
	MUST(doca_comch_consumer_task_post_recv_set_conf(consumer, on_receive, on_receive, 1));
	CHECK(doca_ctx_start(ctx) == DOCA_ERROR_IN_PROGRESS);
	LOOP_UNTIL(&client->loop, state == DOCA_CTX_STATE_RUNNING);
	MUST(doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task));
	MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void run_hostile(int ctl)
{
	struct endpoint_cfg cfg = { .name = "target" };
	bool before[MAX_FDS] = { false };
	struct client client;
	char harm;

	proc_recv(ctl, &harm, 1);
	list_fds(before);
	open_client(&client, &cfg);
	open_consumer(&client);
	CHECK(note_send(&client.endpoint, client.endpoint.connection, 1, 0));
	LOOP_UNTIL(&client.loop, client.endpoint.received == 1);
	while (doca_pe_progress(client.loop.pe))
		;
	MUST(doca_pe_request_notification(client.loop.pe)); /* whoever sends to it now wakes it */
	spoil_all(before, (enum harm)harm);
	proc_send(ctl, "x", 1);
	proc_recv(ctl, &harm, 1); /* until it is killed */
}

/* ---- the test ---- */

static void hear(struct proc *proc, char wanted)
{
	char word;

	proc_recv(proc->ctl, &word, 1);
	assert_int_equal(word, wanted);
}

static void command(struct proc *proc, const char *word, char answer)
{
	proc_send(proc->ctl, word, 1);
	hear(proc, answer);
}

static void end_client(struct proc *proc)
{
	proc_send(proc->ctl, "q", 1);
	assert_int_equal(proc_wait(proc), 0);
}

static void run_against(char harm)
{
	static const struct peer_role server_role = { "target", run_server }, honest_role = { "honest", run_honest },
				      hostile_role = { "hostile", run_hostile };
	struct proc server, earlier, hostile, later;

	peer_start(&server, "dpu", &server_role, "!", 1);
	hear(&server, 'r');
	peer_start(&earlier, "host", &honest_role, "!", 1);
	hear(&earlier, 'c');
	command(&earlier, "!", 'd');
	peer_start(&hostile, "host", &hostile_role, &harm, 1);
	hear(&hostile, 'x');
	command(&server, "!", 's');
	command(&earlier, "!", 'd');
	peer_start(&later, "host", &honest_role, "!", 1);
	hear(&later, 'c');
	command(&later, "!", 'd');
	command(&earlier, "!", 'd');
	end_client(&later);
	end_client(&earlier);
	proc_signal(&hostile, SIGKILL);
	proc_send(server.ctl, "!", 1);
	assert_int_equal(proc_wait(&server), 0);
	card_end();
}

static void test_server_serves_others_when_a_client_makes_its_descriptors_block(void **state)
{
	run_against(HARM_FILL);
}

static void test_server_serves_others_when_a_client_shuts_its_sockets_down(void **state)
{
	run_against(HARM_SHUT_DOWN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_server_serves_others_when_a_client_makes_its_descriptors_block,
						card_setup, card_teardown),
		cmocka_unit_test_setup_teardown(test_server_serves_others_when_a_client_shuts_its_sockets_down,
						card_setup, card_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
