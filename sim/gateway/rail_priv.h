/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/rail_priv.h - the state of a rail. */
#ifndef SIM_GATEWAY_RAIL_PRIV_H
#define SIM_GATEWAY_RAIL_PRIV_H

#include <rdma/fabric.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "rail.h"

#define RAIL_SENDS    16
#define RAIL_RECEIVES 16

struct rail_buffer {
	struct fi_context context; /* the provider's, while the buffer is on its way */
	bool is_receive;
	uint8_t *bytes;
	SLIST_ENTRY(rail_buffer) link;
};

/* A connection has queues of its own, so that nothing of it comes after its end. */
struct rail_conn {
	struct rail *rail;
	void *owner;
	bool is_connected, wants_room;
	bool may_wait; /* since the last look at @eq, fi_trywait() has permitted a sleep: an event wakes it */
	struct sockaddr_storage peer; /* of the listener's connections; peer_len 0 = not known */
	size_t peer_len;
	struct fid_ep *ep;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_mr *mr; /* NULL = the provider needs none */
	uint8_t *memory;   /* of all buffers */
	struct rail_buffer buffers[RAIL_SENDS + RAIL_RECEIVES];
	SLIST_HEAD(, rail_buffer) free_sends;
	uint32_t num_sending;
	LIST_ENTRY(rail_conn) link;
};

struct rail {
	struct rail_cfg cfg;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_pep *pep; /* NULL = does not listen */
	struct fid_eq *eq;   /* of the listener */
	bool may_wait;       /* as of a connection */
	struct strangers *strangers;
	uint64_t look_ns; /* when to look for strangers */
	LIST_HEAD(, rail_conn) conns;
	struct rail_conn *next; /* in a walk over the connections */
};

#endif
