/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_log.h, doca_error.h and doca_version.h of the work-queue generation. tests/api
 * tests the backends, which are in the core. */
#include <doca_error.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_version.h>

#include <limits.h>

#include "cmocka_test.h"
#include "log_child.h"

DOCA_LOG_REGISTER(OLD::WAYS);

/* ---- records ---- */

static void one_record_of_each_kind(void)
{
	CHECK(doca_log_create_standard_backend() == DOCA_SUCCESS);
	DOCA_LOG_WARN("plain %d", 1);
	doca_log_developer(DOCA_LOG_LEVEL_WARNING, log_source, 77, "developer %d", 2);
	DOCA_LOG_RATE_LIMIT_WARN("limited %d", 3);
}

static void test_a_line_names_level_source_and_line_but_no_function(void **state)
{
	const struct child_output *output = in_child(one_record_of_each_kind);

	assert_int_equal(count_of(output->err, "[DOCA][WRN][OLD::WAYS:"), 3);
	assert_non_null(strstr(output->err, "]: plain 1\n"));
	assert_non_null(strstr(output->err, "[OLD::WAYS:77]: developer 2\n"));
	assert_non_null(strstr(output->err, "]: limited 3\n"));
	assert_null(strstr(output->err, "one_record_of_each_kind"));
}

static void records_that_are_none(void)
{
	int source = -1;

	CHECK(doca_log_create_standard_backend() == DOCA_SUCCESS);
	CHECK(doca_log(51, log_source, 1, "no level") == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log(DOCA_LOG_LEVEL_ERROR, 12345, 1, "no source") == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_developer(DOCA_LOG_LEVEL_ERROR, 12345, 1, "no source") == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_source_register(NULL, &source) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_source_register("ANOTHER", &source) == DOCA_SUCCESS);
	CHECK(doca_log_source_destroy(source) == DOCA_SUCCESS);
	CHECK(doca_log(DOCA_LOG_LEVEL_ERROR, source, 1, "of a dead source") == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_source_destroy(source) == DOCA_ERROR_INVALID_VALUE);
}

static void test_wrong_levels_and_sources_are_refused(void **state)
{
	const struct child_output *output = in_child(records_that_are_none);

	assert_null(strstr(output->err, "]: no "));
	assert_null(strstr(output->err, "]: of a dead source"));
}

/* ---- records of the libraries ---- */

