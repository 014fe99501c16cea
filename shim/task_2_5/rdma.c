/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections and properties as releases 2.5 and 2.6 have them. */
#include <doca_rdma.h>

#include "rdma_core.h"
#include "shim/common/base/check.h"
#include "task_2_5_current.h"

/* ---- the context's connection ---- */

doca_error_t doca_rdma_export(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size)
{
	struct doca_rdma_connection *connection = NULL;

	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(local_rdma_conn_details);
	SHIM_NEED_OUT(local_rdma_conn_details_size);
	connection = older_rdma_connection(rdma);
	if (!connection)
		return current_rdma_export((struct doca_rdma *)(uintptr_t)rdma, local_rdma_conn_details,
					   local_rdma_conn_details_size, &connection);
	*local_rdma_conn_details = older_rdma_details(connection, local_rdma_conn_details_size);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
			       size_t remote_rdma_conn_details_size)
{
	struct doca_rdma_connection *exported, *connection;
	doca_error_t result;

	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(remote_rdma_conn_details);
	exported = older_rdma_connection(rdma);
	connection = exported;
	if (!connection) {
		result = older_rdma_make_connection(__func__, rdma, &connection);
		if (result != DOCA_SUCCESS)
			return result;
	}
	result = current_rdma_connect(rdma, remote_rdma_conn_details, remote_rdma_conn_details_size, connection);
	if (result != DOCA_SUCCESS && !exported)
		older_rdma_drop_connection(connection);
	return result;
}

/* ---- properties ---- */

extern doca_error_t current_set_grh_enabled(struct doca_rdma *rdma,
					    uint8_t grh_enabled) __asm__("shim_doca_rdma_set_grh_enabled");
extern doca_error_t current_get_grh_enabled(const struct doca_rdma *rdma,
					    uint8_t *grh_enabled) __asm__("shim_doca_rdma_get_grh_enabled");

doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, bool grh_enabled)
{
	return current_set_grh_enabled(rdma, grh_enabled);
}

doca_error_t(doca_rdma_get_grh_enabled)(const struct doca_rdma *rdma, bool *grh_enabled)
{
	uint8_t value;
	doca_error_t result = current_get_grh_enabled(rdma, grh_enabled ? &value : NULL);

	if (result == DOCA_SUCCESS)
		*grh_enabled = value != 0;
	return result;
}

doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, struct doca_dpa_dev_rdma **dpa_rdma)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(dpa_rdma);
	return SHIM_NOT_SIMULATED("RDMA on the DPA");
}

/* ---- results under their names of 2.5 ---- */

uint32_t doca_rdma_task_receive_get_result_length(const struct doca_rdma_task_receive *task)
{
	return doca_rdma_task_receive_get_result_len(task);
}

uint32_t doca_rdma_task_read_get_result_length(const struct doca_rdma_task_read *task)
{
	return doca_rdma_task_read_get_result_len(task);
}

uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_length(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return doca_rdma_task_remote_net_sync_event_get_get_result_len(task);
}
