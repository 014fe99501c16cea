/* SPDX-License-Identifier: BSD-3-Clause */
/* The application's side of doca_log.h: sources, records, limits. Destinations
 * are in test_log_backend.c, records of the SDK in test_log_sdk.c, loads in
 * test_log_many.c. */
#include <doca_log.h>

#include <errno.h>
#include <fcntl.h>
#include <regex.h>

#include "cmocka_test.h"
#include "log_child.h"

DOCA_LOG_REGISTER(TEST::LOG);

#define UNUSED_ID 123456

static const uint32_t levels[] = {
	DOCA_LOG_LEVEL_DISABLE, DOCA_LOG_LEVEL_CRIT,  DOCA_LOG_LEVEL_ERROR, DOCA_LOG_LEVEL_WARNING,
	DOCA_LOG_LEVEL_INFO,    DOCA_LOG_LEVEL_DEBUG, DOCA_LOG_LEVEL_TRACE,
};
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

/* A backend on standard output, so that the parent reads the records. */
static struct doca_log_backend *backend_on_stdout(void)
{
	struct doca_log_backend *backend = NULL;

	CHECK(doca_log_backend_create_with_fd(STDOUT_FILENO, &backend) == DOCA_SUCCESS);
	CHECK(backend != NULL);
	return backend;
}

/* A record of each level, named c e w i d t. */
static void say_all(void)
{
	DOCA_LOG_CRIT("c");
	DOCA_LOG_ERR("e");
	DOCA_LOG_WARN("w");
	DOCA_LOG_INFO("i");
	DOCA_LOG_DBG("d");
	DOCA_LOG(DOCA_LOG_LEVEL_TRACE, "t");
}

/* The texts of the records in @lines, such as "ce" for two lines. */
static const char *texts(const char *lines)
{
	static char found[256];
	const char *end;
	size_t n = 0;

	while ((end = strchr(lines, '\n'))) {
		assert_true(n < sizeof(found) - 1);
		found[n++] = end[-1];
		lines = end + 1;
	}
	found[n] = '\0';
	return found;
}

/* --- Lines --- */

static void record_with_arguments(void)
{
	int line_before;

	backend_on_stdout();
	line_before = __LINE__;
	DOCA_LOG_ERR("%s is %d", "answer", 42);
	printf("%d %d", getpid(), line_before + 1);
}

static void test_record_has_time_thread_level_place_and_text(void **state)
{
	const struct child_output *got = in_child(record_with_arguments);
	char pattern[256];
	regex_t regex;
	int pid, line;

	assert_int_equal(sscanf(strchr(got->out, '\n'), "%d %d", &pid, &line), 2);
	snprintf(pattern, sizeof(pattern),
		 "^\\[[0-2][0-9]:[0-5][0-9]:[0-5][0-9]:[0-9]{6}\\]\\[%d\\]\\[DOCA\\]\\[ERR\\]"
		 "\\[test_log\\.c:%d\\]\\[record_with_arguments\\] answer is 42\n",
		 pid, line);
	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED), 0);
	assert_int_equal(regexec(&regex, got->out, 0, NULL, 0), 0);
	regfree(&regex);
}

static void record_of_each_level(void)
{
	CHECK(doca_log_backend_set_level_lower_limit(backend_on_stdout(), DOCA_LOG_LEVEL_TRACE) == DOCA_SUCCESS);
	say_all();
}

static void test_each_level_has_its_tag(void **state)
{
	static const char *const tags[] = { "CRT", "ERR", "WRN", "INF", "DBG", "TRC" };
	const char *line = in_child(record_of_each_level)->out;
	char tag[16];
	size_t i;

	for (i = 0; i < 6; i++) {
		snprintf(tag, sizeof(tag), "[DOCA][%s][", tags[i]);
		assert_non_null(strstr(line, tag));
		line = strchr(line, '\n') + 1;
	}
	assert_string_equal(line, "");
}

static void records_without_place(void)
{
	backend_on_stdout();
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, NULL, 7, "f", "x") == DOCA_SUCCESS);
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, "/a/b/c.c", 8, NULL, "y") == DOCA_SUCCESS);
}

static void test_record_without_file_shows_source_and_without_function_shows_none(void **state)
{
	const struct child_output *got = in_child(records_without_place);

	assert_non_null(strstr(got->out, "[INF][TEST::LOG:7][f] x\n"));
	assert_non_null(strstr(got->out, "[INF][c.c:8] y\n"));
}

