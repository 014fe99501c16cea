/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/channel.h - connections between processes on the two sides of a card.
 *
 *   server side:  listen --> [listening] --take--> an offered channel --accept--> [open]
 *   client side:  connect --> [pending] ------------ accepted ------------------> [open]
 *                     |  no server in time, refused                 |  the other end closed it, or died
 *                     +--------------------> [closed] <-------------+
 *
 * The session's owner connects the two ends and carries handshake messages between them: small packets with file
 * descriptors, by which the ends share memory. Data in the shared memory does not pass the owner.
 * Handshake messages arrive in the order of sending, and before the close (or death) that follows them. So a reader
 * reads the status, then takes all handshake messages, then acts on the status. A handshake message that can't be
 * delivered closes its channel at both ends, so the sequence has no gaps.
 *
 * A server listens on a function of its side, for one representor, under one name. Only clients on the represented
 * function reach the server.
 *
 * The session calls @notify, in any thread, when take or status would return something new. The first call may come
 * before listen, connect or take returns. State that exists at that return causes no notification, so the caller
 * looks once. @notify must be quick and must not call into the session.
 * Any thread may call these functions, but only one thread at a time sends handshake messages of a channel.
 * Unlisten and close wait for a notification that runs, and none runs afterwards. So the caller must hold no lock
 * that @notify takes.
 *
 * A channel fails when one end leaves SIM_CHANNEL_MAX_UNREAD handshake messages untaken, or when the process of that
 * end does not read its socket. Errors are -errno.
 */
#ifndef SIM_SESSION_CHANNEL_H
#define SIM_SESSION_CHANNEL_H

#include "sim/protocol/handshake_msg.h"
#include "session.h"
#include "sim/card/services.h" /* struct sim_service */

#define SIM_CHANNEL_MAX_UNREAD 256

struct sim_channel;
struct sim_listener;

typedef void sim_channel_notify(void *arg);

/* Returns 0; -EADDRINUSE (that representor has a service of that name), -EINVAL (not a function of this side, or a
 * function without that representor), -ENODEV (the representor was removed), -ENAMETOOLONG, -ENOMEM (also:
 * SIM_MAX_SERVICES of this process), -ESHUTDOWN, -ETIMEDOUT (the daemon is stopped). */
int sim_session_listen(struct sim_session *session, const struct sim_service *service, sim_channel_notify *notify,
		       void *arg, struct sim_listener **ret_listener);

/* Stop listening. Offers that are not taken are refused with -ECONNREFUSED; taken channels stay open. NULL is fine. */
void sim_session_unlisten(struct sim_session *session, struct sim_listener *listener);

/* Take the next client that waits, and its connect message. The client waits until the channel is accepted or closed.
 * Returns whether a client waited. @notify(@arg) gets the notifications of the channel. */
bool sim_listener_next_client(struct sim_listener *listener, sim_channel_notify *notify, void *arg,
			      struct sim_channel **ret_channel, struct sim_handshake_msg *ret_connect_msg);

/* The number of clients that wait to be taken. */
uint32_t sim_listener_num_waiting(const struct sim_listener *listener);

/* Returns 0 (listening), or -ESHUTDOWN: the daemon ended, so no further client comes. That is final. */
int sim_listener_status(const struct sim_listener *listener);

/* Connect to the server @name of @function's representor, or of the network. The channel is pending until a server accepts it. Without a listening
 * server within @timeout_ms the channel closes with -ECONNREFUSED: at once for a timeout of 0, and on a private card,
 * which has no other process. Returns 0, -EINVAL (not a function of this side), -ENAMETOOLONG, -ENOMEM (also: too many
 * connections of this process), -ESHUTDOWN, -ETIMEDOUT, or the error of sendmsg(2) for @connect_msg. */
int sim_session_connect(struct sim_session *session, uint32_t function, const char *name, uint32_t timeout_ms,
			const struct sim_handshake_msg *connect_msg, sim_channel_notify *notify, void *arg,
			struct sim_channel **ret_channel);
int sim_session_connect_network(struct sim_session *session, uint32_t function, const char *name, uint32_t timeout_ms,
				const struct sim_handshake_msg *connect_msg, sim_channel_notify *notify, void *arg,
				struct sim_channel **ret_channel);

/* Accept an offered channel; the client takes @accept_msg as its first handshake message. Returns 0, or the channel's
 * status if the channel closed before. After 0 the client may have closed already: the status shows that. */
int sim_channel_accept(struct sim_channel *channel, const struct sim_handshake_msg *accept_msg);

/* Send a handshake message to the other end. Returns 0 when the owner has the message, else the channel's status. */
int sim_channel_send(struct sim_channel *channel, const struct sim_handshake_msg *handshake);

/* Take the next handshake message of the other end. Returns whether there was one. Messages can be taken after a close,
 * too. */
bool sim_channel_receive(struct sim_channel *channel, struct sim_handshake_msg *ret_handshake);

/* Ask the owner to call the notify function of the other end: for a process to which this one holds no descriptor. The
 * owner may merge several requests, but never loses the last. */
void sim_channel_notify_peer(struct sim_channel *channel);

/* Returns 0 (open), -EINPROGRESS (pending or offered), or the reason of the close, which is final: -ECONNREFUSED (no
 * server in time, or the server ended before it accepted), -EBUSY (the server's process had no room for the connect
 * message), the reason that the other end closed with, -EPIPE (the other end's process died), -ESHUTDOWN (the daemon
 * ended), -EMFILE (the descriptors of a handshake message did not fit in this process or the daemon), -ENOBUFS (too
 * many untaken handshake messages), -ETIMEDOUT (the daemon is stopped), -ENOMEM, or the error of sendmsg(2) for a
 * handshake message. */
int sim_channel_status(const struct sim_channel *channel);

/* Of a client whose status is -ECONNREFUSED: whether a service of that name is for another function of its side, then in
 * *ret_function. */
bool sim_channel_find_elsewhere(const struct sim_channel *channel, uint32_t *ret_function);

/* Close (or refuse) a channel and free it. The other end's status becomes @reason, a -errno: -ECONNRESET for an orderly
 * close; -ECONNREFUSED, -EPROTO or -EBUSY for a refusal. Other reasons become -ECONNRESET. Untaken handshake messages
 * are dropped and their descriptors closed. NULL is fine. */
void sim_channel_close(struct sim_session *session, struct sim_channel *channel, int reason);

#endif
