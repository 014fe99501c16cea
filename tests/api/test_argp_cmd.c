/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands. Most tests use this tree, in which each command's callback writes
 * its name:
 *
 *   prog -n/--name TEXT                       inherited
 *     get -v/--vf TEXT (other), -f/--fast
 *     set -ns/--num-size NUMBER
 *       all
 */
#include "test_argp_util.h"

static doca_error_t on_get(void *config)
{
	return record(config, "get;");
}

static doca_error_t on_set(void *config)
{
	return record(config, "set;");
}

static doca_error_t on_all(void *config)
{
	return record(config, "all;");
}

static doca_error_t refuse(void *config)
{
	return DOCA_ERROR_IN_USE;
}

static doca_error_t validate(void *config)
{
	return record(config, "validation;");
}

static doca_error_t destroy(void *config)
{
	return doca_argp_destroy();
}

static struct doca_argp_cmd *make_cmd(const char *name, doca_argp_cmd_cb_t callback)
{
	struct doca_argp_cmd *cmd;

	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_SUCCESS);
	doca_argp_cmd_set_name(cmd, name);
	doca_argp_cmd_set_description(cmd, "What it does");
	if (callback)
		doca_argp_cmd_set_callback(cmd, callback);
	return cmd;
}

static void cmd_add_param(struct doca_argp_cmd *cmd, const char *short_name, const char *long_name,
			  enum doca_argp_type type, doca_argp_param_cb_t callback)
{
	assert_int_equal(doca_argp_cmd_register_param(cmd, make_param(short_name, long_name, type, callback)),
			 DOCA_SUCCESS);
}

static void add_tree(void)
{
	struct doca_argp_param *name = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);
	struct doca_argp_cmd *get = make_cmd("get", on_get), *set = make_cmd("set", on_set);

	doca_argp_param_set_inherited(name);
	assert_int_equal(doca_argp_register_param(name), DOCA_SUCCESS);
	cmd_add_param(get, "v", "vf", DOCA_ARGP_TYPE_STRING, on_other);
	cmd_add_param(get, "f", "fast", DOCA_ARGP_TYPE_BOOLEAN, on_fast);
	cmd_add_param(set, "ns", "num-size", DOCA_ARGP_TYPE_INT, on_size);
	assert_int_equal(doca_argp_cmd_register_cmd(set, make_cmd("all", on_all)), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(get), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(set), DOCA_SUCCESS);
}

