/* SPDX-License-Identifier: BSD-3-Clause */
/* Public functions of an endpoint: capabilities, properties, listen, connect, disconnect. */
#include "ep_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"

#define DEFAULT_QUEUE 64   /* messages; our choice */
#define MAX_QUEUE     8192 /* in messages, that a uint16_t and rounding up can hold */
#define MIN_MSG_BYTES 64   /* our choice: the reference says that there is a minimum, but not which */

/* ---- capabilities ---- */

doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len)
{
	SHIM_NEED_OUT(max_service_name_len);
	*max_service_name_len = CHANNEL_MAX_NAME_LEN;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_comm_channel_get_max_message_size, struct doca_devinfo, devinfo, SHIM_DEVINFO, uint32_t,
		   max_message_size, min_u32(devinfo->function->caps.comch_max_msg_bytes, UINT16_MAX))
SHIM_DEFINE_GETTER(doca_comm_channel_get_max_send_queue_size, struct doca_devinfo, devinfo, SHIM_DEVINFO, uint32_t,
		   max_send_queue_size, min_u32(devinfo->function->caps.comch_max_send_tasks, MAX_QUEUE))
SHIM_DEFINE_GETTER(doca_comm_channel_get_max_recv_queue_size, struct doca_devinfo, devinfo, SHIM_DEVINFO, uint32_t,
		   max_recv_queue_size, min_u32(devinfo->function->caps.comch_max_recv_queue, MAX_QUEUE))

doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo,
							       uint32_t *max_num_connections)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_num_connections);
	if (!devinfo->function->caps.comch_server)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "%s can't have a service; the DPU's devices can",
				   devinfo->function->ibdev);
	*max_num_connections = devinfo->function->caps.comch_max_clients;
	return DOCA_SUCCESS;
}

/* ---- properties ---- */

/* The capabilities of the endpoint's device; NULL = it has no open device. */
static const struct pcie_caps *get_caps(const struct doca_comm_channel_ep_t *ep)
{
	return shim_object_is(ep->dev, SHIM_DEV) ? &shim_dev_function(ep->dev)->caps : NULL;
}

#define NEED_EP(ep) SHIM_NEED(ep, SHIM_CHANNEL_EP)

#define NEED_IDLE(ep)                                                                                             \
	do {                                                                                                      \
		NEED_EP(ep);                                                                                      \
		if ((ep)->role != CHANNEL_IDLE)                                                                   \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the endpoint listens or is connected already"); \
	} while (0)

doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep)
{
	struct doca_comm_channel_ep_t *created;

	SHIM_NEED_OUT(ep);
	created = shim_object_new(SHIM_CHANNEL_EP, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->send_eventfd = created->recv_eventfd = created->status_eventfd = -1;
	created->send_epoll = created->recv_epoll = -1;
	*ep = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep)
{
	if (!shim_handle_is(local_ep, SHIM_CHANNEL_EP))
		return SHIM_REFUSE(DOCA_ERROR_NOT_CONNECTED, "there is no such endpoint");
	channel_close(local_ep);
	shim_object_free(local_ep, SHIM_CHANNEL_EP);
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep, struct doca_dev *device)
{
	NEED_IDLE(ep);
	SHIM_NEED(device, SHIM_DEV);
	ep->dev = device;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep, struct doca_dev **device)
{
	NEED_EP(ep);
	SHIM_NEED_OUT(device);
	*device = ep->dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep *device_rep)
{
	NEED_IDLE(ep);
	SHIM_NEED(device_rep, SHIM_DEV_REP);
	ep->rep = device_rep;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep **device_rep)
{
	NEED_EP(ep);
	SHIM_NEED_OUT(device_rep);
	*device_rep = ep->rep;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t max_msg_size)
{
	const struct pcie_caps *caps;

	NEED_IDLE(ep);
	caps = get_caps(ep);
	if (max_msg_size == 0 || (caps && max_msg_size > caps->comch_max_msg_bytes))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "a size of %u; see doca_comm_channel_get_max_message_size()", max_msg_size);
	ep->max_msg_bytes = max_msg_size < MIN_MSG_BYTES ? MIN_MSG_BYTES : max_msg_size;
	return DOCA_SUCCESS;
}

/* The size that was set, or the largest that the device permits. */
static uint16_t get_msg_size(const struct doca_comm_channel_ep_t *ep)
{
	const struct pcie_caps *caps = get_caps(ep);

	if (ep->max_msg_bytes)
		return ep->max_msg_bytes;
	return (uint16_t)min_u32(caps ? caps->comch_max_msg_bytes : CHANNEL_MAX_MSG_BYTES, UINT16_MAX);
}

doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t *max_msg_size)
{
	NEED_EP(ep);
	SHIM_NEED_OUT(max_msg_size);
	*max_msg_size = get_msg_size(ep);
	return DOCA_SUCCESS;
}

static uint16_t round_up_pow2(uint16_t size)
{
	uint32_t rounded = 1;

	while (rounded < size)
		rounded *= 2;
	return (uint16_t)rounded;
}

static doca_error_t set_queue_size(const char *func, uint16_t *queue, uint16_t size, uint32_t max)
{
	if (size == 0 || size > MAX_QUEUE || round_up_pow2(size) > max) {
		sim_err("%s: a queue of %u messages; give 1 to %u (it is rounded up to a power of two)", func, size,
			min_u32(max, MAX_QUEUE));
		return DOCA_ERROR_INVALID_VALUE;
	}
	*queue = round_up_pow2(size);
	return DOCA_SUCCESS;
}

/* The size that was set, or the default within the device's limit. */
static uint16_t get_queue_size(uint16_t set, uint32_t max)
{
	return set ? set : (uint16_t)min_u32(DEFAULT_QUEUE, max);
}

static uint32_t max_send_queue(const struct doca_comm_channel_ep_t *ep)
{
	return get_caps(ep) ? get_caps(ep)->comch_max_send_tasks : MAX_QUEUE;
}

static uint32_t max_recv_queue(const struct doca_comm_channel_ep_t *ep)
{
	return get_caps(ep) ? get_caps(ep)->comch_max_recv_queue : MAX_QUEUE;
}

doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t send_queue_size)
{
	NEED_IDLE(ep);
	return set_queue_size(__func__, &ep->send_queue_size, send_queue_size, max_send_queue(ep));
}

doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t recv_queue_size)
{
	NEED_IDLE(ep);
	return set_queue_size(__func__, &ep->recv_queue_size, recv_queue_size, max_recv_queue(ep));
}

doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *send_queue_size)
{
	NEED_EP(ep);
	SHIM_NEED_OUT(send_queue_size);
	*send_queue_size = get_queue_size(ep->send_queue_size, max_send_queue(ep));
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *recv_queue_size)
{
	NEED_EP(ep);
	SHIM_NEED_OUT(recv_queue_size);
	*recv_queue_size = get_queue_size(ep->recv_queue_size, max_recv_queue(ep));
	return DOCA_SUCCESS;
}

/* ---- listening and connecting ---- */

/* Fix the sizes that were not set. */
static void apply_default_sizes(struct doca_comm_channel_ep_t *ep)
{
	ep->max_msg_bytes = get_msg_size(ep);
	ep->send_queue_size = get_queue_size(ep->send_queue_size, max_send_queue(ep));
	ep->recv_queue_size = get_queue_size(ep->recv_queue_size, max_recv_queue(ep));
}

doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep, const char *name)
{
	NEED_EP(local_ep);
	SHIM_NEED_OUT(name);
	if (local_ep->role != CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the endpoint listens or is connected already");
	if (!get_caps(local_ep) || !shim_object_is(local_ep->rep, SHIM_DEV_REP))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "it has no device or no representor that is open; set them first");
	if (!shim_dev_function(local_ep->dev)->caps.comch_server)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED,
				   "%s on side %s can't have a service; the DPU's devices can",
				   shim_dev_function(local_ep->dev)->ibdev, shim_dev_function(local_ep->dev)->side);
	apply_default_sizes(local_ep);
	return channel_open(__func__, local_ep, CHANNEL_SERVICE, name);
}

doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep, const char *name,
					  struct doca_comm_channel_addr_t **peer_addr)
{
	struct doca_comm_channel_addr_t *peer;
	doca_error_t result;

	NEED_EP(local_ep);
	SHIM_NEED_OUT(name);
	SHIM_NEED_OUT(peer_addr);
	if (local_ep->role != CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the endpoint listens or is connected already");
	if (!get_caps(local_ep))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "it has no device that is open; set it first");
	if (!shim_dev_function(local_ep->dev)->caps.comch_client)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED,
				   "%s on side %s can't connect to a service; the host's devices can",
				   shim_dev_function(local_ep->dev)->ibdev, shim_dev_function(local_ep->dev)->side);
	apply_default_sizes(local_ep);
	result = channel_open(__func__, local_ep, CHANNEL_CLIENT, name);
	if (result != DOCA_SUCCESS)
		return result;
	peer = LIST_FIRST(&local_ep->addrs);
	channel_progress_connect(peer);
	if (peer->state == CHANNEL_ENDED) {
		channel_close(local_ep);
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED, "no connection to a service \"%s\"", name);
	}
	*peer_addr = peer;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep,
					     struct doca_comm_channel_addr_t *peer_addr)
{
	struct doca_comch_connection *connection;

	NEED_EP(local_ep);
	if (!shim_handle_is(peer_addr, SHIM_CHANNEL_ADDR) || peer_addr->ep != local_ep)
		return SHIM_REFUSE(DOCA_ERROR_NOT_CONNECTED, "there is no such peer of this endpoint");
	if (local_ep->role == CHANNEL_CLIENT) {
		channel_close(local_ep);
		return DOCA_SUCCESS;
	}
	connection = peer_addr->connection;
	channel_addr_free(peer_addr);
	return connection ? doca_comch_server_disconnect(local_ep->server, connection) : DOCA_SUCCESS;
}
