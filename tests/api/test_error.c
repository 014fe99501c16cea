/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_error.h and doca_version.h. */
#include <doca_error.h>
#include <doca_version.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"

#define LAST DOCA_ERROR_SKIPPED

/* Names and texts by number, apart from the library's own list: those of the reference of 3.0. */
static const struct {
	const char *name, *descr;
} codes[] = {
	{ "DOCA_SUCCESS", "Success" },
	{ "DOCA_ERROR_UNKNOWN", "Unknown error" },
	{ "DOCA_ERROR_NOT_PERMITTED", "Operation not permitted" },
	{ "DOCA_ERROR_IN_USE", "Resource already in use" },
	{ "DOCA_ERROR_NOT_SUPPORTED", "Operation not supported" },
	{ "DOCA_ERROR_AGAIN", "Resource temporarily unavailable, try again" },
	{ "DOCA_ERROR_INVALID_VALUE", "Invalid input" },
	{ "DOCA_ERROR_NO_MEMORY", "Memory allocation failure" },
	{ "DOCA_ERROR_INITIALIZATION", "Resource initialization failure" },
	{ "DOCA_ERROR_TIME_OUT", "Timer expired waiting for resource" },
	{ "DOCA_ERROR_SHUTDOWN", "Shut down in process or completed" },
	{ "DOCA_ERROR_CONNECTION_RESET", "Connection reset by peer" },
	{ "DOCA_ERROR_CONNECTION_ABORTED", "Connection aborted" },
	{ "DOCA_ERROR_CONNECTION_INPROGRESS", "Connection in progress" },
	{ "DOCA_ERROR_NOT_CONNECTED", "Not Connected" },
	{ "DOCA_ERROR_NO_LOCK", "Unable to acquire required lock" },
	{ "DOCA_ERROR_NOT_FOUND", "Resource Not Found" },
	{ "DOCA_ERROR_IO_FAILED", "Input/Output Operation Failed" },
	{ "DOCA_ERROR_BAD_STATE", "Bad State" },
	{ "DOCA_ERROR_UNSUPPORTED_VERSION", "Unsupported version" },
	{ "DOCA_ERROR_OPERATING_SYSTEM", "Operating system call failure" },
	{ "DOCA_ERROR_DRIVER", "DOCA Driver call failure" },
	{ "DOCA_ERROR_UNEXPECTED", "An unexpected scenario was detected" },
	{ "DOCA_ERROR_ALREADY_EXIST", "Resource already exist" },
	{ "DOCA_ERROR_FULL", "No more space in resource" },
	{ "DOCA_ERROR_EMPTY", "No entry is available in resource" },
	{ "DOCA_ERROR_IN_PROGRESS", "Operation is in progress" },
	{ "DOCA_ERROR_TOO_BIG", "Requested operation too big to be contained" },
	{ "DOCA_ERROR_AUTHENTICATION", "Authentication failure" },
	{ "DOCA_ERROR_BAD_CONFIG", "Configuration is not valid" },
	{ "DOCA_ERROR_SKIPPED", "Result is valid, but some previous output data was dropped" },
};

static void test_every_code_has_its_name_and_the_vendors_text(void **state)
{
	assert_int_equal(sizeof(codes) / sizeof(codes[0]), LAST + 1);
	for (int code = 0; code <= LAST; code++) {
		assert_string_equal(doca_error_get_name((doca_error_t)code), codes[code].name);
		assert_string_equal(doca_error_get_descr((doca_error_t)code), codes[code].descr);
	}
}

static void test_number_that_is_no_code_is_called_so(void **state)
{
	static const int bad[] = { LAST + 1, -1, 1000, INT_MAX };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_string_equal(doca_error_get_name((doca_error_t)bad[i]), "unrecognized error code");
		assert_string_equal(doca_error_get_descr((doca_error_t)bad[i]), "unrecognized error code");
	}
}

static void test_texts_are_constant(void **state)
{
	assert_ptr_equal(doca_error_get_name(DOCA_ERROR_AGAIN), doca_error_get_name(DOCA_ERROR_AGAIN));
	assert_ptr_equal(doca_error_get_descr(DOCA_ERROR_AGAIN), doca_error_get_descr(DOCA_ERROR_AGAIN));
}

static void test_propagate_keeps_the_first_error(void **state)
{
	doca_error_t result = DOCA_SUCCESS, next = DOCA_SUCCESS;

	DOCA_ERROR_PROPAGATE(result, next);
	assert_false(DOCA_IS_ERROR(result));
	next = DOCA_ERROR_AGAIN;
	DOCA_ERROR_PROPAGATE(result, next);
	next = DOCA_ERROR_IN_USE;
	DOCA_ERROR_PROPAGATE(result, next);
	assert_true(DOCA_IS_ERROR(result));
	assert_int_equal(result, DOCA_ERROR_AGAIN);
}

static void test_library_is_of_the_version_of_its_headers(void **state)
{
	unsigned int major, minor, patch;

	assert_string_equal(doca_version_runtime(), doca_version());
	assert_int_equal(sscanf(doca_version_runtime(), "%u.%u.%u", &major, &minor, &patch), 3);
	assert_int_equal(major, DOCA_VERSION_MAJOR);
	assert_int_equal(minor, DOCA_VERSION_MINOR);
	assert_int_equal(patch, DOCA_VERSION_PATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_has_its_name_and_the_vendors_text),
		cmocka_unit_test(test_number_that_is_no_code_is_called_so),
		cmocka_unit_test(test_texts_are_constant),
		cmocka_unit_test(test_propagate_keeps_the_first_error),
		cmocka_unit_test(test_library_is_of_the_version_of_its_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
