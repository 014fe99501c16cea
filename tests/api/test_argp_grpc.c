/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that are reached by gRPC, as releases up to 2.6 had them. */
#include "test_argp_util.h"

static void test_address_is_what_was_given(void **state)
{
	const char *address = NULL;

	doca_argp_set_grpc_program();
	doca_argp_set_grpc_program(); /* once is enough, twice is fine */
	assert_int_equal(start("--grpc-address", "192.0.2.1:50051"), DOCA_SUCCESS);
	assert_int_equal(doca_argp_get_grpc_addr(&address), DOCA_SUCCESS);
	assert_string_equal(address, "192.0.2.1:50051");
}

static void test_address_has_a_short_flag(void **state)
{
	const char *address = NULL;

	doca_argp_set_grpc_program();
	assert_int_equal(start("-g", "[::1]:1"), DOCA_SUCCESS);
	assert_int_equal(doca_argp_get_grpc_addr(&address), DOCA_SUCCESS);
	assert_string_equal(address, "[::1]:1");
}

static void test_address_that_was_not_given_is_not_found(void **state)
{
	const char *address = NULL;

	doca_argp_set_grpc_program();
	assert_int_equal(start(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_get_grpc_addr(&address), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_argp_get_grpc_addr(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(address);
}

static void test_address_is_known_after_start_only(void **state)
{
	const char *address;

	doca_argp_set_grpc_program();
	assert_int_equal(doca_argp_get_grpc_addr(&address), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_destroy(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_get_grpc_addr(&address), DOCA_ERROR_BAD_STATE);
}

static void test_program_of_another_kind_has_no_such_flag(void **state)
{
	const char *address;

	assert_int_not_equal(start("--grpc-address", "192.0.2.1:50051"), DOCA_SUCCESS);
	assert_int_equal(doca_argp_get_grpc_addr(&address), DOCA_ERROR_BAD_STATE);
	assert_non_null(strstr(last_message, "--grpc-address"));
}

static void test_flag_comes_too_late_after_start(void **state)
{
	const char *address;

	assert_int_equal(start(), DOCA_SUCCESS);
	doca_argp_set_grpc_program();
	assert_int_equal(doca_argp_get_grpc_addr(&address), DOCA_ERROR_BAD_STATE);
}

/* The next parser has no address. */
static void test_destroy_forgets_the_address(void **state)
{
	const char *address;

	doca_argp_set_grpc_program();
	assert_int_equal(start("-g", "192.0.2.1:50051"), DOCA_SUCCESS);
	assert_int_equal(doca_argp_destroy(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_init("prog", &trace), DOCA_SUCCESS);
	doca_argp_set_grpc_program();
	assert_int_equal(start(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_get_grpc_addr(&address), DOCA_ERROR_NOT_FOUND);
}

#define grpc(test) cmocka_unit_test_setup_teardown(test, argp_setup, argp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		grpc(test_address_is_what_was_given),
		grpc(test_address_has_a_short_flag),
		grpc(test_address_that_was_not_given_is_not_found),
		grpc(test_address_is_known_after_start_only),
		grpc(test_program_of_another_kind_has_no_such_flag),
		grpc(test_flag_comes_too_late_after_start),
		grpc(test_destroy_forgets_the_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
