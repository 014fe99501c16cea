/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/endpoint/endpoint_priv.h - servers, clients, and the life of their connections.
 *
 * The states of an endpoint are those of its context (shim/common/pe/ctx_priv.h). A server's context runs when it
 * listens. A client's context starts until the server accepts it, and stops when its one connection ends.
 *
 *   server.c, client.c, comm_channel_hooks.c     public functions, and where the two differ
 *   endpoint.c, handshake.c                      what both have
 *   send_task.c                                  the send task
 *   connection.c                                 one step of a connection, its events, and its end
 */
#ifndef SHIM_COMCH_ENDPOINT_PRIV_H
#define SHIM_COMCH_ENDPOINT_PRIV_H

#include "shim/comch/conn/conn_priv.h"

/* ---- endpoint.c ---- */

void comch_endpoint_init(struct comch_endpoint *endpoint, const struct shim_ctx_ops *ctx_ops,
			 const struct comch_endpoint_ops *ops, struct doca_dev *dev, const char *name);
doca_error_t comch_endpoint_start(struct comch_endpoint *endpoint);
void comch_endpoint_stopped(struct comch_endpoint *endpoint);
doca_error_t comch_endpoint_may_stop(const struct doca_ctx *ctx);
bool comch_endpoint_progress(struct doca_ctx *ctx);
bool comch_endpoint_arm(struct doca_ctx *ctx);

/* Whether a client waits for a server's answer, or a record of a consumer for its announcement. */
bool comch_endpoint_holds_time(struct doca_ctx *ctx);

/* Public functions of servers and of clients; @func is the public function's name, for the log. */
doca_error_t comch_check_name(const char *func, const struct pcie_caps *caps, const char *name);
doca_error_t comch_set_max_msg_size(const char *func, struct comch_endpoint *endpoint, uint32_t size);
doca_error_t comch_set_recv_queue_size(const char *func, struct comch_endpoint *endpoint, uint32_t size);
doca_error_t comch_set_consumer_events(const char *func, struct comch_endpoint *endpoint,
				       doca_comch_event_consumer_cb_t new_cb,
				       doca_comch_event_consumer_cb_t expired_cb);
doca_error_t comch_set_recv_cb(const char *func, struct comch_endpoint *endpoint, doca_comch_event_msg_recv_cb_t cb);

/* ---- send_task.c ---- */

extern const struct shim_task_type comch_send_type;

/* Report one send that ended to the user. Returns whether there was one. */
bool comch_send_complete_next(struct comch_endpoint *endpoint);

doca_error_t comch_send_set_conf(const char *func, struct comch_endpoint *endpoint,
				 doca_comch_task_send_completion_cb_t done, doca_comch_task_send_completion_cb_t failed,
				 uint32_t count);
doca_error_t comch_send_alloc(const char *func, struct comch_endpoint *endpoint, struct doca_comch_connection *peer,
			      const void *msg, uint32_t len, struct doca_comch_task_send **ret_task);

/* ---- handshake.c: the first message of each end, which says where that end is written to ---- */

/* Returns 0 or -errno. The descriptors stay the connection's and its engine's. */
int comch_connection_make_handshake(struct doca_comch_connection *connection, struct sim_handshake_msg *ret_msg);

/* The other end's message opens the connection. Takes the message's descriptors in any case. Returns 0 or -errno. */
int comch_connection_handshake(struct doca_comch_connection *connection, struct sim_handshake_msg *msg);

/* ---- connection.c ---- */

/* Create a connection whose pipe is opening. */
int comch_connection_new(struct comch_endpoint *endpoint, struct doca_comch_connection **ret_connection);

/* Keep the announcements that came through the channel. */
void comch_connection_recv_announces(struct doca_comch_connection *connection);

/* One step: accept, send, receive, or report the end. Returns whether the user saw an event. */
bool comch_connection_progress(struct doca_comch_connection *connection);

/* The connection is lost, for the reason @status (-errno); progress reports it next. */
void comch_connection_set_lost(struct doca_comch_connection *connection, int status);

/* This end closes it; the other end's channel gets @reason (-errno). The endpoint still holds it. */
void comch_connection_close(struct doca_comch_connection *connection, int reason);

/* Drop the endpoint's reference to a closed connection. */
void comch_connection_release(struct doca_comch_connection *connection);

/* ---- fault_connect.c ---- */

/* How a client connects. */
struct comch_connect_plan {
	uint64_t due_ns; /* not before; 0 = now, SIM_JOB_NEVER_DUE = never */
	int refused;     /* -errno instead of connecting; 0 = none */
};

/* Ask the fault plan. Returns SUCCESS, or the status that the start fails with. */
doca_error_t comch_fault_plan_connect(const struct comch_endpoint *endpoint, struct comch_connect_plan *ret_plan);

#endif
