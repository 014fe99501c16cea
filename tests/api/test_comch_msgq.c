/* SPDX-License-Identifier: BSD-3-Clause */
/* MsgQs without a DPA context: they are made, configured within the device's limits and destroyed; without a direction none
 * starts. test_dpa_msgq.c has those that do. */
#include "api_util.h"

#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>

static struct doca_dev *dev;

/* A new MsgQ for each test. */
static int setup(void **state)
{
	struct doca_comch_msgq *msgq;

	assert_ok(doca_comch_msgq_create(dev, &msgq));
	*state = msgq;
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_comch_msgq_destroy(*state));
	return 0;
}

/* Some object that is no DPA context. */
static struct doca_dpa *some_dpa(void)
{
	return (struct doca_dpa *)dev;
}

/* ---- life ---- */

static struct doca_comch_msgq *made;

static doca_error_t make(void)
{
	return doca_comch_msgq_create(dev, &made);
}

static void test_create_without_memory_fails(void **state)
{
	api_fail_each_allocation(make, NULL);
	assert_ok(doca_comch_msgq_destroy(made));
}

static void test_create_needs_a_device_and_a_place(void **state)
{
	struct doca_comch_msgq *msgq = NULL;

	assert_invalid(doca_comch_msgq_create(NULL, &msgq));
	assert_invalid(doca_comch_msgq_create((struct doca_dev *)doca_dev_as_devinfo(dev), &msgq));
	assert_invalid(doca_comch_msgq_create(dev, NULL));
	assert_null(msgq);
}

static void test_msgq_holds_its_device(void **state)
{
	struct doca_comch_msgq *msgq;

	assert_ok(doca_comch_msgq_create(dev, &msgq));
	assert_doca(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_ok(doca_comch_msgq_destroy(msgq));
	assert_ok(doca_dev_close(dev));
	dev = api_open("03:00.0");
}

/* ---- without a direction ---- */

static void test_direction_needs_a_dpa(void **state)
{
	assert_invalid(doca_comch_msgq_set_dpa_consumer(*state, NULL));
	assert_invalid(doca_comch_msgq_set_dpa_producer(*state, NULL));
	assert_invalid(doca_comch_msgq_set_dpa_consumer(*state, some_dpa()));
	assert_invalid(doca_comch_msgq_set_dpa_producer(*state, some_dpa()));
}

static void test_msgq_without_direction_does_not_start(void **state)
{
	assert_ok(doca_comch_msgq_set_max_num_consumers(*state, 1));
	assert_ok(doca_comch_msgq_set_max_num_producers(*state, 1));
	assert_doca(doca_comch_msgq_start(*state), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_msgq_set_max_num_consumers(*state, 2)); /* still stopped */
}

/* A refused setter sets no direction. */
static void test_refused_direction_does_not_count(void **state)
{
	assert_invalid(doca_comch_msgq_set_dpa_consumer(*state, some_dpa()));
	assert_doca(doca_comch_msgq_start(*state), DOCA_ERROR_BAD_STATE);
}

static void test_stop_of_a_stopped_msgq_is_fine(void **state)
{
	assert_ok(doca_comch_msgq_stop(*state));
	assert_ok(doca_comch_msgq_stop(*state));
}

static void test_stopped_msgq_makes_neither_consumers_nor_producers(void **state)
{
	struct doca_comch_consumer *consumer = NULL;
	struct doca_comch_producer *producer = NULL;

	assert_doca(doca_comch_msgq_consumer_create(*state, &consumer), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_comch_msgq_producer_create(*state, &producer), DOCA_ERROR_BAD_STATE);
	assert_invalid(doca_comch_msgq_consumer_create(*state, NULL));
	assert_invalid(doca_comch_msgq_producer_create(*state, NULL));
	assert_null(consumer);
	assert_null(producer);
}

/* ---- counts ---- */

static void test_counts_go_from_1_to_the_devices_limit(void **state)
{
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(dev);
	uint32_t consumers, producers;

	assert_ok(doca_comch_consumer_cap_get_max_consumers(devinfo, &consumers));
	assert_ok(doca_comch_producer_cap_get_max_producers(devinfo, &producers));
	assert_ok(doca_comch_msgq_set_max_num_consumers(*state, 1));
	assert_ok(doca_comch_msgq_set_max_num_producers(*state, 1));
	assert_ok(doca_comch_msgq_set_max_num_consumers(*state, consumers));
	assert_ok(doca_comch_msgq_set_max_num_producers(*state, producers));
	assert_invalid(doca_comch_msgq_set_max_num_consumers(*state, 0));
	assert_invalid(doca_comch_msgq_set_max_num_producers(*state, 0));
	assert_invalid(doca_comch_msgq_set_max_num_consumers(*state, consumers + 1));
	assert_invalid(doca_comch_msgq_set_max_num_producers(*state, producers + 1));
}

/* ---- handles that are not ---- */

static void refuses_every_call(struct doca_comch_msgq *msgq)
{
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;

	assert_invalid(doca_comch_msgq_destroy(msgq));
	assert_invalid(doca_comch_msgq_set_dpa_consumer(msgq, some_dpa()));
	assert_invalid(doca_comch_msgq_set_dpa_producer(msgq, some_dpa()));
	assert_invalid(doca_comch_msgq_set_max_num_consumers(msgq, 1));
	assert_invalid(doca_comch_msgq_set_max_num_producers(msgq, 1));
	assert_invalid(doca_comch_msgq_start(msgq));
	assert_invalid(doca_comch_msgq_stop(msgq));
	assert_invalid(doca_comch_msgq_consumer_create(msgq, &consumer));
	assert_invalid(doca_comch_msgq_producer_create(msgq, &producer));
}

static void test_what_is_no_live_msgq_is_refused(void **state)
{
	struct doca_comch_msgq *destroyed;

	assert_ok(doca_comch_msgq_create(dev, &destroyed));
	assert_ok(doca_comch_msgq_destroy(destroyed));
	refuses_every_call(NULL);
	refuses_every_call(destroyed);
	refuses_every_call((struct doca_comch_msgq *)dev);
}

#define WITH_MSGQ(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_create_without_memory_fails), /* first: objects come from pools */
	cmocka_unit_test(test_create_needs_a_device_and_a_place),
	cmocka_unit_test(test_msgq_holds_its_device),
	WITH_MSGQ(test_direction_needs_a_dpa),
	WITH_MSGQ(test_msgq_without_direction_does_not_start),
	WITH_MSGQ(test_refused_direction_does_not_count),
	WITH_MSGQ(test_stop_of_a_stopped_msgq_is_fine),
	WITH_MSGQ(test_stopped_msgq_makes_neither_consumers_nor_producers),
	WITH_MSGQ(test_counts_go_from_1_to_the_devices_limit),
	cmocka_unit_test(test_what_is_no_live_msgq_is_refused),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", API_WITH(tests), .dev = &dev });
}
