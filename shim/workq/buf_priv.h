/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/buf_priv.h - what inventories and pools have in common. */
#ifndef SHIM_WORKQ_BUF_PRIV_H
#define SHIM_WORKQ_BUF_PRIV_H

#include <doca_error.h>
#include <stdint.h>

/* Whether buffers can have these extensions: INVALID_VALUE, for function @func, but for none at all. */
doca_error_t workq_check_extensions(const char *func, uint32_t extensions);

#endif
