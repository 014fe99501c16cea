/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/error.h - where the two currencies of errors meet.
 *
 * Below the shim a function returns 0 or -errno; above it, doca_error_t. This
 * is the one place that turns the first into the second.
 */
#ifndef SHIM_COMMON_ERROR_H
#define SHIM_COMMON_ERROR_H

#include <doca_error.h>

/* @rc is 0 or a negative errno; one that isn't in the table is DOCA_ERROR_UNEXPECTED. */
doca_error_t shim_error_from_errno(int rc);

#endif
