/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/conn/fault_priv.h - faults of Comch's control path: decorators of send, receive and connect.
 *
 *   decorator            wraps                      attached in
 *   fault_send.c         comch_send_write()         endpoint/send_task.c, to a task that a fault hits
 *                        comch_connection_write()   endpoint/comm_channel_hooks.c
 *   fault_recv.c         comch_delay_queue_push()   endpoint/recv.c
 *   fault_connect.c      the client's connect       endpoint/client.c
 *   fault_death.c        the channel's status       endpoint/connection.c
 *
 * The sender applies faults of content, and writes delays and reorders into the
 * message's header, as it may not run again in time; the receiver applies them.
 * Without a rule for an operation, its hook costs two loads and a branch.
 */
#ifndef SHIM_COMCH_FAULT_PRIV_H
#define SHIM_COMCH_FAULT_PRIV_H

#include "conn_priv.h"
#include "shim/common/pe/task_fault.h"

/* Ask the plan whether a fault hits @op of @size bytes at @endpoint. */
static inline bool comch_fault_query(const struct comch_endpoint *endpoint, enum sim_op op, uint64_t size,
				     struct sim_fault_hit *ret_hit)
{
	struct sim_fault_site site = { .op = op, .function = shim_dev_function(endpoint->ctx.dev)->id, .size = size };

	return sim_injector_may_hit(endpoint->ctx.faults, op) &&
	       shim_fault_hits(endpoint->ctx.faults, &site, endpoint->ctx.trace_id, ret_hit);
}

extern const struct shim_task_fault_ops comch_send_fault_ops;

/* The write() of a send task that a fault hits. */
int comch_fault_send_write(struct doca_comch_task_send *send);

/* As comch_connection_write(), for a message without a task. Also returns -ECONNABORTED (a fault breaks the
 * connection), or -ECANCELED: the call ends with endpoint->injected_status, and nothing was sent. */
int comch_fault_write_slow(struct doca_comch_connection *connection, const void *msg, uint32_t len);

static inline int comch_fault_write(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	if (doca_unlikely(sim_injector_may_hit(connection->endpoint->ctx.faults, SIM_OP_COMM_CHANNEL_SEND)))
		return comch_fault_write_slow(connection, msg, len);
	return comch_connection_write(connection, msg, len);
}

static inline bool comch_fault_may_hit_recv(const struct comch_endpoint *endpoint)
{
	return sim_injector_may_hit(endpoint->ctx.faults,
				    endpoint->is_comm_channel ? SIM_OP_COMM_CHANNEL_RECV : SIM_OP_COMCH_RECV);
}

/* As comch_delay_queue_push(), for a message that was just read; faults may change @hdr and @bytes. Returns 0 (the
 * message is in the queue, or lost), 1 (Comm Channel: the receive fails with injected_status) or -ECONNABORTED. */
int comch_fault_recv(struct doca_comch_connection *connection, struct comch_msg_hdr *hdr, uint8_t *bytes, uint32_t len);

/* The process at the other end died. Returns whether this end does not notice that yet; then the endpoint's alarm is set. */
bool comch_fault_hides_death(struct doca_comch_connection *connection);

#endif
