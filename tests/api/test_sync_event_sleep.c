/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping on a progress engine's handle while sync events' tasks wait: any change of the value, by any thread or
 * process, wakes the sleeper. */
#include "sync_event_util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static struct doca_dev *dev;
static uint64_t word;

/* The value in @word. */
static int setup_given(void **state)
{
	struct doca_sync_event *event = se_new(dev);

	word = 0;
	assert_ok(doca_sync_event_set_addr(event, &word));
	*state = se_run(event);
	return 0;
}

#define GIVEN(test) cmocka_unit_test_setup_teardown(test, setup_given, se_teardown)

static void request(struct se_ctx *se)
{
	assert_ok(doca_pe_request_notification(se->pe));
}

static void clear_and_progress(struct se_ctx *se)
{
	assert_ok(doca_pe_clear_notification(se->pe, se_handle(se)));
	se_progress(se);
}

/* ---- conditions that hold already ---- */

static void test_request_with_a_wait_that_goes_on_is_no_event(void **state)
{
	struct se_ctx *se = *state;

	request(se);
	assert_false(se_is_readable(se_handle(se)));
	clear_and_progress(se);
	assert_ok(doca_task_submit(se_wait_eq(se, 1, 1, UINT64_MAX)));
	request(se);
	assert_false(se_is_readable(se_handle(se)));
}

static void test_wait_that_holds_before_the_request_wakes(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_wait_neq(se, 1, 5, UINT64_MAX)));
	request(se);
	assert_true(se_wait_readable(se_handle(se)));
	clear_and_progress(se);
	assert_se_trace(se, "wait_neq 1 done\n");
}

static void test_task_that_ran_before_the_request_wakes(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_set(se, 1, 5)));
	request(se);
	assert_true(se_wait_readable(se_handle(se)));
	clear_and_progress(se);
	assert_se_trace(se, "notify_set 1 done\n");
}

static void test_task_submitted_after_the_request_wakes(void **state)
{
	struct se_ctx *se = *state;

	request(se);
	assert_ok(doca_task_submit(se_set(se, 1, 5)));
	assert_true(se_wait_readable(se_handle(se)));
	clear_and_progress(se);
	assert_se_trace(se, "notify_set 1 done\n");
}

/* ---- a change by another thread ---- */

static void sleep_until_it_ends(struct se_ctx *se)
{
	size_t in_flight = se_in_flight(se);

	while (se_in_flight(se) == in_flight) { /* a spurious wake-up is permitted */
		request(se);
		assert_true(se_wait_readable(se_handle(se)));
		clear_and_progress(se);
	}
}

static void *set_in_thread(void *arg)
{
	return (void *)(uintptr_t)doca_sync_event_update_set(((struct se_ctx *)arg)->event, 9);
}

static void assert_thread_sets(struct se_ctx *se)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, set_in_thread, se), 0);
	sleep_until_it_ends(se);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_int_equal((uintptr_t)result, DOCA_SUCCESS);
	assert_se_trace(se, "wait_eq 1 done\n");
}

static void test_change_by_another_thread_wakes(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 9, UINT64_MAX)));
	request(se);
	assert_false(se_is_readable(se_handle(se)));
	assert_thread_sets(se);
}

static void test_plain_store_wakes(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 9, UINT64_MAX)));
	request(se);
	assert_false(se_is_readable(se_handle(se)));
	atomic_store_explicit((_Atomic uint64_t *)&word, 9, memory_order_relaxed);
	assert_true(se_wait_readable(se_handle(se)));
	clear_and_progress(se);
	assert_se_trace(se, "wait_eq 1 done\n");
}

/* An export and its import on two engines: each sleeper is woken by the other's change, 100 turns. */
static void test_both_ends_of_an_export_wake_each_other(void **state)
{
	struct se_ctx *ends[2] = { *state };
	struct doca_sync_event *theirs;
	const uint8_t *bytes;
	size_t len;

	assert_ok(doca_sync_event_export_to_remote_pci(ends[0]->event, dev, &bytes, &len));
	assert_ok(doca_sync_event_create_from_export(dev, bytes, len, &theirs));
	ends[1] = se_run(theirs);
	for (uint64_t turn = 1; turn <= 100; turn++) {
		struct se_ctx *sleeper = ends[turn % 2], *changer = ends[(turn + 1) % 2];

		assert_ok(doca_task_submit(se_wait_eq(sleeper, 1, turn, UINT64_MAX)));
		request(sleeper);
		assert_false(se_is_readable(se_handle(sleeper)));
		assert_ok(doca_sync_event_update_set(changer->event, turn));
		assert_true(se_wait_readable(se_handle(sleeper)));
		clear_and_progress(sleeper);
		assert_se_trace(sleeper, "wait_eq 1 done\n");
	}
	se_close(ends[1]);
}

