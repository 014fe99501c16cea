/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/abi/test_macros.c - the macros of the public headers, without any
 * library: this program replaces libdoca_common. It is built as C and,
 * through test_macros.cpp, as C++.
 */
#define DOCA_ALLOW_EXPERIMENTAL_API

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <doca_common_defines.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_version.h>

#ifdef __cplusplus
extern "C" { /* cmocka.h has no extern "C" */
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

#include "test_macros_trace.h"

DOCA_LOG_REGISTER(ABI::MACROS);

#define MAX_SOURCES 4

static struct {
	char name[MAX_SOURCES][32];
	int registered;
	int unregistered;
} sources;

static struct {
	int count;
	uint32_t level;
	int source;
	const char *fname;
	int line;
	const char *func;
	char text[64];
} record;

doca_error_t doca_log_register_source(const char *source_name, int *source)
{
	if (sources.registered == MAX_SOURCES)
		return DOCA_ERROR_FULL;
	snprintf(sources.name[sources.registered], sizeof(sources.name[0]), "%s", source_name);
	*source = 100 + sources.registered++;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_unregister_source(int source)
{
	if (source >= 100 && source < 100 + sources.registered)
		sources.unregistered++;
	return DOCA_SUCCESS;
}

doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format,
		      ...)
{
	va_list args;

	record.count++;
	record.level = level;
	record.source = source;
	record.fname = fname;
	record.line = line;
	record.func = func;
	va_start(args, format);
	vsnprintf(record.text, sizeof(record.text), format, args);
	va_end(args);
	return DOCA_SUCCESS;
}

/* Runs after the destructors of DOCA_LOG_REGISTER, which have no priority. */
static void __attribute__((destructor(101))) every_source_is_unregistered_at_exit(void)
{
	if (sources.unregistered != sources.registered) {
		fprintf(stderr, "%d sources registered, %d unregistered\n", sources.registered, sources.unregistered);
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

static void test_record_without_arguments_names_its_place(void **state)
{
	(void)state;
	record.count = 0;
	int line = __LINE__ + 1;
	DOCA_LOG_INFO("plain");

	assert_int_equal(record.count, 1);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_INFO);
	assert_int_equal(record.source, log_source);
	assert_string_equal(record.fname, __FILE__);
	assert_int_equal(record.line, line);
	assert_string_equal(record.func, __func__);
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

static void test_trace_not_allowed_evaluates_nothing(void **state)
{
	int evaluated = 0;

	(void)state;
	record.count = 0;
	DOCA_LOG_TRC("%d", ++evaluated);
	assert_int_equal(record.count, 0);
	assert_int_equal(evaluated, 0);
}

static void test_trace_allowed_logs(void **state)
{
	(void)state;
	record.count = 0;
	trace_file_log(7);
	assert_int_equal(record.count, 1);
	assert_int_equal(record.level, DOCA_LOG_LEVEL_TRACE);
	assert_string_equal(source_name(record.source), "ABI::TRACE");
	assert_string_equal(record.text, "trace 7");
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

static void test_branch_hints_keep_the_value(void **state)
{
	(void)state;
	assert_int_equal(doca_likely(4), 1);
	assert_int_equal(doca_likely(0), 0);
	assert_int_equal(doca_unlikely(4), 1);
	assert_int_equal(doca_unlikely(0), 0);
}

/* 3.0.58: 3 << 24 is 50331648; the official scale adds 58000, the exact one 58. */
static void test_versions_order_as_releases_do(void **state)
{
	(void)state;
	assert_string_equal(DOCA_VERSION_STRING, "3.0.0058");
	assert_string_equal(doca_version(), DOCA_VERSION_STRING);
	assert_int_equal(DOCA_VERSION_EXACT, 50331648 + 58);
	assert_int_equal(DOCA_VERSION_OFFICIAL, 50331648 + 58000);
	assert_int_equal(DOCA_VERSION_CALC_EXACT(2, 10, 87), 33554432 + 655360 + 87);
	assert_int_equal(DOCA_VERSION_CALC(2, 10, 87), (33554432 + 655360) | 87000);
	assert_true(DOCA_VERSION_EQ_CURRENT(3, 0, 58));
	assert_false(DOCA_VERSION_EQ_CURRENT(3, 0, 57));
	assert_true(DOCA_VERSION_LTE_CURRENT(3, 0, 58));
	assert_true(DOCA_VERSION_LTE_CURRENT(2, 10, 87));
	assert_false(DOCA_VERSION_LTE_CURRENT(3, 0, 59));
	assert_false(DOCA_VERSION_LTE_CURRENT(3, 1, 0));
}

struct versioned {
	DOCA_STRUCT_START;
	int value;
};

static void test_structure_constructor_sets_the_version_alone(void **state)
{
	struct versioned obj;

	(void)state;
	memset(&obj, 0xff, sizeof(obj));
	DOCA_STRUCT_CTOR(obj);
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&obj), DOCA_VERSION_EXACT);
	assert_int_equal(obj.value, -1);
	memset(&obj, 0xff, sizeof(obj));
	DOCA_STRUCT_PTR_CTOR(&obj);
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&obj), DOCA_VERSION_EXACT);
	assert_int_equal(obj.value, -1);
}

static void test_structure_clearing_constructor_zeroes_the_rest(void **state)
{
	struct versioned obj;

	(void)state;
	memset(&obj, 0xff, sizeof(obj));
	DOCA_STRUCT_MEMSET_CTOR(obj);
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&obj), DOCA_VERSION_EXACT);
	assert_int_equal(obj.value, 0);
	memset(&obj, 0xff, sizeof(obj));
	DOCA_STRUCT_PTR_MEMSET_CTOR(&obj);
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&obj), DOCA_VERSION_EXACT);
	assert_int_equal(obj.value, 0);
}

#ifndef __cplusplus /* designated initialisers */
static void test_structure_definition_starts_with_the_version(void **state)
{
	DOCA_STRUCT_DEF(versioned, defined);
	struct versioned listed = { DOCA_STRUCT_CTOR_LIST_START, .value = 5 };

	(void)state;
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&defined), DOCA_VERSION_EXACT);
	assert_int_equal(defined.value, 0);
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&listed), DOCA_VERSION_EXACT);
	assert_int_equal(listed.value, 5);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources_with_colons_are_registered_before_main),
		cmocka_unit_test(test_record_without_arguments_names_its_place),
		cmocka_unit_test(test_each_macro_logs_at_its_level),
		cmocka_unit_test(test_trace_not_allowed_evaluates_nothing),
		cmocka_unit_test(test_trace_allowed_logs),
		cmocka_unit_test(test_first_error_is_kept_and_later_ones_dropped),
		cmocka_unit_test(test_branch_hints_keep_the_value),
		cmocka_unit_test(test_versions_order_as_releases_do),
		cmocka_unit_test(test_structure_constructor_sets_the_version_alone),
		cmocka_unit_test(test_structure_clearing_constructor_zeroes_the_rest),
#ifndef __cplusplus
		cmocka_unit_test(test_structure_definition_starts_with_the_version),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
