/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_clock.h: the card's clocks, beside the host's. */
#include <doca_clock.h>

#include "api_util.h"
#include "dma_util.h"

#define NS_PER_S UINT64_C(1000000000)

/* unreachable: doca_clock_cap_nic_dpa_timer_is_supported DOCA_ERROR_DRIVER: a simulated card has no driver that could fail */
/* unreachable: doca_clock_cap_nic_free_running_is_supported DOCA_ERROR_DRIVER: a simulated card has no driver that could fail */
/* unreachable: doca_clock_cap_nic_real_time_is_supported DOCA_ERROR_DRIVER: a simulated card has no driver that could fail */
/* unreachable: doca_clock_cap_nic_free_running_is_supported DOCA_ERROR_NOT_SUPPORTED: each simulated card has that clock */
/* unreachable: doca_clock_cap_nic_real_time_is_supported DOCA_ERROR_NOT_SUPPORTED: each simulated card has that clock */
/* unreachable: doca_clock_create DOCA_ERROR_DRIVER: a simulated card has no driver that could fail */
/* unreachable: doca_clock_create DOCA_ERROR_NOT_SUPPORTED: each simulated card has clocks */
/* unreachable: doca_clock_get_timestamp DOCA_ERROR_DRIVER: a simulated card has no driver that could fail */
/* unreachable: doca_clock_get_timestamp DOCA_ERROR_OPERATING_SYSTEM: a process that could open the device may read
 * its clock */
/* unreachable: doca_clock_get_crosstimestamp DOCA_ERROR_DRIVER: a simulated card has no driver that could fail */
/* unreachable: doca_clock_get_crosstimestamp DOCA_ERROR_OPERATING_SYSTEM: a process that could open the device may
 * read its clock */

static const uint64_t card_clocks[] = { DOCA_CLOCK_NIC_FREE_RUNNING, DOCA_CLOCK_NIC_REAL_TIME };
static const uint64_t host_clocks[] = { DOCA_CLOCK_HOST_COUNTER_CYCLES, DOCA_CLOCK_HOST_REAL_TIME,
					DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_HOST_MONOTONIC_RAW };

struct fixture {
	struct doca_dev *dev;
	struct doca_clock *clock;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture.dev = rig_open_dev(0);
	MUST(doca_clock_create(fixture.dev, &fixture.clock));
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	MUST(doca_clock_destroy(fixture->clock));
	MUST(doca_dev_close(fixture->dev));
	return 0;
}

static uint64_t read_clock(const struct fixture *fixture, uint64_t type)
{
	union doca_clock_timespec_t now;

	MUST(doca_clock_get_timestamp(fixture->clock, type, &now));
	if (type == DOCA_CLOCK_HOST_COUNTER_CYCLES)
		return now.counter;
	assert_in_range(now.ts.tv_nsec, 0, NS_PER_S - 1);
	return (uint64_t)now.ts.tv_sec * NS_PER_S + (uint64_t)now.ts.tv_nsec;
}

static uint64_t system_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- capabilities ---- */

static void test_card_has_two_clocks_and_a_dpa_timer(void **state)
{
	struct doca_devinfo *devinfo = doca_dev_as_devinfo(((struct fixture *)*state)->dev);

	assert_ok(doca_clock_cap_nic_free_running_is_supported(devinfo));
	assert_ok(doca_clock_cap_nic_real_time_is_supported(devinfo));
	assert_ok(doca_clock_cap_nic_dpa_timer_is_supported(devinfo));
}

static void test_capabilities_of_nothing_are_refused(void **state)
{
	/* provokes: doca_clock_cap_nic_free_running_is_supported DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_clock_cap_nic_free_running_is_supported(NULL));
	/* provokes: doca_clock_cap_nic_real_time_is_supported DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_clock_cap_nic_real_time_is_supported(NULL));
	/* provokes: doca_clock_cap_nic_dpa_timer_is_supported DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_clock_cap_nic_dpa_timer_is_supported(NULL));
}

/* ---- reading ---- */

static void test_clocks_never_go_back(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(card_clocks); i++) {
		uint64_t first = read_clock(*state, card_clocks[i]);

		assert_true(read_clock(*state, card_clocks[i]) >= first);
	}
	assert_true(read_clock(*state, DOCA_CLOCK_HOST_COUNTER_CYCLES) > 0);
}

