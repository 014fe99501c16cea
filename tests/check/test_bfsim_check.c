/* SPDX-License-Identifier: BSD-3-Clause */
/* <bfsim.h>: hits of the checker, in a program that is checked (BFSIM_CHECK) and in one that is not. */
#include "../multi/bfsim_util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULE "submit-not-running"

/* Hit the rule at one of two sites. */
static void hit(int site)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	if (site == 1)
		CHECK(doca_task_submit(task) == DOCA_ERROR_BAD_STATE);
	else
		CHECK(doca_task_submit(task) == DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	rig_close(rig);
}

static uint64_t count(const char *rule)
{
	uint64_t hits = 999;

	NEED_OK(bfsim_check_hits(rule, &hits));
	return hits;
}

static void test_hits_are_counted_by_rule(void)
{
	CHECK(count(NULL) == 0);
	hit(1);
	hit(1);
	hit(2);
	CHECK(count(NULL) == 3);
	CHECK(count(RULE) == 3);
	CHECK(count("bfc-task-001") == 3);
	CHECK(count("range-set-twice") == 0);
}

static void test_last_hit_has_its_place(void)
{
	struct bfsim_check_hit last, again;

	NEED_ERROR(bfsim_check_last(NULL, &last), -ENOENT, "no rule was hit");
	NEED_ERROR(bfsim_check_last(RULE, &last), -ENOENT, RULE " was not hit");
	hit(1);
	NEED_OK(bfsim_check_last(RULE, &last));
	CHECK(strcmp(last.rule, "BFC-TASK-001") == 0 && strcmp(last.severity, "error") == 0);
	CHECK(strcmp(last.message, "doca_task_submit: the dma context is stopping") == 0);
	CHECK(strcmp(last.function, "hit") == 0 && strstr(last.file, "test_bfsim_check.c") && last.line > 0);
	hit(2);
	NEED_OK(bfsim_check_last(NULL, &again));
	CHECK(again.line == last.line + 2);
	NEED_ERROR(bfsim_check_last("range-set-twice", &last), -ENOENT, "range-set-twice was not hit");
}

/* A hit that is expected does not count, and is reported again when nothing expects it. */
static void test_expected_hits_do_not_count(void)
{
	uint64_t hits = 999;

	NEED_OK(bfsim_check_expect_begin(RULE));
	NEED_ERROR(bfsim_check_expect_begin(RULE), -EALREADY, "expected already");
	NEED_OK(bfsim_check_expect_end(RULE, &hits));
	CHECK(hits == 0);
	NEED_OK(bfsim_check_expect_begin(RULE));
	hit(1);
	hit(1);
	NEED_OK(bfsim_check_expect_end(RULE, &hits));
	CHECK(hits == 2 && count(NULL) == 0);
	NEED_ERROR(bfsim_check_expect_end(RULE, &hits), -EPERM, "no begin");
	hit(1);
	CHECK(count(RULE) == 1);
	NEED_OK(bfsim_check_expect_begin(NULL));
	hit(1);
	NEED_OK(bfsim_check_expect_end(NULL, &hits));
	CHECK(hits == 1 && count(NULL) == 1);
}

static unsigned int num_open_files(bool closed_on_exec)
{
	unsigned int count = 0;

	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);

		count += flags >= 0 && (closed_on_exec || !(flags & FD_CLOEXEC));
	}
	return count;
}

/* The program may count its descriptors, and the programs that it starts get none of the checker's. */
static void test_report_leaves_no_file_open(void)
{
	unsigned int num_before, num_inherited;

	rig_close(rig_start(rig_open(NULL))); /* the session's */
	num_before = num_open_files(true);
	num_inherited = num_open_files(false);
	hit(1);
	CHECK(count(RULE) == 1);
	CHECK(num_open_files(true) == num_before);
	CHECK(num_open_files(false) == num_inherited);
}

static void test_muted_hits_do_not_count(void)
{
	struct bfsim_check_hit last;

	NEED_OK(bfsim_check_mute_begin(RULE));
	NEED_OK(bfsim_check_mute_begin(NULL));
	hit(1);
	NEED_OK(bfsim_check_mute_end(RULE));
	hit(1);
	NEED_OK(bfsim_check_mute_end(NULL));
	CHECK(count(NULL) == 0);
	NEED_ERROR(bfsim_check_last(RULE, &last), -ENOENT, "not hit");
	NEED_ERROR(bfsim_check_mute_end(RULE), -EPERM, "no begin");
	hit(1);
	CHECK(count(RULE) == 1);
}

static void test_unknown_rule_is_an_error(void)
{
	uint64_t hits = 999;

	NEED_ERROR(bfsim_check_hits("nonsense", &hits), -EINVAL, "no rule is called \"nonsense\"");
	NEED_ERROR(bfsim_check_expect_begin("nonsense"), -EINVAL, "bfsim rules");
	NEED_ERROR(bfsim_check_mute_begin(""), -EINVAL, "no rule is called");
	CHECK(hits == 999);
}

static void test_nothing_works_without_the_checker(void)
{
	struct bfsim_check_hit last;
	uint64_t hits = 999;

	NEED_ERROR(bfsim_check_hits(NULL, &hits), -ENOTSUP, "BFSIM_CHECK=api");
	NEED_ERROR(bfsim_check_last(NULL, &last), -ENOTSUP, "bfsim run --check");
	NEED_ERROR(bfsim_check_expect_begin(RULE), -ENOTSUP, "not loaded");
	NEED_ERROR(bfsim_check_expect_end(RULE, &hits), -ENOTSUP, "not loaded");
	NEED_ERROR(bfsim_check_mute_begin(RULE), -ENOTSUP, "not loaded");
	NEED_ERROR(bfsim_check_mute_end(RULE), -ENOTSUP, "not loaded");
	CHECK(hits == 999);
}

static const struct own_test checked[] = {
	OWN_TEST(test_hits_are_counted_by_rule),   OWN_TEST(test_last_hit_has_its_place),
	OWN_TEST(test_expected_hits_do_not_count), OWN_TEST(test_muted_hits_do_not_count),
	OWN_TEST(test_unknown_rule_is_an_error),   OWN_TEST(test_report_leaves_no_file_open),
};

static const struct own_test unchecked[] = {
	OWN_TEST(test_nothing_works_without_the_checker),
};

int main(void)
{
	return getenv("BFSIM_CHECK") ? OWN_RUN(checked) : OWN_RUN(unchecked);
}
