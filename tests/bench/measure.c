/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures two ways of one job in alternating rounds. */
#include "measure.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLICE_NS   5000000u
#define MAX_ROUNDS 301

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t bench_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

int bench_fail(const char *format, ...)
{
	va_list args;

	fputs("bench: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return -1;
}

/* The number of operations in a slice. */
static int find_count(const struct bench_way *way, uint32_t warm_up, uint32_t *ret_count)
{
	uint32_t count = 1;
	uint64_t ns;

	if (warm_up > 0 && way->run(way->arg, warm_up, &ns) < 0)
		return -1;
	for (;; count *= 2) {
		if (way->run(way->arg, count, &ns) < 0)
			return -1;
		if (ns >= SLICE_NS || count >= 1u << 30)
			break;
		if (ns >= SLICE_NS / 8) {
			count = (uint32_t)((double)count * SLICE_NS / (double)ns);
			break;
		}
	}
	*ret_count = count;
	return 0;
}

static int slice(const struct bench_way *way, uint32_t warm_up, uint32_t count, double *ret_ns_each)
{
	uint64_t ns;

	if (warm_up > 0 && way->run(way->arg, warm_up, &ns) < 0)
		return -1;
	if (way->run(way->arg, count, &ns) < 0)
		return -1;
	*ret_ns_each = (double)ns / count;
	return 0;
}

int bench_measure(const struct bench_cfg *cfg, struct bench_result *ret_result)
{
	double ours[MAX_ROUNDS], baseline[MAX_ROUNDS], ratio[MAX_ROUNDS];
	uint32_t rounds = cfg->rounds < MAX_ROUNDS ? cfg->rounds : MAX_ROUNDS;
	uint32_t ours_count, baseline_count, warm_up = cfg->slice_warm_up;

	if (find_count(&cfg->ours, cfg->warm_up, &ours_count) < 0 ||
	    find_count(&cfg->baseline, cfg->warm_up, &baseline_count) < 0)
		return -1;
	for (uint32_t i = 0; i < rounds; i++) {
		bool ours_first = i % 2 == 0;

		if (ours_first && slice(&cfg->ours, warm_up, ours_count, &ours[i]) < 0)
			return -1;
		if (slice(&cfg->baseline, warm_up, baseline_count, &baseline[i]) < 0)
			return -1;
		if (!ours_first && slice(&cfg->ours, warm_up, ours_count, &ours[i]) < 0)
			return -1;
		ratio[i] = ours[i] / baseline[i];
	}
	ret_result->ours_ns = bench_median(ours, rounds);
	ret_result->baseline_ns = bench_median(baseline, rounds);
	ret_result->time_ratio = bench_median(ratio, rounds);
	ret_result->quiet_time_ratio = ours[rounds / 10] / baseline[rounds / 10]; /* sorted by now */
	return 0;
}
