/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for connections of librdmacm, and for data paths on a GPU. */
#include "rdma_priv.h"
#include "shim/common/base/check.h"

doca_error_t doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
						 struct doca_rdma_connection **rdma_connection)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(cm_id);
	SHIM_NEED_OUT(rdma_connection);
	return SHIM_NOT_SIMULATED("identifiers of librdmacm");
}

doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *private_data, uint8_t private_data_len,
				     struct doca_rdma_connection *rdma_connection)
{
	(void)private_data, (void)private_data_len, (void)rdma_connection;
	SHIM_NEED(rdma, SHIM_RDMA);
	return SHIM_NOT_SIMULATED("identifiers of librdmacm");
}

doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection)
{
	(void)rdma_connection;
	SHIM_NEED(rdma, SHIM_RDMA);
	return SHIM_NOT_SIMULATED("identifiers of librdmacm");
}

doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma, struct doca_gpu_dev_rdma **gpu_rdma)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(gpu_rdma);
	return SHIM_NOT_SIMULATED("RDMA on a GPU");
}