/* The free-running clock started with the card, which this program has to itself. */
static void test_free_running_clock_started_with_the_card(void **state)
{
	assert_true(read_clock(*state, DOCA_CLOCK_NIC_FREE_RUNNING) < 3600 * NS_PER_S);
}

static void test_real_time_and_host_clocks_are_the_machines(void **state)
{
	static const struct {
		uint64_t type;
		clockid_t id;
	} pairs[] = { { DOCA_CLOCK_NIC_REAL_TIME, CLOCK_REALTIME },
		      { DOCA_CLOCK_NIC_DPA_TIMER, CLOCK_REALTIME },
		      { DOCA_CLOCK_HOST_REAL_TIME, CLOCK_REALTIME },
		      { DOCA_CLOCK_HOST_MONOTONIC, CLOCK_MONOTONIC },
		      { DOCA_CLOCK_HOST_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW } };

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		uint64_t before = system_ns(pairs[i].id), between = read_clock(*state, pairs[i].type);

		assert_in_range(between, before, system_ns(pairs[i].id));
	}
}

static void test_unknown_clock_is_not_supported(void **state)
{
	struct fixture *fixture = *state;
	union doca_clock_timespec_t now;

	/* provokes: doca_clock_get_timestamp DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_clock_get_timestamp(fixture->clock, 0, &now), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_clock_get_timestamp(fixture->clock, UINT64_MAX, &now), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(
		doca_clock_get_timestamp(fixture->clock, DOCA_CLOCK_NIC_FREE_RUNNING | DOCA_CLOCK_NIC_REAL_TIME, &now),
		DOCA_ERROR_NOT_SUPPORTED);
}

static void test_reading_without_a_clock_or_a_place_is_refused(void **state)
{
	struct fixture *fixture = *state;
	union doca_clock_timespec_t now;

	/* provokes: doca_clock_get_timestamp DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_clock_get_timestamp(NULL, DOCA_CLOCK_NIC_REAL_TIME, &now));
	assert_invalid(doca_clock_get_timestamp((struct doca_clock *)fixture->dev, DOCA_CLOCK_NIC_REAL_TIME, &now));
	assert_invalid(doca_clock_get_timestamp(fixture->clock, DOCA_CLOCK_NIC_REAL_TIME, NULL));
}

/* ---- two clocks at a time ---- */

/* The reading lies between two readings of the host's clock. */
static void test_host_and_card_are_read_at_one_moment(void **state)
{
	struct fixture *fixture = *state;
	union doca_clock_timespec_t host, card;
	uint64_t margin, before, after, at;

	before = system_ns(CLOCK_MONOTONIC);
	MUST(doca_clock_get_crosstimestamp(fixture->clock, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_NIC_FREE_RUNNING,
					   &host, &card, &margin));
	after = system_ns(CLOCK_MONOTONIC);
	at = (uint64_t)host.ts.tv_sec * NS_PER_S + (uint64_t)host.ts.tv_nsec;
	assert_in_range(at, before, after);
	assert_true(margin <= after - before);
}

static void test_any_clock_is_read_with_one_of_the_cards(void **state)
{
	struct fixture *fixture = *state;
	union doca_clock_timespec_t primary, card;
	uint64_t margin;

	for (size_t i = 0; i < ARRAY_LEN(card_clocks); i++) {
		for (size_t j = 0; j < ARRAY_LEN(host_clocks); j++)
			assert_ok(doca_clock_get_crosstimestamp(fixture->clock, host_clocks[j], card_clocks[i],
								&primary, &card, &margin));
		assert_ok(doca_clock_get_crosstimestamp(fixture->clock, card_clocks[i], card_clocks[i], &primary, &card,
							&margin));
		assert_int_equal(margin, 0);
		assert_memory_equal(&primary, &card, sizeof(card));
	}
}

static void test_second_clock_must_be_the_cards(void **state)
{
	struct fixture *fixture = *state;
	union doca_clock_timespec_t primary, card;
	uint64_t margin;

	/* provokes: doca_clock_get_crosstimestamp DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_clock_get_crosstimestamp(fixture->clock, DOCA_CLOCK_NIC_REAL_TIME, DOCA_CLOCK_HOST_REAL_TIME,
						  &primary, &card, &margin),
		    DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_clock_get_crosstimestamp(fixture->clock, DOCA_CLOCK_NIC_REAL_TIME, DOCA_CLOCK_NIC_DPA_TIMER,
						&primary, &card, &margin));
	assert_doca(
		doca_clock_get_crosstimestamp(fixture->clock, 0x20, DOCA_CLOCK_NIC_REAL_TIME, &primary, &card, &margin),
		DOCA_ERROR_NOT_SUPPORTED);
}

static void test_two_clocks_need_all_places(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t host = DOCA_CLOCK_HOST_REAL_TIME, nic = DOCA_CLOCK_NIC_REAL_TIME;
	union doca_clock_timespec_t a, b;
	uint64_t margin;

	/* provokes: doca_clock_get_crosstimestamp DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_clock_get_crosstimestamp(NULL, host, nic, &a, &b, &margin));
	assert_invalid(doca_clock_get_crosstimestamp(fixture->clock, host, nic, NULL, &b, &margin));
	assert_invalid(doca_clock_get_crosstimestamp(fixture->clock, host, nic, &a, NULL, &margin));
	assert_invalid(doca_clock_get_crosstimestamp(fixture->clock, host, nic, &a, &b, NULL));
}

/* ---- life ---- */

static void test_device_stays_open_while_its_clock_is_there(void **state)
{
	struct fixture *fixture = *state;

	assert_doca(doca_dev_close(fixture->dev), DOCA_ERROR_IN_USE);
}

static void test_clock_of_nothing_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct doca_clock *clock = NULL;

	/* provokes: doca_clock_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_clock_create(NULL, &clock));
	assert_invalid(doca_clock_create((struct doca_dev *)fixture->clock, &clock));
	assert_invalid(doca_clock_create(fixture->dev, NULL));
	assert_null(clock);
}

static void test_stale_clock_is_refused(void **state)
{
	struct fixture *fixture = *state;
	union doca_clock_timespec_t now;
	struct doca_clock *clock;

	MUST(doca_clock_create(fixture->dev, &clock));
	MUST(doca_clock_destroy(clock));
	/* provokes: doca_clock_destroy DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_clock_destroy(clock));
	assert_invalid(doca_clock_destroy(NULL));
	assert_invalid(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_REAL_TIME, &now));
}

static struct doca_dev *short_of_memory;
static struct doca_clock *made;

static doca_error_t make_clock(void)
{
	return doca_clock_create(short_of_memory, &made);
}

/* The first clock of the process, so that it needs new memory. */
static void test_clock_without_memory_is_refused(void **state)
{
	/* provokes: doca_clock_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(make_clock, NULL);
	MUST(doca_clock_destroy(made));
}

static int open_short_of_memory(void **state)
{
	short_of_memory = rig_open_dev(0);
	return 0;
}

/* Runs also where the test was skipped. */
static int close_short_of_memory(void **state)
{
	MUST(doca_dev_close(short_of_memory));
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_clock_without_memory_is_refused, open_short_of_memory,
						close_short_of_memory),
		TEST(card_has_two_clocks_and_a_dpa_timer),
		TEST(capabilities_of_nothing_are_refused),
		TEST(clocks_never_go_back),
		TEST(free_running_clock_started_with_the_card),
		TEST(real_time_and_host_clocks_are_the_machines),
		TEST(unknown_clock_is_not_supported),
		TEST(reading_without_a_clock_or_a_place_is_refused),
		TEST(host_and_card_are_read_at_one_moment),
		TEST(any_clock_is_read_with_one_of_the_cards),
		TEST(second_clock_must_be_the_cards),
		TEST(two_clocks_need_all_places),
		TEST(device_stays_open_while_its_clock_is_there),
		TEST(clock_of_nothing_is_refused),
		TEST(stale_clock_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
