/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_clock.h - read the card's clocks, alone or together with one of the host's.
 *
 *   doca_clock_create(dev, &clock);
 *   doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_FREE_RUNNING, &now);
 *   doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_NIC_FREE_RUNNING, &host, &card, &margin);
 *   doca_clock_destroy(clock);
 *
 * The free-running clock of a card starts with its session and shows the time of the
 * session (doc/time.md): real or virtual. The real-time clock of the card is that of
 * the machine; in virtual time it equals the free-running clock. A simulated card has
 * no DPA timer. Clocks of the host are those of the machine in all modes. The cycle
 * counter is raw; all others have seconds and nanoseconds.
 *
 * Any thread may read a clock. Functions return DOCA_ERROR_INVALID_VALUE for NULL
 * or a stale handle, and DOCA_ERROR_NOT_SUPPORTED for a clock that does not exist.
 */
#ifndef DOCA_CLOCK_H_
#define DOCA_CLOCK_H_

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_clock;

/* Which clock: the card's ... */
#define DOCA_CLOCK_NIC_FREE_RUNNING    0x1
#define DOCA_CLOCK_NIC_REAL_TIME       0x2
#define DOCA_CLOCK_NIC_DPA_TIMER       0x100
/* ... and the host's: CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, the cycle counter of the CPU. */
#define DOCA_CLOCK_HOST_COUNTER_CYCLES 0x10000
#define DOCA_CLOCK_HOST_REAL_TIME      0x20000
#define DOCA_CLOCK_HOST_MONOTONIC      0x40000
#define DOCA_CLOCK_HOST_MONOTONIC_RAW  0x80000

union doca_clock_timespec_t {
	struct timespec ts; /* of all clocks but ... */
	uint64_t counter;   /* ... DOCA_CLOCK_HOST_COUNTER_CYCLES */
};

/* DOCA_SUCCESS, or DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo);

/* The clocks of a device, which stays open until destroy. DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_create(const struct doca_dev *dev, struct doca_clock **clock);

DOCA_EXPERIMENTAL
doca_error_t doca_clock_destroy(struct doca_clock *clock);

/* Read one clock. */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type,
				      union doca_clock_timespec_t *clock_ts);

/* Read two clocks at the same moment: any, and one of the card. The moment is the value of the
 * primary clock, plus or minus the margin, in its unit: nanoseconds or cycles. The margin is 0
 * for one clock twice, and in virtual time. */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary_clock_type,
					   uint64_t nic_clock_type, union doca_clock_timespec_t *primary_clock_ts,
					   union doca_clock_timespec_t *nic_clock_ts, uint64_t *error_margin_nsecs);

#ifdef __cplusplus
}
#endif

#endif
