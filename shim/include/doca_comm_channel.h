/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_comm_channel.h - messages between the card's two sides, as releases up to 2.6 had them.
 *
 * Both generations have this header. New programs use the current one's
 * doca_comch.h. The two reach each other: a Comm Channel endpoint can talk to a
 * Comch client or server with the same message size.
 *
 *   DPU   service endpoint  <=== one or many ===>  client endpoint   host
 *         (device, representor, name)              (device, name)
 *
 *   [idle] --listen--> [service]      takes clients of the host function behind its representor
 *      ^'----connect-> [client]       has one peer
 *      '--disconnect (a client)---'
 *
 * Nothing here blocks, and nothing here calls back. doca_comm_channel_ep_sendto()
 * and ..._recvfrom() return DOCA_ERROR_AGAIN when there is no room or no message,
 * and a program polls or sleeps on an event channel. A service that never
 * receives never takes a client either.
 *
 *   result = doca_comm_channel_ep_event_handle_arm_recv(ep);    a sleeper's loop:
 *   epoll_wait(...);                                            arm, sleep, receive all
 *   while ((result = doca_comm_channel_ep_recvfrom(ep, buf, &len, 0, &peer)) == DOCA_SUCCESS)
 *           ... len is the buffer's size again before the next ...
 *
 * Messages arrive whole, once and in order. Sizes are bytes, queue sizes are
 * messages. Functions return DOCA_ERROR_INVALID_VALUE for a NULL or stale
 * argument. An endpoint and its peers are used by one thread at a time.
 */
#ifndef DOCA_COMM_CHANNEL_H_
#define DOCA_COMM_CHANNEL_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_types.h>
#include <doca_error.h>
#include <doca_compat.h>
#include <doca_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An endpoint, and a peer of one. */
struct doca_comm_channel_ep_t;
struct doca_comm_channel_addr_t;

/* What epoll understands. It belongs to its endpoint, which closes it. */
typedef doca_event_handle_t doca_event_channel_t;

/* For the flags of sendto and recvfrom: there are none. */
enum doca_comm_channel_msg_flags {
	DOCA_CC_MSG_FLAG_NONE = 0,
};

/* --- What a device can do --- */

/* The longest name of a service, its final zero byte included. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len);

/* The most that the setters below accept. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo, uint32_t *max_message_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo, uint32_t *max_send_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size);

/* The most peers of one service. DOCA_ERROR_NOT_SUPPORTED by a device that can't have one (the host's). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo,
							       uint32_t *max_num_connections);

/* --- An endpoint's life --- */

/* An idle endpoint, the caller's. DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep);

/* End it, in whatever state; its peers are told and its addresses are gone.
 * DOCA_ERROR_NOT_CONNECTED: there is no such endpoint. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep);

/* --- Properties: set while idle, DOCA_ERROR_BAD_STATE otherwise --- */

/* Borrowed. The getters give NULL where nothing was set. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep, struct doca_dev *device);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep, struct doca_dev **device);

/* Of the host function whose clients a service takes. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep *device_rep);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep **device_rep);

/* The largest message, either way; the same at both ends. A small one is raised to
 * a minimum: the getter tells. DOCA_ERROR_INVALID_VALUE for 0 or above the device's limit. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t max_msg_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t *max_msg_size);

/* Rounded up to a power of two. What waits for recvfrom takes places in the receive
 * queue, for each peer; a peer that finds it full is told DOCA_ERROR_AGAIN. bfsim
 * hands a message straight to that queue, so none waits in the send queue. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t send_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *send_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t recv_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *recv_queue_size);

/* --- Connections --- */

/* Be a service of that name. DOCA_ERROR_BAD_STATE without a device or a
 * representor; DOCA_ERROR_NOT_SUPPORTED by a device that can't (the host's);
 * DOCA_ERROR_NOT_PERMITTED unless idle; DOCA_ERROR_CONNECTION_ABORTED when the
 * card refuses (the name is taken). */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep, const char *name);

