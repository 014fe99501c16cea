/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that pass flags on to DPDK. Their callback writes the vector that it
 * gets: "dpdk[prog -l 0-3];". */
#include "test_argp_util.h"

static char path[] = "/tmp/test_argp_dpdk.XXXXXX";

static doca_error_t on_dpdk(int argc, char **argv)
{
	int i;

	record(&trace, "dpdk[");
	for (i = 0; i < argc; i++)
		record(&trace, "%s%s", i ? " " : "", argv[i]);
	assert_null(argv[argc]);
	return record(&trace, "];");
}

/* Change the vector as getopt() does, and more. */
static doca_error_t on_dpdk_that_meddles(int argc, char **argv)
{
	char *first = argv[0];

	assert_int_equal(argc, 3);
	argv[0] = argv[2];
	argv[2] = first;
	argv[1] = NULL;
	first[0] = 'X';
	return DOCA_SUCCESS;
}

static doca_error_t refuse(int argc, char **argv)
{
	return DOCA_ERROR_DRIVER;
}

static doca_error_t destroy(int argc, char **argv)
{
	return doca_argp_destroy();
}

static doca_error_t validate(void *config)
{
	return record(config, "validation;");
}

static int dpdk_setup(void **state)
{
	int fd, rc = argp_setup(state);

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	doca_argp_set_dpdk_program(on_dpdk);
	return rc;
}

static int dpdk_teardown(void **state)
{
	unlink(path);
	return argp_teardown(state);
}

static void write_file(const char *content)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void test_words_before_the_separator_are_dpdks(void **state)
{
	add_usual_params();
	assert_int_equal(doca_argp_register_validation_callback(validate), DOCA_SUCCESS);
	assert_int_equal(start("-a", "03:00.0,dv_flow_en=2", "-l", "0-3", "--", "-ns", "4"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "size=4;validation;dpdk[/some/where/prog -a 03:00.0,dv_flow_en=2 -l 0-3];");
}

static void test_program_without_dpdk_flags_still_starts_dpdk(void **state)
{
	add_usual_params();
	assert_int_equal(start("--", "-f"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "fast;dpdk[/some/where/prog];");
}

static void test_without_separator_all_words_are_dpdks(void **state)
{
	add_usual_params();
	assert_int_equal(start("-a", "03:00.0", "-c0xf"), DOCA_SUCCESS);
	assert_string_equal(trace.text, "dpdk[/some/where/prog -a 03:00.0 -c0xf];");
}

static void test_second_separator_is_not_supported(void **state)
{
	assert_int_equal(start("-c1", "--", "--", "-f"), DOCA_ERROR_NOT_SUPPORTED);
	assert_told("'--'");
	assert_string_equal(trace.text, "");
}

static void test_callbacks_error_is_passed_on(void **state)
{
	doca_argp_set_dpdk_program(refuse);
	assert_int_equal(start(), DOCA_ERROR_DRIVER);
}

static void test_callback_that_destroys_the_parser_ends_the_start(void **state)
{
	doca_argp_set_dpdk_program(destroy);
	assert_int_equal(start("-c1"), DOCA_ERROR_BAD_STATE);
}

static void test_vector_may_be_changed(void **state)
{
	doca_argp_set_dpdk_program(on_dpdk_that_meddles);
	assert_int_equal(start("-c", "1"), DOCA_SUCCESS);
	assert_int_equal(doca_argp_destroy(), DOCA_SUCCESS); /* the memory checker finds a defect */
}

static void test_wrong_program_flags_do_not_start_dpdk(void **state)
{
	assert_int_equal(start("-c1", "--", "--bogus"), DOCA_ERROR_NOT_SUPPORTED);
	assert_string_equal(trace.text, "");
}

static void test_callback_is_set_before_start(void **state)
{
	assert_int_equal(start(), DOCA_SUCCESS);
	doca_argp_set_dpdk_program(refuse); /* logged, ignored */
	doca_argp_set_dpdk_program(NULL);
	assert_string_equal(trace.text, "dpdk[/some/where/prog];");
}

static void test_file_gives_dpdk_flags(void **state)
{
	add_usual_params();
	write_file("{ \"doca_dpdk_flags\": {\n"
		   "	\"devices\": [ // -a\n"
		   "		{ \"device\": \"pf\", \"id\": \"0000:08:00.0\", \"hws\": true },\n"
		   "		{ \"device\": \"vf\", \"id\": \"b1:00.3\", \"sft\": false },\n"
		   "		{ \"device\": \"sf\", \"id\": \"4\", \"sft\": true },\n"
		   "		{ \"device\": \"regex\", \"id\": \"03:00.0\", \"hws\": false },\n"
		   "	],\n"
		   "	\"core-mask\": 255,\n"
		   "	\"core-list\": \"0-2\",\n"
		   "	\"flags\": \" --no-huge  -n 4\\t\",\n"
		   "  },\n"
		   "  \"doca_program_flags\": { \"fast\": true } }");
	assert_int_equal(start("--json", path), DOCA_SUCCESS);
	assert_string_equal(trace.text, "fast;dpdk[/some/where/prog -a 0000:08:00.0,dv_flow_en=2 -a b1:00.3"
					" -a auxiliary:mlx5_core.sf.4,sft_en=1 -a 03:00.0,class=regex -c 0xff -l 0-2"
					" --no-huge -n 4];");
}

static void test_mask_may_be_text(void **state)
{
	write_file("{\"doca_dpdk_flags\": {\"core-mask\": \"0xF\", \"flags\": \"\"}}");
	assert_int_equal(start("-j", path), DOCA_SUCCESS);
	assert_string_equal(trace.text, "dpdk[/some/where/prog -c 0xF];");
}

static void test_file_adds_to_the_command_line(void **state)
{
	write_file("{\"doca_dpdk_flags\": {\"core-list\": \"1\"}}");
	assert_int_equal(start("-a", "03:00.0", "--", "-j", path), DOCA_SUCCESS);
	assert_string_equal(trace.text, "dpdk[/some/where/prog -a 03:00.0 -l 1];");
}

static void test_many_words_are_all_kept(void **state)
{
	char text[1024] = "{\"doca_dpdk_flags\": {\"flags\": \"", expected[1024] = "dpdk[/some/where/prog";
	int i;

	for (i = 0; i < 100; i++) {
		sprintf(text + strlen(text), "-w%d ", i);
		sprintf(expected + strlen(expected), " -w%d", i);
	}
	strcat(text, "\"}}");
	strcat(expected, "];");
	write_file(text);
	assert_int_equal(start("-j", path), DOCA_SUCCESS);
	assert_string_equal(trace.text, expected);
}

static void assert_refused(doca_error_t error, const char *part, const char *section)
{
	char content[1024];

	snprintf(content, sizeof(content), "{\"doca_dpdk_flags\": %s}", section);
	write_file(content);
	assert_int_equal(start("-j", path), error);
	assert_told(part);
	assert_string_equal(trace.text, "");
	doca_argp_destroy();
	assert_int_equal(argp_setup(NULL), 0);
	doca_argp_set_dpdk_program(on_dpdk);
}

static void test_wrong_types_are_invalid(void **state)
{
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"doca_dpdk_flags\" must be an object", "[]");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"devices\"", "{\"devices\": {}}");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"devices\"", "{\"devices\": [1]}");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"device\"", "{\"devices\": [{\"device\": 1}]}");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "no \"device\"", "{\"devices\": [{\"id\": \"1\"}]}");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "no \"id\"", "{\"devices\": [{\"device\": \"pf\"}]}");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"hws\"", "{\"devices\": [{\"hws\": 2}]}");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"core-mask\"", "{\"core-mask\": -1}");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"core-mask\"", "{\"core-mask\": []}");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"core-list\"", "{\"core-list\": 1}");
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"flags\"", "{\"flags\": 1}");
}

