/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge to libibverbs: not simulated, but arguments are checked. */
#include <doca_rdma_bridge.h>

#include "shim/common/base/check.h"

#define WHAT "RDMA verbs"

doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev)
{
	SHIM_NEED_OUT(pd);
	SHIM_NEED_OUT(dev);
	return SHIM_NOT_SIMULATED(WHAT);
}

doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(pd);
	return SHIM_NOT_SIMULATED(WHAT);
}

doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t *mkey)
{
	SHIM_NEED(buf, SHIM_BUF);
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(mkey);
	return SHIM_NOT_SIMULATED(WHAT);
}

doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd, uint32_t *mkey)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(pd);
	SHIM_NEED_OUT(mkey);
	return SHIM_NOT_SIMULATED(WHAT);
}
