/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/fabric_pair.h - a pair of processes that use libfabric bare (ref_fabric.c). */
#ifndef TESTS_BENCH_FABRIC_PAIR_H
#define TESTS_BENCH_FABRIC_PAIR_H

#include "process.h"
#include "reference.h"

struct bench_fabric_pair {
	struct bench_process target, initiator;
	uint32_t bytes, depth; /* of a read, and reads under way at most; may change between runs */
};

/* Start them over @provider, with @len bytes to be read, and connect them.
 * Returns 0, 1 (no such provider here) or -1. */
int bench_fabric_pair_start(const char *provider, size_t len, struct bench_fabric_pair *ret_pair);

/* A way to measure (measure.h); @pair is a struct bench_fabric_pair. */
int bench_fabric_pair_read(void *pair, uint32_t count, uint64_t *ret_ns);

/* Returns 0, or -1 when one of them ended badly. */
int bench_fabric_pair_end(struct bench_fabric_pair *pair);

#endif
