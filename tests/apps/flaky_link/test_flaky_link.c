/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the copier's retries: rules make the card fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <bfsim.h>

#include "device.h"
#include "retry.h"

#define LEN 10000

static struct doca_dev *dev;
static struct retry *retry;
static char waits[256]; /* the waits, in us */
static uint8_t src[LEN], dst[LEN];

/* Waiting takes no time in tests. */
static void note_wait(void *arg, uint32_t wait_us)
{
	size_t len = strlen(waits);

	(void)arg;
	snprintf(waits + len, sizeof(waits) - len, "%u ", wait_us);
}

static int setup(void **state)
{
	const struct retry_policy policy = {
		.num_attempts = 4,
		.first_wait_us = 1000,
		.most_wait_us = 3000,
		.deadline_ms = 200,
		.wait = note_wait,
	};

	waits[0] = '\0';
	for (size_t i = 0; i < LEN; i++)
		src[i] = (uint8_t)(i * 7 + 1);
	memset(dst, 0, LEN);
	if (device_open_for_dma(&dev) != DOCA_SUCCESS)
		return -1;
	return retry_create(dev, &policy, &retry) == DOCA_SUCCESS ? 0 : -1;
}

/* With a rule that never hit, the test would prove nothing. */
static int teardown(void **state)
{
	struct bfsim_fault idle;
	int unfired = bfsim_fault_unfired(&idle);

	if (unfired > 0)
		fprintf(stderr, "never hit: %s\n", idle.text);
	bfsim_fault_clear();
	retry_destroy(retry);
	return doca_dev_close(dev) == DOCA_SUCCESS && unfired == 0 ? 0 : -1;
}

static uint32_t inject(const char *rule)
{
	uint32_t id = 0;

	if (bfsim_fault_add(rule, &id) < 0)
		fail_msg("%s", bfsim_error());
	return id;
}

static uint64_t times_fired(uint32_t id)
{
	struct bfsim_fault fault;

	assert_int_equal(bfsim_fault_get(id, &fault), 0);
	return fault.fired;
}

static void test_good_link_needs_one_attempt(void **state)
{
	struct retry_report report;

	assert_int_equal(retry_copy(retry, dst, src, LEN, &report), DOCA_SUCCESS);
	assert_memory_equal(dst, src, LEN);
	assert_int_equal(report.num_attempts, 1);
	assert_string_equal(waits, "");
}

/* Two attempts fail half way; the third copies all. */
static void test_transient_failure_is_survived(void **state)
{
	uint32_t id = inject("dma.memcpy times=2 fail=IO_FAILED moved=50%");
	struct retry_report report;

	assert_int_equal(retry_copy(retry, dst, src, LEN, &report), DOCA_SUCCESS);
	assert_memory_equal(dst, src, LEN);
	assert_int_equal(report.num_attempts, 3);
	assert_int_equal(report.num_late, 0);
	assert_int_equal(times_fired(id), 2);
	assert_string_equal(waits, "1000 2000 ");
}

/* Four attempts and no fifth; waits grow up to their limit. */
static void test_permanent_failure_is_given_up(void **state)
{
	uint32_t id = inject("dma.memcpy fail=IO_FAILED");
	struct retry_report report;

	assert_int_equal(retry_copy(retry, dst, src, LEN, &report), DOCA_ERROR_IO_FAILED);
	assert_int_equal(report.num_attempts, 4);
	assert_int_equal(times_fired(id), 4);
	assert_string_equal(waits, "1000 2000 3000 ");
}

/* An hour late, against a deadline of 200 ms. */
static void test_slow_copy_is_abandoned_and_repeated(void **state)
{
	uint32_t id = inject("dma.memcpy nth=1 delay=3600s");
	struct retry_report report;

	assert_int_equal(retry_copy(retry, dst, src, LEN, &report), DOCA_SUCCESS);
	assert_memory_equal(dst, src, LEN);
	assert_int_equal(report.num_attempts, 2);
	assert_int_equal(report.num_late, 1);
	assert_int_equal(times_fired(id), 1);
}

static void test_copy_that_never_ends_times_out(void **state)
{
	struct retry_report report;

	inject("dma.memcpy hang");
	assert_int_equal(retry_copy(retry, dst, src, LEN, &report), DOCA_ERROR_TIME_OUT);
	assert_int_equal(report.num_late, 4);
}

static void test_full_queue_is_tried_again(void **state)
{
	struct retry_report report;

	inject("dma.memcpy nth=1 refuse=AGAIN");
	assert_int_equal(retry_copy(retry, dst, src, LEN, &report), DOCA_SUCCESS);
	assert_memory_equal(dst, src, LEN);
	assert_int_equal(report.num_attempts, 2);
}

static void test_what_is_not_permitted_is_not_tried_again(void **state)
{
	struct retry_report report;

	inject("dma.memcpy fail=NOT_PERMITTED");
	assert_int_equal(retry_copy(retry, dst, src, LEN, &report), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(report.num_attempts, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_good_link_needs_one_attempt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_transient_failure_is_survived, setup, teardown),
		cmocka_unit_test_setup_teardown(test_permanent_failure_is_given_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slow_copy_is_abandoned_and_repeated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy_that_never_ends_times_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_queue_is_tried_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_not_permitted_is_not_tried_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
