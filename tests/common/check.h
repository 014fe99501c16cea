/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/check.h - expectations where cmocka's assertions do not work: in processes, threads and callbacks.
 *
 * A failed expectation prints file, line, process and side (BFSIM_SIDE), and ends
 * the process with status 1, or CHECK_WRONG_BYTES if received bytes are wrong; the
 * test that waits for the process then fails. In a cmocka test, use assert_*() of
 * cmocka.h and tests/common/doca_check.h.
 */
#ifndef TESTS_COMMON_CHECK_H
#define TESTS_COMMON_CHECK_H

#define CHECK_WRONG_BYTES 7 /* exit status */

/* End the process unless @condition holds. */
#define CHECK(condition)                                                                 \
	do {                                                                             \
		if (!(condition))                                                        \
			check_fail(__FILE__, __LINE__, "does not hold", #condition, ""); \
	} while (0)

/* The same for bytes that another process sent. */
#define CHECK_BYTES(condition)                                            \
	do {                                                              \
		if (!(condition))                                         \
			check_fail_bytes(__FILE__, __LINE__, #condition); \
	} while (0)

#ifdef __cplusplus
extern "C" {
#endif

/* Print "@what: @is, expected @expected" (without the last part if @expected is "") and end the process. */
void check_fail(const char *file, int line, const char *what, const char *is, const char *expected)
	__attribute__((noreturn));
void check_fail_bytes(const char *file, int line, const char *is) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
