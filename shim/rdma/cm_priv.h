/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/rdma/cm_priv.h - the connection manager (cm.c), as the context sees it. */
#ifndef SHIM_RDMA_CM_PRIV_H
#define SHIM_RDMA_CM_PRIV_H

#include "rdma_priv.h"

struct sim_handshake_msg;

struct rdma_listener {
	uint16_t port;
	struct sim_listener *listener;
	uint64_t due_ns; /* a fault holds clients back up to then, session time; 0 = none does */
	SLIST_ENTRY(rdma_listener) link;
};

/* Take a step: a request, an answer, an end. Returns whether the program's callback was called. */
bool rdma_cm_progress(struct doca_rdma *rdma);

/* Whether such a step is there. */
bool rdma_cm_has_work(struct doca_rdma *rdma);

/* Whether a request waits for its answer, which comes from outside of virtual time. While the path is down, it can't come. */
bool rdma_cm_holds_time(const struct doca_rdma *rdma);

void rdma_cm_end_listeners(struct doca_rdma *rdma);

/* ---- cm_state.c ---- */

void rdma_cm_set_state(struct doca_rdma_connection *connection, enum rdma_cm_state to);

/* The connection is in a state that the program has to be told of. */
void rdma_cm_enter(struct doca_rdma_connection *connection, enum rdma_cm_state state);

/* In model time a connection is established a round trip after its request. Until then time stays for requests of the same
 * moment, so that their order does not matter. */
void rdma_cm_delay_news(struct doca_rdma_connection *connection);

/* Whether the network links between the context's function and @peer_function let a packet pass. If not, the context looks again
 * when that may have changed. */
bool rdma_cm_has_path(struct doca_rdma *rdma, uint32_t peer_function);

/* When to look again; 0 = they do. */
uint64_t rdma_cm_path_retry_ns(const struct doca_rdma *rdma, uint32_t peer_function);

/* The next step of the context looks at its listeners and connections. In any thread, @arg is the context; or in its own. */
void rdma_cm_notify(void *arg);
void rdma_cm_notify_self(struct doca_rdma *rdma);

/* The message of a request, and of its answer. */
struct rdma_cm_request {
	struct sim_key key;
	uint32_t function; /* the sender's */
	uint32_t reserved;
};

void rdma_cm_write_request(struct doca_rdma_connection *connection, struct sim_handshake_msg *msg);

/* Read and close a message. Returns false if it is none of these. */
bool rdma_cm_read_request(struct sim_handshake_msg *msg, struct rdma_cm_request *ret_request);

/* ---- cm_client.c ---- */

/* A client's request: returns whether it was answered, or has failed; the connection has its state then. */
bool rdma_cm_poll_request(struct doca_rdma_connection *connection);

/* ---- cm_server.c ---- */

/* Take a request. Returns whether the program saw one. */
bool rdma_cm_look_at_listeners(struct doca_rdma *rdma);

/* The context stops: if the connection is a request without an answer, the client learns of the end at this time. */
void rdma_cm_end_offer(struct doca_rdma_connection *connection);

/* A request that the program has accepted, and a fault holds back, or one that it has not answered yet. */
void rdma_cm_poll_offer(struct doca_rdma_connection *connection);

/* ---- cm_fault.c ---- */

/* Ask the fault plan about a call of the context. Returns SUCCESS, or the status that the call fails with. */
doca_error_t rdma_cm_plan(const struct doca_rdma *rdma, enum sim_op op, struct rdma_cm_plan *ret_plan);

#endif
