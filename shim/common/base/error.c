/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes: their translation from errno, their names and their descriptions. */
#include "shim/common/base/error.h"

#include <errno.h>

/* X(errno, doca_error) */
#define SHIM_ERRNO_MAP(X)                          \
	X(EINVAL, DOCA_ERROR_INVALID_VALUE)        \
	X(EPROTO, DOCA_ERROR_INVALID_VALUE)        \
	X(ENOMEM, DOCA_ERROR_NO_MEMORY)            \
	X(EMSGSIZE, DOCA_ERROR_TOO_BIG)            \
	X(EIO, DOCA_ERROR_IO_FAILED)               \
	X(EPERM, DOCA_ERROR_NOT_PERMITTED)         \
	X(EACCES, DOCA_ERROR_NOT_PERMITTED)        \
	X(EXDEV, DOCA_ERROR_NOT_PERMITTED)         \
	X(ENOTSUP, DOCA_ERROR_NOT_SUPPORTED)       \
	X(ENOSYS, DOCA_ERROR_NOT_SUPPORTED)        \
	X(ENOENT, DOCA_ERROR_NOT_FOUND)            \
	X(EAGAIN, DOCA_ERROR_AGAIN)                \
	X(EBUSY, DOCA_ERROR_IN_USE)                \
	X(EEXIST, DOCA_ERROR_ALREADY_EXIST)        \
	X(ESTALE, DOCA_ERROR_DRIVER)               \
	X(ENODEV, DOCA_ERROR_DRIVER)               \
	X(EREMOTE, DOCA_ERROR_INVALID_VALUE)       \
	X(EMEDIUMTYPE, DOCA_ERROR_INVALID_VALUE)   \
	X(ETIMEDOUT, DOCA_ERROR_TIME_OUT)          \
	X(ECONNRESET, DOCA_ERROR_CONNECTION_RESET) \
	X(EPIPE, DOCA_ERROR_NOT_CONNECTED)         \
	X(ENOTCONN, DOCA_ERROR_NOT_CONNECTED)      \
	X(ECONNREFUSED, DOCA_ERROR_NOT_CONNECTED)  \
	X(ESHUTDOWN, DOCA_ERROR_SHUTDOWN)

/* X(doca_error, description). Programs print the texts, and tests and log filters match them, so that they are the vendor's:
 * those of the enumeration in the reference of 3.0, as logs of cards show them (doc/compatibility.md). */
#define DOCA_ERRORS(X)                                                       \
	X(DOCA_SUCCESS, "Success")                                           \
	X(DOCA_ERROR_UNKNOWN, "Unknown error")                               \
	X(DOCA_ERROR_NOT_PERMITTED, "Operation not permitted")               \
	X(DOCA_ERROR_IN_USE, "Resource already in use")                      \
	X(DOCA_ERROR_NOT_SUPPORTED, "Operation not supported")               \
	X(DOCA_ERROR_AGAIN, "Resource temporarily unavailable, try again")   \
	X(DOCA_ERROR_INVALID_VALUE, "Invalid input")                         \
	X(DOCA_ERROR_NO_MEMORY, "Memory allocation failure")                 \
	X(DOCA_ERROR_INITIALIZATION, "Resource initialization failure")      \
	X(DOCA_ERROR_TIME_OUT, "Timer expired waiting for resource")         \
	X(DOCA_ERROR_SHUTDOWN, "Shut down in process or completed")          \
	X(DOCA_ERROR_CONNECTION_RESET, "Connection reset by peer")           \
	X(DOCA_ERROR_CONNECTION_ABORTED, "Connection aborted")               \
	X(DOCA_ERROR_CONNECTION_INPROGRESS, "Connection in progress")        \
	X(DOCA_ERROR_NOT_CONNECTED, "Not Connected")                         \
	X(DOCA_ERROR_NO_LOCK, "Unable to acquire required lock")             \
	X(DOCA_ERROR_NOT_FOUND, "Resource Not Found")                        \
	X(DOCA_ERROR_IO_FAILED, "Input/Output Operation Failed")             \
	X(DOCA_ERROR_BAD_STATE, "Bad State")                                 \
	X(DOCA_ERROR_UNSUPPORTED_VERSION, "Unsupported version")             \
	X(DOCA_ERROR_OPERATING_SYSTEM, "Operating system call failure")      \
	X(DOCA_ERROR_DRIVER, "DOCA Driver call failure")                     \
	X(DOCA_ERROR_UNEXPECTED, "An unexpected scenario was detected")      \
	X(DOCA_ERROR_ALREADY_EXIST, "Resource already exist")                \
	X(DOCA_ERROR_FULL, "No more space in resource")                      \
	X(DOCA_ERROR_EMPTY, "No entry is available in resource")             \
	X(DOCA_ERROR_IN_PROGRESS, "Operation is in progress")                \
	X(DOCA_ERROR_TOO_BIG, "Requested operation too big to be contained") \
	X(DOCA_ERROR_AUTHENTICATION, "Authentication failure")               \
	X(DOCA_ERROR_BAD_CONFIG, "Configuration is not valid")               \
	X(DOCA_ERROR_SKIPPED, "Result is valid, but some previous output data was dropped")

doca_error_t shim_error_from_errno(int rc)
{
	switch (-rc) {
	case 0:
		return DOCA_SUCCESS;
#define X(number, error) \
	case number:     \
		return error;
		SHIM_ERRNO_MAP(X)
#undef X
	default:
		return DOCA_ERROR_UNEXPECTED;
	}
}

doca_error_t shim_error_for_call(int rc, const struct shim_call_errors *call)
{
	doca_error_t error = shim_error_from_errno(rc);

	for (size_t i = 0; i < SHIM_ERROR_MAX_OVERRIDES && call->overrides[i].number; i++)
		if (rc == -call->overrides[i].number)
			return call->overrides[i].error;
	return error == DOCA_SUCCESS || call->allowed & UINT64_C(1) << error ? error : call->other;
}

const char *doca_error_get_name(doca_error_t error)
{
	switch (error) {
#define X(code, descr) \
	case code:     \
		return #code;
		DOCA_ERRORS(X)
#undef X
	}
	return "unrecognized error code";
}

const char *doca_error_get_descr(doca_error_t error)
{
	switch (error) {
#define X(code, descr) \
	case code:     \
		return descr;
		DOCA_ERRORS(X)
#undef X
	}
	return "unrecognized error code";
}
