/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/endpoint/comm_channel_hooks.h - what APIs that are implemented on Comch use beyond its public functions.
 *
 * A Comm Channel endpoint has no callbacks and no tasks: its user asks for each
 * message. So its Comch context runs with receiving paused: incoming messages stay
 * in the ring between the two processes, which fills and makes the sender
 * wait. A message that it sends is written to the ring at once, or refused; it
 * never waits on this side.
 */
#ifndef SHIM_COMCH_COMM_CHANNEL_HOOKS_H
#define SHIM_COMCH_COMM_CHANNEL_HOOKS_H

#include <doca_comch.h>
#include <stdbool.h>

#include "shim/comch/conn/compat.h"
#include "shim/common/base/object.h"

/* ---- Comm Channel: an idle context of a server or client ---- */

/* Pause receiving, and need no send tasks. @status_fd is an eventfd that is written, in any thread, when a client
 * comes or the other end of a connection goes; -1 = none. Returns SUCCESS or NO_MEMORY. */
SHIM_INTERNAL_API doca_error_t comch_set_comm_channel_mode(struct doca_ctx *ctx, int status_fd);

/* How long a client waits for a server to appear; 0 = it must be there. The default is a few seconds. */
SHIM_INTERNAL_API void comch_client_set_connect_timeout(struct doca_comch_client *client, uint32_t timeout_ms);

/* The connection of a client that was started, also while it is being made; else NULL. */
SHIM_INTERNAL_API struct doca_comch_connection *comch_client_connection(const struct doca_comch_client *client);

/* ---- Comm Channel: a started context ---- */

/* Progress by one step that also receives. All other progress leaves messages, ends of connections and new clients
 * where they are. Returns whether there was an event; does nothing in a process forked since the start. */
SHIM_INTERNAL_API bool comch_progress_recv(struct doca_ctx *ctx);

/* The status that a fault gives to the call under way, and clear it; SUCCESS = none. */
SHIM_INTERNAL_API doca_error_t comch_take_injected_status(struct doca_ctx *ctx);

/* Whether progress has left something to receive. */
SHIM_INTERNAL_API bool comch_has_pending_recv(const struct doca_ctx *ctx);

/* Write a message to the other end's queue. Returns 0, or:
 *   -EAGAIN                  no room: the context is notified when there is some
 *   -EPROTO, -ECONNABORTED   the connection is lost
 *   -ECONNRESET              the other end is gone
 *   -ENOTCONN                the connection is not open, or belongs to the process before fork()
 *   -ECANCELED               a fault fails the call: comch_take_injected_status() says how */
SHIM_INTERNAL_API int comch_connection_send(struct doca_comch_connection *connection, const void *msg, uint32_t len);

/* After -EAGAIN: whether there is room by now. If not, the context is notified when there is some. */
SHIM_INTERNAL_API bool comch_connection_has_room(struct doca_comch_connection *connection, uint32_t len);

/* Whether the other end is gone. Messages that it sent before may still be there. */
SHIM_INTERNAL_API bool comch_connection_is_disconnected(const struct doca_comch_connection *connection);

/* The number of clients that wait to be accepted. */
SHIM_INTERNAL_API uint32_t comch_server_num_pending(const struct doca_comch_server *server);

/* ---- doca_cc: callbacks of the program (conn/compat.h); NULL = no memory ---- */

SHIM_INTERNAL_API struct comch_compat *comch_server_compat(struct doca_comch_server *server);
SHIM_INTERNAL_API struct comch_compat *comch_client_compat(struct doca_comch_client *client);

/* In a callback: those of the connection's server or client. */
SHIM_INTERNAL_API const struct comch_compat *comch_compat_of(const struct doca_comch_connection *connection);

#endif
