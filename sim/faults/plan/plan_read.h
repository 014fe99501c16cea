/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/plan/plan_read.h - untrusted reads of a plan, for its index. */
#ifndef SIM_FAULTS_PLAN_READ_H
#define SIM_FAULTS_PLAN_READ_H

#include "plan.h"

/* Copy whole words that other threads may write. The caller then checks an id, which the
 * writer clears before and sets afterwards. */
void sim_atomic_words_load(void *to, const _Atomic uint64_t *from, size_t words);
void sim_atomic_words_store(_Atomic uint64_t *to, const void *from, size_t words);

/* Read the rule in a slot. Returns whether there is a valid one. */
bool sim_plan_read(const struct sim_plan *plan, uint32_t slot_index, uint32_t *ret_id, struct sim_rule *ret_rule);

/* The number of slots that may have rules. */
uint32_t sim_plan_num_slots(const struct sim_plan *plan);

/* Find a series of delays. Returns whether it is valid and inside the pool. */
bool sim_plan_find_series(const struct sim_plan *plan, uint64_t series, uint32_t *ret_first, uint32_t *ret_count);

#endif
