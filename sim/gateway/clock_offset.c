/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences of clocks. */
#include "clock_offset.h"

#define DRIFT_PPM 100 /* by which two clocks run apart: our choice; crystals are good for 50 each */

uint64_t clock_offset_error_ns(const struct clock_offset *offset, uint64_t now_ns)
{
	uint64_t age_ns = now_ns > offset->taken_ns ? now_ns - offset->taken_ns : 0;

	return offset->error_ns == 0 ? 0 : offset->error_ns + age_ns / 1000000 * DRIFT_PPM;
}

void clock_offset_take(struct clock_offset *offset, uint64_t sent_ns, uint64_t far_ns, uint64_t got_ns)
{
	uint64_t error_ns = (got_ns - sent_ns) / 2 + 1;

	if (offset->error_ns > 0 && error_ns > clock_offset_error_ns(offset, got_ns))
		return;
	*offset = (struct clock_offset){ .ahead_ns = far_ns - (sent_ns + (got_ns - sent_ns) / 2),
					 .error_ns = error_ns,
					 .taken_ns = got_ns };
}
