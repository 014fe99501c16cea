/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/workq/refuse.h - mistakes: a call returns a code, and the log gets one line that names the function.
 *
 *   assert_refused(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
 *
 * What the call logs passes standard error as always, a little later.
 */
#ifndef TEST_WORKQ_REFUSE_H
#define TEST_WORKQ_REFUSE_H

#include <doca_error.h>

#define assert_refused(call, code)   (refuse_listen(), refuse_check((call), (code), #call, __FILE__, __LINE__))
#define assert_refused_invalid(call) assert_refused(call, DOCA_ERROR_INVALID_VALUE)

/* Standard error goes to a file of ours between the two; the second ends the test unless all is as it must be. */
void refuse_listen(void);
void refuse_check(doca_error_t result, doca_error_t code, const char *call, const char *file, int line);

#endif
