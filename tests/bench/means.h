/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/means.h - messages between two processes without any library: a Unix socket, a flag in memory that
 * both poll. */
#ifndef TESTS_BENCH_MEANS_H
#define TESTS_BENCH_MEANS_H

#include "pair.h"

/* Ping-pongs of pair.bytes over a socket, blocking. 0 or -1. */
int bench_means_socket(struct bench_pair *ret_pair);

/* Ping-pongs of one word: each spins until the other's counter moves. 0 or -1. */
int bench_means_flag(struct bench_pair *ret_pair);

#endif
