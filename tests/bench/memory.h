/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/memory.h - the memory that is copied, and the check of its contents. */
#ifndef TESTS_BENCH_MEMORY_H
#define TESTS_BENCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* 128 blocks of 1 MiB on each side of a copy: more than the caches of today's machines hold. */
#define BENCH_BLOCK_BYTES (1u << 20)
#define BENCH_NUM_BLOCKS  128u

/* 64 blocks of 64 bytes: small, and in the first-level cache. */
#define BENCH_SMALL_BYTES 64u
#define BENCH_NUM_SMALL   64u

/* Private memory, every page of it present; NULL after an error message. */
void *bench_memory_new(size_t len);

/* Shared memory of the object @fd, likewise. */
void *bench_memory_map(int fd, size_t len);

/* Write a pattern derived from @seed; check it. */
void bench_memory_fill(void *addr, size_t len, uint64_t seed);
int bench_memory_check(const void *addr, size_t len, uint64_t seed);

/* Two ways of copying take turns over one working set, so that neither finds
 * in the cache what the other has just used. */
struct bench_walk {
	uint32_t next, num_blocks;
};

/* The first of the next @count blocks. */
uint32_t bench_walk(struct bench_walk *walk, uint32_t count);

#endif