static void test_unknown_keys_and_devices_are_not_supported(void **state)
{
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "\"cores\"", "{\"cores\": 1}");
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "\"pci\"", "{\"devices\": [{\"pci\": 1}]}");
	assert_refused(DOCA_ERROR_NOT_SUPPORTED, "\"gpu\"", "{\"devices\": [{\"device\": \"gpu\", \"id\": \"1\"}]}");
}

static void test_words_that_are_too_long_are_invalid(void **state)
{
	char section[600], word[301];

	memset(word, '7', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	snprintf(section, sizeof(section), "{\"devices\": [{\"device\": \"sf\", \"id\": \"%s\"}]}", word);
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"id\"", section);
	snprintf(section, sizeof(section), "{\"flags\": \"-n %s\"}", word);
	assert_refused(DOCA_ERROR_INVALID_VALUE, "\"flags\"", section);
}

#define dpdk(test) cmocka_unit_test_setup_teardown(test, dpdk_setup, dpdk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		dpdk(test_words_before_the_separator_are_dpdks),
		dpdk(test_program_without_dpdk_flags_still_starts_dpdk),
		dpdk(test_without_separator_all_words_are_dpdks),
		dpdk(test_second_separator_is_not_supported),
		dpdk(test_callbacks_error_is_passed_on),
		dpdk(test_callback_that_destroys_the_parser_ends_the_start),
		dpdk(test_vector_may_be_changed),
		dpdk(test_wrong_program_flags_do_not_start_dpdk),
		dpdk(test_callback_is_set_before_start),
		dpdk(test_file_gives_dpdk_flags),
		dpdk(test_mask_may_be_text),
		dpdk(test_file_adds_to_the_command_line),
		dpdk(test_many_words_are_all_kept),
		dpdk(test_wrong_types_are_invalid),
		dpdk(test_unknown_keys_and_devices_are_not_supported),
		dpdk(test_words_that_are_too_long_are_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
