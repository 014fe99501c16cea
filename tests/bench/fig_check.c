/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of the checker: the same tasks in processes that are checked, and in one that is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fig.h"
#include "process.h"
#include "reference.h"

struct copier {
	struct bench_process process;
	uint32_t depth;
};

/* Returns 0 or -1; end it in both cases. */
static int start(struct copier *copier, const char *program, const char *mode, uint32_t bytes, uint32_t depth)
{
	struct bench_ref_answer ready;
	char bytes_text[16], depth_text[16];
	const char *args[] = { bytes_text, depth_text, NULL };
	int rc;

	*copier = (struct copier){ .depth = depth };
	snprintf(bytes_text, sizeof(bytes_text), "%u", bytes);
	snprintf(depth_text, sizeof(depth_text), "%u", depth);
	if (mode)
		setenv("BFSIM_CHECK", mode, 1);
	rc = bench_process_exec(program, args, &copier->process);
	unsetenv("BFSIM_CHECK");
	if (rc < 0 || bench_receive(copier->process.fd, &ready, sizeof(ready)) < 0)
		return bench_fail("a process that is checked does not start");
	return 0;
}

static int order_batches(void *arg, uint32_t count, uint64_t *ret_ns)
{
	const struct copier *copier = arg;
	const struct bench_ref_order order = { .count = count };
	struct bench_ref_answer answer;

	if (bench_send(copier->process.fd, &order, sizeof(order)) < 0 ||
	    bench_receive(copier->process.fd, &answer, sizeof(answer)) < 0 || answer.status < 0)
		return bench_fail("a process that is checked does not copy");
	*ret_ns = answer.ns;
	return 0;
}

/* The time of a task. */
static int measure(struct copier *ours, struct copier *off, struct bench_result *ret_result)
{
	const struct bench_cfg cfg = {
		.ours = { order_batches, ours }, .baseline = { order_batches, off }, .warm_up = 4, .rounds = 31
	};

	if (bench_measure(&cfg, ret_result) < 0)
		return -1;
	ret_result->ours_ns /= ours->depth;
	ret_result->baseline_ns /= ours->depth;
	return 0;
}

/* @mode: NULL = what the program gets without an option. */
static int compare(const char *program, const char *mode, uint32_t bytes, uint32_t depth,
		   struct bench_result *ret_result)
{
	struct copier ours, off = { .process = { .fd = -1 } };
	int rc = start(&ours, program, mode, bytes, depth);

	if (rc == 0)
		rc = start(&off, program, "off", bytes, depth);
	if (rc == 0)
		rc = measure(&ours, &off, ret_result);
	if (bench_process_end(&ours.process) < 0)
		rc = -1;
	return bench_process_end(&off.process) < 0 ? -1 : rc;
}

#ifdef BENCH_TSAN
/* What the detector adds to a task of a program that has the sanitizer. */
static int compare_sanitized(const struct bench_report *report)
{
	struct bench_row row = { .name = "64 B, thread sanitizer: added",
				 .baseline_name = "sanitizer alone",
				 .unit = "us",
				 .goal = BENCH_OURS_AT_MOST,
				 .limit = 0.5 };
	struct bench_result result;

	if (compare("bfsim_bench_check_tsan", NULL, 64, 32, &result) < 0)
		return -1;
	row.ours = (result.ours_ns - result.baseline_ns) / 1000;
	row.baseline = result.baseline_ns / 1000;
	row.ratio = result.time_ratio;
	return bench_report_row(report, &row);
}
#else
static int compare_sanitized(const struct bench_report *report)
{
	return bench_report_skipped(report, "64 B, thread sanitizer", "the compiler has none");
}
#endif

int bench_fig_check(const struct bench_report *report)
{
	static const struct {
		const char *name, *mode;
		uint32_t bytes, depth;
		enum bench_goal goal;
		double limit;
	} variants[] = {
		{ "64 B, checked: api", "api", 64, 32, BENCH_RATIO_AT_LEAST, 0.9 },
		{ "64 B, checked: races", "races", 64, 32, BENCH_NO_GOAL, 0 },
		{ "64 B, 10,000 in flight, races", "races", 64, 10000, BENCH_OURS_AT_LEAST, 1.0 },
		{ "64 KiB, checked: api", "api", 65536, 32, BENCH_RATIO_AT_LEAST, 0.9 },
		{ "64 KiB, checked: races", "races", 65536, 32, BENCH_RATIO_AT_LEAST, 1 / 1.3 },
		{ "1 MiB, checked: races", "races", 1 << 20, 8, BENCH_RATIO_AT_LEAST, 1 / 1.3 },
	};
	struct bench_result result;
	int rc = 0;

	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]) && rc == 0; i++) {
		struct bench_row row = { .baseline_name = "not checked",
					 .goal = variants[i].goal,
					 .limit = variants[i].limit };

		snprintf(row.name, sizeof(row.name), "%s", variants[i].name);
		rc = compare("bfsim_bench_check", variants[i].mode, variants[i].bytes, variants[i].depth, &result);
		if (rc == 0)
			rc = bench_report_result(report, &row, &result, BENCH_RATE, variants[i].bytes);
	}
	return rc < 0 ? rc : compare_sanitized(report);
}
