/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/error.c: from -errno to doca_error_t. */
#include "cmocka_test.h"
#include "shim/common/base/error.h"

#include <errno.h>

static void test_errno_has_the_code_a_caller_would_expect(void **state)
{
	static const struct {
		int number;
		doca_error_t error;
	} pairs[] = {
		{ EINVAL, DOCA_ERROR_INVALID_VALUE },
		{ EPROTO, DOCA_ERROR_INVALID_VALUE },
		{ ENOMEM, DOCA_ERROR_NO_MEMORY },
		{ EMSGSIZE, DOCA_ERROR_TOO_BIG },
		{ EIO, DOCA_ERROR_IO_FAILED },
		{ EPERM, DOCA_ERROR_NOT_PERMITTED },
		{ EACCES, DOCA_ERROR_NOT_PERMITTED },
		{ EXDEV, DOCA_ERROR_NOT_PERMITTED },
		{ ENOTSUP, DOCA_ERROR_NOT_SUPPORTED },
		{ ENOSYS, DOCA_ERROR_NOT_SUPPORTED },
		{ ENOENT, DOCA_ERROR_NOT_FOUND },
		{ EAGAIN, DOCA_ERROR_AGAIN },
		{ EBUSY, DOCA_ERROR_IN_USE },
		{ EEXIST, DOCA_ERROR_ALREADY_EXIST },
		{ ESTALE, DOCA_ERROR_DRIVER },
		{ ENODEV, DOCA_ERROR_DRIVER },
		{ EREMOTE, DOCA_ERROR_INVALID_VALUE },
		{ EMEDIUMTYPE, DOCA_ERROR_INVALID_VALUE },
		{ ETIMEDOUT, DOCA_ERROR_TIME_OUT },
		{ ECONNRESET, DOCA_ERROR_CONNECTION_RESET },
		{ EPIPE, DOCA_ERROR_NOT_CONNECTED },
		{ ENOTCONN, DOCA_ERROR_NOT_CONNECTED },
		{ ECONNREFUSED, DOCA_ERROR_NOT_CONNECTED },
		{ ESHUTDOWN, DOCA_ERROR_SHUTDOWN },
	};
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_int_equal(shim_error_from_errno(-pairs[i].number), pairs[i].error);
}

static void test_zero_is_success(void **state)
{
	assert_int_equal(shim_error_from_errno(0), DOCA_SUCCESS);
}

static void test_errno_out_of_the_table_is_unexpected(void **state)
{
	assert_int_equal(shim_error_from_errno(-ELOOP), DOCA_ERROR_UNEXPECTED);
	assert_int_equal(shim_error_from_errno(-100000), DOCA_ERROR_UNEXPECTED);
	assert_int_equal(shim_error_from_errno(EINVAL), DOCA_ERROR_UNEXPECTED); /* the sign is part of it */
}

static const struct shim_call_errors call = {
	.allowed = SHIM_ERROR_BIT(NO_MEMORY) | SHIM_ERROR_BIT(NOT_PERMITTED),
	.other = DOCA_ERROR_DRIVER,
	.overrides = { { ENOTCONN, DOCA_ERROR_BAD_STATE }, { EPERM, DOCA_ERROR_NOT_FOUND } },
};

static void test_call_returns_the_codes_that_it_allows(void **state)
{
	assert_int_equal(shim_error_for_call(0, &call), DOCA_SUCCESS);
	assert_int_equal(shim_error_for_call(-ENOMEM, &call), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(shim_error_for_call(-EACCES, &call), DOCA_ERROR_NOT_PERMITTED);
}

static void test_call_returns_its_other_code_for_codes_that_it_does_not_allow(void **state)
{
	assert_int_equal(shim_error_for_call(-EINVAL, &call), DOCA_ERROR_DRIVER);
	assert_int_equal(shim_error_for_call(-ELOOP, &call), DOCA_ERROR_DRIVER);
}

static void test_override_of_a_call_comes_before_the_table(void **state)
{
	assert_int_equal(shim_error_for_call(-ENOTCONN, &call), DOCA_ERROR_BAD_STATE); /* not among the allowed */
	assert_int_equal(shim_error_for_call(-EPERM, &call), DOCA_ERROR_NOT_FOUND); /* the table says NOT_PERMITTED */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errno_has_the_code_a_caller_would_expect),
		cmocka_unit_test(test_zero_is_success),
		cmocka_unit_test(test_errno_out_of_the_table_is_unexpected),
		cmocka_unit_test(test_call_returns_the_codes_that_it_allows),
		cmocka_unit_test(test_call_returns_its_other_code_for_codes_that_it_does_not_allow),
		cmocka_unit_test(test_override_of_a_call_comes_before_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
