/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/inject.h - faults for the soak: some stay, others come and go.
 *
 * Those that stay make wrong, lost and extra bytes, and are counted exactly. Those that
 * come and go make delays, failures and hangs, take the link down and hold processes up; a random one is added or removed at each turn.
 */
#ifndef TESTS_SOAK_INJECT_H
#define TESTS_SOAK_INJECT_H

#include "random.h"
#include "shared.h"

#define INJECT_MAX 24 /* that come and go, at once */

struct inject {
	struct random random;
	uint32_t ids[INJECT_MAX]; /* 0 = none */
	uint64_t num_added, num_removed;
	uint64_t num_fired; /* of those removed, at least */
};

/* In the session that this process has entered. Fill @shared->lasting. Returns 0 or -1, having said why. */
int inject_open(struct inject *inject, struct shared *shared);

/* Add or remove one. */
int inject_turn(struct inject *inject);

#endif
