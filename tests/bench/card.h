/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/card.h - a card for one figure: a session with its daemon, in a temporary directory.
 *
 *   bench_card_up() --> bench_card_enter() in each process of a side --> bench_card_down()
 */
#ifndef TESTS_BENCH_CARD_H
#define TESTS_BENCH_CARD_H

#include "process.h"
#include "sim/clock/clock.h"

#define BENCH_HOST_PCI "b1:00.0"
#define BENCH_DPU_PCI  "03:00.0"

struct bench_card {
	char dir[64]; /* below $TMPDIR */
	enum sim_clock_mode clock;
	const char *topology_path; /* NULL = the built-in topology */
	struct bench_process daemon;
};

/* Start one: the built-in topology, in functional mode. Returns 0 or -1. */
int bench_card_up(struct bench_card *ret_card);

/* The same with the clock and the topology that are set in @card. */
int bench_card_up_as(struct bench_card *card);

/* End it; the processes that entered it have ended. Returns 0, or -1 when the daemon ended badly. */
int bench_card_down(struct bench_card *card);

/* Place this process, before it first uses a device: on @side, with @path (NULL = the best) for its imports. */
void bench_card_enter(const struct bench_card *card, const char *side, const char *path);

/* Run @run(arg) in a process of its own that entered so, to its end. Returns
 * 0, or -1 when it returned less or ended badly. */
int bench_card_run(const struct bench_card *card, const char *side, const char *path, int (*run)(void *arg), void *arg);

#endif
