/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/abi/test_macros_trace_workq.h - a second source file with a log source
 * of its own: it allows developers' records and registers without a semicolon.
 */
#ifndef TEST_MACROS_TRACE_WORKQ_H
#define TEST_MACROS_TRACE_WORKQ_H

/* The number that the file's source got. */
int trace_file_source(void);

/* Log @value as a developer's record of a warning. */
void trace_file_log(int value);

#endif
