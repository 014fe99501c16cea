/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes of the work-queue generation on one card, and the death of one of them. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "sides.h"
#include "tests/multi/session_util.h"
#include "doca_check.h"

static char *dir;
static struct proc card, host, dpu;

static int setup(void **state)
{
	dir = proc_make_dir();
	side_session = dir;
	daemon_start(&card, dir, NULL);
	return 0;
}

static int teardown(void **state)
{
	proc_kill_all();
	proc_remove_dir(dir);
	return 0;
}

/* Start both, and wait until the DPU, which runs @body, sends a byte. */
static void start_both(proc_body *body)
{
	struct exports exports;
	char byte;

	proc_start(&host, side_be_host, NULL);
	proc_recv(host.ctl, &exports, sizeof(exports));
	proc_start(&dpu, body, &exports);
	proc_recv(dpu.ctl, &byte, 1);
}

static void end_host(bool kill)
{
	if (kill) {
		proc_signal(&host, SIGKILL);
		return;
	}
	proc_send(host.ctl, "q", 1);
	proc_end(&host);
}

/* ---- nothing but a wait is in flight ---- */

/* The results of a wait, a copy, and a local copy after the death of the host. */
struct outcome {
	doca_error_t wait, read, local, at_once;
};

static struct outcome outcome_of(struct engine *engine)
{
	struct outcome outcome;
	struct doca_event event;
	uint64_t value;

	outcome.wait = engine_finish(engine, &event);
	outcome.read = engine_copy(engine, engine->from);
	outcome.local = engine_copy(engine, engine->local);
	outcome.at_once = doca_sync_event_get(engine->event, &value);
	return outcome;
}

/* Copy once, send 'w' before the wait, and the results at the end. */
static void be_dpu(int ctl, const void *arg)
{
	struct outcome outcome;
	char *memory = malloc(SIDE_LEN);
	struct engine engine;

	memset(memory, 1, SIDE_LEN);
	engine = engine_start(memory, arg, false);
	MUST(engine_copy(&engine, engine.from));
	CHECK(memory[0] == SIDE_FILL && memory[SIDE_LEN / 2 - 1] == SIDE_FILL);
	engine_submit_wait(&engine, 0);
	proc_send(ctl, "w", 1);
	outcome = outcome_of(&engine);
	CHECK(memory[0] == 1);
	proc_send(ctl, &outcome, sizeof(outcome));
	engine_stop(&engine);
	free(memory);
}

/* The same, while it sleeps on the handle of the queue. */
static void be_sleeping_dpu(int ctl, const void *arg)
{
	struct outcome outcome;
	char *memory = calloc(1, SIDE_LEN);
	struct engine engine = engine_start(memory, arg, true);
	struct pollfd wait = { .events = POLLIN };

	MUST(doca_workq_get_event_handle(engine.workq, &wait.fd));
	MUST(doca_workq_event_handle_arm(engine.workq));
	engine_submit_wait(&engine, 0);
	proc_send(ctl, "w", 1);
	CHECK(poll(&wait, 1, PROC_DEADLINE_MS) == 1);
	MUST(doca_workq_event_handle_clear(engine.workq, wait.fd));
	outcome = outcome_of(&engine);
	proc_send(ctl, &outcome, sizeof(outcome));
	engine_stop(&engine);
	free(memory);
}

static void check_outcome(void)
{
	struct outcome outcome;

	proc_recv(dpu.ctl, &outcome, sizeof(outcome));
	proc_end(&dpu);
	assert_int_equal(outcome.wait, DOCA_ERROR_IO_FAILED);
	assert_int_equal(outcome.read, DOCA_ERROR_IO_FAILED);
	assert_int_equal(outcome.local, DOCA_SUCCESS);
	assert_int_equal(outcome.at_once, DOCA_ERROR_IO_FAILED);
}

/* Each job gets an event, and the queue executes jobs that do not concern the dead process. */
static void test_jobs_for_a_dead_host_fail_and_others_go_on(void **state)
{
	start_both(be_dpu);
	end_host(true);
	check_outcome();
}

static void test_jobs_on_revoked_memory_fail_and_others_go_on(void **state)
{
	start_both(be_dpu);
	end_host(false);
	check_outcome();
}

static void test_a_sleeper_is_woken_by_the_death_of_the_host(void **state)
{
	start_both(be_sleeping_dpu);
	end_host(true);
	check_outcome();
}

static void test_a_sleeper_is_woken_when_the_host_takes_back(void **state)
{
	start_both(be_sleeping_dpu);
	end_host(false);
	check_outcome();
}

/* ---- a thread waits ---- */

static void *wait_busily(void *event)
{
	return (void *)(uintptr_t)doca_sync_event_wait_gt(event, 0, UINT64_MAX);
}

static void *wait_yielding(void *event)
{
	return (void *)(uintptr_t)doca_sync_event_wait_gt_yield(event, 0, UINT64_MAX);
}