static void test_exporters_end_wakes_an_importer(void **state)
{
	struct se_ctx *exporter = *state, *se;
	struct doca_sync_event *theirs;
	const uint8_t *bytes;
	size_t len;

	assert_ok(doca_sync_event_export_to_remote_pci(exporter->event, dev, &bytes, &len));
	assert_ok(doca_sync_event_create_from_export(dev, bytes, len, &theirs));
	se = se_run(theirs);
	assert_ok(doca_task_submit(se_wait_eq(se, 1, 1, UINT64_MAX)));
	request(se);
	assert_false(se_is_readable(se_handle(se)));
	assert_ok(doca_ctx_stop(exporter->ctx));
	assert_true(se_wait_readable(se_handle(se)));
	clear_and_progress(se);
	assert_se_trace(se, "running -> stopping\nwait_eq 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	se_close(se);
}

/* ---- after the sleep ---- */

/* An owner that polls again gets no further wake-ups. */
static void test_change_after_clear_and_progress_is_no_event(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 3, UINT64_MAX)));
	request(se);
	clear_and_progress(se);
	assert_ok(doca_sync_event_update_set(se->event, 2));
	assert_false(se_is_readable(se_handle(se)));
	assert_ok(doca_sync_event_update_set(se->event, 3));
	se_progress(se);
	assert_se_trace(se, "wait_eq 1 done\n");
	assert_false(se_is_readable(se_handle(se)));
}

static void test_stop_after_the_request_wakes(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 3, UINT64_MAX)));
	request(se);
	assert_doca(doca_ctx_stop(se->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_true(se_wait_readable(se_handle(se)));
	clear_and_progress(se);
	assert_se_trace(se, "running -> stopping\nwait_eq 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
}

/* The thread sanitizer takes a thread of a forked child for one of its parent. */
#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#endif
#endif
#ifndef HAS_TSAN
#define HAS_TSAN 0
#endif

/* ---- fork: the watching thread is the parent's ---- */

static bool child_sleeps_and_wakes(void)
{
	struct doca_dev *own = api_open("03:00.0");
	struct se_ctx *se = se_run(se_new(own));
	bool woken;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 9, UINT64_MAX)));
	request(se);
	assert_ok(doca_sync_event_update_set(se->event, 9));
	woken = se_wait_readable(se_handle(se));
	clear_and_progress(se);
	se_close(se);
	return woken;
}

static void test_forked_child_sleeps_on_events_of_its_own(void **state)
{
	struct se_ctx *se = *state;
	pid_t child;

	if (HAS_TSAN)
		skip();
	assert_ok(doca_task_submit(se_wait_eq(se, 1, 9, UINT64_MAX)));
	request(se); /* the watching thread runs */
	child = api_fork();
	if (child == 0)
		_exit(child_sleeps_and_wakes() ? 0 : 1);
	api_join(child);
	assert_thread_sets(se);
}

static const struct CMUnitTest tests[] = {
	SE_RUNNING(test_request_with_a_wait_that_goes_on_is_no_event),
	SE_RUNNING(test_wait_that_holds_before_the_request_wakes),
	SE_RUNNING(test_task_that_ran_before_the_request_wakes),
	SE_RUNNING(test_task_submitted_after_the_request_wakes),
	SE_RUNNING(test_change_by_another_thread_wakes),
	GIVEN(test_change_by_another_thread_wakes),
	GIVEN(test_plain_store_wakes),
	SE_RUNNING(test_both_ends_of_an_export_wake_each_other),
	SE_RUNNING(test_exporters_end_wakes_an_importer),
	SE_RUNNING(test_change_after_clear_and_progress_is_no_event),
	SE_RUNNING(test_stop_after_the_request_wakes),
	GIVEN(test_stop_after_the_request_wakes),
	SE_RUNNING(test_forked_child_sleeps_on_events_of_its_own),
};

int main(void)
{
	return API_RUN({ .name = "DPU", .topology = "sync_events.yaml", .side = "dpu", API_WITH(tests), .dev = &dev });
}
