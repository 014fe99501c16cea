/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's objects for the DPA, where no DPA context is: completion contexts are made, configured and destroyed, but don't
 * start. test_dpa_msgq.c has those that do. */
#include "api_util.h"

#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#define LARGEST_POWER (UINT32_C(1) << 31)

/* A new completion context for each test. */
static int setup(void **state)
{
	struct doca_comch_consumer_completion *completion;

	assert_ok(doca_comch_consumer_completion_create(&completion));
	*state = completion;
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_comch_consumer_completion_destroy(*state));
	return 0;
}

/* An object of another kind than the function expects. */
static void *other_object(void)
{
	return api_devinfo_nth(0);
}

/* ---- completion contexts ---- */

static struct doca_comch_consumer_completion *made;

static doca_error_t make(void)
{
	return doca_comch_consumer_completion_create(&made);
}

static void test_create_without_memory_fails(void **state)
{
	api_fail_each_allocation(make, NULL);
	assert_ok(doca_comch_consumer_completion_destroy(made));
}

static void test_create_needs_a_place(void **state)
{
	assert_invalid(doca_comch_consumer_completion_create(NULL));
}

static uint32_t consumers_after(struct doca_comch_consumer_completion *completion, uint32_t wanted)
{
	uint32_t got;

	assert_ok(doca_comch_consumer_completion_set_max_num_consumers(completion, wanted));
	assert_ok(doca_comch_consumer_completion_get_max_num_consumers(completion, &got));
	return got;
}

static uint32_t receives_after(struct doca_comch_consumer_completion *completion, uint32_t wanted)
{
	uint32_t got;

	assert_ok(doca_comch_consumer_completion_set_max_num_recv(completion, wanted));
	assert_ok(doca_comch_consumer_completion_get_max_num_recv(completion, &got));
	return got;
}

static void test_counts_are_rounded_up_to_a_power_of_two(void **state)
{
	static const uint32_t rounded[][2] = {
		{ 1, 1 },
		{ 2, 2 },
		{ 3, 4 },
		{ 512, 512 },
		{ 513, 1024 },
		{ LARGEST_POWER, LARGEST_POWER },
		{ LARGEST_POWER / 2 + 1, LARGEST_POWER },
	};

	for (size_t i = 0; i < API_COUNT(rounded); i++) {
		assert_int_equal(consumers_after(*state, rounded[i][0]), rounded[i][1]);
		assert_int_equal(receives_after(*state, rounded[i][0]), rounded[i][1]);
	}
}

static void test_counts_that_have_no_power_of_two_change_nothing(void **state)
{
	static const uint32_t wrong[] = { 0, LARGEST_POWER + 1, UINT32_MAX };
	uint32_t consumers, receives;

	assert_int_equal(consumers_after(*state, 4), 4);
	assert_int_equal(receives_after(*state, 8), 8);
	for (size_t i = 0; i < API_COUNT(wrong); i++) {
		assert_invalid(doca_comch_consumer_completion_set_max_num_consumers(*state, wrong[i]));
		assert_invalid(doca_comch_consumer_completion_set_max_num_recv(*state, wrong[i]));
	}
	assert_ok(doca_comch_consumer_completion_get_max_num_consumers(*state, &consumers));
	assert_ok(doca_comch_consumer_completion_get_max_num_recv(*state, &receives));
	assert_int_equal(consumers, 4);
	assert_int_equal(receives, 8);
}

/* One consumer by default, no receives and no immediate data. */
static void test_new_completion_is_for_one_consumer(void **state)
{
	uint32_t consumers, receives, imm;

	assert_ok(doca_comch_consumer_completion_get_max_num_consumers(*state, &consumers));
	assert_ok(doca_comch_consumer_completion_get_max_num_recv(*state, &receives));
	assert_ok(doca_comch_consumer_completion_get_imm_data_len(*state, &imm));
	assert_int_equal(consumers, 1);
	assert_int_equal(receives, 0);
	assert_int_equal(imm, 0);
}

/* The DPA's messages have up to 64 bytes. */
static void test_immediate_data_has_up_to_64_bytes(void **state)
{
	uint32_t len;

	assert_ok(doca_comch_consumer_completion_set_imm_data_len(*state, 64));
	/* provokes: doca_comch_consumer_completion_set_imm_data_len DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_comch_consumer_completion_set_imm_data_len(*state, 65));
	assert_ok(doca_comch_consumer_completion_get_imm_data_len(*state, &len));
	assert_int_equal(len, 64);
}

static void test_completion_without_thread_does_not_start(void **state)
{
	doca_dpa_dev_comch_consumer_completion_t handle = 77;

	assert_int_equal(receives_after(*state, 16), 16);
	assert_invalid(doca_comch_consumer_completion_set_dpa_thread(*state, NULL));
	assert_invalid(doca_comch_consumer_completion_set_dpa_thread(*state, other_object()));
	assert_doca(doca_comch_consumer_completion_start(*state), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_comch_consumer_completion_get_dpa_handle(*state, &handle), DOCA_ERROR_BAD_STATE);
	assert_int_equal(handle, 77);
	assert_ok(doca_comch_consumer_completion_stop(*state)); /* stopped already: fine */
	assert_int_equal(receives_after(*state, 32), 32);
}

