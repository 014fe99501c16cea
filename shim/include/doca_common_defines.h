/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_common_defines.h - hints for the compiler's branch layout. */
#ifndef DOCA_COMMON_DEFINES_H_
#define DOCA_COMMON_DEFINES_H_

/* The value of @x as 0 or 1, with the hint that it is mostly 1 (likely) or mostly 0 (unlikely). */
#define doca_likely(x)   __builtin_expect(!!(x), 1)
#define doca_unlikely(x) __builtin_expect(!!(x), 0)

#endif
