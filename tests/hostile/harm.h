/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/hostile/harm.h - anything at all, written into the memory that a hostile process shares with others. */
#ifndef TESTS_HOSTILE_HARM_H
#define TESTS_HOSTILE_HARM_H

#include <stddef.h>
#include <stdint.h>

#include "hostile.h"

#define HARM_AREAS 64

struct harm_area {
	uint64_t *words;
	size_t num_words;
};

/* List the memory that bfsim shares with other processes, but @ignore. Returns the number of areas. */
unsigned int harm_list_areas(struct harm_area areas[HARM_AREAS], const struct harm_area *ignore,
			     unsigned int num_ignored);

/* Write for @ms. One kind of harm all the time, so that the victim has no quiet moment, or all kinds; in one area or in all:
 * the round's number says. */
void harm_for(struct bout *bout, const struct harm_area *areas, unsigned int num_areas, unsigned int ms);

#endif
