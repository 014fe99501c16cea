/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/channel.h - connections between processes on the two sides of a card.
 *
 *   server side:  listen --> [listening] --take--> an offered channel --accept--> [open]
 *   client side:  connect --> [pending] ------------ accepted ------------------> [open]
 *                     |  no server in time, refused                 |  the other end closed it, or died
 *                     +--------------------> [closed] <-------------+
 *
 * The session's owner brings the two ends together and carries handshake messages between
 * them: small packets with file descriptors, by which the ends share memory.
 * What they then say to each other through that memory never passes the owner.
 * Handshake messages arrive in the order they were sent; those sent before a close (or a
 * death) arrive before it: read the status, then take all handshake messages, then believe
 * it. A handshake message that can't be delivered closes its channel at both ends, so none
 * is ever missing between two others.
 *
 * A server listens on a function of its side for one representor under one
 * name; only clients on the function which that representor stands for reach it.
 *
 * @notify is called, in any thread, whenever take or status would say something
 * new; perhaps even before the call that it was given to returns. What is so
 * when that returns needs no notification: look once. It must be quick and must
 * not call into the session. Any thread may call these functions, but one
 * channel's handshake messages are sent by one thread at a time. After unlisten/close
 * returned, its notify is not called any more; they wait for one that runs, so
 * hold no lock then that it takes.
 *
 * Both an end that does not take its handshake messages (SIM_CHANNEL_MAX_UNREAD of them)
 * and one whose process does not even read them fail their channels. Errors are -errno.
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

/* Returns 0; -EADDRINUSE (that name is taken on that representor), -EINVAL (not a
 * function of this side, or it does not hold that representor), -ENODEV (the representor was
 * removed), -ENAMETOOLONG, -ENOMEM (also: SIM_MAX_SERVICES of this process), -ESHUTDOWN, -ETIMEDOUT (the daemon is stopped). */
int sim_session_listen(struct sim_session *session, const struct sim_service *service, sim_channel_notify *notify,
		       void *arg, struct sim_listener **ret_listener);

/* Stop listening: offers not taken yet are refused with -ECONNREFUSED. Taken ones stay. NULL is fine. */
void sim_session_unlisten(struct sim_session *session, struct sim_listener *listener);

/* Take the next client that wants in, with what it wrote. It waits until the
 * channel is accepted or closed. Whether there was one. Its notifications go to @notify(@arg). */
bool sim_listener_next_client(struct sim_listener *listener, sim_channel_notify *notify, void *arg,
			      struct sim_channel **ret_channel, struct sim_handshake_msg *ret_connect_msg);

/* How many clients wait to be taken. */
uint32_t sim_listener_num_waiting(const struct sim_listener *listener);

/* Ask for the server @name by way of @function. The channel is pending until a
 * server accepts it; without one that listens within @timeout_ms it closes with
 * -ECONNREFUSED (at once on a private card, where no server can be, and with a timeout of 0). Returns 0,
 * -EINVAL (not a function of this side), -ENAMETOOLONG, -ENOMEM (also: too many
 * connections of this process), -ESHUTDOWN, -ETIMEDOUT, or what sendmsg(2) says of @connect_msg. */
int sim_session_connect(struct sim_session *session, uint32_t function, const char *name, uint32_t timeout_ms,
			const struct sim_handshake_msg *connect_msg, sim_channel_notify *notify, void *arg,
			struct sim_channel **ret_channel);

/* Accept an offered channel; @accept_msg is the first handshake message that the client takes. Returns 0
 * (the client may have been and gone since: the status says), or the channel's status if it closed before. */
int sim_channel_accept(struct sim_channel *channel, const struct sim_handshake_msg *accept_msg);

/* Send a handshake message to the other end. When it returns 0 the owner has the handshake message.
 * Returns the channel's status else. */
int sim_channel_send(struct sim_channel *channel, const struct sim_handshake_msg *handshake);

/* The next handshake message of the other end. Whether there was one. Goes on after a close until all are taken. */
bool sim_channel_receive(struct sim_channel *channel, struct sim_handshake_msg *ret_handshake);

/* Ask the owner to have the other end's notify called: for a process to which we
 * hold no descriptor. Several may become one, but the last is never lost. */
void sim_channel_notify_peer(struct sim_channel *channel);

/* 0 = open; -EINPROGRESS (pending, or offered), or why it is closed, which changes no more:
 * -ECONNREFUSED (no server in time, or it ended before it accepted), -EBUSY (the
 * server's process had no room for the connect message), the reason that the other end
 * closed it with, -EPIPE (the other end's process died), -ESHUTDOWN (the daemon
 * is gone), -EMFILE (a handshake message's descriptors did not fit in this process or the
 * daemon), -ENOBUFS (too many handshake messages were not taken), -ETIMEDOUT (the daemon is
 * stopped), -ENOMEM, or what sendmsg(2) said of a handshake message. */
int sim_channel_status(const struct sim_channel *channel);

/* Close (or refuse) and free it; the other end's status becomes @reason (an -errno: -ECONNRESET = an orderly close;
 * -ECONNREFUSED, -EPROTO, -EBUSY for refusals; others are taken for -ECONNRESET). Handshake messages not taken are lost,
 * their descriptors closed. NULL is fine. */
void sim_channel_close(struct sim_session *session, struct sim_channel *channel, int reason);

#endif
