/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/pair.h - two processes that exchange messages, and the time that they take.
 *
 *   figure --order--> second   receives, or answers
 *          --order--> first    begins
 *          <-answer--  both    with the times at which each began and ended
 *
 * Both sleep between orders, so that several pairs can take turns on two cores.
 * An order lasts from the first begin to the last end. Processes that poll need a
 * CPU each: on a common one they would measure the scheduler.
 */
#ifndef TESTS_BENCH_PAIR_H
#define TESTS_BENCH_PAIR_H

#include <stdbool.h>

#include "process.h"
#include "reference.h"

struct bench_pair {
	struct bench_process first, second;
	uint32_t bytes, depth; /* of a message, and messages under way at most; may change between runs */
	bool apart;            /* give each a CPU of its own, where there are two; permanently */
};

/* Start both as forks, which prepare, report that they are ready (bench_answer()) and execute commands; @first and
 * @second get @arg. Returns 0, 1 (one answered -ENOSYS) or -1. */
int bench_pair_fork(int (*first)(void *arg, int fd), int (*second)(void *arg, int fd), void *arg,
		    struct bench_pair *ret_pair);

/* Start both as the reference @program and connect them: each sends its address with its first answer and gets the
 * other's. Returns as above. */
int bench_pair_exec(const char *program, const char *const *args, struct bench_pair *ret_pair);

/* Both do @command. 0 or -errno. */
int bench_pair_order(struct bench_pair *pair, enum bench_ref_command command, uint32_t count, uint64_t *ret_ns);

/* A way to measure (measure.h); @pair is a struct bench_pair. */
int bench_pair_run(void *pair, uint32_t count, uint64_t *ret_ns);

/* Returns 0, or -1 when one of them ended badly. */
int bench_pair_end(struct bench_pair *pair);

/* ---- in the two processes ---- */

/* Answer a command, or report readiness. 0 or -1. */
int bench_answer(int fd, int status);

/* Execute commands until @fd ends: @run executes one and returns 0 or -errno. */
void bench_obey(int fd, int (*run)(void *arg, const struct bench_ref_order *order), void *arg);

#endif
