/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of release 2.5, built for 2.2 as well: a request and a response by libdoca_comm_channel.
 *
 *   old_channel service      on the DPU
 *   old_channel client       on the host
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comm_channel.h>
#include <doca_types.h>

#include "old_card.h"

#define NAME      "old_channel"
#define MAX_BYTES 1024

static struct doca_comm_channel_ep_t *endpoint_of(struct doca_dev *dev)
{
	struct doca_comm_channel_ep_t *ep;

	must(doca_comm_channel_ep_create(&ep), "make an endpoint");
	must(doca_comm_channel_ep_set_device(ep, dev), "give it the device");
	must(doca_comm_channel_ep_set_max_msg_size(ep, MAX_BYTES), "set the message size");
	must(doca_comm_channel_ep_set_send_queue_size(ep, 8), "set the send queue");
	must(doca_comm_channel_ep_set_recv_queue_size(ep, 8), "set the receive queue");
	return ep;
}

static void say(struct doca_comm_channel_ep_t *ep, const char *text, struct doca_comm_channel_addr_t *peer)
{
	doca_error_t result;

	while ((result = doca_comm_channel_ep_sendto(ep, text, strlen(text) + 1, DOCA_CC_MSG_FLAG_NONE, peer)) ==
	       DOCA_ERROR_AGAIN)
		sched_yield();
	must(result, "send");
}

/* The peer; NULL after it disconnected. */
static struct doca_comm_channel_addr_t *hear(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *peer;
	char text[MAX_BYTES];
	doca_error_t result;
	size_t len;

	do {
		len = sizeof(text);
		result = doca_comm_channel_ep_recvfrom(ep, text, &len, DOCA_CC_MSG_FLAG_NONE, &peer);
	} while (result == DOCA_ERROR_AGAIN && sched_yield() == 0);
	if (result == DOCA_ERROR_CONNECTION_RESET)
		return NULL;
	must(result, "receive");
	printf("heard: %.*s\n", (int)len, text);
	return peer;
}

static void serve(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep *rep)
{
	struct doca_comm_channel_addr_t *peer;

	must(doca_comm_channel_ep_set_device_rep(ep, rep), "give it the representor");
	must(doca_comm_channel_ep_listen(ep, NAME), "listen");
	while ((peer = hear(ep)))
		say(ep, "an answer", peer);
}

static void ask(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *peer;
	doca_error_t result;

	while ((result = doca_comm_channel_ep_connect(ep, NAME, &peer)) == DOCA_ERROR_CONNECTION_ABORTED)
		sched_yield(); /* the service is not listening yet */
	must(result, "connect");
	while ((result = doca_comm_channel_peer_addr_update_info(peer)) == DOCA_ERROR_CONNECTION_INPROGRESS)
		sched_yield();
	must(result, "be taken");
	say(ep, "a question", peer);
	must(hear(ep) ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_RESET, "get an answer");
	must(doca_comm_channel_ep_disconnect(ep, peer), "disconnect");
}

int main(int argc, char **argv)
{
	bool is_service = argc == 2 && strcmp(argv[1], "service") == 0;
	struct doca_dev *dev = open_first();
	struct doca_comm_channel_ep_t *ep = endpoint_of(dev);
	struct doca_dev_rep *rep = is_service ? open_first_rep(dev) : NULL;

	if (is_service)
		serve(ep, rep);
	else
		ask(ep);
	must(doca_comm_channel_ep_destroy(ep), "destroy the endpoint");
	if (rep)
		must(doca_dev_rep_close(rep), "close the representor");
	must(doca_dev_close(dev), "close the device");
	return EXIT_SUCCESS;
}
