/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/error.h - translation of errors: 0 or -errno below the shim, doca_error_t above.
 *
 * One table translates. Where the reference documents other codes for a call, the call
 * describes the difference:
 *
 *	static const struct shim_call_errors listen_errors = {
 *		.allowed = SHIM_ERROR_BIT(INVALID_VALUE) | SHIM_ERROR_BIT(NO_MEMORY),
 *		.other = DOCA_ERROR_DRIVER,
 *		.overrides = { { ENOTCONN, DOCA_ERROR_BAD_STATE } },
 *	};
 */
#ifndef SHIM_COMMON_ERROR_H
#define SHIM_COMMON_ERROR_H

#include <doca_error.h>
#include <stdint.h>

#include "object.h"

/* The code of @rc, which is 0 or a negative errno; UNEXPECTED if the table lacks @rc. */
SHIM_INTERNAL_API doca_error_t shim_error_from_errno(int rc);

#define SHIM_ERROR_BIT(name)     (UINT64_C(1) << DOCA_ERROR_##name)
#define SHIM_ERROR_MAX_OVERRIDES 6

/* The codes of one call. */
struct shim_call_errors {
	uint64_t allowed;   /* SHIM_ERROR_BIT() of the codes that the table may give */
	doca_error_t other; /* instead of any other code of the table */
	struct {
		int number; /* an errno; 0 = the list ends before */
		doca_error_t error;
	} overrides[SHIM_ERROR_MAX_OVERRIDES]; /* come before the table */
};

/* The code of @rc, which is 0 or a negative errno, as @call returns it. */
SHIM_INTERNAL_API doca_error_t shim_error_for_call(int rc, const struct shim_call_errors *call);

#endif