static void calls_that_are_refused_below(void)
{
	struct doca_mmap *mmap;
	char byte;

	CHECK(doca_log_create_standard_backend() == DOCA_SUCCESS);
	CHECK(doca_mmap_create(NULL, NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_mmap_create(NULL, &mmap) == DOCA_SUCCESS);
	CHECK(doca_mmap_dev_add(mmap, NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_mmap_set_memrange(mmap, &byte, 1) == DOCA_SUCCESS);
	CHECK(doca_mmap_start(mmap) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
	DOCA_LOG_WARN("core_mmap_create: doca_mmap_add_dev is my own");
}

/* Functions of the core with the same name, with another name, and in the middle of a line. */
static void test_functions_have_this_generations_names(void **state)
{
	const struct child_output *output = in_child(calls_that_are_refused_below);

	assert_non_null(strstr(output->err, "doca_mmap_create: mmap is NULL"));
	assert_non_null(strstr(output->err, "doca_mmap_dev_add: dev is NULL"));
	assert_non_null(strstr(output->err, "call doca_mmap_dev_add() first"));
	assert_non_null(strstr(output->err, "]: core_mmap_create: doca_mmap_add_dev is my own\n"));
	assert_int_equal(count_of(output->err, "core_"), 1);
}

/* ---- limits ---- */

static void all_levels(void)
{
	DOCA_LOG_CRIT("at crit");
	DOCA_LOG_ERR("at error");
	DOCA_LOG_WARN("at warning");
	DOCA_LOG_INFO("at info");
	DOCA_LOG_DBG("at debug");
}

static void all_levels_without_a_backend(void)
{
	struct doca_logger_backend *backend = NULL;

	all_levels();
	CHECK(doca_log_global_level_set(DOCA_LOG_LEVEL_WARNING) == DOCA_SUCCESS);
	DOCA_LOG_INFO("hidden");
	DOCA_LOG_WARN("before a backend");
	CHECK(doca_log_create_file_backend(stdout, &backend) == DOCA_SUCCESS);
	DOCA_LOG_WARN("with a backend");
}

static void test_records_go_to_standard_error_until_a_backend_is_made(void **state)
{
	const struct child_output *output = in_child(all_levels_without_a_backend);

	assert_int_equal(count_of(output->err, "]: at "), 4);
	assert_non_null(strstr(output->err, "[DOCA][INF][OLD::WAYS:"));
	assert_null(strstr(output->err, "at debug"));
	assert_null(strstr(output->err, "hidden"));
	assert_int_equal(count_of(output->err, "]: before a backend\n"), 1);
	assert_null(strstr(output->err, "with a backend"));
	assert_int_equal(count_of(output->out, "]: with a backend\n"), 1);
}

static void global_level_changes_what_is_shown(void)
{
	CHECK(doca_log_create_standard_backend() == DOCA_SUCCESS);
	CHECK(doca_log_global_level_get() == DOCA_LOG_LEVEL_INFO);
	CHECK(doca_log_global_level_set(DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	CHECK(doca_log_global_level_get() == DOCA_LOG_LEVEL_ERROR);
	CHECK(doca_log_global_set_upper_level_limit(DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	all_levels();
	CHECK(doca_log_global_level_set(45) == DOCA_ERROR_INVALID_VALUE);
}

static void test_global_limits_leave_the_levels_between_them(void **state)
{
	const struct child_output *output = in_child(global_level_changes_what_is_shown);

	assert_int_equal(count_of(output->err, "at "), 1);
	assert_non_null(strstr(output->err, "at error"));
	assert_string_equal(output->out, "");
}

static void a_backend_with_limits_of_its_own(void)
{
	struct doca_logger_backend *backend = NULL;

	CHECK(doca_log_create_file_backend(stdout, &backend) == DOCA_SUCCESS);
	CHECK(doca_log_backend_level_set(backend, DOCA_LOG_LEVEL_WARNING) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_upper_level_limit(backend, DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_lower_level_immutable(backend) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_upper_level_immutable(backend) == DOCA_SUCCESS);
	CHECK(doca_log_backend_level_set(backend, DOCA_LOG_LEVEL_DEBUG) == DOCA_ERROR_NOT_PERMITTED);
	CHECK(doca_log_backend_set_upper_level_limit(backend, DOCA_LOG_LEVEL_CRIT) == DOCA_ERROR_NOT_PERMITTED);
	CHECK(doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG) == DOCA_SUCCESS);
	all_levels();
	CHECK(doca_log_backend_level_set(NULL, DOCA_LOG_LEVEL_DEBUG) == DOCA_ERROR_INVALID_VALUE);
}

static void test_immutable_limits_of_a_backend_do_not_widen(void **state)
{
	const struct child_output *output = in_child(a_backend_with_limits_of_its_own);

	assert_int_equal(count_of(output->out, "at "), 2);
	assert_non_null(strstr(output->out, "at error"));
	assert_non_null(strstr(output->out, "at warning"));
}

static void keep_nothing(char *buffer)
{
	buffer[0] = '\0';
}

static void every_backend(void)
{
	static char buffer[256];
	struct doca_logger_backend *backend = NULL;

	CHECK(doca_log_create_fd_backend(STDOUT_FILENO, &backend) == DOCA_SUCCESS);
	CHECK(doca_log_create_buffer_backend(buffer, sizeof(buffer), keep_nothing, &backend) == DOCA_SUCCESS);
	CHECK(doca_log_create_syslog_backend("bfsim-test", &backend) == DOCA_SUCCESS);
	CHECK(doca_log_create_fd_backend(-1, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_create_file_backend(NULL, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_create_buffer_backend(NULL, 1, keep_nothing, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_create_syslog_backend(NULL, &backend) == DOCA_ERROR_INVALID_VALUE);
}

static void test_backends_are_made_for_each_destination(void **state)
{
	in_child(every_backend);
}

/* ---- rate limits ---- */

static void log_ten_times(void)
{
	int i;

	for (i = 0; i < 10; i++)
		DOCA_LOG_RATE_LIMIT_ERR("round %d", i);
}

/* A bucket of 1000 s: all ten fall into it. */
static void three_in_a_bucket(void)
{
	CHECK(doca_log_create_standard_backend() == DOCA_SUCCESS);
	doca_log_set_bucket_time(1000);
	doca_log_set_quantity(3);
	CHECK(doca_log_get_bucket_time() == 1000);
	CHECK(doca_log_get_quantity() == 3);
	log_ten_times();
	DOCA_LOG_RATE_LIMIT_ERR("another line's bucket");
}

static void test_a_line_beyond_its_quantity_is_dropped(void **state)
{
	const struct child_output *output = in_child(three_in_a_bucket);

	assert_int_equal(count_of(output->err, "]: round "), 3);
	assert_non_null(strstr(output->err, "]: round 2\n"));
	assert_int_equal(count_of(output->err, "]: another line's bucket\n"), 1);
}

/* One record of ten is shown. After the time of the bucket, the log reports nine dropped ones. */
static void a_bucket_that_ends(void)
{
	int bucket;

	CHECK(doca_log_create_standard_backend() == DOCA_SUCCESS);
	CHECK(doca_log_rate_bucket_register(log_source, &bucket) == DOCA_SUCCESS);
	doca_log_set_bucket_time(1000);
	doca_log_set_quantity(1);
	for (int i = 0; i < 10; i++)
		CHECK(doca_log_rate_limit(DOCA_LOG_LEVEL_ERROR, log_source, 5, bucket, "round %d", i) == DOCA_SUCCESS);
	doca_log_set_bucket_time(0);
	CHECK(doca_log_rate_limit(DOCA_LOG_LEVEL_ERROR, log_source, 5, bucket, "later") == DOCA_SUCCESS);
}

static void test_records_that_were_dropped_are_counted(void **state)
{
	const struct child_output *output = in_child(a_bucket_that_ends);

	assert_int_equal(count_of(output->err, "]: round "), 1);
	assert_non_null(strstr(output->err, "[OLD::WAYS:5]: 9 records of this line were dropped\n"));
	assert_non_null(strstr(output->err, "[OLD::WAYS:5]: later\n"));
}

static void buckets_that_are_none(void)
{
	int bucket = -5;

	CHECK(doca_log_rate_bucket_register(12345, &bucket) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_rate_bucket_register(log_source, NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(bucket == -5);
	CHECK(doca_log_rate_limit(DOCA_LOG_LEVEL_ERROR, log_source, 1, 12345, "no") == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_rate_limit(DOCA_LOG_LEVEL_ERROR, log_source, 1, -1, "no") == DOCA_ERROR_INVALID_VALUE);
}

static void test_wrong_buckets_are_refused(void **state)
{
	in_child(buckets_that_are_none);
}

/* ---- errors and versions ---- */

static void test_errors_have_names_and_texts(void **state)
{
	assert_string_equal(doca_get_error_name(DOCA_SUCCESS), "DOCA_SUCCESS");
	assert_string_equal(doca_get_error_name(DOCA_ERROR_IN_PROGRESS), "DOCA_ERROR_IN_PROGRESS");
	assert_string_not_equal(doca_get_error_string(DOCA_ERROR_AGAIN), doca_get_error_string(DOCA_ERROR_FULL));
	assert_non_null(doca_get_error_name((doca_error_t)INT_MAX));
	assert_non_null(doca_get_error_string((doca_error_t)INT_MAX));
}

static void test_library_and_headers_are_of_one_release(void **state)
{
	assert_string_equal(doca_version_runtime(), "2.2.0080");
	assert_string_equal(doca_version_runtime(), doca_version());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_names_level_source_and_line_but_no_function),
		cmocka_unit_test(test_wrong_levels_and_sources_are_refused),
		cmocka_unit_test(test_functions_have_this_generations_names),
		cmocka_unit_test(test_records_go_to_standard_error_until_a_backend_is_made),
		cmocka_unit_test(test_global_limits_leave_the_levels_between_them),
		cmocka_unit_test(test_immutable_limits_of_a_backend_do_not_widen),
		cmocka_unit_test(test_backends_are_made_for_each_destination),
		cmocka_unit_test(test_a_line_beyond_its_quantity_is_dropped),
		cmocka_unit_test(test_records_that_were_dropped_are_counted),
		cmocka_unit_test(test_wrong_buckets_are_refused),
		cmocka_unit_test(test_errors_have_names_and_texts),
		cmocka_unit_test(test_library_and_headers_are_of_one_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