static void records_around_the_longest(void)
{
	static char text[8192], head[] = "[00:00:00:000000][][DOCA][INF][f:1] \n";
	char pid[16];
	size_t most = 4096 - strlen(head) - snprintf(pid, sizeof(pid), "%d", getpid());

	backend_on_stdout();
	memset(text, 'x', sizeof(text));
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, "f", 1, NULL, "%.*s", (int)most, text) == DOCA_SUCCESS);
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, "f", 1, NULL, "%.*s", (int)most + 1, text) == DOCA_SUCCESS);
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, "f", 1, NULL, "%.*s", (int)sizeof(text), text) == DOCA_SUCCESS);
	text[sizeof(text) - 1] = '\0';
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, text, 1, text, "y") == DOCA_SUCCESS);
}

/* A line has at most 4096 bytes, whichever part makes it long. */
static void test_record_longer_than_a_line_is_cut(void **state)
{
	const char *line = in_child(records_around_the_longest)->out, *end;
	int i;

	for (i = 0; i < 4; i++, line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_int_equal(end + 1 - line, 4096);
		assert_memory_equal(end - 4, i == 0 ? "xxxx" : "x...", 4);
	}
	assert_string_equal(line, "");
}

static void record_with_errno(void)
{
	struct doca_log_backend *broken;

	backend_on_stdout();
	CHECK(doca_log_backend_create_with_fd(open("/dev/full", O_WRONLY), &broken) == DOCA_SUCCESS);
	errno = EXDEV;
	DOCA_LOG_INFO("%m");
	CHECK(errno == EXDEV);
}

static void test_record_may_use_errno_and_keeps_it(void **state)
{
	assert_non_null(strstr(in_child(record_with_errno)->out, strerror(EXDEV)));
}

static int evaluated;

static void trace_macro_compiled_out(void)
{
	CHECK(doca_log_backend_set_level_lower_limit(backend_on_stdout(), DOCA_LOG_LEVEL_TRACE) == DOCA_SUCCESS);
	DOCA_LOG_TRC("%d", ++evaluated);
	CHECK(evaluated == 0);
}

static void test_trace_macro_does_nothing_unless_asked_for(void **state)
{
	assert_string_equal(in_child(trace_macro_compiled_out)->out, "");
}

static void log_while_exiting(void)
{
	DOCA_LOG_INFO("x");
}

static void record_from_exit_handler(void)
{
	backend_on_stdout();
	atexit(log_while_exiting);
}

static void test_record_from_exit_handler_is_shown(void **state)
{
	assert_string_equal(texts(in_child(record_from_exit_handler)->out), "x");
}

/* --- Limits --- */

static void limits_matrix(void)
{
	struct doca_log_backend *backend = backend_on_stdout();
	size_t lower, upper, level;

	for (lower = 0; lower < LEVELS; lower++) {
		for (upper = 0; upper < LEVELS; upper++) {
			CHECK(doca_log_backend_set_level_lower_limit(backend, levels[lower]) == DOCA_SUCCESS);
			CHECK(doca_log_backend_set_level_upper_limit(backend, levels[upper]) == DOCA_SUCCESS);
			for (level = 1; level < LEVELS; level++)
				DOCA_LOG(levels[level], "%zu %zu %zu", lower, upper, level);
		}
	}
}

/* upper <= level <= lower; the records come in the order of the loops. */
static void test_backend_shows_what_lies_between_its_limits(void **state)
{
	const char *line = in_child(limits_matrix)->out;
	size_t lower, upper, level;
	char text[32];

	for (lower = 0; lower < LEVELS; lower++) {
		for (upper = 0; upper < LEVELS; upper++) {
			for (level = upper > 1 ? upper : 1; level <= lower; level++) {
				snprintf(text, sizeof(text), "] %zu %zu %zu\n", lower, upper, level);
				assert_non_null(strstr(line, text));
				assert_ptr_equal(strstr(line, text) + strlen(text), strchr(line, '\n') + 1);
				line = strchr(line, '\n') + 1;
			}
		}
	}
	assert_string_equal(line, "");
}

