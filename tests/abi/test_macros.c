/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/abi/test_macros.c - the macros of the public headers, without any
 * library: this program replaces libdoca_common. It is built as C and,
 * through test_macros.cpp, as C++.
 */
#define DOCA_ALLOW_EXPERIMENTAL_API

#include <doca_common_defines.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_version.h>

#include "test_macros_trace.h"
#include "test_macros_common.h"

/* Of the last record. */
static const char *record_fname, *record_func;

doca_error_t doca_log_register_source(const char *source_name, int *source)
{
	return add_source(source_name, source);
}

doca_error_t doca_log_unregister_source(int source)
{
	return remove_source(source);
}

doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format,
		      ...)
{
	va_list args;

	record.count++;
	record.level = level;
	record.source = source;
	record_fname = fname;
	record.line = line;
	record_func = func;
	va_start(args, format);
	vsnprintf(record.text, sizeof(record.text), format, args);
	va_end(args);
	return DOCA_SUCCESS;
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
	assert_string_equal(record_fname, __FILE__);
	assert_int_equal(record.line, line);
	assert_string_equal(record_func, __func__);
	assert_string_equal(record.text, "plain");
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
