/* SPDX-License-Identifier: BSD-3-Clause */
/* failure.h - errors that end the copy: logged once, and sent to the other side.
 *
 * The function that meets an error reports it at once, with the operation and its
 * object; its callers return the doca_error_t and log nothing more. The first
 * report is kept, for the other side's user (channel_give_up()).
 */
#ifndef FAILURE_H
#define FAILURE_H

#include <doca_error.h>

/* Log a sentence, keep it if it is the first, return @error. */
doca_error_t failure_report(doca_error_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For a system call that failed on @path: "Cannot <what> <path>: <errno's text>", DOCA_ERROR_IO_FAILED. */
doca_error_t failure_report_errno(const char *what, const char *path);

/* Pass @result on; if it is an error: "Cannot <what>: <its text>". */
doca_error_t check(doca_error_t result, const char *what);

/* The first reported error; "" if there was none. */
const char *failure_first(void);

#endif
