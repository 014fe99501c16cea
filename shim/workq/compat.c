/* SPDX-License-Identifier: BSD-3-Clause */
/* What the work-queue generation does otherwise. Compiled with the core. */
#include "shim/common/base/compat.h"

#include "log_rename.h"

static const struct shim_compat compat = {
	.shows_app_records = true, /* as the library of 1.5 does */
	.has_short_lines = true,
	.put_sdk_record = shim_log_stream_put_renamed,
	.keeps_checker_out = true,
	.pins_buffers = true, /* headers of 1.5 and 2.2 */
	.has_own_limits = true,
	.replaces_full_data = true, /* in programs of 1.5 the data is the place to write to */
};

static void __attribute__((constructor(101))) set_compat(void)
{
	shim_compat = &compat;
}