static void test_getters_need_a_place_to_go(void **state)
{
	assert_invalid(doca_comch_consumer_completion_get_max_num_consumers(*state, NULL));
	assert_invalid(doca_comch_consumer_completion_get_max_num_recv(*state, NULL));
	/* provokes: doca_comch_consumer_completion_get_imm_data_len DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_comch_consumer_completion_get_imm_data_len(*state, NULL));
	assert_invalid(doca_comch_consumer_completion_get_dpa_handle(*state, NULL));
}

static void refuses_every_call(struct doca_comch_consumer_completion *completion)
{
	doca_dpa_dev_comch_consumer_completion_t handle;
	uint32_t value;

	assert_invalid(doca_comch_consumer_completion_destroy(completion));
	assert_invalid(doca_comch_consumer_completion_start(completion));
	assert_invalid(doca_comch_consumer_completion_stop(completion));
	assert_invalid(doca_comch_consumer_completion_set_dpa_thread(completion, other_object()));
	assert_invalid(doca_comch_consumer_completion_get_dpa_handle(completion, &handle));
	assert_invalid(doca_comch_consumer_completion_set_max_num_consumers(completion, 1));
	assert_invalid(doca_comch_consumer_completion_get_max_num_consumers(completion, &value));
	assert_invalid(doca_comch_consumer_completion_set_max_num_recv(completion, 1));
	assert_invalid(doca_comch_consumer_completion_get_max_num_recv(completion, &value));
	assert_invalid(doca_comch_consumer_completion_set_imm_data_len(completion, 1));
	assert_invalid(doca_comch_consumer_completion_get_imm_data_len(completion, &value));
}

static void test_what_is_no_live_completion_is_refused(void **state)
{
	struct doca_comch_consumer_completion *destroyed;

	assert_ok(doca_comch_consumer_completion_create(&destroyed));
	assert_ok(doca_comch_consumer_completion_destroy(destroyed));
	refuses_every_call(NULL);
	refuses_every_call(destroyed);
	refuses_every_call(other_object());
}

/* ---- consumers and producers ---- */

static void consumer_is_refused(struct doca_comch_consumer *consumer, struct doca_comch_consumer_completion *completion)
{
	struct doca_comch_gpu_consumer *gpu_handle = NULL;
	doca_dpa_dev_comch_consumer_t handle = 77;

	assert_invalid(doca_comch_consumer_set_dev_max_num_recv(consumer, 1));
	assert_invalid(doca_comch_consumer_set_dev_num_recv(consumer, 1)); /* its name in 2.7 */
	assert_invalid(doca_comch_consumer_set_completion(consumer, completion, 0));
	/* provokes: doca_comch_consumer_get_dpa_handle DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_comch_consumer_get_dpa_handle(consumer, &handle));
	assert_invalid(doca_comch_consumer_get_gpu_handle(consumer, &gpu_handle));
	assert_null(gpu_handle);
	assert_int_equal(handle, 77);
}

static void producer_is_refused(struct doca_comch_producer *producer)
{
	struct doca_comch_gpu_producer *gpu_handle = NULL;
	doca_dpa_dev_comch_producer_t handle = 77;

	assert_invalid(doca_comch_producer_set_dev_max_num_send(producer, 1));
	assert_invalid(doca_comch_producer_set_dev_num_send(producer, 1)); /* its name in 2.7 */
	assert_invalid(doca_comch_producer_dpa_completion_attach(producer, other_object()));
	/* provokes: doca_comch_producer_get_dpa_handle DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_comch_producer_get_dpa_handle(producer, &handle));
	assert_invalid(doca_comch_producer_get_gpu_handle(producer, &gpu_handle));
	assert_null(gpu_handle);
	assert_int_equal(handle, 77);
}

static void test_what_is_no_consumer_or_producer_is_refused(void **state)
{
	consumer_is_refused(NULL, *state);
	consumer_is_refused(other_object(), *state);
	consumer_is_refused(*state, *state);
	producer_is_refused(NULL);
	producer_is_refused(other_object());
	producer_is_refused(*state);
}

#define WITH_COMPLETION(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_create_without_memory_fails), /* first: objects come from pools */
	cmocka_unit_test(test_create_needs_a_place),
	WITH_COMPLETION(test_new_completion_is_for_one_consumer),
	WITH_COMPLETION(test_counts_are_rounded_up_to_a_power_of_two),
	WITH_COMPLETION(test_counts_that_have_no_power_of_two_change_nothing),
	WITH_COMPLETION(test_immediate_data_has_up_to_64_bytes),
	WITH_COMPLETION(test_completion_without_thread_does_not_start),
	WITH_COMPLETION(test_getters_need_a_place_to_go),
	cmocka_unit_test(test_what_is_no_live_completion_is_refused),
	WITH_COMPLETION(test_what_is_no_consumer_or_producer_is_refused),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", API_WITH(tests) });
}
