/* SPDX-License-Identifier: BSD-3-Clause */
/* Timed rules on a private card, which has no daemon. (test_functions.c covers functions and links, for private
 * cards too.) */
#include "bfsim_util.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS          UINT64_C(1000000)
#define DEADLINE_NS (60 * UINT64_C(1000000000))

static uint32_t add(const char *rule)
{
	uint32_t id;

	NEED_OK(bfsim_fault_add(rule, &id));
	return id;
}

static uint32_t add_from(const char *what, uint64_t from_ns, const char *how)
{
	char rule[160];

	snprintf(rule, sizeof(rule), "%s from=%lluns %s", what, (unsigned long long)from_ns, how);
	return add(rule);
}

/* "OPERATION from=<ms from now> ACTION". The preparations take less than a second, on a busy machine too. */
static uint32_t add_later(const char *what, uint64_t ms, const char *how)
{
	return add_from(what, bfsim_now_ns() + ms * MS, how);
}

static uint64_t times_fired(uint32_t id)
{
	struct bfsim_fault fault;

	NEED_OK(bfsim_fault_get(id, &fault));
	return fault.fired;
}

/* In real time, as session time may stand still. */
static void need_fired_soon(uint32_t id)
{
	struct timespec now, from;

	clock_gettime(CLOCK_MONOTONIC, &from);
	while (times_fired(id) == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		CHECK((uint64_t)(now.tv_sec - from.tv_sec) * 1000 * MS < DEADLINE_NS);
		sched_yield();
	}
}

static uint32_t num_devs(void)
{
	struct doca_devinfo **list;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST(doca_devinfo_destroy_list(list));
	return count;
}

static void copy(struct rig *rig)
{
	rig_submit_small(rig, 1);
	rig_drain(rig);
	CHECK(rig_small_is_done(rig, 1));
}

/* ---- when ---- */

static void test_rule_from_before_the_first_device_waits_for_the_card(void)
{
	uint32_t id = add("function device=03:00.1 remove");

	CHECK(times_fired(id) == 0);
	CHECK(num_devs() == 1);
	CHECK(times_fired(id) == 1);
}

/* Session time stands still before the first device is opened, and starts then. */
static void test_in_virtual_time_it_waits_as_well(void)
{
	uint32_t id;

	setenv("BFSIM_CLOCK", "virtual", 1);
	id = add("function device=03:00.1 remove");
	CHECK(num_devs() == 1);
	CHECK(times_fired(id) == 1);
}

static void test_sleeper_wakes_when_its_functions_time_has_come(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	doca_notification_handle_t handle;
	uint64_t from_ns = bfsim_now_ns() + 200 * MS;
	uint32_t id = add_later("function device=03:00.0", 200, "reset");

	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	MUST(doca_pe_request_notification(rig->pe));
	CHECK(rig_wait_readable(handle));
	MUST(doca_pe_clear_notification(rig->pe, handle));
	CHECK(bfsim_now_ns() >= from_ns);
	MUST(doca_pe_clear_notification(rig->pe, handle));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	CHECK(times_fired(id) == 1);
	rig_close(rig);
}

static void test_rules_that_begin_later_do_so_in_their_order(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	uint64_t now_ns = bfsim_now_ns();
	uint32_t last = add_from("function device=03:00.1", now_ns + 1100 * MS, "add");
	uint32_t first = add_from("function device=03:00.1", now_ns + 1000 * MS, "remove");

	need_fired_soon(first);
	need_fired_soon(last);
	CHECK(num_devs() == 2);
	CHECK(times_fired(first) == 1 && times_fired(last) == 1);
	rig_close(rig);
}

/* Both rules have begun when the devices are first listed: the function exists when it is to be added. */
static void test_rules_that_began_before_the_card_was_there_hit_in_their_order(void)
{
	uint32_t first, last;

	last = add("function device=03:00.1 from=2ns remove");
	first = add("function device=03:00.1 from=1ns add");
	CHECK(num_devs() == 1);
	CHECK(times_fired(first) == 0 && times_fired(last) == 1);
	first = add("function device=03:00.0 remove");
	last = add("function device=03:00.? add");
	CHECK(num_devs() == 2);
	CHECK(times_fired(first) == 1 && times_fired(last) == 2);
}

