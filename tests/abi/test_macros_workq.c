/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/abi/test_macros_workq.c - what the macros and bit-fields of the
 * work-queue generation's headers do, without any library: this program stands in
 * for libdoca_common. It is built as C and, through test_macros_workq.cpp, as C++.
 */
#define DOCA_ALLOW_EXPERIMENTAL_API

#include <doca_error.h>
#include <doca_log.h>
#include <doca_types.h>
#include <doca_version.h>

#include "test_macros_trace.h"
#include "test_macros_common.h"

static int buckets;

enum way { PLAIN, DEVELOPER, RATE_LIMIT };

/* Of the last record. */
static enum way record_way;
static int record_bucket;

doca_error_t doca_log_source_register(const char *source_name, int *source)
{
	return add_source(source_name, source);
}

doca_error_t doca_log_source_destroy(int source)
{
	return remove_source(source);
}

doca_error_t doca_log_rate_bucket_register(int source, int *bucket)
{
	(void)source;
	*bucket = 7 + buckets++;
	return DOCA_SUCCESS;
}

__attribute__((format(printf, 5, 0))) static doca_error_t keep(enum way way, uint32_t level, int source, int line,
							       const char *format, va_list args)
{
	record.count++;
	record_way = way;
	record.level = level;
	record.source = source;
	record.line = line;
	vsnprintf(record.text, sizeof(record.text), format, args);
	return DOCA_SUCCESS;
}

doca_error_t doca_log(uint32_t level, int source, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	keep(PLAIN, level, source, line, format, args);
	va_end(args);
	return DOCA_SUCCESS;
}

doca_error_t doca_log_developer(uint32_t level, int source, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	keep(DEVELOPER, level, source, line, format, args);
	va_end(args);
	return DOCA_SUCCESS;
}

doca_error_t doca_log_rate_limit(uint32_t level, int source, int line, int bucket, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	record_bucket = bucket;
	keep(RATE_LIMIT, level, source, line, format, args);
	va_end(args);
	return DOCA_SUCCESS;
}

static void test_record_without_arguments_names_its_line(void **state)
{
	(void)state;
	record.count = 0;
	int line = __LINE__ + 1;
	DOCA_LOG_INFO("plain");

	assert_int_equal(record.count, 1);
	assert_int_equal(record_way, PLAIN);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_INFO);
	assert_int_equal(record.source, log_source);
	assert_int_equal(record.line, line);
	assert_string_equal(record.text, "plain");
}

static void log_twice_from_one_line(void)
{
	int i;

	for (i = 0; i < 2; i++)
		DOCA_LOG_RATE_LIMIT_ERR("round %d", i);
}

static void test_a_rate_limited_line_has_one_bucket_of_its_own(void **state)
{
	int first;

	(void)state;
	buckets = 0;
	record.count = 0;
	log_twice_from_one_line();
	first = record_bucket;
	assert_int_equal(record.count, 2);
	assert_int_equal(record_way, RATE_LIMIT);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_ERROR);
	assert_string_equal(record.text, "round 1");
	assert_int_equal(buckets, 1);
	DOCA_LOG_RATE_LIMIT(DOCA_LOG_LEVEL_INFO, "elsewhere");
	assert_int_equal(buckets, 2);
	assert_int_not_equal(record_bucket, first);
}

static void test_developers_record_not_allowed_evaluates_nothing(void **state)
{
	int evaluated = 0;

	(void)state;
	record.count = 0;
	DOCA_DLOG_CRIT("%d", ++evaluated);
	DOCA_DLOG(DOCA_LOG_LEVEL_INFO, "%d", ++evaluated);
	assert_int_equal(record.count, 0);
	assert_int_equal(evaluated, 0);
}

static void test_developers_record_allowed_logs(void **state)
{
	(void)state;
	record.count = 0;
	trace_file_log(7);
	assert_int_equal(record.count, 1);
	assert_int_equal(record_way, DEVELOPER);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_WARNING);
	assert_string_equal(source_name(record.source), "ABI::TRACE");
	assert_string_equal(record.text, "developer 7");
}

/* 2.2.80: 2 << 24 is 33554432, 2 << 16 is 131072. */
static void test_versions_order_as_releases_do(void **state)
{
	(void)state;
	assert_string_equal(DOCA_VER_STRING, "2.2.0080");
	assert_string_equal(doca_version(), DOCA_VER_STRING);
	assert_int_equal(DOCA_CURRENT_VERSION_NUM, 33554432 + 131072 + 80);
	assert_int_equal(DOCA_VERSION_NUM(1, 5, 55), 16777216 + 327680 + 55);
	assert_true(DOCA_VERSION_EQ_CURRENT(2, 2, 80));
	assert_false(DOCA_VERSION_EQ_CURRENT(2, 2, 79));
	assert_true(DOCA_VERSION_LTE_CURRENT(2, 2, 80));
	assert_true(DOCA_VERSION_LTE_CURRENT(1, 5, 55));
	assert_false(DOCA_VERSION_LTE_CURRENT(2, 2, 81));
	assert_false(DOCA_VERSION_LTE_CURRENT(2, 5, 0));
}

/* b1:00.1: bus 0xb1 above 5 bits of device above 3 bits of function. */
static void test_pci_address_has_its_parts_from_the_lowest_bit_up(void **state)
{
	struct doca_pci_bdf bdf;

	(void)state;
	bdf.raw = 0xb101;
	assert_int_equal(bdf.bus, 0xb1);
	assert_int_equal(bdf.device, 0);
	assert_int_equal(bdf.function, 1);
	bdf.device = 31;
	assert_int_equal(bdf.raw, 0xb1f9);
	bdf.function = 7;
	bdf.bus = 0;
	assert_int_equal(bdf.raw, 0x00ff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources_with_colons_are_registered_before_main),
		cmocka_unit_test(test_record_without_arguments_names_its_line),
		cmocka_unit_test(test_each_macro_logs_at_its_level),
		cmocka_unit_test(test_a_rate_limited_line_has_one_bucket_of_its_own),
		cmocka_unit_test(test_developers_record_not_allowed_evaluates_nothing),
		cmocka_unit_test(test_developers_record_allowed_logs),
		cmocka_unit_test(test_first_error_is_kept_and_later_ones_dropped),
		cmocka_unit_test(test_versions_order_as_releases_do),
		cmocka_unit_test(test_pci_address_has_its_parts_from_the_lowest_bit_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
