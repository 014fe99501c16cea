/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_argp.h of the work-queue generation. tests/api tests the parser, which is
 * in the core. These tests use it with the types, log and version of this generation. */
#include <doca_argp.h>
#include <doca_log.h>

#include <stdbool.h>

#include "cmocka_test.h"
#include "log_child.h"
#include "doca_check.h"

#define WORDS(...) ((char *[]){ "prog", __VA_ARGS__, NULL })
struct config {
	int size;
	int validated;
};

static doca_error_t take_size(void *value, void *config)
{
	((struct config *)config)->size = *(int *)value;
	return DOCA_SUCCESS;
}

static doca_error_t validate(void *config)
{
	((struct config *)config)->validated++;
	return ((struct config *)config)->size < 100 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static void init(struct config *config)
{
	struct doca_argp_param *size;

	CHECK(doca_argp_init("prog", config) == DOCA_SUCCESS);
	CHECK(doca_argp_param_create(&size) == DOCA_SUCCESS);
	doca_argp_param_set_short_name(size, "s");
	doca_argp_param_set_long_name(size, "size");
	doca_argp_param_set_description(size, "How much");
	doca_argp_param_set_type(size, DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_callback(size, take_size);
	CHECK(doca_argp_register_param(size) == DOCA_SUCCESS);
	CHECK(doca_argp_register_validation_callback(validate) == DOCA_SUCCESS);
}

static void test_parameters_reach_the_program(void **state)
{
	struct config config = { 0 };

	init(&config);
	assert_ok(doca_argp_start(3, WORDS("--size", "64")));
	assert_int_equal(config.size, 64);
	assert_int_equal(config.validated, 1);
	assert_ok(doca_argp_destroy());
}

static void test_validation_decides(void **state)
{
	struct config config = { 0 };

	init(&config);
	assert_invalid(doca_argp_start(3, WORDS("-s", "100")));
	assert_ok(doca_argp_destroy());
}

static void choose_a_level(void)
{
	struct config config = { 0 };
	int level = 0;

	init(&config);
	CHECK(doca_argp_start(3, WORDS("-l", "60")) == DOCA_SUCCESS);
	CHECK(doca_argp_get_log_level(&level) == DOCA_SUCCESS);
	CHECK(level == DOCA_LOG_LEVEL_DEBUG);
	CHECK(doca_log_global_level_get() == DOCA_LOG_LEVEL_DEBUG);
	CHECK(doca_argp_destroy() == DOCA_SUCCESS);
}

static void test_the_log_level_is_this_generations(void **state)
{
	in_child(choose_a_level);
}

static void ask_the_version(void)
{
	struct config config = { 0 };

	init(&config);
	doca_argp_start(2, WORDS("--version"));
	CHECK(!"reached");
}

static void test_the_version_is_this_generations(void **state)
{
	const struct child_output *output = in_child(ask_the_version);

	assert_non_null(strstr(output->out, "2.2.0080"));
}

static void be_a_grpc_program(void)
{
	struct config config = { 0 };
	const char *address = "untouched";

	init(&config);
	doca_argp_set_grpc_program();
	CHECK(doca_argp_get_grpc_addr(&address) == DOCA_ERROR_BAD_STATE);
	CHECK(!strcmp(address, "untouched"));
	CHECK(doca_argp_start(3, (char *[]){ "prog", "-g", "10.0.0.1:50051", NULL }) == DOCA_SUCCESS);
	CHECK(doca_argp_get_grpc_addr(&address) == DOCA_SUCCESS);
	CHECK(!strcmp(address, "10.0.0.1:50051"));
	CHECK(doca_argp_get_grpc_addr(NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_argp_destroy() == DOCA_SUCCESS);
}

static void test_grpc_programs_get_their_address(void **state)
{
	in_child(be_a_grpc_program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters_reach_the_program),
		cmocka_unit_test(test_validation_decides),
		cmocka_unit_test(test_the_log_level_is_this_generations),
		cmocka_unit_test(test_the_version_is_this_generations),
		cmocka_unit_test(test_grpc_programs_get_their_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
