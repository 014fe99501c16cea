/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comm_channel/ep_priv.h - Comm Channel's endpoints, told in Comch's terms.
 *
 *   [idle] --listen--> [service]      a Comch server with an engine of its own
 *      \\----connect--> [client]       a Comch client, likewise
 *
 * An endpoint has no callbacks and no engine that its user sees: each call drives
 * the engine a little. A message goes straight into the buffer of the
 * doca_comm_channel_ep_recvfrom() that waits for it; one that arrives in
 * another call is kept, as is the news that a peer is gone.
 */
#ifndef SHIM_COMM_CHANNEL_EP_PRIV_H
#define SHIM_COMM_CHANNEL_EP_PRIV_H

#include <doca_comch.h>
#include <doca_comm_channel.h>
#include <stdbool.h>

#include "shim/common/object.h"

struct doca_pe;

/* A message, or the end of a peer, that no recvfrom has taken yet. */
struct channel_kept {
	struct doca_comm_channel_addr_t *addr;
	struct channel_kept *next;
	bool is_end;
	size_t len;
	uint8_t bytes[];
};

struct channel_counters {
	uint64_t sent, sent_bytes, received, received_bytes, in_flight;
};

/* A peer. */
struct doca_comm_channel_addr_t {
	struct shim_object object;
	struct doca_comm_channel_ep_t *ep;
	struct doca_comch_connection *connection; /* NULL once it ended, or while it is being made */
	bool ended;
	uint64_t user_data;
	struct channel_counters counters, shown;
	struct doca_comm_channel_addr_t *next;
};

enum channel_role {
	CHANNEL_IDLE,
	CHANNEL_SERVICE,
	CHANNEL_CLIENT,
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
	struct channel_kept *kept, **kept_end;
	struct channel_send {
		struct doca_comm_channel_addr_t *addr; /* NULL: its peer was let go of */
		uint32_t next_free;
	} *sends;                     /* one for each send task ... */
	uint8_t *send_bytes;          /* ... and the message of each */
	uint32_t free_send;           /* the first free one, send_queue_size = none */
	/* A recvfrom that waits. */
	void *want;
	size_t want_len;
	struct doca_comm_channel_addr_t *got_from; /* not NULL: it has what it waited for */
	bool got_too_long;
	/* Descriptors to sleep on. */
	bool send_armed;
	int send_news, service_news;  /* eventfds of ours, ... */
	int send_epoll, service_epoll; /* ... each with the engine's */
	/* As of the last update. */
	struct doca_comm_channel_addr_t **shown_addrs;
	uint32_t num_shown_addrs, shown_pending;
};

/* ep_open.c: begin to listen, or to connect; and end it. A failed open leaves the endpoint idle. */
doca_error_t channel_open(const char *func, struct doca_comm_channel_ep_t *ep, enum channel_role role, const char *name);
void channel_close(struct doca_comm_channel_ep_t *ep);

/* ep_events.c: what Comch calls. */
doca_error_t channel_set_callbacks(struct doca_comm_channel_ep_t *ep);

/* Drive the engine until nothing is to be done, or @until is set. */
void channel_drive(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *const *until);

struct doca_comm_channel_addr_t *channel_addr_new(struct doca_comm_channel_ep_t *ep,
						  struct doca_comch_connection *connection);
void channel_addr_free(struct doca_comm_channel_addr_t *addr); /* with what is kept of it */
void channel_keep(struct doca_comm_channel_addr_t *addr, const void *bytes, size_t len, bool is_end);

#endif
