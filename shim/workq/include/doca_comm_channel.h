/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_comm_channel.h - Comm Channel: messages between host and DPU, without a network.
 *
 * An endpoint is either a service, on the DPU, or a client, on the host. A
 * service listens under a name, on one device and for one representor, so for
 * one function of the host. A client on that function connects by the name.
 *
 *   DPU:   ep_create --> set device, representor, sizes --> ep_listen("name")
 *          --> ep_recvfrom: a message and the client it came from --> ep_sendto ...
 *   host:  ep_create --> set device, sizes --> ep_connect("name", &peer)
 *          --> ep_sendto(peer) --> ep_recvfrom ...
 *   both:  ep_disconnect --> ep_destroy
 *
 * A peer address names the other end of one connection. It belongs to the
 * endpoint, and ends with ep_disconnect() or ep_destroy(). A client is not in
 * touch as soon as ep_connect() returns: until it is, peer_addr_update_info()
 * says DOCA_ERROR_CONNECTION_INPROGRESS. A service learns of a client by its first
 * message.
 *
 * No call blocks: DOCA_ERROR_AGAIN means that there is no message, or no room for
 * one, yet. Instead of polling, a program may sleep in poll() or epoll until an
 * event channel of the endpoint is readable:
 *
 *   ep_recvfrom until DOCA_ERROR_AGAIN --> event_handle_arm_recv --> wait --> ep_recvfrom ...
 *
 * Every function returns DOCA_ERROR_INVALID_VALUE for a NULL argument. Sizes of
 * messages are in bytes, sizes of queues in messages. One thread at a time per
 * endpoint.
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

struct doca_comm_channel_addr_t;
struct doca_comm_channel_ep_t;

/* Something that poll() and epoll understand. */
typedef doca_event_handle_t doca_event_channel_t;

enum doca_comm_channel_msg_flags {
	DOCA_CC_MSG_FLAG_NONE = 0,
};

/* --- What a device can do --- */

/* The largest values that the setters below accept. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo, uint32_t *max_message_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo,
						       uint32_t *max_send_queue_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo,
						       uint32_t *max_recv_queue_size);

/* How many clients a service can have. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo,
							       uint32_t *max_num_connections);

/* The longest name of a service, with its terminating zero. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len);

/* --- Life --- */

/* An endpoint, the caller's to destroy. create: DOCA_ERROR_NO_MEMORY. destroy
 * disconnects what is connected. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep);

/* --- Properties: set before listen or connect, else DOCA_ERROR_BAD_STATE --- */

/* The device, borrowed; required. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep, struct doca_dev *device);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep, struct doca_dev **device);

/* The function of the host to serve, borrowed; required of a service. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep,
						 struct doca_dev_rep *device_rep);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep,
						 struct doca_dev_rep **device_rep);

/* The longest message, and how many can wait to be sent and to be received. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t max_msg_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t *max_msg_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep,
						      uint16_t send_queue_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep,
						      uint16_t *send_queue_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep,
						      uint16_t recv_queue_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep,
						      uint16_t *recv_queue_size);

/* --- Connections --- */

/* Be the service of that name. DOCA_ERROR_ALREADY_EXIST (the name is taken),
 * DOCA_ERROR_BAD_STATE (a property is missing, or the endpoint is in use),
 * DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep, const char *name);

/* Be a client of the service of that name. DOCA_ERROR_NOT_FOUND (no such service),
 * DOCA_ERROR_BAD_STATE, DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep, const char *name,
					  struct doca_comm_channel_addr_t **peer_addr);

/* End one connection. DOCA_ERROR_NOT_CONNECTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep,
					     struct doca_comm_channel_addr_t *peer_addr);

/* Bring up to date what the two functions below tell of a service. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *local_ep);

/* Clients that are connected: an array of the endpoint's, valid until the next
 * update. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_peer_addr_list(const struct doca_comm_channel_ep_t *local_ep,
						     struct doca_comm_channel_addr_t ***peer_addr_array,
						     uint32_t *peer_addr_array_len);

/* Clients that have begun to connect and are not connected yet. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_pending_connections(const struct doca_comm_channel_ep_t *local_ep,
							  uint32_t *pending_connections);

/* --- Messages --- */

/* Send a copy of @len bytes. @flags is enum doca_comm_channel_msg_flags.
 * DOCA_ERROR_AGAIN (no room now), DOCA_ERROR_NOT_CONNECTED,
 * DOCA_ERROR_CONNECTION_INPROGRESS, DOCA_ERROR_CONNECTION_RESET (the peer is gone),
 * DOCA_ERROR_INVALID_VALUE (longer than the maximum). */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len,
					 int flags, struct doca_comm_channel_addr_t *peer_addr);

/* Take a message: @msg has room for *@len bytes, which becomes the message's
 * length; *@peer_addr says whose it is. DOCA_ERROR_AGAIN (none now),
 * DOCA_ERROR_NO_MEMORY (a longer message waits; it is lost),
 * DOCA_ERROR_NOT_CONNECTED, DOCA_ERROR_CONNECTION_RESET. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len,
					   int flags, struct doca_comm_channel_addr_t **peer_addr);

/* --- Waiting instead of polling: after listen or connect --- */

/* Channels that become readable when there may be room to send again, and when
 * there may be a message; borrowed until destroy. Either output may be NULL. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
						    doca_event_channel_t *send_event_channel,
						    doca_event_channel_t *recv_event_channel);

/* A channel that becomes readable when clients of a service come or go. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_service_event_channel(struct doca_comm_channel_ep_t *local_ep,
							    doca_event_channel_t *service_event_channel);

/* Ask for the next event; what has come before makes the channel readable at once. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep);

/* --- Peer addresses --- */

/* A number to remember. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_set_user_data(struct doca_comm_channel_addr_t *peer_addr,
						       uint64_t user_context);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_user_data(struct doca_comm_channel_addr_t *peer_addr,
						       uint64_t *user_data);

/* Bring the counters below up to date, and say how the connection is: DOCA_SUCCESS,
 * DOCA_ERROR_CONNECTION_INPROGRESS, DOCA_ERROR_CONNECTION_ABORTED,
 * DOCA_ERROR_CONNECTION_RESET, DOCA_ERROR_NOT_CONNECTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr);

/* Messages and bytes of the connection, as of the last update. */
__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *send_messages);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_bytes(const struct doca_comm_channel_addr_t *peer_addr,
							uint64_t *send_bytes);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *recv_messages);

__DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_bytes(const struct doca_comm_channel_addr_t *peer_addr,
							uint64_t *recv_bytes);

/* Messages that were sent and have not arrived yet. */
__DOCA_EXPERIMENTAL
doca_error_t
doca_comm_channel_peer_addr_get_send_in_flight_messages(const struct doca_comm_channel_addr_t *peer_addr,
							uint64_t *send_in_flight_messages);

#ifdef __cplusplus
}
#endif

#endif