static void global_limits(void)
{
	CHECK(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_INFO);
	CHECK(doca_log_level_get_global_upper_limit() == DOCA_LOG_LEVEL_CRIT);
	backend_on_stdout();
	say_all(); /* c e w i */
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG) == DOCA_SUCCESS);
	CHECK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_WARNING) == DOCA_SUCCESS);
	CHECK(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_DEBUG);
	CHECK(doca_log_level_get_global_upper_limit() == DOCA_LOG_LEVEL_WARNING);
	say_all(); /* w i d */
	backend_on_stdout();
	say_all(); /* each of w i d from both */
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
	say_all(); /* none */
}

static void test_global_limits_rule_present_and_future_backends(void **state)
{
	assert_string_equal(texts(in_child(global_limits)->out), "cewi"
								 "wid"
								 "wwiidd");
}

static void strict_lower(void)
{
	struct doca_log_backend *backend = backend_on_stdout();

	CHECK(doca_log_backend_set_level_lower_limit_strict(backend) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DEBUG) == DOCA_ERROR_NOT_PERMITTED);
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG) == DOCA_SUCCESS);
	say_all(); /* c e w i: INFO stands */
	CHECK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_WARNING) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_INFO) == DOCA_ERROR_NOT_PERMITTED);
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE) == DOCA_SUCCESS);
	say_all(); /* c e: a widened limit has no effect */
}

static void test_strict_lower_limit_only_narrows(void **state)
{
	assert_string_equal(texts(in_child(strict_lower)->out), "cewi"
								"ce");
}

static void strict_upper(void)
{
	struct doca_log_backend *backend = backend_on_stdout();

	CHECK(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_level_upper_limit_strict(backend) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_CRIT) == DOCA_ERROR_NOT_PERMITTED);
	CHECK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_CRIT) == DOCA_SUCCESS);
	say_all(); /* e w i */
	CHECK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_INFO) == DOCA_SUCCESS);
	CHECK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_CRIT) == DOCA_SUCCESS);
	say_all(); /* i */
	CHECK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DEBUG) == DOCA_SUCCESS);
	say_all(); /* i d: the other end is free */
}

static void test_strict_upper_limit_only_narrows(void **state)
{
	assert_string_equal(texts(in_child(strict_upper)->out), "ewi"
								"i"
								"id");
}

static void bad_levels(void)
{
	static const uint32_t bad[] = { 0, 9, 11, 25, 71, 80, UINT32_MAX };
	struct doca_log_backend *backend = backend_on_stdout(), *sdk;
	size_t i;

	CHECK(doca_log_backend_create_with_fd_sdk(STDERR_FILENO, &sdk) == DOCA_SUCCESS);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(doca_log_backend_set_level_lower_limit(backend, bad[i]) == DOCA_ERROR_INVALID_VALUE);
		CHECK(doca_log_backend_set_level_upper_limit(backend, bad[i]) == DOCA_ERROR_INVALID_VALUE);
		CHECK(doca_log_backend_set_sdk_level(sdk, bad[i]) == DOCA_ERROR_INVALID_VALUE);
		CHECK(doca_log_level_set_global_lower_limit(bad[i]) == DOCA_ERROR_INVALID_VALUE);
		CHECK(doca_log_level_set_global_upper_limit(bad[i]) == DOCA_ERROR_INVALID_VALUE);
		CHECK(doca_log_level_set_global_sdk_limit(bad[i]) == DOCA_ERROR_INVALID_VALUE);
		CHECK(DOCA_LOG(bad[i], "x") == DOCA_ERROR_INVALID_VALUE);
	}
	CHECK(DOCA_LOG(DOCA_LOG_LEVEL_DISABLE, "x") == DOCA_ERROR_INVALID_VALUE);
	say_all(); /* c e w i: nothing has changed */
}

static void test_level_that_is_none_is_refused(void **state)
{
	assert_string_equal(texts(in_child(bad_levels)->out), "cewi");
}

