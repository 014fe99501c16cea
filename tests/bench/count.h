/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/count.h - counts of instructions, which a busy machine does not change (ci/bench --instructions).
 *
 *   callgrind, which collects nothing at first --> bench_count_toggle() --> operations --> bench_count_toggle()
 *
 * Only the calling thread's instructions are counted. Programs use the public headers alone, so that they run with the
 * libraries of an earlier version as well.
 */
#ifndef TESTS_BENCH_COUNT_H
#define TESTS_BENCH_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_COUNT_BATCH 32

#if defined(__has_include) && __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define bench_count_toggle() CALLGRIND_TOGGLE_COLLECT
#else
#define bench_count_toggle() ((void)0)
#endif

/* Both ends of a Comch connection take turns, so that no end polls in vain: @count messages of 64 bytes, of which the
 * sends, or the receives, are counted. In the session of BFSIM_SESSION. Returns 0 or -1. */
int bench_count_sends(uint32_t count);
int bench_count_receives(uint32_t count);

/* Two contexts of this process: @count messages of 64 bytes, each with its receive and its answer; or writes. In the session of
 * BFSIM_SESSION. Returns 0 or -1. */
int bench_count_rdma_messages(uint32_t count);
int bench_count_rdma_writes(uint32_t count);

/* @count tasks of the smallest size that a kind of engine has (engine.h); or the work that their library does. */
int bench_count_engine(const char *name, bool is_bare, uint32_t count);

#endif
