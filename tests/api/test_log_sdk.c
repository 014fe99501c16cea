/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of the SDK itself: their destinations, and their rate limit. The tests provoke them by calls that the
 * log refuses, each of which makes an error record. */
#include <doca_log.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "cmocka_test.h"
#include "log_child.h"

DOCA_LOG_REGISTER(TEST::LOG::SDK);

#define MISTAKE       "fptr is NULL"
#define OTHER_MISTAKE "is no log level"
#define QUANTITY      20 /* of one record in a second */

/* The test sets this program's monotonic clock. */
static struct timespec monotonic = { 1000, 0 };

int clock_gettime(clockid_t id, struct timespec *ret_now)
{
	if (id != CLOCK_MONOTONIC)
		return syscall(SYS_clock_gettime, id, ret_now);
	*ret_now = monotonic;
	return 0;
}

static void make_mistake(void)
{
	struct doca_log_backend *backend;

	CHECK(doca_log_backend_create_with_file(NULL, &backend) == DOCA_ERROR_INVALID_VALUE);
}

static void make_other_mistake(void)
{
	CHECK(doca_log_level_set_global_lower_limit(33) == DOCA_ERROR_INVALID_VALUE);
}

static struct doca_log_backend *sdk_backend_on_stdout(void)
{
	struct doca_log_backend *backend;

	CHECK(doca_log_backend_create_with_fd_sdk(STDOUT_FILENO, &backend) == DOCA_SUCCESS);
	return backend;
}

/* --- Streams --- */

static void both_streams(void)
{
	struct doca_log_backend *app;

	sdk_backend_on_stdout();
	CHECK(doca_log_backend_create_with_fd(STDERR_FILENO, &app) == DOCA_SUCCESS);
	make_mistake();
	DOCA_LOG_ERR("of the application");
}

static void test_each_stream_has_its_own_backends(void **state)
{
	const struct child_output *got = in_child(both_streams);

	assert_int_equal(count_of(got->out, "\n"), 1);
	assert_non_null(strstr(got->out, "[DOCA][ERR]["));
	assert_non_null(strstr(got->out, MISTAKE));
	assert_int_equal(count_of(got->err, "\n"), 1);
	assert_non_null(strstr(got->err, "of the application"));
}

static char buf[256];

static void print_buffer(char *text)
{
	printf("<%s>", text);
}

static void every_kind_of_sdk_backend(void)
{
	struct doca_log_backend *b;

	CHECK(doca_log_backend_create_with_fd_sdk(STDOUT_FILENO, &b) == DOCA_SUCCESS);
	CHECK(doca_log_backend_create_with_file_sdk(stdout, &b) == DOCA_SUCCESS);
	CHECK(doca_log_backend_create_with_buf_sdk(buf, sizeof(buf), print_buffer, &b) == DOCA_SUCCESS);
	CHECK(doca_log_backend_create_with_syslog_sdk("sdk", &b) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_sdk_level(b, DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
	make_mistake();
}

static void test_sdk_record_goes_to_every_kind_of_backend(void **state)
{
	const struct child_output *got = in_child(every_kind_of_sdk_backend);

	assert_int_equal(count_of(got->out, MISTAKE), 3);
	assert_int_equal(count_of(got->out, "\n>"), 1);
	assert_string_equal(got->err, "");
}

static void sdk_levels(void)
{
	struct doca_log_backend *backend = sdk_backend_on_stdout();

	CHECK(doca_log_level_get_global_sdk_limit() == DOCA_LOG_LEVEL_INFO);
	make_mistake(); /* shown */
	CHECK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_CRIT) == DOCA_SUCCESS);
	make_mistake();
	CHECK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	CHECK(doca_log_level_get_global_sdk_limit() == DOCA_LOG_LEVEL_ERROR);
	make_mistake(); /* shown */
	CHECK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
	make_mistake();
	sdk_backend_on_stdout();
	make_mistake();
	CHECK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_TRACE) == DOCA_SUCCESS);
	make_mistake(); /* shown */
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
	make_mistake(); /* shown: the application's limits do not apply */
}

static void test_sdk_records_obey_the_sdk_limits_alone(void **state)
{
	const struct child_output *got = in_child(sdk_levels);

	assert_int_equal(count_of(got->out, MISTAKE), 4);
	assert_string_equal(got->err, "");
}

static void record_with_a_hostile_name(void)
{
	sdk_backend_on_stdout();
	CHECK(doca_log(33, log_source, "a\nb\033[31m\302\233c\377d", 1, __func__, "text") == DOCA_ERROR_INVALID_VALUE);
}

/* Records name programs, services and files of others. */
static void test_sdk_record_is_one_line_that_a_terminal_only_shows(void **state)
{
	const struct child_output *got = in_child(record_with_a_hostile_name);

	assert_int_equal(count_of(got->out, "a?b?[31m??c?d"), 1);
	assert_int_equal(count_of(got->out, "\n"), 1);
}

/* --- No backend --- */

