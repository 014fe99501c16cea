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

/* X(doca_error, description) */
#define DOCA_ERRORS(X)                                                             \
	X(DOCA_SUCCESS, "The call succeeded")                                      \
	X(DOCA_ERROR_UNKNOWN, "The call failed for an unknown reason")             \
	X(DOCA_ERROR_NOT_PERMITTED, "The operation is not allowed here")           \
	X(DOCA_ERROR_IN_USE, "The resource is still in use")                       \
	X(DOCA_ERROR_NOT_SUPPORTED, "The operation is not supported")              \
	X(DOCA_ERROR_AGAIN, "The operation can't be done now, but may be later")   \
	X(DOCA_ERROR_INVALID_VALUE, "An argument is invalid")                      \
	X(DOCA_ERROR_NO_MEMORY, "There is not enough memory")                      \
	X(DOCA_ERROR_INITIALIZATION, "A resource could not be initialized")        \
	X(DOCA_ERROR_TIME_OUT, "The time allowed has run out")                     \
	X(DOCA_ERROR_SHUTDOWN, "The other side is shutting down")                  \
	X(DOCA_ERROR_CONNECTION_RESET, "The peer reset the connection")            \
	X(DOCA_ERROR_CONNECTION_ABORTED, "The connection was aborted")             \
	X(DOCA_ERROR_CONNECTION_INPROGRESS, "The connection is still being made")  \
	X(DOCA_ERROR_NOT_CONNECTED, "There is no connection")                      \
	X(DOCA_ERROR_NO_LOCK, "The lock could not be taken")                       \
	X(DOCA_ERROR_NOT_FOUND, "No such resource was found")                      \
	X(DOCA_ERROR_IO_FAILED, "The data transfer failed")                        \
	X(DOCA_ERROR_BAD_STATE, "The object's state does not allow this call")     \
	X(DOCA_ERROR_UNSUPPORTED_VERSION, "The version is not supported")          \
	X(DOCA_ERROR_OPERATING_SYSTEM, "A call to the operating system failed")    \
	X(DOCA_ERROR_DRIVER, "A call to the device's driver failed")               \
	X(DOCA_ERROR_UNEXPECTED, "Something happened that should not be possible") \
	X(DOCA_ERROR_ALREADY_EXIST, "The resource exists already")                 \
	X(DOCA_ERROR_FULL, "The resource has no room left")                        \
	X(DOCA_ERROR_EMPTY, "The resource holds nothing")                          \
	X(DOCA_ERROR_IN_PROGRESS, "The operation has begun and will end later")    \
	X(DOCA_ERROR_TOO_BIG, "The request is larger than allowed")                \
	X(DOCA_ERROR_AUTHENTICATION, "Authentication failed")                      \
	X(DOCA_ERROR_BAD_CONFIG, "The configuration is invalid")                   \
	X(DOCA_ERROR_SKIPPED, "The result is valid, but earlier ones were skipped")

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
	return "not a doca_error_t";
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
	return "This number is not a DOCA error code";
}
