/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/monotonic.h - the machine's monotonic clock: the one place that reads it.
 *
 * For timeouts, back-off and recordings. Time that programs see is session
 * time (sim/clock/clock.h), which may be virtual.
 */
#ifndef SIM_MONOTONIC_H
#define SIM_MONOTONIC_H

#include <stdint.h>
#include <time.h>

#define SIM_NS_PER_S  1000000000ull
#define SIM_NS_PER_MS 1000000ull

static inline struct timespec sim_timespec_from_ns(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / SIM_NS_PER_S), .tv_nsec = (long)(ns % SIM_NS_PER_S) };
}

/* Nanoseconds of CLOCK_MONOTONIC; the same for all processes of the machine. */
static inline uint64_t sim_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SIM_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline int64_t sim_monotonic_ms(void)
{
	return (int64_t)(sim_monotonic_ns() / SIM_NS_PER_MS);
}

#endif
