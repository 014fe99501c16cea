/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line.
 *
 * unreachable: doca_argp_start DOCA_ERROR_INITIALIZATION: what it could not set up is memory, and that is
 *	DOCA_ERROR_NO_MEMORY (test_argp_oom.c) */
#include "test_argp_util.h"

static doca_error_t overwrite(void *value, void *config)
{
	memset(value, 'x', strlen(value));
	return record(config, "overwritten;");
}

static void test_values_arrive_in_the_order_given(void **state)
{
	add_usual_params();
	assert_int_equal(start("--fast", "-ns", "64", "--name", "Ada"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "fast;size=64;name=Ada;");
	assert_int_equal(message_count, 0);
}

static void test_value_may_be_attached_to_a_long_name(void **state)
{
	add_usual_params();
	assert_int_equal(start("--name=a=b", "--num-size=-3"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=a=b;size=-3;");
}

static void test_attached_value_may_be_empty_text(void **state)
{
	add_usual_params();
	assert_int_equal(start("--name=", "-f"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=;fast;");
}

static void test_no_arguments_call_no_callback(void **state)
{
	add_usual_params();
	assert_int_equal(start(), DOCA_SUCCESS);
	assert_string_equal(trace.text, "");
}

static void test_text_may_look_like_an_unknown_flag_or_a_command(void **state)
{
	add_usual_params();
	assert_int_equal(start("-n", "-", "-ns", "-1"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=-;size=-1;");
}

static void test_negative_number_is_a_value_even_if_it_names_a_flag(void **state)
{
	add_usual_params();
	add_param("5", "five", DOCA_ARGP_TYPE_BOOLEAN, on_fast);
	assert_int_equal(start("-ns", "-5"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "size=-5;");
}

static void test_callback_may_write_into_its_text(void **state)
{
	char *words[] = { "prog", "-n", "Ada", NULL };

	add_param("n", "name", DOCA_ARGP_TYPE_STRING, overwrite);
	assert_int_equal(start_words(words), DOCA_SUCCESS);
	assert_string_equal(trace.text, "overwritten;");
	assert_string_equal(words[2], "Ada"); /* the callback had a copy */
}

/* Start anew with the usual parameters and these words: @error, and one message
 * that has @part in it. */
#define assert_refused(error, part, ...)                     \
	do {                                                 \
		doca_argp_destroy();                         \
		assert_int_equal(argp_setup(NULL), 0);       \
		add_usual_params();                          \
		assert_int_equal(start(__VA_ARGS__), error); \
		assert_told(part);                           \
		assert_string_equal(trace.text, "");         \
	} while (0)

/* provokes: doca_argp_start DOCA_ERROR_NOT_SUPPORTED */
static void test_unknown_flags_are_not_supported(void **state)
{
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "'--nam'", "-f", "--nam", "x");
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "'--names=x'", "--names=x");
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "'-x'", "-x");
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "'-fns'", "-fns", "3"); /* short names are not joined */
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "'-n=x'", "-n=x");
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "'-name'", "-name", "x");
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "'--n'", "--n", "x");
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "'-'", "-");
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "'--'", "--", "-f");
}

static void test_stray_words_are_invalid(void **state)
{
	assert_refused(DOCA_ERROR_INVALID_VALUE, "'stray'", "-f", "stray");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "''", "");
}

static void test_values_that_are_no_int_are_invalid(void **state)
{
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--num-size: 'many'", "-ns", "many");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--num-size: '12x'", "-ns", "12x");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--num-size: '0x40'", "-ns", "0x40");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--num-size: ' 1'", "-ns", " 1");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--num-size: '1.5'", "-ns", "1.5");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--num-size: '-'", "-ns", "-");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--num-size: ''", "--num-size=");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "'2147483648'", "-ns", "2147483648");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "'-2147483649'", "-ns", "-2147483649");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "99999", "-ns", "99999999999999999999999999");
}

static void test_int_limits_are_values(void **state)
{
	add_usual_params();
	add_param("s", "second", DOCA_ARGP_TYPE_INT, on_size);
	assert_int_equal(start("-ns", "2147483647", "-s", "-2147483648"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "size=2147483647;size=-2147483648;");
}

static void test_missing_values_are_invalid(void **state)
{
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--name needs a value", "--name");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--name needs a value", "-n", "-f");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--name needs a value", "-n", "--num-size=3");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--num-size needs a value", "-ns", "--log-level", "50");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--json needs a value", "-j");
}

static void test_boolean_takes_no_value(void **state)
{
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--fast takes no value", "--fast=true");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--fast takes no value", "--fast=");
}

