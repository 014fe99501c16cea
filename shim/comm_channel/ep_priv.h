/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comm_channel/ep_priv.h - Comm Channel's endpoints, implemented on Comch.
 *
 * A service is a Comch server, a client a Comch client, each with a progress engine
 * of its own. The states are in ep_state.h.
 *
 * An endpoint has no callbacks, and no engine that its user sees: calls drive the
 * engine. Receiving is paused (shim/comch/endpoint/comm_channel_hooks.h): an incoming
 * message stays in the memory that is shared with the peer, until a
 * doca_comm_channel_ep_recvfrom() writes it straight to the user's buffer. So no
 * messages pile up here, and a peer that sends too fast has to wait. A message
 * that is sent goes straight to the peer's memory, or is refused.
 *
 * The descriptors to sleep on:
 *
 *   send_epoll = send_eventfd or the engine's      recv_epoll = recv_eventfd or the engine's
 *   status_eventfd: written by the session's thread when clients come or go
 *
 * The engine's descriptor tells a sleeper that there was an event, but not which
 * one. So arming one of the two drives the engine, and an event that is found
 * for the other, if that is armed, is written to its eventfd: no wake-up is lost.
 */
#ifndef SHIM_COMM_CHANNEL_EP_PRIV_H
#define SHIM_COMM_CHANNEL_EP_PRIV_H

#include <doca_comch.h>
#include <doca_comm_channel.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "ep_state.h"
#include "shim/common/base/object.h"

#define CHANNEL_MAX_NAME_LEN  120  /* its final zero byte included; as every card here has it */
#define CHANNEL_MAX_MSG_BYTES 4080 /* without a device to ask */

struct doca_pe;

struct channel_counters {
	uint64_t sent, sent_bytes, received, received_bytes;
};

/* A peer. */
struct doca_comm_channel_addr_t {
	struct shim_object object;
	struct doca_comm_channel_ep_t *ep;
	struct doca_comch_connection *connection; /* NULL once it ended */
	enum channel_peer_state state;
	bool end_reported;      /* a recvfrom reported that it ended */
	uint32_t blocked_bytes; /* length of a message that was refused for lack of room; 0 = none */
	uint64_t user_data;
	struct channel_counters counters, snapshot;
	LIST_ENTRY(doca_comm_channel_addr_t) link;
};

/* A message that is longer than the buffer of the recvfrom that received it. */
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
	LIST_HEAD(, doca_comm_channel_addr_t) addrs; /* newest first */
	uint32_t num_unreported;                     /* peers whose end no recvfrom has reported */
	struct channel_pending_msg *pending_msg;
	/* Of the recvfrom under way: */
	void *recv_buf;
	size_t recv_buf_len;
	struct doca_comm_channel_addr_t *recv_from; /* the sender of the message in recv_buf; NULL = none yet */
	/* Descriptors: */
	bool send_armed, recv_armed;
	int send_eventfd, recv_eventfd, status_eventfd;
	int send_epoll, recv_epoll;
	/* As of the last update: */
	struct doca_comm_channel_addr_t **snapshot_addrs;
	uint32_t num_snapshot_addrs, snapshot_pending;
};

/* ep_open.c: listen or connect; and close. A failed open leaves the endpoint idle. */
doca_error_t channel_open(const char *func, struct doca_comm_channel_ep_t *ep, enum channel_role role,
			  const char *name);
void channel_close(struct doca_comm_channel_ep_t *ep);

/* ep_callbacks.c: register the callbacks with Comch. */
doca_error_t channel_set_callbacks(struct doca_comm_channel_ep_t *ep);

/* Progress the engine until it finds nothing more to do without receiving. */
void channel_progress_all(struct doca_comm_channel_ep_t *ep);

/* Progress the engine until the client's peer is connected, or there is nothing more to do. In virtual time, the program's next
 * call follows at the moment at which the peer was connected. */
void channel_progress_connect(const struct doca_comm_channel_addr_t *addr);

/* Add a peer. NULL = no memory. */
struct doca_comm_channel_addr_t *channel_addr_new(struct doca_comm_channel_ep_t *ep,
						  struct doca_comch_connection *connection,
						  enum channel_peer_state state);

/* Free a peer, and remove it from the endpoint's lists. */
void channel_addr_free(struct doca_comm_channel_addr_t *addr);

/* Whether the peer can receive no more messages. */
bool channel_peer_is_disconnected(const struct doca_comm_channel_addr_t *addr);

/* Whether no peer will send any more: the client's service is gone, the service's function, or
 * the card's daemon. */
bool channel_is_shut_down(const struct doca_comm_channel_ep_t *ep);

#endif
