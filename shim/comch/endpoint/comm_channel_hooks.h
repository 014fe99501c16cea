/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/endpoint/comm_channel_hooks.h - what earlier APIs that are implemented on Comch need of it beyond its public functions.
 *
 * A Comm Channel endpoint has no callbacks and no tasks: a message is read when
 * its user asks for one, and not before. So its context holds: what comes in
 * stays where it is, in the ring between the two processes, which fills and
 * makes the sender wait. A message that it sends is written there at once, or
 * refused; it never waits on this side, for a call that may not come.
 */
#ifndef SHIM_COMCH_COMM_CHANNEL_HOOKS_H
#define SHIM_COMCH_COMM_CHANNEL_HOOKS_H

#include <doca_comch.h>
#include <stdbool.h>

#include "shim/common/base/object.h"

/* --- Comm Channel: of an idle server's or client's context --- */

/* From now on it holds, and needs no send tasks. @status_fd is an eventfd that is written to, in any
 * thread, when a client comes or the other end of a connection goes; -1 = none. */
SHIM_INTERNAL_API void comch_set_comm_channel_mode(struct doca_ctx *ctx, int status_fd);

/* How long a client will wait for a server to appear. Without this call it is a few seconds; 0 = it must be there. */
SHIM_INTERNAL_API void comch_client_set_connect_timeout(struct doca_comch_client *client, uint32_t timeout_ms);

/* --- Comm Channel: while it is started --- */

/* A context that holds leaves messages, ends of connections and clients that want in where
 * they are when it progresses, and does all else. This is one step of progress that takes them.
 * Whether there was something; nothing is done in a process forked since. */
SHIM_INTERNAL_API bool comch_progress_recv(struct doca_ctx *ctx);

/* After that: the status that a fault has the receive fail with, SUCCESS = none. Said once. */
SHIM_INTERNAL_API doca_error_t comch_recv_fault_status(struct doca_ctx *ctx);

/* Whether it has left something where it was. */
SHIM_INTERNAL_API bool comch_has_pending_recv(const struct doca_ctx *ctx);

/* Write a message to the other end's queue. 0; -EAGAIN (no room: the context has news when there is some);
 * -EPROTO, -ECONNABORTED (the connection ends); -ECONNRESET (the other end is gone); -ENOTCONN (it is not open, or of
 * the process before fork()). Or, by a fault, the status > 0 that the call is to fail with. */
SHIM_INTERNAL_API int comch_connection_send(struct doca_comch_connection *connection, const void *msg, uint32_t len);

/* After -EAGAIN: whether there is room meanwhile. If not, the context has news when there is. */
SHIM_INTERNAL_API bool comch_connection_has_room(struct doca_comch_connection *connection, uint32_t len);

/* Whether the other end is gone. What it sent before may still be there. */
SHIM_INTERNAL_API bool comch_connection_is_disconnected(const struct doca_comch_connection *connection);

/* Clients that want in and were not taken yet. */
SHIM_INTERNAL_API uint32_t comch_server_num_pending(const struct doca_comch_server *server);

/* --- doca_cc: whose callbacks have other types --- */

/* A program's; kept with a live server or client for those that Comch calls instead. */
struct comch_callbacks {
	void (*received)(void), (*connected)(void), (*disconnected)(void);
};

SHIM_INTERNAL_API struct comch_callbacks *comch_server_callbacks(struct doca_comch_server *server);
SHIM_INTERNAL_API struct comch_callbacks *comch_client_callbacks(struct doca_comch_client *client);

/* In a callback: those of the connection's server or client. */
SHIM_INTERNAL_API const struct comch_callbacks *comch_callbacks_of(const struct doca_comch_connection *connection);

#endif
