/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/time_util.h - programs on a card whose time passes as the test wants it.
 *
 * A process takes its card once: so each run is a process, which says what it saw in a text.
 */
#ifndef TESTS_API_TIME_UTIL_H
#define TESTS_API_TIME_UTIL_H

#include <stdint.h>

#include <doca_clock.h>

#define TEXT_SIZE 16384

struct text {
	char chars[TEXT_SIZE];
};

typedef void program(int out);

/* Run @program in a process of its own, with that BFSIM_CLOCK. */
void run(const char *clock, program *program, struct text *ret_text);

/* The program's text is the same in each run, and not empty. */
void assert_same_each_time(const char *clock, program *program);

/* The card's time. */
uint64_t now_ns(struct doca_clock *clock);

#endif
