/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/under_valgrind.h - RUNNING_ON_VALGRIND, also where its headers are not installed. */
#ifndef TESTS_COMMON_UNDER_VALGRIND_H
#define TESTS_COMMON_UNDER_VALGRIND_H

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#endif
