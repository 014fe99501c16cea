/* SPDX-License-Identifier: BSD-3-Clause */
/* How time passes on a card (BFSIM_CLOCK, doc/time.md), as programs see it by the card's clock. */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <doca_clock.h>

#include "cmocka_test.h"
#include "dma_util.h"
#include "time_util.h"

#define ROUNDS 40

/* ---- programs ---- */

/* A program that keeps 16 tasks of various sizes in flight, ROUNDS in all, and records the end of each. */
struct worker {
	struct rig *rig;
	struct doca_clock *clock;
	int out;
	unsigned int started, ended;
};

static size_t size_of(unsigned int number)
{
	return 64 + (size_t)number * 7919 % 1900;
}

static void start_next(struct worker *worker)
{
	unsigned int number = worker->started++;
	size_t len = size_of(number);
	size_t to = worker->rig->arena_bytes / 2 + (number % RIG_TASKS) * 2048;
	struct doca_task *task =
		rig_task(worker->rig, number, rig_src(worker->rig, 0, len), rig_dst(worker->rig, to, len));

	MUST(doca_task_submit(task));
}

static void on_task(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	struct worker *worker = rig->arg;
	struct doca_task *base = doca_dma_task_memcpy_as_task(task);

	dprintf(worker->out, "%" PRIu64 " at %" PRIu64 "\n", doca_task_get_user_data(base).u64, now_ns(worker->clock));
	doca_task_free(base);
	worker->ended++;
	if (worker->started < ROUNDS)
		start_next(worker);
}

static void worker_open(struct worker *worker, int out)
{
	*worker = (struct worker){ .rig = rig_start(rig_open(NULL)), .out = out };
	MUST(doca_clock_create(worker->rig->dev, &worker->clock));
	worker->rig->on_task = on_task;
	worker->rig->arg = worker;
}

static void worker_close(struct worker *worker)
{
	MUST(doca_clock_destroy(worker->clock));
	rig_close(worker->rig);
}

static void start_all(struct worker *worker)
{
	for (int i = 0; i < RIG_TASKS; i++)
		start_next(worker);
}

static void polls(int out)
{
	struct worker worker;

	worker_open(&worker, out);
	start_all(&worker);
	while (worker.ended < ROUNDS)
		doca_pe_progress(worker.rig->pe);
	worker_close(&worker);
}

static void sleeps(int out)
{
	struct worker worker;
	doca_notification_handle_t handle;

	worker_open(&worker, out);
	MUST(doca_pe_get_notification_handle(worker.rig->pe, &handle));
	start_all(&worker);
	while (worker.ended < ROUNDS) {
		MUST(doca_pe_request_notification(worker.rig->pe));
		CHECK(rig_wait_readable(handle));
		MUST(doca_pe_clear_notification(worker.rig->pe, handle));
		while (doca_pe_progress(worker.rig->pe))
			;
	}
	worker_close(&worker);
}

/* One thread, two engines, polled in turns. */
static void polls_two_engines(int out)
{
	struct worker first, second;

	worker_open(&first, out);
	worker_open(&second, out);
	start_all(&first);
	start_all(&second);
	while (first.ended < ROUNDS || second.ended < ROUNDS) {
		doca_pe_progress(first.rig->pe);
		doca_pe_progress(second.rig->pe);
	}
	worker_close(&second);
	worker_close(&first);
}

/* One thread, two engines; the first is not polled before the second is done. */
static void polls_one_after_the_other(int out)
{
	struct worker first, second;

	worker_open(&first, out);
	worker_open(&second, out);
	start_all(&first);
	start_all(&second);
	while (second.ended < ROUNDS)
		doca_pe_progress(second.rig->pe);
	while (first.ended < ROUNDS)
		doca_pe_progress(first.rig->pe);
	worker_close(&second);
	worker_close(&first);
}

struct thread {
	int out[2]; /* read by the program when all have ended */
	pthread_barrier_t *barrier;
	pthread_t thread;
};

static void *thread_body(void *arg)
{
	struct thread *thread = arg;
	struct worker worker;

	worker_open(&worker, thread->out[1]);
	pthread_barrier_wait(thread->barrier); /* it has joined ... */
	pthread_barrier_wait(thread->barrier); /* ... and so have all */
	start_all(&worker);
	while (worker.ended < ROUNDS)
		doca_pe_progress(worker.rig->pe);
	worker_close(&worker);
	close(thread->out[1]);
	return NULL;
}

/* Two threads, each with an engine of its own, on one card. */
static void polls_in_threads(int out)
{
	struct thread threads[2];
	pthread_barrier_t barriers[2];
	char text[TEXT_SIZE / 2];
	ssize_t got;

	for (int i = 0; i < 2; i++) {
		CHECK(pipe(threads[i].out) == 0);
		pthread_barrier_init(&barriers[i], NULL, 2);
		threads[i].barrier = &barriers[i];
		CHECK(pthread_create(&threads[i].thread, NULL, thread_body, &threads[i]) == 0);
		pthread_barrier_wait(&barriers[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_barrier_wait(&barriers[i]);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i].thread, NULL);
		while ((got = read(threads[i].out[0], text, sizeof(text))) > 0)
			CHECK(write(out, text, (size_t)got) == got);
		pthread_barrier_destroy(&barriers[i]);
	}
}

/* How long a task of 32 KiB takes, alone. */
static void copies_once(int out)
{
	struct worker worker;
	uint64_t start_ns, end_ns;
	struct doca_task *task;

	worker_open(&worker, out);
	worker.rig->on_task = NULL;
	task = rig_task(worker.rig, 0, rig_src(worker.rig, 0, 32768), rig_dst(worker.rig, 32768, 32768));
	start_ns = now_ns(worker.clock);
	MUST(doca_task_submit(task));
	while (worker.rig->trace->text[0] == '\0')
		doca_pe_progress(worker.rig->pe);
	end_ns = now_ns(worker.clock);
	dprintf(out, "%" PRIu64 "\n", end_ns - start_ns);
	worker_close(&worker);
}

