/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile Comch peer: it connects, exchanges messages on both paths, then writes anything into all memory that it
 * shares with the other process: rings, receive queues, doorbells. A server goes on to serve an honest client. */
#include "cmocka_test.h"
#include "harm.h"
#include "hostile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../multi/comch_endpoint.h"
#include "../multi/comch_fast.h"
#include "proc.h"

#define CONNECT_MS  5000
#define EXCHANGE_MS 20
#define HARM_MS     120   /* to a client */
#define HARM_END_MS 30000 /* to a server: the round kills the hostile client earlier */
#define VICTIM_MS   8000
#define CALLS_MS    200
#define MAX_LINKS   4

/* ---- programs with a worker on each connection, which take any message ---- */

struct link {
	struct doca_comch_connection *connection; /* NULL = it ended */
	struct fast_consumers consumers;
	struct fast fast;
};

struct peer {
	struct endpoint endpoint;
	struct loop loop;
	struct doca_dev *dev;
	struct link links[MAX_LINKS];
	unsigned int num_links;
	int done_fd;
};

static void on_connected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct peer *peer = endpoint->cfg.owner;
	struct link *link = &peer->links[peer->num_links++];

	CHECK(peer->num_links <= MAX_LINKS);
	link->connection = connection;
	fast_consumers_init(&link->consumers);
	MUST(doca_comch_connection_set_user_data(connection, (union doca_data){ .ptr = link }));
	fast_start(&link->fast, &(struct fast_cfg){ .connection = connection,
						    .dev = endpoint->dev,
						    .consumers = &link->consumers,
						    .sleeps = peer->loop.sleeps,
						    .consumes = true,
						    .produces = true,
						    .endless = true,
						    .is_unchecked = true,
						    .num_peers = 1,
						    .max_len = 4096,
						    .freeze_fd = -1,
						    .done_fd = peer->done_fd });
}

static struct link *link_of(struct doca_comch_connection *connection)
{
	return doca_comch_connection_get_user_data(connection).ptr;
}

static void on_disconnected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct link *link = link_of(connection);

	link->connection = NULL;
	fast_over(&link->consumers);
}

static void on_consumer(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t id, bool is_new)
{
	fast_learn(&link_of(connection)->consumers, id, is_new);
}

static void send_back(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		      uint32_t len)
{
	endpoint_send(endpoint, connection, bytes, len);
}

static void open_peer(struct peer *peer, bool is_server, bool sleeps)
{
	struct endpoint_cfg cfg = { .name = "hostile",
				    .owner = peer,
				    .connected = on_connected,
				    .disconnected = on_disconnected,
				    .message = send_back,
				    .consumer = on_consumer };

	peer->dev = device_open(NULL);
	peer->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK(peer->done_fd >= 0);
	loop_open(&peer->loop, sleeps);
	loop_watch(&peer->loop, peer->done_fd);
	(is_server ? endpoint_open_server : endpoint_open_client)(&peer->endpoint, &cfg, &peer->loop, peer->dev);
}

/* Connections that have ended, with their workers. */
static unsigned int count_ended(const struct peer *peer)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < peer->num_links; i++)
		count += !peer->links[i].connection && peer->links[i].fast.done;
	return count;
}

static void run_until_ended(struct peer *peer, unsigned int num_links)
{
	int64_t end = proc_now_ms() + VICTIM_MS;

	endpoint_start(&peer->endpoint);
	while (count_ended(peer) < num_links && proc_now_ms() < end) {
		if (peer->endpoint.client && peer->endpoint.state == DOCA_CTX_STATE_IDLE && peer->num_links == 0)
			endpoint_start(&peer->endpoint); /* the server was not there yet */
		loop_turn(&peer->loop, 100);
	}
}

static int close_peer(struct peer *peer)
{
	for (unsigned int i = 0; i < peer->num_links; i++)
		fast_join(&peer->links[i].fast);
	if (peer->endpoint.state != DOCA_CTX_STATE_IDLE)
		endpoint_stop(&peer->endpoint);
	endpoint_close(&peer->endpoint);
	loop_close(&peer->loop);
	close(peer->done_fd);
	MUST(doca_dev_close(peer->dev));
	return ROLE_DONE;
}