/* Connect to a service, which must be there. DOCA_SUCCESS: the request is under way, and
 * ..._peer_addr_update_info() returns when the service has accepted it. *peer_addr is
 * the endpoint's. DOCA_ERROR_BAD_STATE without a device; NOT_SUPPORTED (the DPU's
 * devices) and NOT_PERMITTED as above; DOCA_ERROR_CONNECTION_ABORTED: no
 * service listens under that name for this function. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep, const char *name,
					  struct doca_comm_channel_addr_t **peer_addr);

/* Let go of a peer, be it there or gone; @peer_addr ends. A client is idle again and
 * can connect anew, a service goes on. DOCA_ERROR_NOT_CONNECTED: no peer of this endpoint. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep,
					     struct doca_comm_channel_addr_t *peer_addr);

/* --- Messages --- */

/* Send @len bytes, which are copied. What went well is in the peer's queue.
 * DOCA_ERROR_AGAIN: no room there, or the service has not taken us yet; the send
 * event channel tells. DOCA_ERROR_INVALID_VALUE for 0 bytes or more than the
 * maximum. DOCA_ERROR_NOT_CONNECTED: no peer of this endpoint.
 * DOCA_ERROR_CONNECTION_RESET: the peer is gone; disconnect it. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len,
					 int flags, struct doca_comm_channel_addr_t *peer_addr);

/* Take the next message of any peer, and clients that want in. *len is the room at
 * @msg before, the message's length after; both outputs are written when there is one.
 * DOCA_ERROR_AGAIN: none; the receive event channel tells.
 * DOCA_ERROR_INVALID_VALUE: it is longer than *len; it waits for the next call.
 * DOCA_ERROR_NOT_CONNECTED: the endpoint is idle.
 * DOCA_ERROR_CONNECTION_RESET: *peer_addr is gone, and all of it was received;
 * disconnect it. A service is told once, a client each time. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len, int flags,
					   struct doca_comm_channel_addr_t **peer_addr);

/* --- Event channels: readable once, after they were armed, until armed again --- */

/* For room to send and for what recvfrom has to say; either output may be NULL. Now and
 * then one is readable for nothing. DOCA_ERROR_BAD_STATE while idle. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
						    doca_event_channel_t *send_event_channel,
						    doca_event_channel_t *recv_event_channel);

/* DOCA_ERROR_INVALID_VALUE while idle. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep);

/* For clients that came, were connected, left or failed, since the last
 * ..._update_service_state_info(), which arms it. DOCA_ERROR_BAD_STATE while idle,
 * DOCA_ERROR_NOT_SUPPORTED by a client. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_service_event_channel(struct doca_comm_channel_ep_t *local_ep,
							    doca_event_channel_t *service_event_channel);

/* --- A service's peers, as of the last update; errors as just above --- */

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *local_ep);

/* The array is the endpoint's, until the next update. A disconnected peer leaves it. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_peer_addr_list(const struct doca_comm_channel_ep_t *local_ep,
						     struct doca_comm_channel_addr_t ***peer_addr_array,
						     uint32_t *peer_addr_array_len);

/* Clients that called and wait for a recvfrom to take them. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_pending_connections(const struct doca_comm_channel_ep_t *local_ep,
							  uint32_t *pending_connections);

/* --- What is known of a peer --- */

/* A place for the program's own; 0 at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_set_user_data(struct doca_comm_channel_addr_t *peer_addr,
						       uint64_t user_context);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_user_data(struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_data);

/* Take a snapshot of the counters, and say how the connection is:
 * DOCA_ERROR_CONNECTION_INPROGRESS until the service has taken us,
 * DOCA_ERROR_CONNECTION_ABORTED when it failed or the peer is gone. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr);

/* The counters as of that; 0 before. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *send_messages);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_bytes(const struct doca_comm_channel_addr_t *peer_addr,
							uint64_t *send_bytes);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *recv_messages);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_bytes(const struct doca_comm_channel_addr_t *peer_addr,
							uint64_t *recv_bytes);

/* Sent and not yet in the peer's queue: always 0 here. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(const struct doca_comm_channel_addr_t *peer_addr,
								     uint64_t *send_in_flight_messages);

#ifdef __cplusplus
}
#endif

#endif
