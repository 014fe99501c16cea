/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/cmocka_test.h - cmocka, after the headers that it needs before it. */
#ifndef TESTS_COMMON_CMOCKA_TEST_H
#define TESTS_COMMON_CMOCKA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" { /* cmocka.h has none */
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

#endif