static void bad_backends(void)
{
	struct doca_log_backend *app = backend_on_stdout(), *sdk;

	CHECK(doca_log_backend_create_with_fd_sdk(STDERR_FILENO, &sdk) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_level_lower_limit(NULL, 50) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_set_level_upper_limit(NULL, 50) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_set_level_lower_limit_strict(NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_set_level_upper_limit_strict(NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_set_sdk_level(NULL, 50) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_set_level_lower_limit(sdk, 50) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_set_level_upper_limit(sdk, 50) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_set_level_lower_limit_strict(sdk) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_set_level_upper_limit_strict(sdk) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_set_sdk_level(app, 50) == DOCA_ERROR_INVALID_VALUE);
}

static void test_backend_that_is_null_or_of_the_other_kind_is_refused(void **state)
{
	in_child(bad_backends);
}

/* --- Sources --- */

static void sources_and_names(void)
{
	int a = -7, b = -7, again = -7;

	CHECK(doca_log_register_source(NULL, &a) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_register_source("A", NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(a == -7);
	CHECK(doca_log_register_source("A", &a) == DOCA_SUCCESS);
	CHECK(doca_log_register_source("B", &b) == DOCA_SUCCESS);
	CHECK(doca_log_register_source("A", &again) == DOCA_SUCCESS);
	CHECK(a != b && a == again && a != log_source);
	CHECK(doca_log_unregister_source(a) == DOCA_SUCCESS);
	CHECK(doca_log(50, a, "f", 1, "g", "x") == DOCA_SUCCESS); /* A has one user left */
	CHECK(doca_log_unregister_source(a) == DOCA_SUCCESS);
	CHECK(doca_log(50, a, "f", 1, "g", "x") == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_unregister_source(a) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_register_source("A", &a) == DOCA_SUCCESS);
	CHECK(doca_log(50, a, "f", 1, "g", "x") == DOCA_SUCCESS);
}

static void test_source_counts_while_registered(void **state)
{
	in_child(sources_and_names);
}

static void bad_records(void)
{
	static const int bad[] = { 0, -1, -2147483647 - 1, UNUSED_ID, 2147483647 };
	size_t i;

	backend_on_stdout();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(doca_log(50, bad[i], "f", 1, "g", "x") == DOCA_ERROR_INVALID_VALUE);
		CHECK(doca_log(50, bad[i], NULL, 1, NULL, "x") == DOCA_ERROR_INVALID_VALUE);
		CHECK(doca_log_unregister_source(bad[i]) == DOCA_ERROR_INVALID_VALUE);
	}
	CHECK(doca_log(50, log_source, "f", 1, "g", NULL) == DOCA_ERROR_INVALID_VALUE);
}

static void test_record_of_unknown_source_or_without_format_is_refused(void **state)
{
	assert_string_equal(in_child(bad_records)->out, "");
}

static void thousands_of_sources(void)
{
	static int ids[3000];
	char name[32];
	int i;

	backend_on_stdout();
	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "SOURCE::%d", i);
		CHECK(doca_log_register_source(name, &ids[i]) == DOCA_SUCCESS);
		CHECK(i == 0 || ids[i] != ids[i - 1]);
	}
	CHECK(doca_log(50, ids[17], NULL, 1, "f", "x") == DOCA_SUCCESS);
	CHECK(doca_log(50, ids[2999], NULL, 1, "f", "x") == DOCA_SUCCESS);
}

static void test_sources_by_the_thousand_keep_their_names(void **state)
{
	const struct child_output *got = in_child(thousands_of_sources);

	assert_int_equal(count_of(got->out, "[SOURCE::17:1]"), 1);
	assert_int_equal(count_of(got->out, "[SOURCE::2999:1]"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_has_time_thread_level_place_and_text),
		cmocka_unit_test(test_each_level_has_its_tag),
		cmocka_unit_test(test_record_without_file_shows_source_and_without_function_shows_none),
		cmocka_unit_test(test_record_longer_than_a_line_is_cut),
		cmocka_unit_test(test_record_may_use_errno_and_keeps_it),
		cmocka_unit_test(test_trace_macro_does_nothing_unless_asked_for),
		cmocka_unit_test(test_record_from_exit_handler_is_shown),
		cmocka_unit_test(test_backend_shows_what_lies_between_its_limits),
		cmocka_unit_test(test_global_limits_rule_present_and_future_backends),
		cmocka_unit_test(test_strict_lower_limit_only_narrows),
		cmocka_unit_test(test_strict_upper_limit_only_narrows),
		cmocka_unit_test(test_level_that_is_none_is_refused),
		cmocka_unit_test(test_backend_that_is_null_or_of_the_other_kind_is_refused),
		cmocka_unit_test(test_source_counts_while_registered),
		cmocka_unit_test(test_record_of_unknown_source_or_without_format_is_refused),
		cmocka_unit_test(test_sources_by_the_thousand_keep_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
