/* SPDX-License-Identifier: BSD-3-Clause */
/* What libdoca_comm_channel of the work-queue generation declares and does not have yet: it
 * links, and says so. A function leaves this file when it gets one of its own.
 */
#include <doca_comm_channel.h>

#include "shim/common/check.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NOT_YET(what, name, ...)                 \
	doca_error_t name(__VA_ARGS__)           \
	{                                        \
		return SHIM_NOT_SIMULATED(what); \
	}

/* ---- doca_comm_channel.h ---- */
NOT_YET("Comm Channel", doca_comm_channel_ep_connect, struct doca_comm_channel_ep_t *local_ep,
	const char *name, struct doca_comm_channel_addr_t **peer_addr)
NOT_YET("Comm Channel", doca_comm_channel_ep_create, struct doca_comm_channel_ep_t **ep)
NOT_YET("Comm Channel", doca_comm_channel_ep_destroy, struct doca_comm_channel_ep_t *local_ep)
NOT_YET("Comm Channel", doca_comm_channel_ep_disconnect, struct doca_comm_channel_ep_t *local_ep,
	struct doca_comm_channel_addr_t *peer_addr)
NOT_YET("Comm Channel", doca_comm_channel_ep_event_handle_arm_recv,
	struct doca_comm_channel_ep_t *local_ep)
NOT_YET("Comm Channel", doca_comm_channel_ep_event_handle_arm_send,
	struct doca_comm_channel_ep_t *local_ep)
NOT_YET("Comm Channel", doca_comm_channel_ep_get_device, struct doca_comm_channel_ep_t *ep,
	struct doca_dev **device)
NOT_YET("Comm Channel", doca_comm_channel_ep_get_device_rep, struct doca_comm_channel_ep_t *ep,
	struct doca_dev_rep **device_rep)
NOT_YET("Comm Channel", doca_comm_channel_ep_get_event_channel, struct doca_comm_channel_ep_t *local_ep,
	doca_event_channel_t *send_event_channel, doca_event_channel_t *recv_event_channel)
NOT_YET("Comm Channel", doca_comm_channel_ep_get_max_msg_size, struct doca_comm_channel_ep_t *ep,
	uint16_t *max_msg_size)
NOT_YET("Comm Channel", doca_comm_channel_ep_get_peer_addr_list,
	const struct doca_comm_channel_ep_t *local_ep, struct doca_comm_channel_addr_t ***peer_addr_array,
	uint32_t *peer_addr_array_len)
NOT_YET("Comm Channel", doca_comm_channel_ep_get_pending_connections,
	const struct doca_comm_channel_ep_t *local_ep, uint32_t *pending_connections)
NOT_YET("Comm Channel", doca_comm_channel_ep_get_recv_queue_size, struct doca_comm_channel_ep_t *ep,
	uint16_t *recv_queue_size)
NOT_YET("Comm Channel", doca_comm_channel_ep_get_send_queue_size, struct doca_comm_channel_ep_t *ep,
	uint16_t *send_queue_size)
NOT_YET("Comm Channel", doca_comm_channel_ep_get_service_event_channel,
	struct doca_comm_channel_ep_t *local_ep, doca_event_channel_t *service_event_channel)
NOT_YET("Comm Channel", doca_comm_channel_ep_listen, struct doca_comm_channel_ep_t *local_ep,
	const char *name)
NOT_YET("Comm Channel", doca_comm_channel_ep_recvfrom, struct doca_comm_channel_ep_t *local_ep,
	void *msg, size_t *len, int flags, struct doca_comm_channel_addr_t **peer_addr)
NOT_YET("Comm Channel", doca_comm_channel_ep_sendto, struct doca_comm_channel_ep_t *local_ep,
	const void *msg, size_t len, int flags, struct doca_comm_channel_addr_t *peer_addr)
NOT_YET("Comm Channel", doca_comm_channel_ep_set_device, struct doca_comm_channel_ep_t *ep,
	struct doca_dev *device)
NOT_YET("Comm Channel", doca_comm_channel_ep_set_device_rep, struct doca_comm_channel_ep_t *ep,
	struct doca_dev_rep *device_rep)
NOT_YET("Comm Channel", doca_comm_channel_ep_set_max_msg_size, struct doca_comm_channel_ep_t *ep,
	uint16_t max_msg_size)
NOT_YET("Comm Channel", doca_comm_channel_ep_set_recv_queue_size, struct doca_comm_channel_ep_t *ep,
	uint16_t recv_queue_size)
NOT_YET("Comm Channel", doca_comm_channel_ep_set_send_queue_size, struct doca_comm_channel_ep_t *ep,
	uint16_t send_queue_size)
NOT_YET("Comm Channel", doca_comm_channel_ep_update_service_state_info,
	struct doca_comm_channel_ep_t *local_ep)
NOT_YET("Comm Channel", doca_comm_channel_get_max_message_size, struct doca_devinfo *devinfo,
	uint32_t *max_message_size)
NOT_YET("Comm Channel", doca_comm_channel_get_max_recv_queue_size, struct doca_devinfo *devinfo,
	uint32_t *max_recv_queue_size)
NOT_YET("Comm Channel", doca_comm_channel_get_max_send_queue_size, struct doca_devinfo *devinfo,
	uint32_t *max_send_queue_size)
NOT_YET("Comm Channel", doca_comm_channel_get_max_service_name_len, uint32_t *max_service_name_len)
NOT_YET("Comm Channel", doca_comm_channel_get_service_max_num_connections, struct doca_devinfo *devinfo,
	uint32_t *max_num_connections)
NOT_YET("Comm Channel", doca_comm_channel_peer_addr_get_recv_bytes,
	const struct doca_comm_channel_addr_t *peer_addr, uint64_t *recv_bytes)
NOT_YET("Comm Channel", doca_comm_channel_peer_addr_get_recv_messages,
	const struct doca_comm_channel_addr_t *peer_addr, uint64_t *recv_messages)
NOT_YET("Comm Channel", doca_comm_channel_peer_addr_get_send_bytes,
	const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_bytes)
NOT_YET("Comm Channel", doca_comm_channel_peer_addr_get_send_in_flight_messages,
	const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_in_flight_messages)
NOT_YET("Comm Channel", doca_comm_channel_peer_addr_get_send_messages,
	const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_messages)
NOT_YET("Comm Channel", doca_comm_channel_peer_addr_get_user_data,
	struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_data)
NOT_YET("Comm Channel", doca_comm_channel_peer_addr_set_user_data,
	struct doca_comm_channel_addr_t *peer_addr, uint64_t user_context)
NOT_YET("Comm Channel", doca_comm_channel_peer_addr_update_info,
	struct doca_comm_channel_addr_t *peer_addr)