static void test_repeated_flags_are_invalid(void **state)
{
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--name is given twice", "-n", "a", "--name", "b");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--fast is given twice", "-f", "-f");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "--log-level is given twice", "-l", "50", "-l", "60");
}

static void test_multiple_parameter_gets_each_value(void **state)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);

	doca_argp_param_set_multiplicity(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(start("-n", "a", "--name=b", "-n", "a"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=a;name=b;name=a;");
}

static void test_mandatory_parameter_must_be_given(void **state)
{
	struct doca_argp_param *param = make_param("m", NULL, DOCA_ARGP_TYPE_STRING, on_other);

	doca_argp_param_set_mandatory(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	add_usual_params();
	assert_int_equal(start("-f"), DOCA_ERROR_INVALID_VALUE);
	assert_told("-m is missing");
	assert_string_equal(trace.text, ""); /* a failed start has no effect */
}

static void test_mandatory_parameter_that_is_given_is_fine(void **state)
{
	struct doca_argp_param *param = make_param("m", NULL, DOCA_ARGP_TYPE_STRING, on_other);

	doca_argp_param_set_mandatory(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(start("-m", "x"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "other=x;");
}

static void add_singular_and_mandatory(void)
{
	struct doca_argp_param *list = make_param(NULL, "list", DOCA_ARGP_TYPE_BOOLEAN, on_fast);
	struct doca_argp_param *must = make_param("m", "must", DOCA_ARGP_TYPE_STRING, on_other);

	doca_argp_param_set_singular(list);
	doca_argp_param_set_mandatory(must);
	assert_int_equal(doca_argp_register_param(list), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_param(must), DOCA_SUCCESS);
}

static void test_singular_parameter_needs_no_mandatory_one(void **state)
{
	add_singular_and_mandatory();
	assert_int_equal(start("--list", "-l", "60"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "fast;");
}

static void test_singular_parameter_must_be_alone(void **state)
{
	add_singular_and_mandatory();
	assert_int_equal(start("-m", "x", "--list"), DOCA_ERROR_INVALID_VALUE);
	assert_told("--list must be given alone");
}

static doca_error_t on_rate(void *value, void *config)
{
	return record(config, "rate=%g;", *(double *)value);
}

static void test_real_numbers(void **state)
{
	add_param("r", "rate", DOCA_ARGP_TYPE_DOUBLE, on_rate);
	assert_int_equal(start("-r", "12.5"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "rate=12.5;");
}

static void test_real_number_may_be_negative_or_large(void **state)
{
	struct doca_argp_param *param = make_param("r", "rate", DOCA_ARGP_TYPE_DOUBLE, on_rate);

	doca_argp_param_set_multiplicity(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(start("-r", "-.5", "--rate=1e12", "-r", "3"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "rate=-0.5;rate=1e+12;rate=3;");
}

static void test_what_is_no_real_number_is_invalid(void **state)
{
	static char *const words[] = { "x", "1,5", " 1", "1 ", "", "nan", "inf", "1e999", "0.5s" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		add_param("r", "rate", DOCA_ARGP_TYPE_DOUBLE, on_rate);
		assert_int_equal(start("-r", words[i]), DOCA_ERROR_INVALID_VALUE);
		assert_told("--rate");
		argp_teardown(state);
		assert_int_equal(argp_setup(state), 0);
	}
}

#define cli(test) cmocka_unit_test_setup_teardown(test, argp_setup, argp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cli(test_values_arrive_in_the_order_given),
		cli(test_value_may_be_attached_to_a_long_name),
		cli(test_attached_value_may_be_empty_text),
		cli(test_no_arguments_call_no_callback),
		cli(test_text_may_look_like_an_unknown_flag_or_a_command),
		cli(test_negative_number_is_a_value_even_if_it_names_a_flag),
		cli(test_callback_may_write_into_its_text),
		cli(test_unknown_flags_are_not_supported),
		cli(test_stray_words_are_invalid),
		cli(test_values_that_are_no_int_are_invalid),
		cli(test_int_limits_are_values),
		cli(test_missing_values_are_invalid),
		cli(test_boolean_takes_no_value),
		cli(test_repeated_flags_are_invalid),
		cli(test_multiple_parameter_gets_each_value),
		cli(test_mandatory_parameter_must_be_given),
		cli(test_mandatory_parameter_that_is_given_is_fine),
		cli(test_singular_parameter_needs_no_mandatory_one),
		cli(test_singular_parameter_must_be_alone),
		cli(test_real_numbers),
		cli(test_real_number_may_be_negative_or_large),
		cli(test_what_is_no_real_number_is_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
