/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/workq/refuse.h - refused calls: a call returns a code and logs one line with the name of the function.
 *
 *   assert_refused(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
 *
 * The log lines of the call appear on standard error after the check.
 */
#ifndef TEST_WORKQ_REFUSE_H
#define TEST_WORKQ_REFUSE_H

#include <doca_error.h>
#include <stdbool.h>

#define assert_refused(call, code)   (refuse_listen(), refuse_check((call), (code), #call, __FILE__, __LINE__))
#define assert_refused_invalid(call) assert_refused(call, DOCA_ERROR_INVALID_VALUE)

/* Capture standard error between the two calls. The second one fails the test unless code and log are as expected. */
void refuse_listen(void);
void refuse_check(doca_error_t result, doca_error_t code, const char *call, const char *file, int line);

/* Did the last refused call log @text? */
bool refuse_logged(const char *text);

#endif
