/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/failing_malloc.h - allocations of a process that fail at random, in all its threads.
 *
 * This malloc(), calloc() and realloc() stand before the C library's, which a
 * sanitizer does not take. A program that links them counts its failures.
 */
#ifndef TESTS_COMMON_FAILING_MALLOC_H
#define TESTS_COMMON_FAILING_MALLOC_H

/* From now on one allocation of a library in @one_in fails; 0 = none. @seed decides which. */
void failing_malloc_set(unsigned int one_in, unsigned long seed);

/* Allocations that have failed. */
unsigned long failing_malloc_count(void);

/* Count them in @counter, too: memory that other processes share. */
void failing_malloc_count_in(unsigned int *counter);

#endif
