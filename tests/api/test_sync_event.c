/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events on their own: life and configuration, reading and changing the
 * value, waiting for it in a thread.
 */
#include "sync_event_util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "asleep.h"

static struct doca_dev *dev;

/* A started event for each test. */
static int setup(void **state)
{
	*state = se_started(dev);
	return 0;
}

static int teardown(void **state)
{
	se_end(*state);
	return 0;
}

#define STARTED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* ---- life ---- */

static struct doca_sync_event *made;

static doca_error_t make(void)
{
	return doca_sync_event_create(&made);
}

static doca_error_t start_made(void)
{
	return doca_sync_event_start(made);
}

/* provokes: doca_sync_event_create DOCA_ERROR_NO_MEMORY */
static void test_create_without_memory_fails(void **state)
{
	api_fail_each_allocation(make, NULL);
	assert_ok(doca_sync_event_add_publisher_location_cpu(made, dev));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(made, dev));
	assert_ok(start_made());
	assert_ok(doca_sync_event_destroy(made));
}

static void test_event_starts_at_zero_each_time(void **state)
{
	struct doca_sync_event *event = *state;

	assert_int_equal(se_value(event), 0);
	assert_ok(doca_sync_event_update_set(event, 77));
	assert_ok(doca_sync_event_stop(event));
	assert_ok(doca_sync_event_start(event));
	assert_int_equal(se_value(event), 0);
}

static void test_start_needs_a_publisher_and_a_subscriber(void **state)
{
	struct doca_sync_event *event;

	assert_ok(doca_sync_event_create(&event));
	assert_doca(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_add_publisher_location_remote_pci(event));
	assert_doca(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_add_subscriber_location_cpu(event, dev));
	assert_ok(doca_sync_event_start(event));
	assert_doca(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	se_end(event);
}

static void test_stopping_a_stopped_event_is_fine(void **state)
{
	struct doca_sync_event *event = se_new(dev);

	assert_ok(doca_sync_event_stop(event));
	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_sync_event_stop(event));
	se_end(event);
}

static void test_started_event_can_be_destroyed(void **state)
{
	struct doca_sync_event *event = se_started(dev);

	assert_ok(doca_sync_event_destroy(event));
	assert_invalid(doca_sync_event_destroy(event)); /* it is gone */
}

static void test_device_of_an_event_stays_open(void **state)
{
	struct doca_dev *second = api_open("03:00.1");
	struct doca_sync_event *event = se_new(second);

	assert_doca(doca_dev_close(second), DOCA_ERROR_IN_USE);
	assert_ok(doca_sync_event_destroy(event));
	assert_ok(doca_dev_close(second));
}

static void test_several_locations_of_a_role_are_fine(void **state)
{
	struct doca_sync_event *event = se_new(dev);

	assert_ok(doca_sync_event_add_publisher_location_cpu(event, dev));
	assert_ok(doca_sync_event_add_publisher_location_remote_pci(event));
	assert_ok(doca_sync_event_add_subscriber_location_remote_pci(event));
	assert_ok(doca_sync_event_start(event));
	se_end(event);
}