static void test_rule_that_is_taken_out_before_its_time_never_hits(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	uint64_t from_ns, ms = 50;

	do { /* a busy machine may need more time for it */
		uint32_t id;

		ms *= 2;
		NEED_OK(bfsim_fault_clear());
		from_ns = bfsim_now_ns() + ms * MS;
		id = add_later("function device=03:00.1", ms, "remove");
		NEED_OK(bfsim_fault_remove(id));
		add("function device=03:00.1 add");
	} while (bfsim_now_ns() >= from_ns);
	need_fired_soon(add_later("link", ms + 10, "down=1us"));
	copy(rig);
	CHECK(num_devs() == 2);
	rig_close(rig);
}

/* The event happens within a millisecond of real time after session time has reached it; copies advance the time. */
static void test_in_virtual_time_a_rule_begins_when_time_gets_there(void)
{
	struct rig *rig;
	uint32_t id;

	setenv("BFSIM_CLOCK", "virtual", 1);
	rig = rig_start(rig_open(NULL));
	id = add_later("function device=03:00.0", 10, "reset");
	copy(rig);
	CHECK(times_fired(id) == 0);
	add("dma.memcpy delay=20ms");
	copy(rig);
	need_fired_soon(id);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
}

/* ---- forks ---- */

/* The child's device is open before that, unless the machine is busy: then it is of the function's next generation. */
static void test_forked_child_is_hit_by_what_comes_later(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	uint32_t id = add_later("function device=03:00.0", 2000, "reset");
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		struct rig *own = rig_start(rig_open(NULL));

		bool is_early = times_fired(id) == 0;

		need_fired_soon(id);
		if (is_early)
			rig_progress_to(own, DOCA_CTX_STATE_IDLE);
		CHECK(times_fired(id) == 1);
		rig_close(own);
		_exit(0);
	}
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	CHECK(times_fired(id) == 1);
	rig_close(rig);
	wait_well(pid);
}

/* Both together would leave the function removed: the rule that is first ends it for the other. */
static void test_forked_child_is_not_hit_again_by_what_was(void)
{
	struct rig *rig = rig_open(NULL);
	uint32_t removes = add("function device=03:00.1 remove"), adds = add("function device=03:00.1 add");
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK(num_devs() == 2);
		CHECK(times_fired(removes) == 1 && times_fired(adds) == 1);
		_exit(0);
	}
	wait_well(pid);
	CHECK(num_devs() == 2);
	rig_close(rig);
}

/* ---- counters ---- */

/* Of three copies the second fails. */
static void test_tasks_are_counted(void)
{
	struct bfsim_tasks tasks = { .bytes = 99 };
	struct rig *rig;

	NEED_OK(bfsim_tasks(NULL, NULL, &tasks));
	CHECK(tasks.submitted == 0 && tasks.bytes == 0);
	add("dma.memcpy nth=2 fail=IO_FAILED");
	rig = rig_start(rig_open(NULL));
	copy(rig);
	rig_submit_small(rig, 2);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_start(rig);
	copy(rig);
	NEED_OK(bfsim_tasks("dpu", "DMA memcpy", &tasks));
	CHECK(tasks.submitted == 3 && tasks.completed == 2 && tasks.failed == 1 && tasks.bytes == 128);
	NEED_OK(bfsim_tasks("host", NULL, &tasks));
	CHECK(tasks.submitted == 0);
	NEED_OK(bfsim_tasks(NULL, "Comch send", &tasks));
	CHECK(tasks.submitted == 0);
	rig_close(rig);
	NEED_OK(bfsim_tasks(NULL, NULL, &tasks)); /* of devices that are closed, too */
	CHECK(tasks.submitted == 3);
}

/* Before there is a card, and on it. */
static void test_tasks_of_kinds_and_sides_that_do_not_exist_are_no_answer(void)
{
	struct bfsim_tasks tasks = { .failed = 99 };
	struct rig *rig;

	NEED_ERROR(bfsim_tasks(NULL, "DMA memcopy", &tasks), -ENOENT, "the kinds are: ");
	NEED_ERROR(bfsim_tasks("hots", NULL, &tasks), -ENOENT, "no side \"hots\"; its sides are: dpu, host");
	rig = rig_open(NULL);
	NEED_ERROR(bfsim_tasks("hots", NULL, &tasks), -ENOENT, "no side \"hots\"; its sides are: dpu, host");
	CHECK(tasks.failed == 99);
	rig_close(rig);
}

static void test_tasks_of_many_are_all_counted(void)
{
	struct bfsim_tasks tasks;

	for (int round = 0; round < 10; round++) {
		struct rig *rig = rig_start(rig_open(NULL));

		for (int i = 0; i < 100; i++)
			copy(rig);
		rig_close(rig);
	}
	NEED_OK(bfsim_tasks(NULL, NULL, &tasks));
	CHECK(tasks.submitted == 1000 && tasks.completed == 1000);
}