static void test_command_is_called_after_its_parameters(void **state)
{
	add_tree();
	assert_int_equal(doca_argp_register_validation_callback(validate), DOCA_SUCCESS);
	assert_int_equal(start("get", "--fast"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "fast;get;validation;");
}

static void test_inner_command_is_called_after_the_outer(void **state)
{
	add_tree();
	assert_int_equal(start("set", "-ns", "3", "all"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "size=3;set;all;");
}

static void test_no_command_is_no_error(void **state)
{
	add_tree();
	assert_int_equal(start("-n", "Ada"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=Ada;");
}

static void test_inherited_parameter_is_known_in_inner_commands(void **state)
{
	add_tree();
	assert_int_equal(start("set", "all", "-n", "Ada"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=Ada;set;all;");
}

static void test_parameter_that_is_not_inherited_is_unknown_in_inner_commands(void **state)
{
	add_tree();
	assert_int_equal(start("set", "all", "-ns", "3"), DOCA_ERROR_NOT_SUPPORTED);
	assert_told("'-ns'");
}

static void test_parameter_of_a_command_is_unknown_before_it(void **state)
{
	add_tree();
	assert_int_equal(start("-f", "get"), DOCA_ERROR_NOT_SUPPORTED);
	assert_told("'-f'");
}

static void test_general_flags_are_known_everywhere(void **state)
{
	int level;

	add_tree();
	assert_int_equal(start("set", "all", "-l", "30"), DOCA_SUCCESS);
	assert_int_equal(doca_argp_get_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, 30);
}

static void test_name_of_a_general_flag_is_the_commands_inside_it(void **state)
{
	add_tree();
	assert_int_equal(start("get", "-v", "b1:00.3"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "other=b1:00.3;get;");
}

static void test_two_commands_may_use_the_same_names(void **state)
{
	struct doca_argp_cmd *one = make_cmd("one", on_get), *two = make_cmd("two", on_set);

	cmd_add_param(one, "s", "limit", DOCA_ARGP_TYPE_BOOLEAN, on_fast);
	cmd_add_param(two, "s", "limit", DOCA_ARGP_TYPE_INT, on_size);
	assert_int_equal(doca_argp_register_cmd(one), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(two), DOCA_SUCCESS);
	assert_int_equal(start("two", "--limit", "7"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "size=7;set;");
}

static void test_unknown_command_is_not_supported(void **state)
{
	add_tree();
	assert_int_equal(start("put"), DOCA_ERROR_NOT_SUPPORTED);
	assert_told("'put'");
}

static void test_command_of_another_command_is_unknown(void **state)
{
	add_tree();
	assert_int_equal(start("all"), DOCA_ERROR_NOT_SUPPORTED);
	assert_told("'all'");
}

static void test_stray_word_behind_a_leaf_is_invalid(void **state)
{
	add_tree();
	assert_int_equal(start("get", "it"), DOCA_ERROR_INVALID_VALUE);
	assert_told("'it'");
	assert_string_equal(trace.text, "");
}

static void test_mandatory_parameter_counts_in_the_chosen_command_only(void **state)
{
	struct doca_argp_cmd *one = make_cmd("one", on_get), *two = make_cmd("two", on_set);
	struct doca_argp_param *must = make_param("m", "must", DOCA_ARGP_TYPE_STRING, on_other);

	doca_argp_param_set_mandatory(must);
	assert_int_equal(doca_argp_cmd_register_param(one, must), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(one), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(two), DOCA_SUCCESS);
	assert_int_equal(start("two"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "set;");
}

static void test_mandatory_parameter_of_the_chosen_command_must_be_given(void **state)
{
	struct doca_argp_cmd *one = make_cmd("one", on_get);
	struct doca_argp_param *must = make_param("m", "must", DOCA_ARGP_TYPE_STRING, on_other);

	doca_argp_param_set_mandatory(must);
	assert_int_equal(doca_argp_cmd_register_param(one, must), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(one), DOCA_SUCCESS);
	assert_int_equal(start("one"), DOCA_ERROR_INVALID_VALUE);
	assert_told("--must");
}

static void test_commands_error_is_passed_on(void **state)
{
	assert_int_equal(doca_argp_register_validation_callback(validate), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(make_cmd("go", refuse)), DOCA_SUCCESS);
	assert_int_equal(start("go"), DOCA_ERROR_IN_USE);
	assert_string_equal(trace.text, "");
}

static void test_command_that_destroys_the_parser_ends_the_start(void **state)
{
	assert_int_equal(doca_argp_register_validation_callback(validate), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(make_cmd("go", destroy)), DOCA_SUCCESS);
	assert_int_equal(start("go"), DOCA_ERROR_BAD_STATE);
	assert_string_equal(trace.text, "");
}

static void test_command_needs_no_callback(void **state)
{
	assert_int_equal(doca_argp_register_cmd(make_cmd("go", NULL)), DOCA_SUCCESS);
	assert_int_equal(start("go"), DOCA_SUCCESS);
}

/* --- Handles and registering --- */

static void test_unregistered_command_is_destroyed_once_with_all_inside(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);
	struct doca_argp_cmd *outer = make_cmd("outer", on_get), *inner = make_cmd("inner", on_set);

	assert_int_equal(doca_argp_cmd_register_param(inner, param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_cmd(outer, inner), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_destroy(outer), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_destroy(outer), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_destroy(inner), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_param_destroy(param), DOCA_ERROR_INVALID_VALUE);
}

/* provokes: doca_argp_cmd_destroy DOCA_ERROR_BAD_STATE */
static void test_registered_command_can_not_be_destroyed(void **state)
{
	struct doca_argp_cmd *cmd = make_cmd("go", on_get);

	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_destroy(cmd), DOCA_ERROR_BAD_STATE);
}

static void test_command_is_registered_once(void **state)
{
	struct doca_argp_cmd *cmd = make_cmd("go", on_get), *other = make_cmd("other", on_set);

	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_cmd_register_cmd(other, cmd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(start("go"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "get;");
}

/* provokes: doca_argp_cmd_register_param DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_cmd_register_cmd DOCA_ERROR_BAD_STATE */
static void test_registered_command_takes_nothing_in(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);
	struct doca_argp_cmd *cmd = make_cmd("go", on_get), *inner = make_cmd("inner", on_set);

	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_param(cmd, param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_cmd_register_cmd(cmd, inner), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_param_destroy(param), DOCA_ERROR_INVALID_VALUE); /* taken over */
	assert_int_equal(doca_argp_cmd_destroy(inner), DOCA_ERROR_INVALID_VALUE);
}

static void test_parameter_of_a_command_is_registered_once(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);
	struct doca_argp_cmd *cmd = make_cmd("go", on_get);

	assert_int_equal(doca_argp_cmd_register_param(cmd, param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_param(cmd, param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_SUCCESS);
	assert_int_equal(start("go", "-n", "x"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=x;get;");
}

/* provokes: doca_argp_register_cmd DOCA_ERROR_INITIALIZATION
 * provokes: doca_argp_cmd_register_cmd DOCA_ERROR_INITIALIZATION */
static void test_name_and_description_are_required(void **state)
{
	struct doca_argp_cmd *nameless, *silent;
	struct doca_argp_cmd *outer = make_cmd("outer", on_get);

	assert_int_equal(doca_argp_cmd_create(&nameless), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_create(&silent), DOCA_SUCCESS);
	doca_argp_cmd_set_description(nameless, "What it does");
	doca_argp_cmd_set_name(silent, "silent");
	assert_int_equal(doca_argp_register_cmd(nameless), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_argp_cmd_register_cmd(outer, silent), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_argp_cmd_destroy(nameless), DOCA_ERROR_INVALID_VALUE); /* taken over */
}

/* provokes: doca_argp_cmd_register_param DOCA_ERROR_INITIALIZATION */
static void test_parameter_in_a_command_needs_its_fields(void **state)
{
	struct doca_argp_cmd *cmd = make_cmd("go", on_get);
	struct doca_argp_param *param;

	assert_int_equal(doca_argp_param_create(&param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_param(cmd, param), DOCA_ERROR_INITIALIZATION);
}

static void test_names_that_no_command_can_have_are_refused(void **state)
{
	assert_int_equal(doca_argp_register_cmd(make_cmd("", on_get)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_cmd(make_cmd("-go", on_get)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_cmd(make_cmd("go", on_get)), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(make_cmd("go", on_set)), DOCA_ERROR_INVALID_VALUE);
}

static void test_command_can_not_be_inside_itself(void **state)
{
	struct doca_argp_cmd *cmd = make_cmd("go", on_get);

	assert_int_equal(doca_argp_cmd_register_cmd(cmd, cmd), DOCA_ERROR_INVALID_VALUE);
}

static void test_command_can_not_be_inside_its_inner_one(void **state)
{
	struct doca_argp_cmd *outer = make_cmd("outer", on_get), *inner = make_cmd("inner", on_set);

	assert_int_equal(doca_argp_cmd_register_cmd(outer, inner), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_cmd(inner, outer), DOCA_ERROR_BAD_STATE);
}

/* provokes: doca_argp_cmd_register_param DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_cmd_register_cmd DOCA_ERROR_INVALID_VALUE */
static void test_null_handles_are_refused_and_the_other_is_taken_over(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);
	struct doca_argp_cmd *cmd = make_cmd("go", on_get), *inner = make_cmd("inner", on_set);

	assert_int_equal(doca_argp_cmd_register_param(NULL, param), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_param_destroy(param), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_register_param(cmd, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_register_cmd(NULL, inner), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_destroy(inner), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_register_cmd(cmd, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_destroy(cmd), DOCA_SUCCESS); /* the program still owns it */
}

static void test_registering_inside_a_command_needs_init_and_no_start(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);
	struct doca_argp_cmd *cmd = make_cmd("go", on_get), *inner = make_cmd("inner", on_set);

	assert_int_equal(start(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_param(cmd, param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_cmd_register_cmd(cmd, inner), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_destroy(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_param(cmd, param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_cmd_register_cmd(cmd, inner), DOCA_ERROR_BAD_STATE);
}

static void test_setters_ignore_what_is_none(void **state)
{
	struct doca_argp_cmd *cmd = make_cmd("go", on_get);

	doca_argp_cmd_set_name(NULL, "x");
	doca_argp_cmd_set_description(NULL, "x");
	doca_argp_cmd_set_callback(NULL, on_set);
	doca_argp_cmd_set_hidden(NULL);
	doca_argp_cmd_set_name(cmd, NULL);
	doca_argp_cmd_set_description(cmd, NULL);
	doca_argp_cmd_set_callback(cmd, NULL);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_SUCCESS);
	doca_argp_cmd_set_name(cmd, "late");
	doca_argp_cmd_set_callback(cmd, on_set);
	assert_int_equal(start("go"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "get;");
}

static void test_setters_leave_a_destroyed_command_alone(void **state)
{
	struct doca_argp_cmd *cmd = make_cmd("go", on_get);

	assert_int_equal(doca_argp_cmd_destroy(cmd), DOCA_SUCCESS);
	doca_argp_cmd_set_name(cmd, "x");
	doca_argp_cmd_set_description(cmd, "x");
	doca_argp_cmd_set_callback(cmd, on_set);
	doca_argp_cmd_set_hidden(cmd);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_ERROR_INVALID_VALUE);
}

#define cmd(test) cmocka_unit_test_setup_teardown(test, argp_setup, argp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmd(test_command_is_called_after_its_parameters),
		cmd(test_inner_command_is_called_after_the_outer),
		cmd(test_no_command_is_no_error),
		cmd(test_inherited_parameter_is_known_in_inner_commands),
		cmd(test_parameter_that_is_not_inherited_is_unknown_in_inner_commands),
		cmd(test_parameter_of_a_command_is_unknown_before_it),
		cmd(test_general_flags_are_known_everywhere),
		cmd(test_name_of_a_general_flag_is_the_commands_inside_it),
		cmd(test_two_commands_may_use_the_same_names),
		cmd(test_unknown_command_is_not_supported),
		cmd(test_command_of_another_command_is_unknown),
		cmd(test_stray_word_behind_a_leaf_is_invalid),
		cmd(test_mandatory_parameter_counts_in_the_chosen_command_only),
		cmd(test_mandatory_parameter_of_the_chosen_command_must_be_given),
		cmd(test_commands_error_is_passed_on),
		cmd(test_command_that_destroys_the_parser_ends_the_start),
		cmd(test_command_needs_no_callback),
		cmd(test_unregistered_command_is_destroyed_once_with_all_inside),
		cmd(test_registered_command_can_not_be_destroyed),
		cmd(test_command_is_registered_once),
		cmd(test_registered_command_takes_nothing_in),
		cmd(test_parameter_of_a_command_is_registered_once),
		cmd(test_name_and_description_are_required),
		cmd(test_parameter_in_a_command_needs_its_fields),
		cmd(test_names_that_no_command_can_have_are_refused),
		cmd(test_command_can_not_be_inside_itself),
		cmd(test_command_can_not_be_inside_its_inner_one),
		cmd(test_null_handles_are_refused_and_the_other_is_taken_over),
		cmd(test_registering_inside_a_command_needs_init_and_no_start),
		cmd(test_setters_ignore_what_is_none),
		cmd(test_setters_leave_a_destroyed_command_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
