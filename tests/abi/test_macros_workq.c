/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/abi/test_macros_workq.c - what the macros and bit-fields of the
 * work-queue generation's headers do, without any library: this program stands in
 * for libdoca_common. It is built as C and, through test_macros_workq.cpp, as C++.
 */
#define DOCA_ALLOW_EXPERIMENTAL_API

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <doca_error.h>
#include <doca_log.h>
#include <doca_types.h>
#include <doca_version.h>

#ifdef __cplusplus
extern "C" { /* cmocka.h has no extern "C" */
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

#include "test_macros_trace_workq.h"

DOCA_LOG_REGISTER(ABI::MACROS);

#define MAX_SOURCES 4

static struct {
	char name[MAX_SOURCES][32];
	int registered;
	int destroyed;
} sources;

static int buckets;

enum way { PLAIN, DEVELOPER, RATE_LIMIT };

static struct {
	int count;
	enum way way;
	uint32_t level;
	int source;
	int line;
	int bucket;
	char text[64];
} record;

doca_error_t doca_log_source_register(const char *source_name, int *source)
{
	if (sources.registered == MAX_SOURCES)
		return DOCA_ERROR_FULL;
	snprintf(sources.name[sources.registered], sizeof(sources.name[0]), "%s", source_name);
	*source = 100 + sources.registered++;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_source_destroy(int source)
{
	if (source >= 100 && source < 100 + sources.registered)
		sources.destroyed++;
	return DOCA_SUCCESS;
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
	record.way = way;
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
	record.bucket = bucket;
	keep(RATE_LIMIT, level, source, line, format, args);
	va_end(args);
	return DOCA_SUCCESS;
}

/* Runs after the destructors of DOCA_LOG_REGISTER, which have no priority. */
static void __attribute__((destructor(101))) every_source_is_destroyed_at_exit(void)
{
	if (sources.destroyed != sources.registered) {
		fprintf(stderr, "%d sources registered, %d destroyed\n", sources.registered, sources.destroyed);
		_exit(1);
	}
}

static const char *source_name(int source)
{
	assert_in_range(source, 100, 100 + MAX_SOURCES - 1);
	return sources.name[source - 100];
}

static void test_sources_with_colons_are_registered_before_main(void **state)
{
	(void)state;
	assert_int_equal(sources.registered, 2);
	assert_string_equal(source_name(log_source), "ABI::MACROS");
	assert_string_equal(source_name(trace_file_source()), "ABI::TRACE");
}

static void test_record_without_arguments_names_its_line(void **state)
{
	(void)state;
	record.count = 0;
	int line = __LINE__ + 1;
	DOCA_LOG_INFO("plain");

	assert_int_equal(record.count, 1);
	assert_int_equal(record.way, PLAIN);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_INFO);
	assert_int_equal(record.source, log_source);
	assert_int_equal(record.line, line);
	assert_string_equal(record.text, "plain");
}

static void test_each_macro_logs_at_its_level(void **state)
{
	(void)state;
	DOCA_LOG(DOCA_LOG_LEVEL_CRIT, "%d", 1);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_CRIT);
	assert_string_equal(record.text, "1");
	DOCA_LOG_CRIT("%d", 2);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_CRIT);
	DOCA_LOG_ERR("%d", 3);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_ERROR);
	DOCA_LOG_WARN("%d", 4);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_WARNING);
	DOCA_LOG_DBG("%d", 5);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_DEBUG);
	assert_string_equal(record.text, "5");
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
	first = record.bucket;
	assert_int_equal(record.count, 2);
	assert_int_equal(record.way, RATE_LIMIT);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_ERROR);
	assert_string_equal(record.text, "round 1");
	assert_int_equal(buckets, 1);
	DOCA_LOG_RATE_LIMIT(DOCA_LOG_LEVEL_INFO, "elsewhere");
	assert_int_equal(buckets, 2);
	assert_int_not_equal(record.bucket, first);
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
	assert_int_equal(record.way, DEVELOPER);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_WARNING);
	assert_string_equal(source_name(record.source), "ABI::TRACE");
	assert_string_equal(record.text, "developer 7");
}

static void test_first_error_is_kept_and_later_ones_dropped(void **state)
{
	doca_error_t result = DOCA_SUCCESS;
	doca_error_t next = DOCA_SUCCESS;

	(void)state;
	DOCA_ERROR_PROPAGATE(result, next);
	assert_false(DOCA_IS_ERROR(result));
	next = DOCA_ERROR_IN_USE;
	DOCA_ERROR_PROPAGATE(result, next);
	next = DOCA_ERROR_NO_MEMORY;
	DOCA_ERROR_PROPAGATE(result, next);
	assert_true(DOCA_IS_ERROR(result));
	assert_int_equal(result, DOCA_ERROR_IN_USE);
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
