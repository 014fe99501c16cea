/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/far.h - an address for memory that a test unmaps and that must stay unmapped.
 *
 * The kernel reuses unmapped addresses for the next mapping of the library, the
 * allocator or a sanitizer. It places no mapping here unless mmap() gets this hint:
 * the address is below the kernel's range and above valgrind's, and every sanitizer
 * treats it as memory of the program.
 */
#ifndef TESTS_FAR_H
#define TESTS_FAR_H

#include <stdint.h>

#define FAR_AWAY ((void *)(uintptr_t)0x40000000)

#endif
