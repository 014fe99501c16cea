/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/dev/devinfo_priv.h - getters that devices and representors share. @func is the public function's name. */
#ifndef SHIM_DEVINFO_PRIV_H
#define SHIM_DEVINFO_PRIV_H

#include "dev_priv.h"

/* INVALID_VALUE unless a getter's output buffer has at least @needed bytes. */
doca_error_t shim_check_out(const char *func, const void *out, uint32_t size, uint32_t needed);

/* Copy @text to a buffer that must have at least @needed bytes. */
doca_error_t shim_get_text(const char *func, const char *text, char *out, uint32_t size, uint32_t needed);

doca_error_t shim_pci_addr_is_equal(const char *func, const struct pcie_function *function, const char *text,
				    uint8_t *is_equal);

#endif
