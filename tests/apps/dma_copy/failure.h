/* SPDX-License-Identifier: BSD-3-Clause */
/* failure.h - why the copy can't go on: said once in the log, and told to the other side.
 *
 * Whoever meets an error complains on the spot, with what was to be done and to
 * what; its callers pass the doca_error_t up and say nothing more. The first
 * complaint is kept, for the other side's user (channel_give_up()).
 */
#ifndef FAILURE_H
#define FAILURE_H

#include <doca_error.h>

/* Log a sentence, remember it if it is the first, return @error. */
doca_error_t failure_report(doca_error_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For a system call that failed on @path: "Cannot <what> <path>: <errno's text>", DOCA_ERROR_IO_FAILED. */
doca_error_t failure_report_errno(const char *what, const char *path);

/* Pass @result on; if it is an error: "Cannot <what>: <its text>". */
doca_error_t check(doca_error_t result, const char *what);

/* The first complaint; "" if there was none. */
const char *failure_first(void);

#endif
