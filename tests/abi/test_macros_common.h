/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/abi/test_macros_common.h - for the tests of both generations' macros: the sources that the program registers, and
 * tests of macros that both generations have. The program includes the public headers and its test_macros_trace*.h first.
 */
#ifndef TESTS_ABI_TEST_MACROS_COMMON_H
#define TESTS_ABI_TEST_MACROS_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" { /* cmocka.h has no extern "C" */
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

DOCA_LOG_REGISTER(ABI::MACROS);

#define MAX_SOURCES 4

static struct {
	char name[MAX_SOURCES][32];
	int registered;
	int destroyed;
} sources;

static doca_error_t add_source(const char *source_name, int *source)
{
	if (sources.registered == MAX_SOURCES)
		return DOCA_ERROR_FULL;
	snprintf(sources.name[sources.registered], sizeof(sources.name[0]), "%s", source_name);
	*source = 100 + sources.registered++;
	return DOCA_SUCCESS;
}

static doca_error_t remove_source(int source)
{
	if (source >= 100 && source < 100 + sources.registered)
		sources.destroyed++;
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

/* The last record that was logged. */
static struct {
	int count;
	uint32_t level;
	int source;
	int line;
	char text[64];
} record;

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

#endif
