/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and destruction of the parser, its hooks and the log levels. */
#include "test_argp_util.h"

static doca_error_t refuse(void *config)
{
	record(config, "validation;");
	return DOCA_ERROR_NOT_PERMITTED;
}

static doca_error_t accept(void *config)
{
	return record(config, "validation;");
}

static doca_error_t on_version(void *value, void *config)
{
	return record(config, "version;");
}

static doca_error_t refuse_value(void *value, void *config)
{
	return DOCA_ERROR_DRIVER;
}

static doca_error_t destroy_and_return(void *value, void *config)
{
	return doca_argp_destroy();
}

static doca_error_t call_back_in(void *value, void *config)
{
	char *words[] = { "prog", NULL };
	struct doca_argp_param *param = make_param("x", NULL, DOCA_ARGP_TYPE_STRING, on_name);

	assert_int_equal(doca_argp_start(1, words), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_BAD_STATE);
	return record(config, "inside;");
}

/* provokes: doca_argp_init DOCA_ERROR_BAD_STATE */
static void test_second_init_is_refused(void **state)
{
	assert_int_equal(doca_argp_init("again", NULL), DOCA_ERROR_BAD_STATE);
}

/* provokes: doca_argp_init DOCA_ERROR_INVALID_VALUE */
static void test_empty_program_name_is_refused(void **state)
{
	assert_int_equal(doca_argp_destroy(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_init("", NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_init(NULL, NULL), DOCA_SUCCESS);
}

static void test_init_after_destroy_starts_empty(void **state)
{
	add_usual_params();
	assert_int_equal(doca_argp_destroy(), DOCA_SUCCESS);
	assert_int_equal(argp_setup(state), 0);
	assert_int_equal(start("--name", "Ada"), DOCA_ERROR_NOT_SUPPORTED);
}

/* provokes: doca_argp_destroy DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_param_create DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_register_param DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_cmd_create DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_register_cmd DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_register_version_callback DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_register_validation_callback DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_register_logger_callback DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_disable_logger_callback DOCA_ERROR_BAD_STATE
 * provokes: doca_argp_start DOCA_ERROR_BAD_STATE */
static void test_all_calls_need_init(void **state)
{
	struct doca_argp_param *param = make_param("n", NULL, DOCA_ARGP_TYPE_STRING, on_name), *new_param;
	struct doca_argp_cmd *cmd, *new_cmd;

	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_SUCCESS);
	assert_int_equal(doca_argp_destroy(), DOCA_SUCCESS);

	assert_int_equal(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_param_create(&new_param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_cmd_create(&new_cmd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_version_callback(on_version), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_validation_callback(accept), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_logger_callback(keep_message), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	assert_int_equal(start("-n", "x"), DOCA_ERROR_BAD_STATE);
	doca_argp_set_dpdk_program(NULL);
	doca_argp_usage();
}

static void test_stale_handles_are_recognised_after_destroy(void **state)
{
	struct doca_argp_param *param = make_param("n", NULL, DOCA_ARGP_TYPE_STRING, on_name);
	struct doca_argp_cmd *cmd;

	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_SUCCESS);
	assert_int_equal(doca_argp_destroy(), DOCA_SUCCESS);
	doca_argp_param_set_short_name(param, "m");
	doca_argp_cmd_set_name(cmd, "get");
	assert_int_equal(doca_argp_param_destroy(param), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_destroy(cmd), DOCA_ERROR_INVALID_VALUE);
}

/* provokes: doca_argp_param_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_param_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_register_param DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_cmd_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_cmd_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_register_cmd DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_register_version_callback DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_register_validation_callback DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_register_logger_callback DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_get_log_level DOCA_ERROR_INVALID_VALUE
 * provokes: doca_argp_get_sdk_log_level DOCA_ERROR_INVALID_VALUE */
static void test_null_arguments_are_refused(void **state)
{
	assert_int_equal(doca_argp_param_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_param_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_param(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_cmd(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_version_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_validation_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_logger_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_get_log_level(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_get_sdk_log_level(NULL), DOCA_ERROR_INVALID_VALUE);
	doca_argp_set_dpdk_program(NULL);
}

/* provokes: doca_argp_start DOCA_ERROR_INVALID_VALUE */
static void test_start_needs_a_whole_argv(void **state)
{
	char *hole[] = { "prog", NULL, "-f", NULL };

	assert_int_equal(doca_argp_start(1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_start(0, hole), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_start(-1, hole), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_start(3, hole), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_start(1, hole), DOCA_SUCCESS); /* the refused calls were no starts */
}

static void test_start_happens_once(void **state)
{
	assert_int_equal(start(), DOCA_SUCCESS);
	assert_int_equal(start(), DOCA_ERROR_BAD_STATE);
}

static void test_failed_start_is_not_repeated(void **state)
{
	assert_int_equal(start("--unknown"), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(start(), DOCA_ERROR_BAD_STATE);
}

static void test_nothing_is_registered_after_start(void **state)
{
	struct doca_argp_param *param = make_param("n", NULL, DOCA_ARGP_TYPE_STRING, on_name);
	struct doca_argp_cmd *cmd;

	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_SUCCESS);
	assert_int_equal(start(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_version_callback(on_version), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_validation_callback(accept), DOCA_ERROR_BAD_STATE);
}

static void test_callback_that_calls_back_in_is_refused(void **state)
{
	add_param("c", "call", DOCA_ARGP_TYPE_BOOLEAN, call_back_in);
	assert_int_equal(start("-c"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "inside;");
}

static void test_callback_that_destroys_the_parser_ends_the_start(void **state)
{
	add_param("d", "destroy", DOCA_ARGP_TYPE_STRING, destroy_and_return);
	add_param("f", "fast", DOCA_ARGP_TYPE_BOOLEAN, on_fast);
	assert_int_equal(start("-d", "x", "-f"), DOCA_ERROR_BAD_STATE);
	assert_string_equal(trace.text, "");
	assert_int_equal(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
}

static void test_version_callback_that_destroys_the_parser_ends_the_start(void **state)
{
	assert_int_equal(doca_argp_register_version_callback(destroy_and_return), DOCA_SUCCESS);
	assert_int_equal(start("-v"), DOCA_ERROR_BAD_STATE);
}

static void test_version_callback_that_returns_lets_the_program_go_on(void **state)
{
	add_usual_params();
	assert_int_equal(doca_argp_register_version_callback(on_version), DOCA_SUCCESS);
	assert_int_equal(start("--version", "-f"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "version;fast;");
}

static void test_version_callbacks_error_is_passed_on(void **state)
{
	assert_int_equal(doca_argp_register_version_callback(refuse_value), DOCA_SUCCESS);
	assert_int_equal(start("-v"), DOCA_ERROR_DRIVER);
}

static void test_validation_sees_all_values(void **state)
{
	add_usual_params();
	assert_int_equal(doca_argp_register_validation_callback(accept), DOCA_SUCCESS);
	assert_int_equal(start("-f", "-ns", "1"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "fast;size=1;validation;");
}

static void test_validations_error_is_passed_on(void **state)
{
	assert_int_equal(doca_argp_register_validation_callback(refuse), DOCA_SUCCESS);
	assert_int_equal(start(), DOCA_ERROR_NOT_PERMITTED);
	assert_string_equal(trace.text, "validation;");
}

static void test_parameter_callbacks_error_is_passed_on_and_names_the_flag(void **state)
{
	add_param("r", "refused", DOCA_ARGP_TYPE_INT, refuse_value);
	add_param("f", "fast", DOCA_ARGP_TYPE_BOOLEAN, on_fast);
	assert_int_equal(start("-r", "1", "-f"), DOCA_ERROR_DRIVER);
	assert_told("--refused");
	assert_string_equal(trace.text, "");
}

/* provokes: doca_argp_register_logger_callback DOCA_ERROR_ALREADY_EXIST */
static void test_second_logger_is_refused(void **state)
{
	assert_int_equal(doca_argp_register_logger_callback(keep_message), DOCA_ERROR_ALREADY_EXIST);
}

static void test_disabled_logger_can_be_replaced_but_not_disabled_again(void **state)
{
	assert_int_equal(doca_argp_disable_logger_callback(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_logger_callback(keep_message), DOCA_SUCCESS);
	assert_int_equal(start("stray"), DOCA_ERROR_INVALID_VALUE);
	assert_told("stray");
}

static void start_wrongly_without_logger(void)
{
	doca_argp_disable_logger_callback();
	exit(start("--bogus") == DOCA_ERROR_NOT_SUPPORTED ? 0 : 1);
}

static void test_without_a_logger_messages_go_to_stderr(void **state)
{
	char output[4096];

	assert_int_equal(run_child(start_wrongly_without_logger, output, sizeof(output)), 0);
	assert_non_null(strstr(output, "prog: "));
	assert_non_null(strstr(output, "--bogus"));
}

static void assert_levels(int program, int sdk)
{
	int level;

	assert_int_equal(doca_argp_get_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, program);
	assert_int_equal(doca_argp_get_sdk_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, sdk);
	assert_int_equal(doca_log_level_get_global_lower_limit(), program);
	assert_int_equal(doca_log_level_get_global_sdk_limit(), sdk);
}

static void test_log_levels_not_given_are_the_global_ones(void **state)
{
	assert_int_equal(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
	assert_int_equal(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
	assert_int_equal(start(), DOCA_SUCCESS);
	assert_levels(DOCA_LOG_LEVEL_DEBUG, DOCA_LOG_LEVEL_ERROR);
}

static void test_log_levels_given_are_set(void **state)
{
	assert_int_equal(start("-l", "70", "--sdk-log-level", "10"), DOCA_SUCCESS);
	assert_levels(DOCA_LOG_LEVEL_TRACE, DOCA_LOG_LEVEL_DISABLE);
}

static void test_given_log_level_stays_known_when_the_global_one_changes(void **state)
{
	int level;

	assert_int_equal(start("--log-level=60"), DOCA_SUCCESS);
	assert_int_equal(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
	assert_int_equal(doca_argp_get_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, 60);
}

static void assert_level_refused(char *flag, char *level)
{
	doca_argp_destroy();
	assert_int_equal(argp_setup(NULL), 0);
	assert_int_equal(start(flag, level), DOCA_ERROR_INVALID_VALUE);
	assert_told(level);
	assert_int_equal(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO);
	assert_int_equal(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_INFO);
}

static void test_log_levels_out_of_range_are_refused(void **state)
{
	assert_level_refused("-l", "9");
	assert_level_refused("-l", "71");
	assert_level_refused("-l", "-10");
	assert_level_refused("-l", "debug");
	assert_level_refused("--sdk-log-level", "0");
	assert_level_refused("--sdk-log-level", "80");
}

/* The states of the parser (shim/argp/argp_priv.h) and the calls that change them. */
enum parser_state { PARSER_OFF, PARSER_OPEN, PARSER_PARSING, PARSER_PARSED, NUM_PARSER_STATES };
enum parser_call { CALL_INIT, CALL_START, CALL_DESTROY, NUM_PARSER_CALLS };

static const struct {
	doca_error_t result;
	enum parser_state next; /* after the call */
} parser_edges[NUM_PARSER_STATES][NUM_PARSER_CALLS] = {
	[PARSER_OFF] = { { DOCA_SUCCESS, PARSER_OPEN },
			 { DOCA_ERROR_BAD_STATE, PARSER_OFF },
			 { DOCA_ERROR_BAD_STATE, PARSER_OFF } },
	[PARSER_OPEN] = { { DOCA_ERROR_BAD_STATE, PARSER_OPEN },
			  { DOCA_SUCCESS, PARSER_PARSED },
			  { DOCA_SUCCESS, PARSER_OFF } },
	[PARSER_PARSING] = { { DOCA_ERROR_BAD_STATE, PARSER_PARSING },
			     { DOCA_ERROR_BAD_STATE, PARSER_PARSING },
			     { DOCA_SUCCESS, PARSER_OFF } },
	[PARSER_PARSED] = { { DOCA_ERROR_BAD_STATE, PARSER_PARSED },
			    { DOCA_ERROR_BAD_STATE, PARSER_PARSED },
			    { DOCA_SUCCESS, PARSER_OFF } },
};

/* OFF refuses to create a parameter; OPEN alone accepts a hook. */
static void assert_parser_state(enum parser_state expected)
{
	struct doca_argp_param *param;

	assert_int_equal(doca_argp_param_create(&param), expected == PARSER_OFF ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_version_callback(on_version),
			 expected == PARSER_OPEN ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
}

static void try_parser_call(enum parser_state from, enum parser_call call)
{
	doca_error_t result = call == CALL_INIT  ? doca_argp_init("prog", NULL) :
			      call == CALL_START ? start() :
						   doca_argp_destroy();

	assert_int_equal(result, parser_edges[from][call].result);
	assert_parser_state(parser_edges[from][call].next);
}

static enum parser_call call_while_parsing;

static doca_error_t try_call_while_parsing(void *config)
{
	try_parser_call(PARSER_PARSING, call_while_parsing);
	return DOCA_SUCCESS;
}

static void try_parser_call_from(enum parser_state from, enum parser_call call)
{
	doca_argp_destroy();
	if (from == PARSER_OFF) {
		try_parser_call(from, call);
		return;
	}
	assert_int_equal(doca_argp_init("prog", NULL), DOCA_SUCCESS);
	if (from == PARSER_PARSING) {
		call_while_parsing = call;
		assert_int_equal(doca_argp_register_validation_callback(try_call_while_parsing), DOCA_SUCCESS);
		assert_int_equal(start(), call == CALL_DESTROY ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS);
		assert_parser_state(call == CALL_DESTROY ? PARSER_OFF : PARSER_PARSED);
		return;
	}
	if (from == PARSER_PARSED)
		assert_int_equal(start(), DOCA_SUCCESS);
	try_parser_call(from, call);
}

static void test_each_call_in_each_state_takes_its_edge_or_is_refused(void **state)
{
	for (int from = PARSER_OFF; from < NUM_PARSER_STATES; from++)
		for (int call = CALL_INIT; call < NUM_PARSER_CALLS; call++)
			try_parser_call_from(from, call);
}

#define life(test) cmocka_unit_test_setup_teardown(test, argp_setup, argp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		life(test_each_call_in_each_state_takes_its_edge_or_is_refused),
		life(test_second_init_is_refused),
		life(test_empty_program_name_is_refused),
		life(test_init_after_destroy_starts_empty),
		life(test_all_calls_need_init),
		life(test_stale_handles_are_recognised_after_destroy),
		life(test_null_arguments_are_refused),
		life(test_start_needs_a_whole_argv),
		life(test_start_happens_once),
		life(test_failed_start_is_not_repeated),
		life(test_nothing_is_registered_after_start),
		life(test_callback_that_calls_back_in_is_refused),
		life(test_callback_that_destroys_the_parser_ends_the_start),
		life(test_version_callback_that_destroys_the_parser_ends_the_start),
		life(test_version_callback_that_returns_lets_the_program_go_on),
		life(test_version_callbacks_error_is_passed_on),
		life(test_validation_sees_all_values),
		life(test_validations_error_is_passed_on),
		life(test_parameter_callbacks_error_is_passed_on_and_names_the_flag),
		life(test_second_logger_is_refused),
		life(test_disabled_logger_can_be_replaced_but_not_disabled_again),
		life(test_without_a_logger_messages_go_to_stderr),
		life(test_log_levels_not_given_are_the_global_ones),
		life(test_log_levels_given_are_set),
		life(test_given_log_level_stays_known_when_the_global_one_changes),
		life(test_log_levels_out_of_range_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
