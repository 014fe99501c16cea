/* SPDX-License-Identifier: BSD-3-Clause */
/* ci/vendor/rdma/doca_rdma.h - what the vendor's storage application names of RDMA, which bfsim does not have.
 *
 * It lets files be compiled that have functions for RDMA besides others. Nothing is defined: a program that calls one of them
 * does not link.
 */
#ifndef DOCA_RDMA_H
#define DOCA_RDMA_H

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IB_DEVICE_NAME_MAX 64 /* of the kernel's <rdma/ib_user_verbs.h>, which the vendor's header includes */

struct doca_rdma;
struct doca_rdma_connection;

doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma);
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);
struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions);

#ifdef __cplusplus
}
#endif

#endif
