/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation functions that fail at random. */
#include "failing_malloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static atomic_uint rate;
static atomic_ulong num_allocations, num_failures;
static unsigned int *shared_counter;

void failing_malloc_set(unsigned int one_in, unsigned long seed)
{
	atomic_fetch_add(&num_allocations, seed);
	atomic_store(&rate, one_in);
}

unsigned long failing_malloc_count(void)
{
	return atomic_load(&num_failures);
}

void failing_malloc_count_in(unsigned int *counter)
{
	shared_counter = counter;
}

extern const char __executable_start, etext; /* of the linker */

/* The program's own allocations succeed: those of the libraries are tested. */
static bool is_program(const void *caller)
{
	return (uintptr_t)caller >= (uintptr_t)&__executable_start && (uintptr_t)caller < (uintptr_t)&etext;
}

static bool must_fail(const void *caller)
{
	unsigned int one_in = atomic_load_explicit(&rate, memory_order_relaxed);
	unsigned long number;

	if (one_in == 0 || is_program(caller))
		return false;
	number = atomic_fetch_add(&num_allocations, 1);
	if ((number * 2654435761u >> 8) % one_in != 0)
		return false;
	atomic_fetch_add(&num_failures, 1);
	if (shared_counter)
		__atomic_fetch_add(shared_counter, 1, __ATOMIC_RELAXED);
	errno = ENOMEM;
	return true;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
	return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
