/* SPDX-License-Identifier: BSD-3-Clause */
/* <bfsim.h> on a private card: rules, their hits, time. Each test runs in a process of its own, as a process joins
 * a card once. */
#include "bfsim_util.h"
#include "../api/log_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Copy 64 bytes; the task's status. The context is idle behind a failure. */
static doca_error_t copy(struct rig *rig)
{
	doca_error_t result;

	if (rig_state(rig) == DOCA_CTX_STATE_IDLE)
		rig_start(rig);
	rig->trace->text[0] = '\0';
	MUST(doca_task_submit(rig_small_task(rig, 0)));
	rig_drain(rig);
	result = strstr(rig->trace->text, "task 0 done") ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
	CHECK(result == DOCA_SUCCESS || strstr(rig->trace->text, "task 0 failed: DOCA_ERROR_IO_FAILED"));
	if (result != DOCA_SUCCESS)
		rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	return result;
}

static uint32_t add(const char *rule)
{
	uint32_t id;

	NEED_OK(bfsim_fault_add(rule, &id));
	return id;
}

/* How often a rule matched, and how often it fired. */
static void need_counts(uint32_t id, uint64_t matched, uint64_t fired)
{
	struct bfsim_fault fault;

	NEED_OK(bfsim_fault_get(id, &fault));
	CHECK(fault.id == id);
	CHECK(fault.matched == matched);
	CHECK(fault.fired == fired);
}

/* ---- rules on a private card ---- */

static void test_rule_from_before_the_first_device_hits(void)
{
	uint32_t id = add("dma.memcpy nth=2 fail=IO_FAILED");
	struct rig *rig = rig_open(NULL);

	CHECK(copy(rig) == DOCA_SUCCESS);
	need_counts(id, 1, 0);
	CHECK(copy(rig) == DOCA_ERROR_IO_FAILED);
	need_counts(id, 2, 1);
	CHECK(copy(rig) == DOCA_SUCCESS);
	rig_close(rig);
}

static void test_rule_counts_on_when_the_device_is_opened_again(void)
{
	uint32_t id = add("dma.memcpy nth=3 fail=IO_FAILED");

	for (int i = 1; i <= 3; i++) {
		struct rig *rig = rig_open(NULL);

		CHECK(copy(rig) == (i == 3 ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS));
		rig_close(rig);
		need_counts(id, (uint64_t)i, i == 3);
	}
}

static void test_removed_rule_hits_no_more(void)
{
	uint32_t first = add("dma.memcpy size=1 fail=IO_FAILED"), second = add("dma.memcpy fail=IO_FAILED");
	struct rig *rig = rig_open(NULL);
	struct bfsim_fault fault;

	CHECK(copy(rig) == DOCA_ERROR_IO_FAILED);
	NEED_OK(bfsim_fault_remove(second));
	CHECK(copy(rig) == DOCA_SUCCESS);
	NEED_ERROR(bfsim_fault_get(second, &fault), -ENOENT, "there is no rule 2");
	NEED_ERROR(bfsim_fault_remove(second), -ENOENT, "there is no rule 2");
	NEED_OK(bfsim_fault_remove(first));
	rig_close(rig);
}

static void test_cleared_plan_hits_no_more_and_ids_go_on(void)
{
	struct rig *rig = rig_open(NULL);

	add("dma.memcpy fail=IO_FAILED");
	add("dma.memcpy fail=IO_FAILED");
	NEED_OK(bfsim_fault_clear());
	CHECK(copy(rig) == DOCA_SUCCESS);
	CHECK(add("dma.memcpy fail=IO_FAILED") == 3);
	CHECK(copy(rig) == DOCA_ERROR_IO_FAILED);
	rig_close(rig);
}

/* Which of 32 copies fail, as bits. */
static uint32_t draw(struct rig *rig, uint64_t seed)
{
	uint32_t failed = 0;

	NEED_OK(bfsim_fault_clear());
	NEED_OK(bfsim_fault_seed(seed));
	add("dma.memcpy p=0.5 fail=IO_FAILED");
	for (int i = 0; i < 32; i++)
		failed |= (uint32_t)(copy(rig) != DOCA_SUCCESS) << i;
	return failed;
}

/* A rule's draws depend on the plan's seed and its id: hence a process for each. */
static uint32_t draw_in_a_child(uint64_t seed)
{
	uint32_t failed;
	int pipe_fds[2];
	pid_t pid;

	CHECK(pipe(pipe_fds) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct rig *rig = rig_open(NULL);

		failed = draw(rig, seed);
		rig_close(rig);
		_exit(write(pipe_fds[1], &failed, sizeof(failed)) != sizeof(failed));
	}
	CHECK(read(pipe_fds[0], &failed, sizeof(failed)) == sizeof(failed));
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	wait_well(pid);
	return failed;
}

