/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_rdma_bridge.h - between DOCA's objects and those of libibverbs (2.2).
 *
 * A simulated card has no verbs: all functions return DOCA_ERROR_NOT_SUPPORTED, or
 * DOCA_ERROR_INVALID_VALUE for a NULL or stale argument.
 */
#ifndef DOCA_RDMA_BRIDGE_H_
#define DOCA_RDMA_BRIDGE_H_

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_dev;
struct ibv_pd;

/* A device on the protection domain @pd, and the protection domain of a device. */
__DOCA_EXPERIMENTAL
doca_error_t doca_dev_open_from_pd(struct ibv_pd *pd, struct doca_dev **dev);

__DOCA_EXPERIMENTAL
doca_error_t doca_dev_get_pd(const struct doca_dev *dev, struct ibv_pd **pd);

/* The memory key of a buffer on a device. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_mkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif
