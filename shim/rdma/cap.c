/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA capabilities of a device; the limits come from the topology. */
#include "pcie_model/arith.h"
#include "rdma_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"

static doca_error_t supported(const struct doca_devinfo *devinfo)
{
	return devinfo->function->caps.rdma ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

#define SUPPORTED(name) SHIM_DEFINE_IS_SUPPORTED(name, devinfo->function->caps.rdma)

SUPPORTED(doca_rdma_cap_task_receive_is_supported)
SUPPORTED(doca_rdma_cap_task_send_is_supported)
SUPPORTED(doca_rdma_cap_task_send_imm_is_supported)
SUPPORTED(doca_rdma_cap_task_read_is_supported)
SUPPORTED(doca_rdma_cap_task_write_is_supported)
SUPPORTED(doca_rdma_cap_task_write_imm_is_supported)
SUPPORTED(doca_rdma_cap_task_atomic_cmp_swp_is_supported)
SUPPORTED(doca_rdma_cap_task_atomic_fetch_add_is_supported)
SUPPORTED(doca_rdma_cap_task_remote_net_sync_event_get_is_supported)
SUPPORTED(doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported)
SUPPORTED(doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported)

doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
						       enum doca_rdma_transport_type transport_type)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	if (transport_type != DOCA_RDMA_TRANSPORT_TYPE_RC && transport_type != DOCA_RDMA_TRANSPORT_TYPE_DC)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no transport type", (int)transport_type);
	return supported(devinfo);
}

uint32_t rdma_max_receive_list_len(const struct pcie_caps *caps)
{
	return min_u32(caps->rdma_max_list_len, UINT32_MAX - 1) + 1;
}

doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo,
								 enum doca_rdma_transport_type transport_type,
								 uint32_t *max_buf_list_len)
{
	doca_error_t result = doca_rdma_cap_transport_type_is_supported(devinfo, transport_type);

	SHIM_NEED_OUT(max_buf_list_len);
	if (result == DOCA_SUCCESS)
		*max_buf_list_len = rdma_max_receive_list_len(&devinfo->function->caps);
	return result;
}

#define LIMIT(name, out, field) SHIM_DEFINE_DEVINFO_GETTER(name, uint32_t, out, devinfo->function->caps.field)

LIMIT(doca_rdma_cap_get_max_send_queue_size, max_send_queue_size, rdma_max_send_queue)
LIMIT(doca_rdma_cap_get_max_recv_queue_size, max_recv_queue_size, rdma_max_send_queue)
LIMIT(doca_rdma_cap_get_max_send_buf_list_len, max_send_buf_list_len, rdma_max_list_len)
LIMIT(doca_rdma_cap_get_max_message_size, max_message_size, rdma_max_msg_bytes)
LIMIT(doca_rdma_cap_get_gid_table_size, gid_table_size, rdma_gids)