static void idles(int out)
{
	struct worker worker;
	uint64_t start_ns;

	worker_open(&worker, out);
	start_ns = now_ns(worker.clock);
	for (int i = 0; i < 1000; i++)
		doca_pe_progress(worker.rig->pe);
	dprintf(out, "%" PRIu64 "\n", now_ns(worker.clock) - start_ns);
	worker_close(&worker);
}

/* Arm, submit, sleep: the sleeper is woken. */
static void arms_before_it_submits(int out)
{
	struct worker worker;
	doca_notification_handle_t handle;

	worker_open(&worker, out);
	MUST(doca_pe_get_notification_handle(worker.rig->pe, &handle));
	MUST(doca_pe_request_notification(worker.rig->pe));
	start_next(&worker);
	while (worker.ended < 1) {
		CHECK(rig_wait_readable(handle));
		MUST(doca_pe_clear_notification(worker.rig->pe, handle));
		while (doca_pe_progress(worker.rig->pe))
			;
		MUST(doca_pe_request_notification(worker.rig->pe));
	}
	dprintf(out, "done\n");
	worker.started = ROUNDS;
	worker_close(&worker);
}

/* Stop with tasks in flight: they come back at once, without time. */
static void stops_in_the_middle(int out)
{
	struct worker worker;

	worker_open(&worker, out);
	worker.rig->on_task = NULL;
	start_all(&worker);
	doca_pe_progress(worker.rig->pe);
	doca_ctx_stop(worker.rig->ctx);
	rig_progress_to(worker.rig, DOCA_CTX_STATE_IDLE);
	dprintf(out, "idle at %" PRIu64 "\n", now_ns(worker.clock));
	worker_close(&worker);
}

static void opens_a_device(int out)
{
	struct doca_devinfo **list;
	uint32_t count;

	dprintf(out, "%s\n", doca_error_get_name(doca_devinfo_create_list(&list, &count)));
}

/* ---- virtual ---- */

static void test_virtual_times_are_the_same_each_time(void **state)
{
	assert_same_each_time("virtual", polls);
}

static void test_virtual_times_do_not_depend_on_how_one_waits(void **state)
{
	struct text polling, sleeping;

	run("virtual", polls, &polling);
	run("virtual", sleeps, &sleeping);
	assert_string_equal(sleeping.chars, polling.chars);
}

static void test_virtual_times_of_two_engines_are_the_same_each_time(void **state)
{
	assert_same_each_time("virtual", polls_two_engines);
	assert_same_each_time("virtual", polls_one_after_the_other);
}

static void test_virtual_times_of_two_threads_are_the_same_each_time(void **state)
{
	assert_same_each_time("virtual", polls_in_threads);
}

static void test_virtual_time_stands_still_when_nothing_happens(void **state)
{
	struct text text;

	run("virtual", idles, &text);
	assert_string_equal(text.chars, "0\n");
}

static void test_sleeper_that_submits_after_arming_is_woken(void **state)
{
	struct text text;

	run("virtual", arms_before_it_submits, &text);
	assert_non_null(strstr(text.chars, "done\n"));
}

static void test_stop_takes_no_virtual_time(void **state)
{
	assert_same_each_time("virtual", stops_in_the_middle);
}

/* ---- timed ---- */

static void test_timed_task_takes_what_it_takes_in_virtual_time_or_longer(void **state)
{
	struct text virtual, timed;
	uint64_t exact_ns, measured_ns;

	run("virtual", copies_once, &virtual);
	run("timed", copies_once, &timed);
	exact_ns = strtoull(virtual.chars, NULL, 10);
	measured_ns = strtoull(timed.chars, NULL, 10);
	assert_true(exact_ns > 1000); /* setting up and completing alone take more than that */
	assert_true(measured_ns >= exact_ns);
}

static void count_lines(const struct text *text, unsigned int expected)
{
	unsigned int lines = 0;

	for (const char *c = text->chars; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, expected);
}

static void test_all_ends_come_however_time_passes(void **state)
{
	static const char *const clocks[] = { "functional", "timed", "virtual" };
	struct text text;

	for (size_t i = 0; i < ARRAY_LEN(clocks); i++) {
		run(clocks[i], polls, &text);
		count_lines(&text, ROUNDS);
		run(clocks[i], sleeps, &text);
		count_lines(&text, ROUNDS);
		run(clocks[i], polls_in_threads, &text);
		count_lines(&text, 2 * ROUNDS);
	}
}

static void test_unknown_clock_gives_no_card(void **state)
{
	struct text text;

	run("sundial", opens_a_device, &text);
	assert_string_equal(text.chars, "DOCA_ERROR_NOT_FOUND\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_virtual_times_are_the_same_each_time),
		cmocka_unit_test(test_virtual_times_do_not_depend_on_how_one_waits),
		cmocka_unit_test(test_virtual_times_of_two_engines_are_the_same_each_time),
		cmocka_unit_test(test_virtual_times_of_two_threads_are_the_same_each_time),
		cmocka_unit_test(test_virtual_time_stands_still_when_nothing_happens),
		cmocka_unit_test(test_sleeper_that_submits_after_arming_is_woken),
		cmocka_unit_test(test_stop_takes_no_virtual_time),
		cmocka_unit_test(test_timed_task_takes_what_it_takes_in_virtual_time_or_longer),
		cmocka_unit_test(test_all_ends_come_however_time_passes),
		cmocka_unit_test(test_unknown_clock_gives_no_card),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
