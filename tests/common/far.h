/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/far.h - where memory can be that is to go, and must not come back.
 *
 * What a test unmaps is soon part of another mapping: the next one that the
 * library, the allocator or a sanitizer asks for, which are put beside those that
 * there are. Nothing comes here by itself: a hint for mmap(), below where kernels put
 * mappings and above where valgrind does, and memory of the program's to every sanitizer.
 */
#ifndef TESTS_FAR_H
#define TESTS_FAR_H

#include <stdint.h>

#define FAR_AWAY ((void *)(uintptr_t)0x40000000)

#endif
