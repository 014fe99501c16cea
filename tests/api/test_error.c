/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_error.h and doca_version.h. */
#include <doca_error.h>
#include <doca_version.h>

#include <ctype.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LAST DOCA_ERROR_SKIPPED

/* The names by number, apart from the header's own list. */
static const char *const names[] = {
	"DOCA_SUCCESS",
	"DOCA_ERROR_UNKNOWN",
	"DOCA_ERROR_NOT_PERMITTED",
	"DOCA_ERROR_IN_USE",
	"DOCA_ERROR_NOT_SUPPORTED",
	"DOCA_ERROR_AGAIN",
	"DOCA_ERROR_INVALID_VALUE",
	"DOCA_ERROR_NO_MEMORY",
	"DOCA_ERROR_INITIALIZATION",
	"DOCA_ERROR_TIME_OUT",
	"DOCA_ERROR_SHUTDOWN",
	"DOCA_ERROR_CONNECTION_RESET",
	"DOCA_ERROR_CONNECTION_ABORTED",
	"DOCA_ERROR_CONNECTION_INPROGRESS",
	"DOCA_ERROR_NOT_CONNECTED",
	"DOCA_ERROR_NO_LOCK",
	"DOCA_ERROR_NOT_FOUND",
	"DOCA_ERROR_IO_FAILED",
	"DOCA_ERROR_BAD_STATE",
	"DOCA_ERROR_UNSUPPORTED_VERSION",
	"DOCA_ERROR_OPERATING_SYSTEM",
	"DOCA_ERROR_DRIVER",
	"DOCA_ERROR_UNEXPECTED",
	"DOCA_ERROR_ALREADY_EXIST",
	"DOCA_ERROR_FULL",
	"DOCA_ERROR_EMPTY",
	"DOCA_ERROR_IN_PROGRESS",
	"DOCA_ERROR_TOO_BIG",
	"DOCA_ERROR_AUTHENTICATION",
	"DOCA_ERROR_BAD_CONFIG",
	"DOCA_ERROR_SKIPPED",
};

static void test_every_code_has_the_name_of_its_enumerator(void **state)
{
	int code;

	(void)state;
	assert_int_equal(sizeof(names) / sizeof(names[0]), LAST + 1);
	for (code = 0; code <= LAST; code++)
		assert_string_equal(doca_error_get_name((doca_error_t)code), names[code]);
}

static void test_every_code_has_a_sentence_of_its_own(void **state)
{
	const char *descr, *other;
	int code, second;

	(void)state;
	for (code = 0; code <= LAST; code++) {
		descr = doca_error_get_descr((doca_error_t)code);
		assert_true(isupper((unsigned char)descr[0]) && strchr(descr, ' '));
		for (second = 0; second < code; second++) {
			other = doca_error_get_descr((doca_error_t)second);
			assert_string_not_equal(descr, other);
		}
	}
}

static void test_number_that_is_no_code_is_called_so(void **state)
{
	static const int bad[] = { LAST + 1, -1, 1000, INT_MAX };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_non_null(strstr(doca_error_get_name((doca_error_t)bad[i]), "not a doca_error_t"));
		assert_non_null(strstr(doca_error_get_descr((doca_error_t)bad[i]), "not a DOCA error"));
	}
}

static void test_texts_are_constant(void **state)
{
	(void)state;
	assert_ptr_equal(doca_error_get_name(DOCA_ERROR_AGAIN), doca_error_get_name(DOCA_ERROR_AGAIN));
	assert_ptr_equal(doca_error_get_descr(DOCA_ERROR_AGAIN), doca_error_get_descr(DOCA_ERROR_AGAIN));
}

static void test_propagate_keeps_the_first_error(void **state)
{
	doca_error_t result = DOCA_SUCCESS, next = DOCA_SUCCESS;

	(void)state;
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

	(void)state;
	assert_string_equal(doca_version_runtime(), doca_version());
	assert_int_equal(sscanf(doca_version_runtime(), "%u.%u.%u", &major, &minor, &patch), 3);
	assert_int_equal(major, DOCA_VERSION_MAJOR);
	assert_int_equal(minor, DOCA_VERSION_MINOR);
	assert_int_equal(patch, DOCA_VERSION_PATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_has_the_name_of_its_enumerator),
		cmocka_unit_test(test_every_code_has_a_sentence_of_its_own),
		cmocka_unit_test(test_number_that_is_no_code_is_called_so),
		cmocka_unit_test(test_texts_are_constant),
		cmocka_unit_test(test_propagate_keeps_the_first_error),
		cmocka_unit_test(test_library_is_of_the_version_of_its_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
