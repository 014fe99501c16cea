/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_error.h - the codes of all results.
 *
 * A function that can fail returns doca_error_t. On failure its output
 * arguments are unchanged, unless its comment states otherwise. The same
 * codes are the status of a completed task, or the result of a job. A comment
 * lists the errors that a caller may want to distinguish; treat any other code as a
 * failure.
 *
 * Both generations have this header, each with the codes of its releases.
 */
#ifndef DOCA_ERROR_H_
#define DOCA_ERROR_H_

#include <doca_compat.h>
#include <doca_common_defines.h>

#ifdef __cplusplus
extern "C" {
#endif

enum doca_error {
	DOCA_SUCCESS = 0,
	DOCA_ERROR_UNKNOWN = 1,
	DOCA_ERROR_NOT_PERMITTED = 2,  /* not allowed in the present state of this object */
	DOCA_ERROR_IN_USE = 3,         /* another object holds or uses it */
	DOCA_ERROR_NOT_SUPPORTED = 4,  /* not by the device, or not by this build */
	DOCA_ERROR_AGAIN = 5,          /* not now: the same call may succeed later */
	DOCA_ERROR_INVALID_VALUE = 6,  /* an argument is NULL, out of range or inconsistent */
	DOCA_ERROR_NO_MEMORY = 7,      /* memory, or a pool of fixed size, is used up */
	DOCA_ERROR_INITIALIZATION = 8, /* a resource could not be set up */
	DOCA_ERROR_TIME_OUT = 9,
	DOCA_ERROR_SHUTDOWN = 10,         /* the other party is leaving or gone */
	DOCA_ERROR_CONNECTION_RESET = 11, /* the peer broke the connection */
	DOCA_ERROR_CONNECTION_ABORTED = 12,
	DOCA_ERROR_CONNECTION_INPROGRESS = 13, /* not connected yet */
	DOCA_ERROR_NOT_CONNECTED = 14,
	DOCA_ERROR_NO_LOCK = 15,
	DOCA_ERROR_NOT_FOUND = 16,
	DOCA_ERROR_IO_FAILED = 17, /* the transfer itself went wrong */
	DOCA_ERROR_BAD_STATE = 18, /* a call out of order for this object's state */
	DOCA_ERROR_UNSUPPORTED_VERSION = 19,
	DOCA_ERROR_OPERATING_SYSTEM = 20, /* a system call failed */
	DOCA_ERROR_DRIVER = 21,           /* the device gave a wrong answer or none */
	DOCA_ERROR_UNEXPECTED = 22,       /* an internal inconsistency */
	DOCA_ERROR_ALREADY_EXIST = 23,
	DOCA_ERROR_FULL = 24,
	DOCA_ERROR_EMPTY = 25,
	DOCA_ERROR_IN_PROGRESS = 26, /* accepted; completes later */
#if DOCA_VER_MAJOR > 2
	DOCA_ERROR_TOO_BIG = 27, /* beyond a size or counting limit */
	DOCA_ERROR_AUTHENTICATION = 28,
	DOCA_ERROR_BAD_CONFIG = 29,
	DOCA_ERROR_SKIPPED = 30, /* the result is good, older results were lost */
#endif
};

typedef enum doca_error doca_error_t;

/* True when @r is anything but success; hinted as the rare case. */
#define DOCA_IS_ERROR(r) doca_unlikely((r) != DOCA_SUCCESS)

/* Collect the results of steps that all must run, as in teardown: @r keeps the
 * first error, and takes @t while it has none. @t is evaluated only then, so
 * pass a variable, not a call. */
#define DOCA_ERROR_PROPAGATE(r, t)       \
	do {                             \
		if ((r) == DOCA_SUCCESS) \
			(r) = (t);       \
	} while (0)

/* The enumerator's name ("DOCA_ERROR_IN_USE") and a sentence for people.
 * Constant strings, never NULL: an unknown code has a text too.
 * Any thread. */
#if DOCA_VER_MAJOR > 2

DOCA_STABLE
const char *doca_error_get_name(doca_error_t error);

DOCA_STABLE
const char *doca_error_get_descr(doca_error_t error);

#else

DOCA_EXPERIMENTAL
const char *doca_get_error_name(doca_error_t error);

DOCA_EXPERIMENTAL
const char *doca_get_error_string(doca_error_t error);

#endif

#ifdef __cplusplus
}
#endif

#endif
