/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/buf_priv.h - shared by inventories and pools. */
#ifndef SHIM_WORKQ_BUF_PRIV_H
#define SHIM_WORKQ_BUF_PRIV_H

#include <doca_error.h>
#include <stdint.h>

/* Check the extensions of buffers for the function @func: INVALID_VALUE unless there are none. */
doca_error_t workq_check_extensions(const char *func, uint32_t extensions);

#endif
