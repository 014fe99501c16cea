/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of an RDMA context: set while it is idle. */
#include "pcie_model/arith.h"
#include "rdma_priv.h"
#include "shim/common/base/check.h"

#define ALL_PERMISSIONS                                                                                 \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)
#define MAX_RNR_RETRIES 7
#define MAX_SL          15

#define NEED_IDLE(rdma)                                                                                               \
	do {                                                                                                          \
		SHIM_NEED(rdma, SHIM_RDMA);                                                                           \
		if ((rdma)->ctx.state != DOCA_CTX_STATE_IDLE)                                                         \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; set it before the start"); \
	} while (0)

#define GETTER(name, type, out, value) \
	SHIM_DEFINE_GETTER(doca_rdma_get_##name, const struct doca_rdma, rdma, SHIM_RDMA, type, out, value)

static const struct pcie_caps *caps_of(const struct doca_rdma *rdma)
{
	return &shim_dev_function(rdma->ctx.dev)->caps;
}

doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions)
{
	NEED_IDLE(rdma);
	if (permissions & ~(uint32_t)ALL_PERMISSIONS)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "0x%x has bits besides DOCA_ACCESS_FLAG_LOCAL_READ_WRITE and those of RDMA",
				   permissions);
	rdma->properties.permissions = permissions;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_rdma_get_permissions, struct doca_rdma, rdma, SHIM_RDMA, uint32_t, permissions,
		   rdma->properties.permissions)

static uint64_t round_up_to_power_of_two(uint32_t value)
{
	uint64_t power = 1;

	while (power < value)
		power *= 2;
	return power;
}

doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size)
{
	NEED_IDLE(rdma);
	if (send_queue_size == 0 || send_queue_size > caps_of(rdma)->rdma_max_send_queue)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u tasks; give 1 to %u (doca_rdma_cap_get_max_send_queue_size)", send_queue_size,
				   caps_of(rdma)->rdma_max_send_queue);
	rdma->properties.send_queue_size =
		(uint32_t)min_u64(round_up_to_power_of_two(send_queue_size), caps_of(rdma)->rdma_max_send_queue);
	return DOCA_SUCCESS;
}

GETTER(send_queue_size, uint32_t, send_queue_size, rdma->properties.send_queue_size)

/* Whether kernels receive; else the number of receive tasks counts. */
static bool has_recv_queue(const struct doca_rdma *rdma)
{
	return rdma->ctx.dpa != NULL;
}

static doca_error_t refuse_recv_queue(const char *func)
{
	sim_err("%s: the size of the receive queue is for a data path on the DPA (doca_ctx_set_datapath_on_dpa) or a GPU; here the number of receive tasks decides (doca_rdma_task_receive_set_conf)",
		func);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size)
{
	NEED_IDLE(rdma);
	if (!has_recv_queue(rdma))
		return refuse_recv_queue(__func__);
	if (recv_queue_size == 0 || recv_queue_size > caps_of(rdma)->rdma_max_send_queue)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u receives; give 1 to %u (doca_rdma_cap_get_max_recv_queue_size)", recv_queue_size,
				   caps_of(rdma)->rdma_max_send_queue);
	rdma->properties.receive_queue_size = round_up_to_power_of_two(recv_queue_size);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(recv_queue_size);
	if (!has_recv_queue(rdma))
		return refuse_recv_queue(__func__);
	*recv_queue_size = rdma->properties.receive_queue_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma, uint32_t max_send_buf_list_len)
{
	NEED_IDLE(rdma);
	if (max_send_buf_list_len == 0 || max_send_buf_list_len > caps_of(rdma)->rdma_max_list_len)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u buffers; give 1 to %u (doca_rdma_cap_get_max_send_buf_list_len)",
				   max_send_buf_list_len, caps_of(rdma)->rdma_max_list_len);
	rdma->properties.max_send_list_len = max_send_buf_list_len;
	return DOCA_SUCCESS;
}

GETTER(max_send_buf_list_len, uint32_t, max_send_buf_list_len, rdma->properties.max_send_list_len)

doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type)
{
	NEED_IDLE(rdma);
	if (transport_type != DOCA_RDMA_TRANSPORT_TYPE_RC && transport_type != DOCA_RDMA_TRANSPORT_TYPE_DC)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no transport type", (int)transport_type);
	rdma->properties.transport = transport_type;
	return DOCA_SUCCESS;
}

GETTER(transport_type, enum doca_rdma_transport_type, transport_type, rdma->properties.transport)

doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma, uint16_t max_num_connections)
{
	NEED_IDLE(rdma);
	if (max_num_connections == 0)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "0 connections; give 1 to 65535");
	rdma->properties.max_connections = max_num_connections;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_rdma_get_max_num_connections, struct doca_rdma, rdma, SHIM_RDMA, uint16_t, max_num_connections,
		   rdma->properties.max_connections)

doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma, uint8_t rnr_retry_count)
{
	NEED_IDLE(rdma);
	if (rnr_retry_count > MAX_RNR_RETRIES)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u retries; give 0 to 6, or 7 for ever", rnr_retry_count);
	rdma->properties.rnr_retries = rnr_retry_count;
	return DOCA_SUCCESS;
}

GETTER(rnr_retry_count, uint8_t, rnr_retry_count, rdma->properties.rnr_retries)

doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index)
{
	NEED_IDLE(rdma);
	if (gid_index >= caps_of(rdma)->rdma_gids)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u; the device has %u GIDs (doca_rdma_cap_get_gid_table_size)", gid_index,
				   caps_of(rdma)->rdma_gids);
	rdma->properties.gid_index = gid_index;
	rdma->properties.has_gid_index = true;
	return DOCA_SUCCESS;
}

GETTER(gid_index, uint32_t, gid_index, rdma->properties.gid_index)

doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl)
{
	NEED_IDLE(rdma);
	if (sl > MAX_SL)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "service level %u; give 0 to %u", sl, MAX_SL);
	rdma->properties.sl = sl;
	return DOCA_SUCCESS;
}

GETTER(sl, uint32_t, sl, rdma->properties.sl)

doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled)
{
	NEED_IDLE(rdma);
	if (!grh_enabled)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "packets on Ethernet have a global routing header");
	return DOCA_SUCCESS;
}

GETTER(grh_enabled, uint8_t, grh_enabled, 1)

doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu)
{
	NEED_IDLE(rdma);
	if (mtu > DOCA_MTU_SIZE_4K_BYTES)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "%d; give DOCA_MTU_SIZE_256_BYTES to _4K_BYTES", (int)mtu);
	rdma->properties.mtu = mtu;
	return DOCA_SUCCESS;
}

GETTER(mtu, enum doca_mtu_size, mtu, rdma->properties.mtu)

doca_error_t doca_rdma_set_connection_request_timeout(struct doca_rdma *rdma, uint16_t timeout)
{
	NEED_IDLE(rdma);
	rdma->properties.request_timeout_ms = timeout;
	return DOCA_SUCCESS;
}

GETTER(connection_request_timeout, uint16_t, timeout, rdma->properties.request_timeout_ms)

doca_error_t doca_rdma_set_connection_state_callbacks(
	struct doca_rdma *rdma, doca_rdma_connection_request_cb_t doca_rdma_connect_request_cb,
	doca_rdma_connection_established_cb_t doca_rdma_connect_established_cb,
	doca_rdma_connection_failure_cb_t doca_rdma_connect_failure_cb,
	doca_rdma_connection_disconnection_cb_t doca_rdma_disconnect_cb)
{
	NEED_IDLE(rdma);
	SHIM_NEED_OUT(doca_rdma_connect_established_cb);
	SHIM_NEED_OUT(doca_rdma_connect_failure_cb);
	SHIM_NEED_OUT(doca_rdma_disconnect_cb);
	rdma->properties.on_request = doca_rdma_connect_request_cb;
	rdma->properties.on_established = doca_rdma_connect_established_cb;
	rdma->properties.on_failure = doca_rdma_connect_failure_cb;
	rdma->properties.on_disconnected = doca_rdma_disconnect_cb;
	return DOCA_SUCCESS;
}
