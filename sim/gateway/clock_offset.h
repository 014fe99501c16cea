/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/clock_offset.h - by how much another machine's clock differs.
 *
 * Each heartbeat's answer says the other gateway's CLOCK_MONOTONIC, from which the difference follows; half of the round trip bounds
 * its error.
 */
#ifndef SIM_GATEWAY_CLOCK_OFFSET_H
#define SIM_GATEWAY_CLOCK_OFFSET_H

#include <stdint.h>

/* How far another machine's clock is ahead. */
struct clock_offset {
	uint64_t ahead_ns; /* modulo 2^64 */
	uint64_t error_ns; /* at @taken_ns, at most; 0 = nothing is known */
	uint64_t taken_ns;
};

/* The other machine's clock was @far_ns at some time between @sent_ns and @got_ns. Keeps the better one of two measurements. */
void clock_offset_take(struct clock_offset *offset, uint64_t sent_ns, uint64_t far_ns, uint64_t got_ns);

/* What the error is by @now_ns at most, as clocks run apart; 0 = nothing is known. */
uint64_t clock_offset_error_ns(const struct clock_offset *offset, uint64_t now_ns);

#endif
