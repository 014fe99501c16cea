/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/abi/test_macros_trace.h - a second source file with a log source of its
 * own, which registers without a semicolon. It allows trace records, or those of
 * developers in the work-queue generation.
 */
#ifndef TEST_MACROS_TRACE_H
#define TEST_MACROS_TRACE_H

/* The number that the file's source got. */
int trace_file_source(void);

/* Log @value in such a record. */
void trace_file_log(int value);

#endif
