/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/doca_check.h - expectations about results of DOCA calls.
 *
 * EXPECT and MUST end the process (check.h); assert_*() fail the cmocka test.
 * All evaluate the call once and name it, its result and what was expected.
 * For the work-queue generation define CHECK_ERROR_NAME as its function.
 */
#ifndef TESTS_COMMON_DOCA_CHECK_H
#define TESTS_COMMON_DOCA_CHECK_H

#include <doca_error.h>

#include "check.h"

#ifndef CHECK_ERROR_NAME
#define CHECK_ERROR_NAME doca_error_get_name
#endif

/* End the process unless @call returns @code. */
#define EXPECT(call, code)                                                                       \
	do {                                                                                     \
		doca_error_t result_ = (call);                                                   \
		if (result_ != (code))                                                           \
			check_fail(__FILE__, __LINE__, #call, CHECK_ERROR_NAME(result_), #code); \
	} while (0)

#define MUST(call) EXPECT(call, DOCA_SUCCESS)

/* Fail the test unless @call returns @code. */
#define assert_doca(call, code)                                                           \
	do {                                                                              \
		doca_error_t result_ = (call), expected_ = (code);                        \
		if (result_ != expected_)                                                 \
			fail_msg("%s: %s, expected %s", #call, CHECK_ERROR_NAME(result_), \
				 CHECK_ERROR_NAME(expected_));                            \
	} while (0)

#define assert_ok(call)      assert_doca(call, DOCA_SUCCESS)
#define assert_invalid(call) assert_doca(call, DOCA_ERROR_INVALID_VALUE)

#endif
