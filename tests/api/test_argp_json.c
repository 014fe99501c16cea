/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON file. Each test writes its file into a directory of its own run. */
#include "test_argp_util.h"

#include <json-c/json.h>
#include <sys/stat.h>

static char directory[] = "/tmp/test_argp_json.XXXXXX";
static char path[sizeof(directory) + sizeof("/params.json")];

static int make_directory(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/params.json", directory);
	return 0;
}

static int remove_directory(void **state)
{
	return rmdir(directory);
}

static int remove_file_too(void **state)
{
	unlink(path);
	return argp_teardown(state);
}

static void write_bytes(const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Start with "-j" and a file of this content, and these further words. */
#define start_with(content, ...) (write_bytes((content), strlen(content)), start("-j", path, ##__VA_ARGS__))

/* The same with these keys as program flags. */
#define start_with_keys(keys, ...) start_with("{\"doca_program_flags\": {" keys "}}", ##__VA_ARGS__)

static doca_error_t on_object(void *value, void *config)
{
	return record(config, "object=%s;", json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
}

static void test_file_in_the_vendors_shape_is_read(void **state)
{
	int level;

	add_usual_params();
	assert_int_equal(start_with("/*\n * a licence\n */\n"
				    "{\n"
				    "	\"doca_general_flags\": {\n"
				    "		// -l - a level <10=DISABLE, 70=TRACE>\n"
				    "		\"log-level\": 60,\n"
				    "		\"sdk-log-level\": 20,\n"
				    "	},\n"
				    "	\"doca_program_flags\": {\n"
				    "		\"name\": \"/tmp/a file\", // time in [\xce\xbcs]\n"
				    "		\"num-size\": -1,\n"
				    "		\"fast\": true,\n"
				    "	}\n"
				    "}\n"
				    "// the end"),
			 DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=/tmp/a file;size=-1;fast;");
	assert_int_equal(doca_argp_get_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, DOCA_LOG_LEVEL_DEBUG);
	assert_int_equal(doca_argp_get_sdk_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, DOCA_LOG_LEVEL_CRIT);
	assert_int_equal(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_DEBUG);
}

static void test_empty_sections_are_fine(void **state)
{
	add_usual_params();
	assert_int_equal(start_with("{\"doca_general_flags\": {}, \"doca_program_flags\": {}}"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "");
}

static void test_false_is_as_good_as_not_given(void **state)
{
	add_usual_params();
	assert_int_equal(start_with_keys("\"fast\": false, \"num-size\": 3"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "size=3;");
}

static void test_command_line_wins_over_the_file(void **state)
{
	int level;

	add_usual_params();
	assert_int_equal(start_with("{\"doca_general_flags\": {\"log-level\": 60},"
				    " \"doca_program_flags\": {\"name\": \"file\", \"num-size\": 1}}",
				    "--name", "line", "-l", "30", "-f"),
			 DOCA_SUCCESS);
	assert_string_equal(trace.text, "size=1;name=line;fast;");
	assert_int_equal(doca_argp_get_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, 30);
}

static void test_mandatory_parameter_may_come_from_the_file(void **state)
{
	struct doca_argp_param *param = make_param("m", "must", DOCA_ARGP_TYPE_STRING, on_other);

	doca_argp_param_set_mandatory(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(start_with_keys("\"must\": \"x\""), DOCA_SUCCESS);
	assert_string_equal(trace.text, "other=x;");
}

static void test_mandatory_parameter_missing_in_the_file_is_invalid(void **state)
{
	struct doca_argp_param *param = make_param("m", "must", DOCA_ARGP_TYPE_STRING, on_other);

	doca_argp_param_set_mandatory(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(start_with("{}"), DOCA_ERROR_INVALID_VALUE);
	assert_told("--must is missing");
}

static void test_singular_parameter_in_the_file_must_be_alone(void **state)
{
	struct doca_argp_param *param = make_param(NULL, "list", DOCA_ARGP_TYPE_BOOLEAN, on_fast);

	doca_argp_param_set_singular(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	add_usual_params();
	assert_int_equal(start_with_keys("\"list\": true", "-ns", "3"), DOCA_ERROR_INVALID_VALUE);
	assert_told("--list must be given alone");
}

static void test_singular_parameter_that_is_false_does_not_count(void **state)
{
	struct doca_argp_param *param = make_param(NULL, "list", DOCA_ARGP_TYPE_BOOLEAN, on_fast);

	doca_argp_param_set_singular(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	add_usual_params();
	assert_int_equal(start_with_keys("\"list\": false", "-ns", "3"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "size=3;");
}

static void test_false_beside_a_singular_parameter_does_not_count(void **state)
{
	struct doca_argp_param *param = make_param(NULL, "list", DOCA_ARGP_TYPE_BOOLEAN, on_fast);

	doca_argp_param_set_singular(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	add_usual_params();
	assert_int_equal(start_with_keys("\"fast\": false", "--list"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "fast;");
}

static void add_multiple(void)
{
	struct doca_argp_param *param = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);

	doca_argp_param_set_multiplicity(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
}

static void test_multiple_parameter_takes_an_array(void **state)
{
	add_multiple();
	assert_int_equal(start_with_keys("\"name\": [\"a\", \"b\", ]"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=a;name=b;");
}

static void test_multiple_parameter_takes_a_single_value(void **state)
{
	add_multiple();
	assert_int_equal(start_with_keys("\"name\": \"a\""), DOCA_SUCCESS);
	assert_string_equal(trace.text, "name=a;");
}

static void test_array_of_wrong_values_is_invalid(void **state)
{
	add_multiple();
	assert_int_equal(start_with_keys("\"name\": [\"a\", 1]"), DOCA_ERROR_INVALID_VALUE);
	assert_told("\"name\"");
	assert_string_equal(trace.text, "");
}

static void test_json_object_is_handed_over(void **state)
{
	add_param(NULL, "object", DOCA_ARGP_TYPE_JSON_OBJ, on_object);
	assert_int_equal(start_with_keys("\"object\": {\"a\": [1, 2]}"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "object={\"a\":[1,2]};");
}

static void test_json_object_must_be_an_object(void **state)
{
	add_param(NULL, "object", DOCA_ARGP_TYPE_JSON_OBJ, on_object);
	assert_int_equal(start_with_keys("\"object\": [1, 2]"), DOCA_ERROR_INVALID_VALUE);
	assert_told("\"object\"");
}

static doca_error_t on_rate(void *value, void *config)
{
	return record(config, "rate=%g;", *(double *)value);
}

static void test_real_numbers_may_be_whole_ones(void **state)
{
	struct doca_argp_param *param = make_param(NULL, "rate", DOCA_ARGP_TYPE_DOUBLE, on_rate);

	doca_argp_param_set_multiplicity(param);
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(start_with_keys("\"rate\": [1.25, -3, 1e3]"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "rate=1.25;rate=-3;rate=1000;");
}

static void test_text_is_no_real_number(void **state)
{
	add_param(NULL, "rate", DOCA_ARGP_TYPE_DOUBLE, on_rate);
	assert_int_equal(start_with_keys("\"rate\": \"1.5\""), DOCA_ERROR_INVALID_VALUE);
	assert_told("\"rate\"");
}

/* A file for several programs, once the program has said that it takes one. */
static void test_unknown_keys_and_sections_are_ignored_on_demand(void **state)
{
	add_usual_params();
	assert_int_equal(doca_argp_disable_pedantic_config_parsing(), DOCA_SUCCESS);
	assert_int_equal(start_with("{\"doca_program_flags\": {\"colour\": 3, \"num-size\": 4},"
				    " \"doca_general_flags\": {\"depth\": 1}, \"others\": [], \"doca_dpdk_flags\": 7}"),
			 DOCA_SUCCESS);
	assert_string_equal(trace.text, "size=4;");
	assert_int_equal(doca_argp_disable_pedantic_config_parsing(), DOCA_ERROR_BAD_STATE);
}

static void test_keys_of_the_chosen_command_are_known(void **state)
{
	struct doca_argp_cmd *cmd;

	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_SUCCESS);
	doca_argp_cmd_set_name(cmd, "go");
	doca_argp_cmd_set_description(cmd, "What it does");
	assert_int_equal(doca_argp_cmd_register_param(cmd, make_param("o", "other", DOCA_ARGP_TYPE_STRING, on_other)),
			 DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_SUCCESS);
	add_usual_params();
	assert_int_equal(start_with_keys("\"other\": \"x\", \"num-size\": 1", "go"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "other=x;size=1;");
}

/* Start anew with the usual parameters, -s that has no long name and --line for
 * the command line only, and this file: @error, one message with @part in it, and
 * no callback. */
static void assert_refused(doca_error_t error, const char *part, const char *content, size_t size)
{
	struct doca_argp_param *line = make_param(NULL, "line", DOCA_ARGP_TYPE_STRING, on_other);

	doca_argp_param_set_cli_only(line);
	assert_int_equal(doca_argp_register_param(line), DOCA_SUCCESS);
	add_param("s", NULL, DOCA_ARGP_TYPE_STRING, on_other);
	add_usual_params();
	write_bytes(content, size);
	assert_int_equal(start("-j", path), error);
	assert_told(part);
	assert_non_null(strstr(last_message, path));
	assert_string_equal(trace.text, "");
	doca_argp_destroy();
	assert_int_equal(argp_setup(NULL), 0);
}

#define refused(error, part, content)   assert_refused(DOCA_ERROR_##error, part, content, strlen(content))
#define keys_refused(error, part, keys) refused(error, part, "{\"doca_program_flags\": {" keys "}}")

static void test_wrong_types_are_invalid(void **state)
{
	keys_refused(INVALID_VALUE, "\"name\"", "\"name\": 1");
	keys_refused(INVALID_VALUE, "\"name\"", "\"name\": null");
	keys_refused(INVALID_VALUE, "\"name\"", "\"name\": [\"a\"]");
	keys_refused(INVALID_VALUE, "\"name\"", "\"name\": \"a\\u0000b\"");
	keys_refused(INVALID_VALUE, "\"num-size\"", "\"num-size\": \"1\"");
	keys_refused(INVALID_VALUE, "\"num-size\"", "\"num-size\": 1.5");
	keys_refused(INVALID_VALUE, "\"num-size\"", "\"num-size\": true");
	keys_refused(INVALID_VALUE, "\"num-size\"", "\"num-size\": 2147483648");
	keys_refused(INVALID_VALUE, "\"num-size\"", "\"num-size\": -2147483649");
	keys_refused(INVALID_VALUE, "\"num-size\"", "\"num-size\": 99999999999999999999999999");
	keys_refused(INVALID_VALUE, "\"fast\"", "\"fast\": 1");
	keys_refused(INVALID_VALUE, "\"fast\"", "\"fast\": \"true\"");
	refused(INVALID_VALUE, "doca_program_flags", "{\"doca_program_flags\": []}");
	refused(INVALID_VALUE, "doca_general_flags", "{\"doca_general_flags\": null}");
	refused(INVALID_VALUE, "\"log-level\"", "{\"doca_general_flags\": {\"log-level\": \"60\"}}");
	refused(INVALID_VALUE, "one JSON object", "[1, 2]");
	refused(INVALID_VALUE, "one JSON object", "null");
	refused(INVALID_VALUE, "one JSON object", "12");
}

static void test_log_level_out_of_range_in_the_file_is_invalid(void **state)
{
	assert_int_equal(start_with("{\"doca_general_flags\": {\"log-level\": 7}}"), DOCA_ERROR_INVALID_VALUE);
	assert_told("--log-level 7");
}

static void test_unknown_keys_are_not_supported(void **state)
{
	keys_refused(NOT_SUPPORTED, "\"names\"", "\"names\": \"x\"");
	keys_refused(NOT_SUPPORTED, "\"n\"", "\"n\": \"x\""); /* short names are no keys */
	keys_refused(NOT_SUPPORTED, "\"s\"", "\"s\": \"x\"");
	keys_refused(NOT_SUPPORTED, "\"line\"", "\"line\": \"x\"");
	keys_refused(NOT_SUPPORTED, "\"log-level\"", "\"log-level\": 60"); /* in the wrong section */
	refused(NOT_SUPPORTED, "\"name\"", "{\"doca_general_flags\": {\"name\": \"x\"}}");
	refused(NOT_SUPPORTED, "\"help\"", "{\"doca_general_flags\": {\"help\": true}}");
	refused(NOT_SUPPORTED, "\"json\"", "{\"doca_general_flags\": {\"json\": \"other.json\"}}");
	refused(NOT_SUPPORTED, "\"flags\"", "{\"flags\": {}}");
	refused(NOT_SUPPORTED, "\"doca_dpdk_flags\"", "{\"doca_dpdk_flags\": {}}"); /* no DPDK program */
}

static void test_text_that_is_not_json_is_an_io_failure(void **state)
{
	refused(IO_FAILED, "cut off", "");
	refused(IO_FAILED, "cut off", " \n");
	refused(IO_FAILED, "cut off", "// only a comment");
	refused(IO_FAILED, "cut off", "{\"doca_program_flags\": {\"name\": \"x\"");
	refused(IO_FAILED, "line 2", "{\n\"doca_program_flags\": {name: 1}}");
	refused(IO_FAILED, "line 1", "{\"doca_program_flags\": {\"num-size\": 0xFE}}");
	refused(IO_FAILED, "line 3", "{}\n\n{}");
	refused(IO_FAILED, "line 1", "{} x");
	refused(IO_FAILED, "cut off", "{} /* open");
	refused(IO_FAILED, "line 1", "{} /");
	assert_refused(DOCA_ERROR_IO_FAILED, "line 1", "{}\0", 3);
	assert_refused(DOCA_ERROR_IO_FAILED, "line 1", "{\0}", 3);
}

static void test_nesting_without_end_is_an_io_failure(void **state)
{
	char deep[4096];

	memset(deep, '[', sizeof(deep));
	assert_refused(DOCA_ERROR_IO_FAILED, "not JSON", deep, sizeof(deep));
}

static void test_file_longer_than_one_read_is_read(void **state)
{
	static const char begin[] = "{\"doca_program_flags\": {\"fast\": true", end[] = "}}";
	static char content[64 * 1024];

	add_usual_params();
	memset(content, '\n', sizeof(content));
	memcpy(content, begin, strlen(begin));
	memcpy(content + sizeof(content) - strlen(end), end, strlen(end));
	write_bytes(content, sizeof(content));
	assert_int_equal(start("-j", path), DOCA_SUCCESS);
	assert_string_equal(trace.text, "fast;");
}

static void test_huge_file_is_refused(void **state)
{
	write_bytes("{}", 2);
	assert_int_equal(truncate(path, (off_t)1 << 34), 0); /* sparse */
	assert_int_equal(start("-j", path), DOCA_ERROR_IO_FAILED);
	assert_told("right file?");
}

/* provokes: doca_argp_start DOCA_ERROR_IO_FAILED */
static void test_missing_file_is_an_io_failure(void **state)
{
	assert_int_equal(start("--json", path), DOCA_ERROR_IO_FAILED);
	assert_told("No such file");
}

static void test_directory_is_an_io_failure(void **state)
{
	assert_int_equal(start("--json", directory), DOCA_ERROR_IO_FAILED);
	assert_told("directory");
}

static void test_empty_path_is_an_io_failure(void **state)
{
	assert_int_equal(start("--json="), DOCA_ERROR_IO_FAILED);
	assert_told("No such file");
}

static void test_file_is_given_once(void **state)
{
	assert_int_equal(start_with("{}", "-j", path), DOCA_ERROR_INVALID_VALUE);
	assert_told("--json is given twice");
}

#define json(test) cmocka_unit_test_setup_teardown(test, argp_setup, remove_file_too)

int main(void)
{
	const struct CMUnitTest tests[] = {
		json(test_file_in_the_vendors_shape_is_read),
		json(test_empty_sections_are_fine),
		json(test_false_is_as_good_as_not_given),
		json(test_command_line_wins_over_the_file),
		json(test_mandatory_parameter_may_come_from_the_file),
		json(test_mandatory_parameter_missing_in_the_file_is_invalid),
		json(test_singular_parameter_in_the_file_must_be_alone),
		json(test_singular_parameter_that_is_false_does_not_count),
		json(test_false_beside_a_singular_parameter_does_not_count),
		json(test_multiple_parameter_takes_an_array),
		json(test_multiple_parameter_takes_a_single_value),
		json(test_array_of_wrong_values_is_invalid),
		json(test_json_object_is_handed_over),
		json(test_json_object_must_be_an_object),
		json(test_real_numbers_may_be_whole_ones),
		json(test_text_is_no_real_number),
		json(test_unknown_keys_and_sections_are_ignored_on_demand),
		json(test_keys_of_the_chosen_command_are_known),
		json(test_wrong_types_are_invalid),
		json(test_log_level_out_of_range_in_the_file_is_invalid),
		json(test_unknown_keys_are_not_supported),
		json(test_text_that_is_not_json_is_an_io_failure),
		json(test_nesting_without_end_is_an_io_failure),
		json(test_file_longer_than_one_read_is_read),
		json(test_huge_file_is_refused),
		json(test_missing_file_is_an_io_failure),
		json(test_directory_is_an_io_failure),
		json(test_empty_path_is_an_io_failure),
		json(test_file_is_given_once),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
