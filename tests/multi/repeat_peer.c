/* SPDX-License-Identifier: BSD-3-Clause */
/* One of some processes that do the same at the same session time in each run, and print what happened when.
 *
 *   repeat_peer KIND server|client NAME FILE [CLIENTS]
 *
 *   burst     Comch messages of a client into a queue that is too short for them; the client ends at once
 *   crowd     CLIENTS clients, each of which exchanges Comch messages with the one server
 *   channel   Comm Channel messages into a short queue, and answers; each end polls for room
 *   fast      messages of a producer to a consumer that posts fewer receives than there are messages
 *   sync      a sync event that the two ends increment in turns
 *
 * FILE gets a line for each event. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bfsim.h>
#include <doca_comm_channel.h>

#include "comch_endpoint.h"
#include "repeat_peer.h"

#define BURST  24
#define ROUNDS 12

struct repeat_peer self;

void note(const char *event, uint64_t number)
{
	fprintf(self.events, "%10llu %s %s %llu\n", (unsigned long long)bfsim_now_ns(),
		self.is_server ? "server" : "client", event, (unsigned long long)number);
}

void run_endpoint(const struct endpoint_cfg *cfg)
{
	loop_open(&self.loop, false);
	if (self.is_server)
		endpoint_open_server(&self.endpoint, cfg, &self.loop, self.dev);
	else
		endpoint_open_client(&self.endpoint, cfg, &self.loop, self.dev);
	endpoint_start(&self.endpoint);
	if (!self.is_server)
		LOOP_UNTIL(&self.loop, self.endpoint.state == DOCA_CTX_STATE_RUNNING);
	note("runs", 0);
}

void end_endpoint(void)
{
	if (self.is_server)
		LOOP_UNTIL(&self.loop, self.endpoint.num_disconnected == self.num_clients);
	endpoint_stop(&self.endpoint);
	endpoint_close(&self.endpoint);
	loop_close(&self.loop);
}

static void on_sent(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	note("sent", endpoint->sent);
}

static void on_disconnected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	note("disconnected", endpoint->num_disconnected);
}

/* ---- burst ---- */

static void on_burst(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		     uint32_t len)
{
	note("received", bytes[0]);
}

static void run_burst(void)
{
	const struct endpoint_cfg cfg = { .name = self.name,
					  .num_tasks = BURST,
					  .recv_queue = 3,
					  .message = on_burst,
					  .disconnected = on_disconnected,
					  .sent = on_sent };

	run_endpoint(&cfg);
	for (uint8_t i = 0; i < BURST && !self.is_server; i++)
		CHECK(endpoint_send(&self.endpoint, self.endpoint.connection, &i, 1));
	if (!self.is_server)
		LOOP_UNTIL(&self.loop, self.endpoint.sent == BURST);
	end_endpoint();
}

/* ---- crowd ---- */

static void on_crowd(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		     uint32_t len)
{
	note("received", bytes[0]);
	if (self.is_server)
		CHECK(endpoint_send(endpoint, connection, bytes, len));
}

static void run_crowd(void)
{
	const struct endpoint_cfg cfg = {
		.name = self.name, .num_tasks = 64, .message = on_crowd, .disconnected = on_disconnected
	};

	run_endpoint(&cfg);
	for (uint8_t i = 1; i <= ROUNDS && !self.is_server; i++) {
		CHECK(endpoint_send(&self.endpoint, self.endpoint.connection, &i, 1));
		LOOP_UNTIL(&self.loop, self.endpoint.received == i);
	}
	end_endpoint();
}

/* ---- channel ---- */

static doca_error_t send_byte(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer, uint8_t byte)
{
	doca_error_t result;

	while ((result = doca_comm_channel_ep_sendto(ep, &byte, 1, DOCA_CC_MSG_FLAG_NONE, peer)) == DOCA_ERROR_AGAIN)
		;
	note("sent", byte);
	return result;
}

static doca_error_t receive_byte(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t **peer,
				 uint8_t *byte)
{
	doca_error_t result;
	size_t len;

	do {
		len = 1;
		result = doca_comm_channel_ep_recvfrom(ep, byte, &len, DOCA_CC_MSG_FLAG_NONE, peer);
	} while (result == DOCA_ERROR_AGAIN);
	note(result == DOCA_SUCCESS ? "received" : "ended", *byte);
	return result;
}

/* The answers wait at the client until it has sent all of its messages. */
static void be_channel_client(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *peer;
	uint8_t byte = 0;

	while (doca_comm_channel_ep_connect(ep, self.name, &peer) != DOCA_SUCCESS)
		;
	for (uint8_t i = 0; i < BURST; i++)
		CHECK(send_byte(ep, peer, i) == DOCA_SUCCESS);
	for (unsigned int i = 0; i < BURST / 4; i++)
		CHECK(receive_byte(ep, &peer, &byte) == DOCA_SUCCESS);
	MUST(doca_comm_channel_ep_disconnect(ep, peer));
}

static void be_channel_server(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *peer = NULL;
	uint8_t byte = 0;

	MUST(doca_comm_channel_ep_listen(ep, self.name));
	while (receive_byte(ep, &peer, &byte) == DOCA_SUCCESS)
		if (byte % 4 == 3)
			CHECK(send_byte(ep, peer, byte) == DOCA_SUCCESS);
	MUST(doca_comm_channel_ep_disconnect(ep, peer));
}

static void run_channel(void)
{
	struct doca_comm_channel_ep_t *ep;
	struct doca_dev_rep *rep = NULL;

	MUST(doca_comm_channel_ep_create(&ep));
	MUST(doca_comm_channel_ep_set_device(ep, self.dev));
	MUST(doca_comm_channel_ep_set_recv_queue_size(ep, 8));
	if (self.is_server) {
		MUST(doca_comm_channel_ep_set_recv_queue_size(ep, 3));
		rep = device_open_rep(self.dev, NULL);
		MUST(doca_comm_channel_ep_set_device_rep(ep, rep));
		be_channel_server(ep);
	} else {
		be_channel_client(ep);
	}
	MUST(doca_comm_channel_ep_destroy(ep));
	if (rep)
		MUST(doca_dev_rep_close(rep));
}

/* ---- */

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = { { "burst", run_burst },
	      { "crowd", run_crowd },
	      { "channel", run_channel },
	      { "fast", repeat_run_fast },
	      { "sync", repeat_run_sync } };

int main(int argc, char **argv)
{
	CHECK(argc >= 5);
	self.is_server = strcmp(argv[2], "server") == 0;
	self.name = argv[3];
	self.num_clients = argc > 5 ? (unsigned int)atoi(argv[5]) : 1;
	self.events = fopen(argv[4], "w");
	CHECK(self.events);
	self.dev = device_open(NULL);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			kinds[i].run();
	MUST(doca_dev_close(self.dev));
	CHECK(fclose(self.events) == 0);
	return EXIT_SUCCESS;
}
