/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comm_channel/ep_priv.h - Comm Channel's endpoints, implemented on Comch.
 *
 *   [idle] --listen--> [service]      a Comch server with an engine of its own
 *      \\----connect--> [client]       a Comch client, likewise
 *
 * An endpoint has no callbacks and no engine that its user sees: calls drive the
 * engine. Its context holds (shim/comch/endpoint/comm_channel_hooks.h): what comes in stays in the
 * memory that it shares with its peer, until a doca_comm_channel_ep_recvfrom()
 * has it written straight to the user's buffer. So nothing piles up here, and a
 * peer that sends faster than we receive is told to wait. The other way, a
 * message goes straight to the peer's memory or not at all.
 *
 * The descriptors to sleep on:
 *
 *   send_epoll   = send_eventfd or the engine's      recv_epoll = recv_eventfd or the engine's
 *   status_eventfd  written by the session's thread when clients come or go
 *
 * Whoever sleeps on the engine's descriptor learns that something happened, not
 * what. So arming one of them drives the engine, and what was found then for the
 * other, if that is armed, is written to its ..._eventfd: no wake-up is lost.
 */
#ifndef SHIM_COMM_CHANNEL_EP_PRIV_H
#define SHIM_COMM_CHANNEL_EP_PRIV_H

#include <doca_comch.h>
#include <doca_comm_channel.h>
#include <stdbool.h>

#include "shim/common/base/object.h"

#define CHANNEL_MAX_NAME_LEN  120  /* its final zero byte included; as every card here has it */
#define CHANNEL_MAX_MSG_BYTES 4080 /* without a device to ask */

struct doca_pe;

enum channel_peer_state {
	CHANNEL_CONNECTING,
	CHANNEL_CONNECTED,
	CHANNEL_ENDED, /* and all before that was received */
};

struct channel_counters {
	uint64_t sent, sent_bytes, received, received_bytes;
};

/* A peer. */
struct doca_comm_channel_addr_t {
	struct shim_object object;
	struct doca_comm_channel_ep_t *ep;
	struct doca_comch_connection *connection; /* NULL once it ended */
	enum channel_peer_state state;
	bool end_reported;      /* recvfrom said that it ended */
	uint32_t blocked_bytes; /* of the message that there was no room for; 0 = none */
	uint64_t user_data;
	struct channel_counters counters, snapshot;
	struct doca_comm_channel_addr_t *next;
};

enum channel_role {
	CHANNEL_IDLE,
	CHANNEL_SERVICE,
	CHANNEL_CLIENT,
};

/* A message that was longer than the buffer it came for. */
struct channel_pending_msg {
	struct doca_comm_channel_addr_t *addr;
	size_t len;
	uint8_t bytes[];
};

struct doca_comm_channel_ep_t {
	struct shim_object object;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	uint16_t max_msg_bytes, send_queue_size, recv_queue_size; /* 0 = not set */
	enum channel_role role;
	/* While not idle: */
	struct doca_pe *pe;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comm_channel_addr_t *addrs;
	uint32_t num_unreported; /* peers whose end no recvfrom has said */
	struct channel_pending_msg *pending_msg;
	/* The recvfrom under way: */
	void *recv_buf;
	size_t recv_buf_len;
	struct doca_comm_channel_addr_t *recv_from; /* not NULL: it has what it wants */
	/* Descriptors: */
	bool send_armed, recv_armed;
	int send_eventfd, recv_eventfd, status_eventfd;
	int send_epoll, recv_epoll;
	/* As of the last update: */
	struct doca_comm_channel_addr_t **snapshot_addrs;
	uint32_t num_snapshot_addrs, snapshot_pending;
};

/* ep_open.c: begin to listen, or to connect; and end it. A failed open leaves the endpoint idle. */
doca_error_t channel_open(const char *func, struct doca_comm_channel_ep_t *ep, enum channel_role role,
			  const char *name);
void channel_close(struct doca_comm_channel_ep_t *ep);

/* ep_events.c: what Comch calls. */
doca_error_t channel_set_callbacks(struct doca_comm_channel_ep_t *ep);

/* Have the engine do all that can be done without receiving. */
void channel_progress_all(struct doca_comm_channel_ep_t *ep);

/* Peers. */
struct doca_comm_channel_addr_t *channel_addr_new(struct doca_comm_channel_ep_t *ep,
						  struct doca_comch_connection *connection,
						  enum channel_peer_state state);
void channel_addr_free(struct doca_comm_channel_addr_t *addr); /* with all that speaks of it */

/* Whether sending to it is in vain. */
bool channel_peer_is_disconnected(const struct doca_comm_channel_addr_t *addr);

/* Whether nothing will come any more, from whomever: a client's service is gone, or a service's function. */
bool channel_is_shut_down(const struct doca_comm_channel_ep_t *ep);

#endif