static void test_started_event_cannot_be_configured(void **state)
{
	struct doca_sync_event *event = *state;
	uint64_t word = 0;

	assert_doca(doca_sync_event_add_publisher_location_cpu(event, dev), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_add_publisher_location_remote_pci(event), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_add_subscriber_location_cpu(event, dev), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_add_subscriber_location_remote_pci(event), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_sync_event_set_addr DOCA_ERROR_BAD_STATE */
	assert_doca(doca_sync_event_set_addr(event, &word), DOCA_ERROR_BAD_STATE);
	assert_int_equal(se_value(event), 0);
}

static void test_event_used_alone_is_no_context(void **state)
{
	assert_null(doca_sync_event_as_ctx(*state));
	assert_ok(doca_sync_event_stop(*state));
	assert_null(doca_sync_event_as_ctx(*state));
}

static void test_event_used_as_a_context_is_not_started_alone(void **state)
{
	struct doca_sync_event *event = se_new(dev);

	assert_non_null(doca_sync_event_as_ctx(event));
	assert_ptr_equal(doca_sync_event_as_ctx(event), doca_sync_event_as_ctx(event));
	assert_doca(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_stop(event), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_destroy(event));
}

enum event_state { NEW, STARTED, STOPPED, CONTEXT, NUM_STATES };

static struct doca_sync_event *event_in(enum event_state state)
{
	struct doca_sync_event *event = se_new(dev);

	if (state == STARTED || state == STOPPED)
		assert_ok(doca_sync_event_start(event));
	if (state == STOPPED)
		assert_ok(doca_sync_event_stop(event));
	if (state == CONTEXT)
		assert_non_null(doca_sync_event_as_ctx(event));
	return event;
}

/* Only a started event has a value; an event that is a context cannot be started alone any more. */
static void assert_event_is(struct doca_sync_event *event, enum event_state state)
{
	uint64_t value;

	assert_doca(doca_sync_event_get(event, &value), state == STARTED ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_stop(event), state == CONTEXT ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS);
	assert_ok(doca_sync_event_destroy(event));
}

/* Each call in each state: the result, and the state after the call. */
static void test_each_call_in_each_state_of_an_event(void **state)
{
	static const struct {
		doca_error_t start, stop;
		enum event_state started, stopped, as_ctx;
		bool has_ctx;
	} expected[NUM_STATES] = {
		[NEW] = { DOCA_SUCCESS, DOCA_SUCCESS, STARTED, NEW, CONTEXT, true },
		[STARTED] = { DOCA_ERROR_BAD_STATE, DOCA_SUCCESS, STARTED, STOPPED, STARTED, false },
		[STOPPED] = { DOCA_SUCCESS, DOCA_SUCCESS, STARTED, STOPPED, STOPPED, false },
		[CONTEXT] = { DOCA_ERROR_BAD_STATE, DOCA_ERROR_BAD_STATE, CONTEXT, CONTEXT, CONTEXT, true },
	};
	struct doca_sync_event *event;

	for (enum event_state from = NEW; from < NUM_STATES; from++) {
		event = event_in(from);
		assert_doca(doca_sync_event_start(event), expected[from].start);
		assert_event_is(event, expected[from].started);
		event = event_in(from);
		assert_doca(doca_sync_event_stop(event), expected[from].stop);
		assert_event_is(event, expected[from].stopped);
		event = event_in(from);
		assert_int_equal(doca_sync_event_as_ctx(event) != NULL, expected[from].has_ctx);
		assert_event_is(event, expected[from].as_ctx);
	}
}

/* ---- the value ---- */

static void test_set_and_add_change_what_get_returns(void **state)
{
	struct doca_sync_event *event = *state;
	uint64_t fetched;

	assert_ok(doca_sync_event_update_set(event, 40));
	assert_ok(doca_sync_event_update_add(event, 2, &fetched));
	assert_int_equal(fetched, 40);
	assert_int_equal(se_value(event), 42);
	assert_ok(doca_sync_event_update_add(event, UINT64_MAX, &fetched)); /* wraps */
	assert_int_equal(fetched, 42);
	assert_int_equal(se_value(event), 41);
}

static void test_nothing_works_on_a_stopped_event(void **state)
{
	struct doca_sync_event *event = se_new(dev);
	uint64_t value = 5;

	assert_doca(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_update_set(event, 1), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_update_add(event, 1, &value), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_wait_neq(event, 1, UINT64_MAX), DOCA_ERROR_BAD_STATE);
	assert_int_equal(value, 5);
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- waits that are satisfied at once: the value is 0x0102030405060708 ---- */

static void test_wait_compares_the_masked_value_with_the_whole_operand(void **state)
{
	struct doca_sync_event *event = *state;

	assert_ok(doca_sync_event_update_set(event, 0x0102030405060708));
	assert_ok(doca_sync_event_wait_eq(event, 0x0102030405060708, UINT64_MAX));
	assert_ok(doca_sync_event_wait_eq(event, 0x08, 0xff));
	assert_ok(doca_sync_event_wait_eq_yield(event, 0x060000, 0xff0000));
	assert_ok(doca_sync_event_wait_eq_yield(event, 0, 0));
	assert_ok(doca_sync_event_wait_neq(event, 0x0102030405060708, 0xff));
	assert_ok(doca_sync_event_wait_neq_yield(event, 0x0102030405060709, UINT64_MAX));
	assert_ok(doca_sync_event_wait_gt(event, 0x07, 0xff));
	assert_ok(doca_sync_event_wait_gt(event, 0x0102030405060707, UINT64_MAX));
	assert_ok(doca_sync_event_wait_gt_yield(event, 0x0706, 0xffff));
}

/* ---- waits that other threads end ---- */

typedef doca_error_t wait_function(struct doca_sync_event *, uint64_t, uint64_t);

struct waiter {
	struct doca_sync_event *event;
	wait_function *wait;
	uint64_t value, mask;
	doca_error_t result;
	pthread_t thread;
	atomic_int tid; /* just before it waits */
	atomic_bool is_back;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *waiter = arg;

	atomic_store(&waiter->tid, gettid());
	waiter->result = waiter->wait(waiter->event, waiter->value, waiter->mask);
	atomic_store(&waiter->is_back, true);
	return NULL;
}

/* Start a thread that waits, and continue when it sleeps in its wait. */
static void start_waiting(struct waiter *waiter)
{
	assert_int_equal(pthread_create(&waiter->thread, NULL, wait_in_thread, waiter), 0);
	while (atomic_load(&waiter->tid) == 0 || !is_asleep(atomic_load(&waiter->tid)))
		sched_yield();
	assert_false(atomic_load(&waiter->is_back));
}

static doca_error_t end_waiting(struct waiter *waiter)
{
	assert_int_equal(pthread_join(waiter->thread, NULL), 0);
	return waiter->result;
}

static void assert_wait_ends(struct doca_sync_event *event, wait_function *wait, uint64_t from, uint64_t operand,
			     uint64_t mask, uint64_t useless, uint64_t enough)
{
	struct waiter waiter = { .event = event, .wait = wait, .value = operand, .mask = mask };

	assert_ok(doca_sync_event_update_set(event, from));
	start_waiting(&waiter);
	assert_ok(doca_sync_event_update_set(event, useless));
	assert_false(atomic_load(&waiter.is_back));
	assert_ok(doca_sync_event_update_set(event, enough));
	assert_ok(end_waiting(&waiter));
}

static void test_sleeping_wait_ends_when_the_value_is_right(void **state)
{
	assert_wait_ends(*state, doca_sync_event_wait_eq, 0, 5, UINT64_MAX, 4, 5);
	assert_wait_ends(*state, doca_sync_event_wait_eq_yield, 0, 5, 0xff, 0x500, 0x105);
	assert_wait_ends(*state, doca_sync_event_wait_neq, 3, 3, 0xff, 0x103, 0x104);
	assert_wait_ends(*state, doca_sync_event_wait_neq_yield, 3, 3, UINT64_MAX, 3, 2);
	assert_wait_ends(*state, doca_sync_event_wait_gt, 9, 9, UINT64_MAX, 8, 10);
	assert_wait_ends(*state, doca_sync_event_wait_gt_yield, 9, 9, 0xff, 0x105, 0x10a);
}

static void test_add_wakes_all_that_wait(void **state)
{
	struct waiter waiters[4];
	uint64_t fetched;

	for (size_t i = 0; i < API_COUNT(waiters); i++) {
		waiters[i] = (struct waiter){
			.event = *state, .wait = doca_sync_event_wait_gt, .value = i, .mask = UINT64_MAX
		};
		start_waiting(&waiters[i]);
	}
	assert_ok(doca_sync_event_update_add(*state, API_COUNT(waiters), &fetched));
	for (size_t i = 0; i < API_COUNT(waiters); i++)
		assert_ok(end_waiting(&waiters[i]));
}

/* No thread waits for ever on an event that is destroyed. */
static void test_stop_ends_waits_of_other_threads(void **state)
{
	struct doca_sync_event *event = se_started(dev);
	struct waiter waiter = { .event = event, .wait = doca_sync_event_wait_eq, .value = 1, .mask = UINT64_MAX };

	start_waiting(&waiter);
	assert_ok(doca_sync_event_stop(event));
	assert_doca(end_waiting(&waiter), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- adding on threads: each of the sums is fetched once ---- */

#define ADDERS 8
#define ADDS   5000

struct adder {
	struct doca_sync_event *event;
	pthread_t thread;
	uint8_t *seen; /* ADDERS * ADDS, shared: each is touched once */
	unsigned int errors;
};

static void *add_in_thread(void *arg)
{
	struct adder *adder = arg;
	uint64_t fetched;

	for (int i = 0; i < ADDS; i++) {
		adder->errors += doca_sync_event_update_add(adder->event, 1, &fetched) != DOCA_SUCCESS;
		adder->errors += fetched >= ADDERS * ADDS || adder->seen[fetched] != 0;
		if (fetched < ADDERS * ADDS)
			adder->seen[fetched] = 1;
	}
	return NULL;
}

static void test_sum_of_many_adders_is_exact(void **state)
{
	static uint8_t seen[ADDERS * ADDS];
	struct adder adders[ADDERS];

	for (int i = 0; i < ADDERS; i++) {
		adders[i] = (struct adder){ .event = *state, .seen = seen };
		assert_int_equal(pthread_create(&adders[i].thread, NULL, add_in_thread, &adders[i]), 0);
	}
	assert_ok(doca_sync_event_wait_eq(*state, ADDERS * ADDS, UINT64_MAX));
	for (int i = 0; i < ADDERS; i++) {
		assert_int_equal(pthread_join(adders[i].thread, NULL), 0);
		assert_int_equal(adders[i].errors, 0);
	}
}

/* ---- fork ---- */

/* A child inherits the parent's event: it can only stop and destroy it. */
static void test_forked_child_leaves_the_parents_value_alone(void **state)
{
	struct doca_sync_event *event = *state;
	pid_t child;

	assert_ok(doca_sync_event_update_set(event, 6));
	child = api_fork();
	if (child == 0) {
		bool good = doca_sync_event_update_set(event, 7) == DOCA_ERROR_BAD_STATE &&
			    doca_sync_event_wait_eq(event, 7, UINT64_MAX) == DOCA_ERROR_BAD_STATE &&
			    doca_sync_event_stop(event) == DOCA_SUCCESS &&
			    doca_sync_event_start(event) == DOCA_ERROR_BAD_STATE &&
			    doca_sync_event_destroy(event) == DOCA_SUCCESS;

		_exit(good ? 0 : 1);
	}
	api_join(child);
	assert_int_equal(se_value(event), 6);
}

/* ---- arguments ---- */

/* provokes: doca_sync_event_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_add_publisher_location_cpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_add_publisher_location_remote_pci DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_add_subscriber_location_cpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_add_subscriber_location_remote_pci DOCA_ERROR_INVALID_VALUE */
static void test_missing_or_foreign_argument_is_refused(void **state)
{
	struct doca_sync_event *foreign = (struct doca_sync_event *)dev, *event = se_new(dev);

	assert_invalid(doca_sync_event_create(NULL));
	assert_invalid(doca_sync_event_destroy(NULL));
	assert_invalid(doca_sync_event_destroy(foreign));
	assert_invalid(doca_sync_event_start(NULL));
	assert_invalid(doca_sync_event_start(foreign));
	assert_invalid(doca_sync_event_stop(NULL));
	assert_invalid(doca_sync_event_stop(foreign));
	assert_null(doca_sync_event_as_ctx(NULL));
	assert_null(doca_sync_event_as_ctx(foreign));
	assert_invalid(doca_sync_event_add_publisher_location_cpu(NULL, dev));
	assert_invalid(doca_sync_event_add_publisher_location_cpu(event, NULL));
	assert_invalid(doca_sync_event_add_publisher_location_cpu(event, (struct doca_dev *)event));
	assert_invalid(doca_sync_event_add_subscriber_location_cpu(NULL, dev));
	assert_invalid(doca_sync_event_add_subscriber_location_cpu(event, NULL));
	assert_invalid(doca_sync_event_add_publisher_location_remote_pci(NULL));
	assert_invalid(doca_sync_event_add_subscriber_location_remote_pci(NULL));
	assert_ok(doca_sync_event_destroy(event));
}

/* provokes: doca_sync_event_get DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_update_set DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_update_add DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_wait_eq DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_wait_eq_yield DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_wait_neq DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_wait_neq_yield DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_wait_gt DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_wait_gt_yield DOCA_ERROR_INVALID_VALUE */
static void test_operation_without_an_event_or_a_result_is_refused(void **state)
{
	static wait_function *const waits[] = { doca_sync_event_wait_eq,  doca_sync_event_wait_eq_yield,
						doca_sync_event_wait_neq, doca_sync_event_wait_neq_yield,
						doca_sync_event_wait_gt,  doca_sync_event_wait_gt_yield };
	uint64_t value;

	assert_invalid(doca_sync_event_get(NULL, &value));
	assert_invalid(doca_sync_event_get(*state, NULL));
	assert_invalid(doca_sync_event_update_set(NULL, 1));
	assert_invalid(doca_sync_event_update_add(NULL, 1, &value));
	assert_invalid(doca_sync_event_update_add(*state, 1, NULL));
	for (size_t i = 0; i < API_COUNT(waits); i++) {
		assert_invalid(waits[i](NULL, 0, 0));
		assert_invalid(waits[i]((struct doca_sync_event *)dev, 0, 0));
	}
	assert_int_equal(se_value(*state), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_create_without_memory_fails), /* first: see api_fail_each_allocation() */
	STARTED(test_event_starts_at_zero_each_time),
	cmocka_unit_test(test_start_needs_a_publisher_and_a_subscriber),
	cmocka_unit_test(test_stopping_a_stopped_event_is_fine),
	cmocka_unit_test(test_started_event_can_be_destroyed),
	cmocka_unit_test(test_device_of_an_event_stays_open),
	cmocka_unit_test(test_several_locations_of_a_role_are_fine),
	STARTED(test_started_event_cannot_be_configured),
	STARTED(test_event_used_alone_is_no_context),
	cmocka_unit_test(test_event_used_as_a_context_is_not_started_alone),
	cmocka_unit_test(test_each_call_in_each_state_of_an_event),
	STARTED(test_set_and_add_change_what_get_returns),
	cmocka_unit_test(test_nothing_works_on_a_stopped_event),
	STARTED(test_wait_compares_the_masked_value_with_the_whole_operand),
	STARTED(test_sleeping_wait_ends_when_the_value_is_right),
	STARTED(test_add_wakes_all_that_wait),
	cmocka_unit_test(test_stop_ends_waits_of_other_threads),
	STARTED(test_sum_of_many_adders_is_exact),
	STARTED(test_forked_child_leaves_the_parents_value_alone),
	cmocka_unit_test(test_missing_or_foreign_argument_is_refused),
	STARTED(test_operation_without_an_event_or_a_result_is_refused),
};

int main(void)
{
	return API_RUN({ .name = "DPU", .topology = "sync_events.yaml", .side = "dpu", API_WITH(tests), .dev = &dev });
}
