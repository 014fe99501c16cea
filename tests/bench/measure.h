/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/measure.h - a comparison of two ways of one operation.
 *
 *   round 0: ours, baseline   round 1: baseline, ours   round 2: ours, baseline ...
 *
 * Machines are shared and noisy: the time of one slice of a few milliseconds
 * says little, but the two slices of a round meet the same noise. So each
 * round yields one ratio, and the median of the rounds' ratios is the result.
 */
#ifndef TESTS_BENCH_MEASURE_H
#define TESTS_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* One way: executes @count operations and returns their duration. Returns 0, or -1 after a message. */
struct bench_way {
	int (*run)(void *arg, uint32_t count, uint64_t *ret_ns);
	void *arg;
};

struct bench_cfg {
	struct bench_way ours, baseline;
	uint32_t warm_up;       /* operations of each before anything is measured */
	uint32_t slice_warm_up; /* runs before every slice; wakes processes that sleep between slices; may be 0 */
	uint32_t rounds;        /* an odd number, so that there is a middle one */
};

struct bench_result {
	double ours_ns, baseline_ns; /* for one operation; medians */
	double time_ratio;           /* ours over baseline; median of the rounds */
	double quiet_time_ratio;     /* the first decile of ours over that of the baseline */
};

/* Returns 0, or -1 when a way failed. */
int bench_measure(const struct bench_cfg *cfg, struct bench_result *ret_result);

uint64_t bench_now_ns(void);

/* CPU time of the calling thread, for ways in which no other thread works: on a busy machine a slice of real time that is longer
 * than a turn of the scheduler has the turns of others in it, and one that is shorter has not. */
uint64_t bench_cpu_ns(void);

/* The middle value; sorts @values. */
double bench_median(double *values, size_t count);

/* Print an error message. Returns -1. */
int bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
