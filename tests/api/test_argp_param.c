/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters: handles, setters, what register asks for and takes over. */
#include "test_argp_util.h"

static void test_unregistered_parameter_is_destroyed_once(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);

	assert_int_equal(doca_argp_param_destroy(param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_param_destroy(param), DOCA_ERROR_INVALID_VALUE);
}

static void test_unregistered_parameter_is_freed_by_the_parser(void **state)
{
	make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name); /* the leak checker finds a defect */
	assert_int_equal(doca_argp_destroy(), DOCA_SUCCESS);
}

/* provokes: doca_argp_param_destroy DOCA_ERROR_BAD_STATE */
static void test_registered_parameter_can_not_be_destroyed(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);

	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_param_destroy(param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(start("-n", "Ada"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=Ada;");
}

static void test_parameter_is_registered_once(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);

	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(start("-n", "Ada"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=Ada;");
}

static void test_destroyed_parameter_can_not_be_registered(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);

	assert_int_equal(doca_argp_param_destroy(param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_INVALID_VALUE);
}

/* Register without one of the required fields; true asks for the field. */
static doca_error_t register_with(bool name, bool description, bool type, bool callback)
{
	struct doca_argp_param *param;

	assert_int_equal(doca_argp_param_create(&param), DOCA_SUCCESS);
	if (name)
		doca_argp_param_set_long_name(param, "name");
	if (description)
		doca_argp_param_set_description(param, "What it is for");
	if (type)
		doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	if (callback)
		doca_argp_param_set_callback(param, on_name);
	return doca_argp_register_param(param);
}

/* provokes: doca_argp_register_param DOCA_ERROR_INITIALIZATION */
static void test_required_fields_are_required(void **state)
{
	assert_int_equal(register_with(false, true, true, true), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(register_with(true, false, true, true), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(register_with(true, true, false, true), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(register_with(true, true, true, false), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(register_with(true, true, true, true), DOCA_SUCCESS);
}

static void test_refused_parameter_is_the_parsers_all_the_same(void **state)
{
	struct doca_argp_param *param;

	assert_int_equal(doca_argp_param_create(&param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_argp_param_destroy(param), DOCA_ERROR_INVALID_VALUE);
	doca_argp_param_set_long_name(param, "late");
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_INVALID_VALUE);
}

static doca_error_t register_named(const char *short_name, const char *long_name)
{
	return doca_argp_register_param(make_param(short_name, long_name, DOCA_ARGP_TYPE_STRING, on_name));
}

static void test_names_that_no_flag_can_have_are_refused(void **state)
{
	assert_int_equal(register_named("", NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named(NULL, ""), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named("-n", NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named(NULL, "--name"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named(NULL, "na=me"), DOCA_ERROR_INVALID_VALUE);
}

static void test_names_that_are_taken_are_refused(void **state)
{
	assert_int_equal(register_named("n", "name"), DOCA_SUCCESS);
	assert_int_equal(register_named("n", "new"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named("m", "name"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named("j", "jump"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named("y", "json"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named("h", "host"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named("y", "help"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named("y", "version"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named("y", "log-level"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named(NULL, "sdk-log-level"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(register_named("hh", "helpful"), DOCA_SUCCESS);
}

static void test_name_of_a_general_flag_is_the_programs_if_it_wants_it(void **state)
{
	assert_int_equal(register_named("v", "vf-address"), DOCA_SUCCESS);
	assert_int_equal(start("-v", "b1:00.3"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=b1:00.3;");
}

static void test_texts_are_copied(void **state)
{
	struct doca_argp_param *param;
	char name[] = "name", text[] = "text";

	assert_int_equal(doca_argp_param_create(&param), DOCA_SUCCESS);
	doca_argp_param_set_long_name(param, name);
	doca_argp_param_set_description(param, text);
	doca_argp_param_set_arguments(param, text);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_callback(param, on_name);
	memset(name, 'x', sizeof(name));
	memset(text, 'x', sizeof(text));
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(start("--name", "Ada"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=Ada;");
}

static void test_text_set_twice_is_the_last(void **state)
{
	struct doca_argp_param *param = make_param("a", "alpha", DOCA_ARGP_TYPE_STRING, on_name);

	doca_argp_param_set_long_name(param, "beta");
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(start("--beta", "x"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=x;");
}

static void call_all_setters(struct doca_argp_param *param, const char *text)
{
	doca_argp_param_set_short_name(param, text);
	doca_argp_param_set_long_name(param, text);
	doca_argp_param_set_arguments(param, text);
	doca_argp_param_set_description(param, text);
	doca_argp_param_set_callback(param, NULL);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_UNKNOWN);
	doca_argp_param_set_type(param, (enum doca_argp_type)77);
}

static void test_setters_ignore_no_parameter(void **state)
{
	call_all_setters(NULL, "x");
	doca_argp_param_set_mandatory(NULL);
	doca_argp_param_set_cli_only(NULL);
	doca_argp_param_set_multiplicity(NULL);
	doca_argp_param_set_singular(NULL);
	doca_argp_param_set_inherited(NULL);
	doca_argp_param_set_hidden(NULL);
	assert_int_equal(start(), DOCA_SUCCESS);
}

static void test_setters_ignore_values_that_are_none(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);

	call_all_setters(param, NULL);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(start("-n", "Ada"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=Ada;");
}

static void test_setters_leave_a_registered_parameter_alone(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);

	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	call_all_setters(param, "x");
	doca_argp_param_set_callback(param, on_other);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_mandatory(param);
	doca_argp_param_set_cli_only(param);
	doca_argp_param_set_multiplicity(param);
	doca_argp_param_set_singular(param);
	doca_argp_param_set_inherited(param);
	doca_argp_param_set_hidden(param);
	assert_int_equal(start("-n", "Ada"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=Ada;");
}

static void test_setters_leave_a_destroyed_parameter_alone(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);

	assert_int_equal(doca_argp_param_destroy(param), DOCA_SUCCESS);
	call_all_setters(param, "x");
	doca_argp_param_set_mandatory(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(start(), DOCA_SUCCESS);
}

#define param(test) cmocka_unit_test_setup_teardown(test, argp_setup, argp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		param(test_unregistered_parameter_is_destroyed_once),
		param(test_unregistered_parameter_is_freed_by_the_parser),
		param(test_registered_parameter_can_not_be_destroyed),
		param(test_parameter_is_registered_once),
		param(test_destroyed_parameter_can_not_be_registered),
		param(test_required_fields_are_required),
		param(test_refused_parameter_is_the_parsers_all_the_same),
		param(test_names_that_no_flag_can_have_are_refused),
		param(test_names_that_are_taken_are_refused),
		param(test_name_of_a_general_flag_is_the_programs_if_it_wants_it),
		param(test_texts_are_copied),
		param(test_text_set_twice_is_the_last),
		param(test_setters_ignore_no_parameter),
		param(test_setters_ignore_values_that_are_none),
		param(test_setters_leave_a_registered_parameter_alone),
		param(test_setters_leave_a_destroyed_parameter_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