/* Send 'w' before both threads wait, and their results at the end. */
static void be_waiting_dpu(int ctl, const void *arg)
{
	void *(*const waits[])(void *event) = { wait_busily, wait_yielding };
	const struct exports *exports = arg;
	struct doca_dev *dev = side_enter("dpu");
	struct doca_sync_event *event;
	doca_error_t results[2];
	pthread_t threads[2];
	void *result;

	MUST(doca_sync_event_create_from_export(dev, exports->event, exports->event_len, &event));
	MUST(doca_sync_event_start(event));
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, waits[i], event) == 0);
	proc_send(ctl, "w", 1);
	for (int i = 0; i < 2; i++) {
		CHECK(pthread_join(threads[i], &result) == 0);
		results[i] = (doca_error_t)(uintptr_t)result;
	}
	proc_send(ctl, results, sizeof(results));
	MUST(doca_sync_event_destroy(event));
	MUST(doca_dev_close(dev));
}

static void test_threads_that_wait_return_when_the_host_dies(void **state)
{
	doca_error_t results[2];

	start_both(be_waiting_dpu);
	end_host(true);
	proc_recv(dpu.ctl, results, sizeof(results));
	proc_end(&dpu);
	for (int i = 0; i < 2; i++)
		assert_int_equal(results[i], DOCA_ERROR_IO_FAILED);
}

/* ---- the queue is full of copies ---- */

/* Keep the queue full until a job fails; *ret_events is the number of events. */
static uint64_t copy_until_failure(struct engine *engine, int ctl, uint64_t *ret_events)
{
	uint64_t submitted = 0, events = 0;
	struct doca_event event;
	doca_error_t result;

	do {
		while (submitted - events < ENGINE_DEPTH)
			MUST(engine_submit(engine, engine->from, submitted++));
		if (submitted == ENGINE_DEPTH)
			proc_send(ctl, "w", 1);
		result = engine_finish(engine, &event);
		CHECK(event.user_data.u64 < submitted);
		events++;
	} while (result == DOCA_SUCCESS);
	while (events < submitted) {
		engine_finish(engine, &event);
		events++;
	}
	*ret_events = events;
	return submitted;
}

static void be_busy_dpu(int ctl, const void *arg)
{
	char *memory = calloc(1, SIDE_LEN);
	struct engine engine = engine_start(memory, arg, false);
	struct doca_event event;
	uint64_t events, submitted = copy_until_failure(&engine, ctl, &events);

	CHECK(events == submitted);
	CHECK(doca_workq_progress_retrieve(engine.workq, &event, 0) == DOCA_ERROR_AGAIN);
	MUST(engine_copy(&engine, engine.local));
	CHECK(engine_copy(&engine, engine.from) == DOCA_ERROR_IO_FAILED);
	engine_stop(&engine);
	free(memory);
}

static void test_every_queued_copy_has_its_event_when_the_host_dies(void **state)
{
	start_both(be_busy_dpu);
	end_host(true);
	proc_end(&dpu);
}

static void test_every_queued_copy_has_its_event_when_the_host_takes_back(void **state)
{
	start_both(be_busy_dpu);
	end_host(false);
	proc_end(&dpu);
}

/* Neither a DPU that died during a copy nor a stopped one delays the host. */
static void test_the_host_revokes_memory_that_a_dead_dpu_was_copying(void **state)
{
	start_both(be_busy_dpu);
	proc_signal(&dpu, SIGKILL);
	end_host(false);
}

/* ---- a program that exits without teardown ---- */

static void be_careless_dpu(int ctl, const void *arg)
{
	char *memory = calloc(1, SIDE_LEN);
	struct engine engine = engine_start(memory, arg, false);

	engine_submit_wait(&engine, 0);
	while (engine_submit(&engine, engine.from, 0) == DOCA_SUCCESS)
		;
	proc_send(ctl, "w", 1);
	exit(0); /* with a full queue, and a wait that never completes */
}

static void test_a_process_ends_with_jobs_in_flight_and_the_host_goes_on(void **state)
{
	start_both(be_careless_dpu);
	proc_end(&dpu);
	end_host(false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_jobs_for_a_dead_host_fail_and_others_go_on),
		TEST(test_jobs_on_revoked_memory_fail_and_others_go_on),
		TEST(test_a_sleeper_is_woken_by_the_death_of_the_host),
		TEST(test_a_sleeper_is_woken_when_the_host_takes_back),
		TEST(test_threads_that_wait_return_when_the_host_dies),
		TEST(test_every_queued_copy_has_its_event_when_the_host_dies),
		TEST(test_every_queued_copy_has_its_event_when_the_host_takes_back),
		TEST(test_the_host_revokes_memory_that_a_dead_dpu_was_copying),
		TEST(test_a_process_ends_with_jobs_in_flight_and_the_host_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
