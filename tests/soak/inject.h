/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/inject.h - fault rules of the soak: lasting and temporary ones.
 *
 * Lasting rules corrupt, drop and duplicate data; their hits are counted exactly.
 * Temporary rules delay, fail or hang operations, take the link down and stop
 * processes; each turn adds or removes a random one.
 */
#ifndef TESTS_SOAK_INJECT_H
#define TESTS_SOAK_INJECT_H

#include "random.h"
#include "shared.h"

#define INJECT_MAX 24 /* temporary rules at once */

struct inject {
	struct random random;
	uint32_t ids[INJECT_MAX]; /* 0 = none */
	uint64_t num_added, num_removed;
	uint64_t num_fired; /* of those removed, at least */
};

/* Call in a process that has entered the session. Fills @shared->lasting. Returns 0, or -1 after a message. */
int inject_open(struct inject *inject, struct shared *shared);

/* Add or remove one. */
int inject_turn(struct inject *inject);

#endif
