/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queues that contexts on the DPA share, of release 2.6: not simulated, so that there is never one. */
#include <doca_rdma.h>

#include "shim/common/base/check.h"

#define WHAT "receive queues that contexts on the DPA share"

doca_error_t doca_rdma_srq_create(struct doca_dev *dev, struct doca_rdma_srq **rdma_srq)
{
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(rdma_srq);
	return SHIM_NOT_SIMULATED(WHAT);
}

doca_error_t doca_rdma_create_with_srq(struct doca_dev *dev, struct doca_rdma_srq *rdma_srq, struct doca_rdma **rdma)
{
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(rdma_srq);
	SHIM_NEED_OUT(rdma);
	return SHIM_NOT_SIMULATED(WHAT);
}

struct doca_ctx *doca_rdma_srq_as_ctx(struct doca_rdma_srq *rdma_srq_ctx)
{
	(void)rdma_srq_ctx;
	(void)SHIM_NOT_SIMULATED(WHAT);
	return NULL;
}

/* ---- functions that need a queue ---- */

#define DEFINE(name, params, ...)                \
	doca_error_t name params                 \
	{                                        \
		SHIM_NEED_OUT(rdma_srq);         \
		__VA_ARGS__;                     \
		return SHIM_NOT_SIMULATED(WHAT); \
	}

DEFINE(doca_rdma_srq_destroy, (struct doca_rdma_srq * rdma_srq), )
DEFINE(doca_rdma_srq_set_type, (struct doca_rdma_srq * rdma_srq, enum doca_rdma_srq_type srq_type), (void)srq_type)
DEFINE(doca_rdma_srq_get_type, (struct doca_rdma_srq * rdma_srq, enum doca_rdma_srq_type *srq_type),
       SHIM_NEED_OUT(srq_type))
DEFINE(doca_rdma_srq_set_shared_recv_queue_size, (struct doca_rdma_srq * rdma_srq, uint32_t shared_recv_queue_size),
       (void)shared_recv_queue_size)
DEFINE(doca_rdma_srq_get_shared_recv_queue_size,
       (const struct doca_rdma_srq *rdma_srq, uint32_t *shared_recv_queue_size), SHIM_NEED_OUT(shared_recv_queue_size))
DEFINE(doca_rdma_srq_task_receive_set_dst_buf_list_len, (struct doca_rdma_srq * rdma_srq, uint32_t buf_list_len),
       (void)buf_list_len)
DEFINE(doca_rdma_srq_task_receive_get_dst_buf_list_len, (const struct doca_rdma_srq *rdma_srq, uint32_t *buf_list_len),
       SHIM_NEED_OUT(buf_list_len))
DEFINE(doca_rdma_srq_get_dpa_handle,
       (const struct doca_rdma_srq *rdma_srq, struct doca_dpa_dev_rdma_srq **dpa_rdma_srq), SHIM_NEED_OUT(dpa_rdma_srq))

/* ---- capabilities ---- */

doca_error_t doca_rdma_srq_cap_get_max_shared_recv_queue_size(const struct doca_devinfo *devinfo,
							      uint32_t *max_shared_recv_queue_size)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_shared_recv_queue_size);
	return SHIM_NOT_SIMULATED(WHAT);
}

doca_error_t doca_rdma_srq_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo,
								     uint32_t *max_buf_list_len)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_buf_list_len);
	return SHIM_NOT_SIMULATED(WHAT);
}