static void test_forked_child_counts_its_own_tasks(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct bfsim_tasks tasks;
	pid_t pid;

	copy(rig);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct rig *own = rig_start(rig_open(NULL));

		copy(own);
		copy(own);
		NEED_OK(bfsim_tasks(NULL, NULL, &tasks));
		CHECK(tasks.submitted == 2);
		rig_close(own);
		_exit(0);
	}
	wait_well(pid);
	NEED_OK(bfsim_tasks(NULL, NULL, &tasks));
	CHECK(tasks.submitted == 1);
	rig_close(rig);
}

static void test_nothing_is_counted_when_recording_is_off(void)
{
	struct bfsim_tasks tasks = { .bytes = 99 };
	struct rig *rig;

	setenv("BFSIM_TRACE", "off", 1);
	rig = rig_start(rig_open(NULL));
	copy(rig);
	NEED_ERROR(bfsim_tasks(NULL, NULL, &tasks), -ENOTSUP, "BFSIM_TRACE=off");
	CHECK(tasks.bytes == 99);
	rig_close(rig);
}

/* ---- calls that need a session ---- */

static void test_other_processes_and_daemons_take_a_session(void)
{
	NEED_ERROR(bfsim_fault_add("peer kill", NULL), -ENOTSUP, "no other process");
	NEED_ERROR(bfsim_fault_add("daemon pause=1s", NULL), -ENOTSUP, "bfsim_session_start()");
}

/* The function is reset before the second submission returns. */
static void test_event_begins_at_an_operation(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	uint32_t id = add("function device=03:00.0 after='dma.memcpy nth=2' reset");

	rig_submit_small(rig, 1);
	rig_drain(rig);
	CHECK(times_fired(id) == 0);
	rig_submit_small(rig, 2);
	CHECK(times_fired(id) == 1);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
}

/* The engine's thread runs what a program does not poll for: when it has run two jobs of another context, one behind the
 * other, it has seen the first. */
static void test_event_comes_before_the_operation_that_it_waits_for(void)
{
	struct rig *rig = rig_start(rig_open(NULL)), *other;

	add("function device=03:00.0 after='dma.memcpy nth=1' reset");
	rig_submit_small(rig, 1);
	other = rig_start(rig_open(NULL));
	for (uint64_t number = 1; number <= 2; number++) {
		rig_submit_small(other, number);
		CHECK(rig_wait_in_memory(other, number));
	}
	rig_drain(other);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	CHECK(!rig_small_is_done(rig, 1));
	rig_close(other);
	rig_close(rig);
}

static void test_plan_of_a_file_has_rules_for_functions(void)
{
	struct rig *rig = rig_open(NULL);
	FILE *file = fopen("plan.yaml", "w");

	CHECK(file && fputs("faults:\n  - function device=03:00.1 remove\n", file) >= 0 && fclose(file) == 0);
	NEED_OK(bfsim_fault_load("plan.yaml"));
	CHECK(num_devs() == 1);
	CHECK(bfsim_fault_unfired(NULL) == 0);
	rig_close(rig);
}

int main(void)
{
	static const struct own_test tests[] = {
		OWN_TEST(test_rule_from_before_the_first_device_waits_for_the_card),
		OWN_TEST(test_in_virtual_time_it_waits_as_well),
		OWN_TEST(test_sleeper_wakes_when_its_functions_time_has_come),
		OWN_TEST(test_rules_that_begin_later_do_so_in_their_order),
		OWN_TEST(test_rules_that_began_before_the_card_was_there_hit_in_their_order),
		OWN_TEST(test_rule_that_is_taken_out_before_its_time_never_hits),
		OWN_TEST(test_in_virtual_time_a_rule_begins_when_time_gets_there),
		OWN_TEST(test_event_begins_at_an_operation),
		OWN_TEST(test_event_comes_before_the_operation_that_it_waits_for),
		OWN_TEST(test_forked_child_is_hit_by_what_comes_later),
		OWN_TEST(test_forked_child_is_not_hit_again_by_what_was),
		OWN_TEST(test_tasks_are_counted),
		OWN_TEST(test_tasks_of_kinds_and_sides_that_do_not_exist_are_no_answer),
		OWN_TEST(test_tasks_of_many_are_all_counted),
		OWN_TEST(test_forked_child_counts_its_own_tasks),
		OWN_TEST(test_nothing_is_counted_when_recording_is_off),
		OWN_TEST(test_other_processes_and_daemons_take_a_session),
		OWN_TEST(test_plan_of_a_file_has_rules_for_functions),
	};

	return OWN_RUN(tests);
}