static int run_victim(const struct bout *bout, bool is_server, unsigned int num_links)
{
	static struct peer peer;

	open_peer(&peer, is_server, bout->round % 2);
	run_until_ended(&peer, num_links);
	if (count_ended(&peer) < num_links)
		_exit(ROLE_WRONG);
	return close_peer(&peer);
}

static int run_victim_server(struct bout *bout, int sock)
{
	return run_victim(bout, true, 2);
}

static int run_victim_client(struct bout *bout, int sock)
{
	return run_victim(bout, false, 1);
}

/* Its connections may never come to be; those that did end with the server. */
int role_stubborn_client(struct bout *bout, int sock)
{
	static struct peer peer;
	int64_t now = proc_now_ms(), end_of_calls = now + CALLS_MS, end = now + VICTIM_MS;

	open_peer(&peer, false, bout->round % 2);
	while (now < end_of_calls || (count_ended(&peer) < peer.num_links && now < end)) {
		if (peer.endpoint.state == DOCA_CTX_STATE_IDLE && peer.num_links < MAX_LINKS && now < end_of_calls)
			endpoint_start(&peer.endpoint);
		loop_turn(&peer.loop, 20);
		now = proc_now_ms();
	}
	if (count_ended(&peer) < peer.num_links)
		_exit(ROLE_WRONG);
	return close_peer(&peer);
}

/* ---- the hostile peer ---- */

static int harm_peer(struct bout *bout, bool is_server, int sock)
{
	static struct peer peer;
	struct harm_area own[HARM_AREAS], shared[HARM_AREAS];
	unsigned int num_own, num_shared;
	int64_t end = proc_now_ms() + CONNECT_MS;

	open_peer(&peer, is_server, false);
	num_own = harm_list_areas(own, NULL, 0); /* the session's: not an attack on the peer */
	endpoint_start(&peer.endpoint);
	while (peer.num_links == 0 && proc_now_ms() < end) {
		if (peer.endpoint.state == DOCA_CTX_STATE_IDLE)
			endpoint_start(&peer.endpoint);
		loop_turn(&peer.loop, 20);
	}
	end = proc_now_ms() + EXCHANGE_MS;
	while (proc_now_ms() < end)
		loop_turn(&peer.loop, 1);
	num_shared = harm_list_areas(shared, own, num_own);
	if (num_shared == 0)
		_exit(ROLE_REFUSED);
	if (sock >= 0)
		send(sock, "", 1, MSG_NOSIGNAL);
	harm_for(bout, shared, num_shared, is_server ? HARM_MS : HARM_END_MS);
	_exit(ROLE_DONE);
}

static int harm_server(struct bout *bout, int sock)
{
	return harm_peer(bout, false, sock);
}

static int harm_client(struct bout *bout, int sock)
{
	return harm_peer(bout, true, sock);
}

/* The honest client comes while the hostile one writes. */
static void scribble_server(struct bout *bout)
{
	struct party *hostile, *honest;
	int socks[2];
	char byte;

	bout_start(bout, "server", "dpu", run_victim_server, -1);
	bout_pair(socks);
	hostile = bout_start(bout, "hostile client", "host", harm_server, socks[0]);
	close(socks[0]);
	recv(socks[1], &byte, 1, 0);
	close(socks[1]);
	honest = bout_start(bout, "honest client", "host", role_client, -1);
	if (bout_wait(bout, honest) && honest->status != 0)
		bout_defect(bout, &bout->tally->wrong, "was not served", "honest client");
	hostile->is_victim = true;
	kill(hostile->pid, SIGKILL);
}

static void scribble_comch(struct bout *bout)
{
	setenv("BFSIM_PATH", "", 1);
	bout_session(bout);
	if (strcmp(bout->path, "server") == 0) {
		scribble_server(bout);
	} else {
		bout_start(bout, "client", "host", run_victim_client, -1);
		bout_start(bout, "hostile server", "dpu", harm_client, -1);
	}
}

const char *const attack_comch_victims[] = { "server", "client", NULL };

const struct attack attack_comch = { "scribble", attack_comch_victims, 150, 4, scribble_comch };
