/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/check/cases.h - programs that break a rule of the checker, and programs that nearly do.
 *
 * Each rule of sim/check/rules has a case. provoke() breaks the rule, at one site. near_miss() does what is closest
 * to that and correct: the checker must not report anything. test_rules.py runs both, as
 *
 *     check_cases RULE provoke|near-miss
 *
 * in a process of its own on a private card of the side "dpu", and compares the report with expected/RULE.txt.
 */
#ifndef TESTS_CHECK_CASES_H
#define TESTS_CHECK_CASES_H

#include "tests/api/dma_util.h"

/* The exit status of a case that this machine or this build can't run. */
#define CASE_SKIPPED 77

struct check_case {
	const char *rule; /* its name; "NAME@VARIANT" = a further case of the rule */
	void (*provoke)(void);
	void (*near_miss)(void);
};

/* Each ends with an entry without a rule. */
extern const struct check_case accel_cases[], buf_cases[], comch_cases[], dev_cases[], import_cases[], limits_cases[],
	mmap_cases[], race_cases[], fast_cases[], task_cases[], progress_cases[], perf_cases[], result_cases[],
	life_cases[], release_cases[], rdma_cases[], dpa_cases[];

/* Make so many calls that the checker does not watch each of them, for the next milliseconds. */
void be_busy(struct rig *rig);

/* Stop and destroy the rig's context, whose tasks are freed, before rig_close() ends the rest. */
void end_context(struct rig *rig);

#endif