static void test_seed_decides_what_fails(void)
{
	uint32_t failed = draw_in_a_child(1);

	CHECK(failed != 0 && failed != UINT32_MAX);
	CHECK(draw_in_a_child(1) == failed);
	CHECK(draw_in_a_child(2) != failed);
}

static void test_forked_child_has_the_rules_and_counts_for_itself(void)
{
	uint32_t id = add("dma.memcpy nth=2 fail=IO_FAILED");
	struct rig *rig = rig_open(NULL);
	pid_t pid;

	CHECK(copy(rig) == DOCA_SUCCESS);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct rig *own = rig_open(NULL);

		need_counts(id, 1, 0);
		CHECK(copy(own) == DOCA_ERROR_IO_FAILED);
		NEED_OK(bfsim_fault_clear());
		rig_close(own);
		_exit(0);
	}
	wait_well(pid);
	need_counts(id, 1, 0);
	CHECK(copy(rig) == DOCA_ERROR_IO_FAILED);
	rig_close(rig);
}

/* ---- plans as files ---- */

static void write_plan(const char *text)
{
	FILE *file = fopen("plan.yaml", "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void test_plan_of_a_file_hits(void)
{
	struct rig *rig = rig_open(NULL);

	write_plan("seed: 7\nfaults:\n  - dma.memcpy nth=2 fail=IO_FAILED\n"
		   "  - {op: dma.memcpy, nth: 3, fail: IO_FAILED}\n");
	NEED_OK(bfsim_fault_load("plan.yaml"));
	CHECK(copy(rig) == DOCA_SUCCESS);
	CHECK(copy(rig) == DOCA_ERROR_IO_FAILED);
	CHECK(copy(rig) == DOCA_ERROR_IO_FAILED);
	CHECK(copy(rig) == DOCA_SUCCESS);
	need_counts(1, 2, 1);
	need_counts(2, 3, 1);
	rig_close(rig);
}

static void test_plan_that_comes_with_bfsim_can_be_loaded(void)
{
	NEED_OK(bfsim_fault_load(STORM));
	CHECK(bfsim_fault_unfired(NULL) > 0);
}

static void test_plan_with_a_wrong_rule_adds_none(void)
{
	write_plan("faults:\n  - dma.memcpy nth=2 fail=IO_FAILED\n  - dma.memcpy nth=0 hang\n");
	NEED_ERROR(bfsim_fault_load("plan.yaml"), -EINVAL, "plan.yaml:3: ");
	CHECK(bfsim_fault_unfired(NULL) == 0);
}

/* A plan has room for 4096 rules. */
static void test_plan_that_finds_no_room_adds_none(void)
{
	struct bfsim_fault fault;
	uint32_t id = 0;

	for (int i = 0; i < 4095; i++)
		id = add("dma.memcpy size=1 hang");
	write_plan("faults:\n  - dma.memcpy size=2 hang\n  - dma.memcpy size=3 hang\n");
	NEED_ERROR(bfsim_fault_load("plan.yaml"), -ENOSPC, "plan.yaml:3: the plan is full");
	CHECK(bfsim_fault_unfired(NULL) == 4095);
	NEED_ERROR(bfsim_fault_get(id + 1, &fault), -ENOENT, "there is no rule");
	NEED_OK(bfsim_fault_add("dma.memcpy size=2 hang", NULL));
	NEED_ERROR(bfsim_fault_add("dma.memcpy size=2 hang", NULL), -ENOSPC, "the plan is full");
}

static void test_delays_of_a_file_are_read_when_the_rule_is_added(void)
{
	uint32_t id;
	FILE *file = fopen("delays", "w");

	NEED_ERROR(bfsim_fault_add("dma.memcpy delay=trace(none)", &id), -ENOENT, "none");
	CHECK(file && fputs("1us\n2us\n", file) >= 0 && fclose(file) == 0);
	NEED_OK(bfsim_fault_add("dma.memcpy delay=trace(delays)", &id));
}

/* ---- reports and mistakes ---- */

static void test_unfired_names_the_first_rule_that_never_hit(void)
{
	struct bfsim_fault first = { 0 };
	struct rig *rig = rig_open(NULL);

	CHECK(bfsim_fault_unfired(&first) == 0);
	CHECK(first.id == 0);
	add("dma.memcpy fail=IO_FAILED");
	add("dma.memcpy  size>=4k fail=IO_FAILED");
	add("comch.send drop");
	CHECK(copy(rig) == DOCA_ERROR_IO_FAILED);
	CHECK(bfsim_fault_unfired(&first) == 2);
	CHECK(first.id == 2 && first.matched == 0 && first.fired == 0);
	CHECK(strstr(first.text, "dma.memcpy") && strstr(first.text, "size"));
	CHECK(bfsim_fault_unfired(NULL) == 2);
	rig_close(rig);
}

static void test_mistakes_are_errors_that_say_so(void)
{
	struct bfsim_fault fault;

	CHECK(strcmp(bfsim_error(), "") == 0);
	NEED_ERROR(bfsim_fault_add(NULL, NULL), -EINVAL, "NULL");
	NEED_ERROR(bfsim_fault_add("dma.memcopy hang", NULL), -EINVAL, "column 1");
	NEED_ERROR(bfsim_fault_add("peer kill", NULL), -ENOTSUP, "private card");
	NEED_ERROR(bfsim_fault_add("dma.memcpy nth=x hang", NULL), -EINVAL, "column 16");
	NEED_ERROR(bfsim_fault_load(NULL), -EINVAL, "NULL");
	NEED_ERROR(bfsim_fault_load("nothing.yaml"), -ENOENT, "nothing.yaml");
	NEED_ERROR(bfsim_fault_get(1, NULL), -EINVAL, "NULL");
	NEED_ERROR(bfsim_fault_get(0, &fault), -ENOENT, "no rule 0");
	NEED_ERROR(bfsim_fault_remove(0), -ENOENT, "no rule 0");
	NEED_ERROR(bfsim_fault_remove(UINT32_MAX), -ENOENT, "no rule 4294967295");
}

/* A private card's clock is known once a device is open. */
static void test_a_slow_link_that_the_clock_does_not_show_is_refused(void)
{
	FILE *log = log_file_open(DOCA_LOG_LEVEL_WARNING);
	uint32_t early = add("link degrade=gen1x1");
	struct rig *rig;

	CHECK(!log_file_has(log, "no slower link"));
	rig = rig_open(NULL);
	CHECK(log_file_count(log, "rule 1 (link degrade=gen1x1) has no effect") == 1);
	NEED_ERROR(bfsim_fault_add("link errors=50%", NULL), -ENOTSUP, "BFSIM_CLOCK");
	NEED_ERROR(bfsim_fault_add("net.link delay=5us", NULL), -ENOTSUP, "functional");
	add("net.link down=1us");
	NEED_OK(bfsim_fault_remove(early));
	rig_close(rig);
	rig_close(rig_open(NULL));
	CHECK(log_file_count(log, "has no effect") == 1);
}

static void test_a_slow_link_is_accepted_where_the_clock_shows_it(void)
{
	FILE *log = log_file_open(DOCA_LOG_LEVEL_WARNING);
	struct rig *rig;

	setenv("BFSIM_CLOCK", "virtual", 1);
	add("link degrade=gen1x1");
	rig = rig_open(NULL);
	add("link errors=50%");
	add("net.link delay=5us");
	CHECK(!log_file_has(log, "no slower link"));
	rig_close(rig);
}

/* ---- time ---- */

static void test_time_goes_on_over_devices(void)
{
	uint64_t start_ns = bfsim_now_ns(), open_ns, end_ns;
	struct rig *rig = rig_open(NULL);

	CHECK(copy(rig) == DOCA_SUCCESS);
	open_ns = bfsim_now_ns();
	rig_close(rig);
	end_ns = bfsim_now_ns();
	CHECK(start_ns < open_ns && open_ns < end_ns);
}

/* The rule's window ended a nanosecond after the session began; another's begins in an hour. */
static void test_rules_follow_session_time(void)
{
	struct rig *rig = rig_open(NULL);

	add("dma.memcpy until=1ns fail=IO_FAILED");
	add("dma.memcpy from=3600s fail=IO_FAILED");
	CHECK(bfsim_now_ns() > 1);
	CHECK(copy(rig) == DOCA_SUCCESS);
	add("dma.memcpy from=1ns fail=IO_FAILED");
	CHECK(copy(rig) == DOCA_ERROR_IO_FAILED);
	rig_close(rig);
}

int main(int argc, char **argv)
{
	static const struct own_test tests[] = {
		OWN_TEST(test_rule_from_before_the_first_device_hits),
		OWN_TEST(test_rule_counts_on_when_the_device_is_opened_again),
		OWN_TEST(test_removed_rule_hits_no_more),
		OWN_TEST(test_cleared_plan_hits_no_more_and_ids_go_on),
		OWN_TEST(test_seed_decides_what_fails),
		OWN_TEST(test_forked_child_has_the_rules_and_counts_for_itself),
		OWN_TEST(test_plan_of_a_file_hits),
		OWN_TEST(test_plan_that_comes_with_bfsim_can_be_loaded),
		OWN_TEST(test_plan_with_a_wrong_rule_adds_none),
		OWN_TEST(test_plan_that_finds_no_room_adds_none),
		OWN_TEST(test_delays_of_a_file_are_read_when_the_rule_is_added),
		OWN_TEST(test_unfired_names_the_first_rule_that_never_hit),
		OWN_TEST(test_mistakes_are_errors_that_say_so),
		OWN_TEST(test_a_slow_link_that_the_clock_does_not_show_is_refused),
		OWN_TEST(test_a_slow_link_is_accepted_where_the_clock_shows_it),
		OWN_TEST(test_time_goes_on_over_devices),
		OWN_TEST(test_rules_follow_session_time),
	};

	return OWN_RUN(tests);
}
