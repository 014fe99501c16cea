/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/racebench/comch_pair.h - programs of two processes that may be connected by Comch. */
#ifndef TESTS_RACEBENCH_COMCH_PAIR_H
#define TESTS_RACEBENCH_COMCH_PAIR_H

#include "racebench.h"
#include "tests/api/comch_fast.h"

typedef void racebench_half(struct side *side, const struct racebench_args *args);

/* Run both processes in a session. When one fails, this process ends with status 1. */
void racebench_run_both(racebench_half *dpu, racebench_half *host, const struct racebench_args *args);

#endif