static void no_sdk_backend(void)
{
	CHECK(doca_log_backend_create_standard() == DOCA_SUCCESS);
	make_mistake(); /* shown */
	CHECK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_CRIT) == DOCA_SUCCESS);
	make_mistake();
	CHECK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_INFO) == DOCA_SUCCESS);
	make_mistake(); /* shown */
	CHECK(doca_log_backend_set_sdk_level(sdk_backend_on_stdout(), DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
	make_mistake(); /* the application's backend filters it */
}

static void test_without_sdk_backend_errors_reach_standard_error(void **state)
{
	const struct child_output *got = in_child(no_sdk_backend);

	assert_string_equal(got->out, "");
	assert_int_equal(count_of(got->err, "\n"), 2);
	assert_int_equal(count_of(got->err, MISTAKE), 2);
	assert_non_null(strstr(got->err, "[DOCA][ERR]["));
}

static void environment_silences(void)
{
	setenv("BFSIM_LOG_LEVEL", "20", 1);
	make_mistake();
}

static void environment_is_no_number(void)
{
	setenv("BFSIM_LOG_LEVEL", "loud", 1);
	make_mistake();
}

static void environment_overrides(void)
{
	struct doca_log_backend *backend;

	setenv("BFSIM_LOG_LEVEL", "30", 1);
	CHECK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
	make_mistake(); /* on standard error */
	backend = sdk_backend_on_stdout();
	make_mistake(); /* there too */
	CHECK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	make_mistake(); /* shown by the backend, so not again */
}

static void test_environment_sets_what_standard_error_gets(void **state)
{
	const struct child_output *got;

	assert_string_equal(in_child(environment_silences)->err, "");
	got = in_child(environment_is_no_number);
	assert_int_equal(count_of(got->err, MISTAKE), 1);
	assert_int_equal(count_of(got->err, "BFSIM_LOG_LEVEL=loud: not a level; give 20"), 1);
	got = in_child(environment_overrides);
	assert_int_equal(count_of(got->err, MISTAKE), 2);
	assert_int_equal(count_of(got->out, MISTAKE), 1);
}

/* --- Floods --- */

static void flood(void)
{
	int i;

	for (i = 0; i < 100; i++)
		make_mistake();
	make_other_mistake();
	monotonic.tv_nsec = 999999999;
	make_mistake(); /* still the same second */
	puts("then");
	fflush(stdout);
	monotonic.tv_sec++;
	monotonic.tv_nsec = 0;
	make_mistake();
	monotonic.tv_sec++;
	make_mistake();
}

static void flood_to_backend(void)
{
	sdk_backend_on_stdout();
	flood();
}

/* 101 in the first second: 20 are shown and 81 dropped. */
static void expect_flood(const char *shown, const char *after)
{
	assert_int_equal(count_of(shown, MISTAKE), QUANTITY + 2);
	assert_int_equal(count_of(shown, OTHER_MISTAKE), 1);
	assert_int_equal(count_of(shown, "dropping the rest"), 1);
	assert_int_equal(count_of(shown, "81 more records from this line were dropped"), 1);
	assert_int_equal(count_of(after, MISTAKE), 2);
	assert_int_equal(count_of(after, "were dropped"), 1);
}

static void test_flood_of_one_record_is_cut_and_counted(void **state)
{
	const struct child_output *got = in_child(flood_to_backend);

	expect_flood(got->out, strstr(got->out, "then"));
}

static void test_flood_on_standard_error_is_cut_too(void **state)
{
	const struct child_output *got = in_child(flood);

	expect_flood(got->err, strstr(got->err, "were dropped") - 100);
}

static void records_not_shown_do_not_count(void)
{
	struct doca_log_backend *backend = sdk_backend_on_stdout();
	int i;

	CHECK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
	for (i = 0; i < 100; i++)
		make_mistake();
	CHECK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	make_mistake();
}

static void test_filtered_records_do_not_count_for_the_rate_limit(void **state)
{
	const struct child_output *got = in_child(records_not_shown_do_not_count);

	assert_int_equal(count_of(got->out, "\n"), 1);
	assert_int_equal(count_of(got->out, MISTAKE), 1);
}

static void application_flood(void)
{
	struct doca_log_backend *backend;
	int i;

	CHECK(doca_log_backend_create_with_fd(STDOUT_FILENO, &backend) == DOCA_SUCCESS);
	for (i = 0; i < 100; i++)
		DOCA_LOG_INFO("x");
}

static void test_application_records_are_not_limited(void **state)
{
	assert_int_equal(count_of(in_child(application_flood)->out, "] x\n"), 100);
}

static void *make_mistakes(void *arg)
{
	int i;

	for (i = 0; i < 100; i++)
		make_mistake();
	return NULL;
}

static void flood_from_threads(void)
{
	pthread_t threads[2];
	int i;

	sdk_backend_on_stdout();
	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, make_mistakes, NULL));
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

static void test_flood_from_threads_is_cut_to_the_same_quantity(void **state)
{
	const struct child_output *got = in_child(flood_from_threads);

	assert_int_equal(count_of(got->out, MISTAKE), QUANTITY);
	assert_int_equal(count_of(got->out, "\n"), QUANTITY + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_stream_has_its_own_backends),
		cmocka_unit_test(test_sdk_record_goes_to_every_kind_of_backend),
		cmocka_unit_test(test_sdk_records_obey_the_sdk_limits_alone),
		cmocka_unit_test(test_sdk_record_is_one_line_that_a_terminal_only_shows),
		cmocka_unit_test(test_without_sdk_backend_errors_reach_standard_error),
		cmocka_unit_test(test_environment_sets_what_standard_error_gets),
		cmocka_unit_test(test_flood_of_one_record_is_cut_and_counted),
		cmocka_unit_test(test_flood_on_standard_error_is_cut_too),
		cmocka_unit_test(test_filtered_records_do_not_count_for_the_rate_limit),
		cmocka_unit_test(test_application_records_are_not_limited),
		cmocka_unit_test(test_flood_from_threads_is_cut_to_the_same_quantity),
	};

	unsetenv("BFSIM_LOG_LEVEL");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
