/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/plan/plan_read.h - what is read of a plan, without trust. */
#ifndef SIM_FAULTS_PLAN_READ_H
#define SIM_FAULTS_PLAN_READ_H

#include "plan.h"

/* Copy whole words that others may be writing: the caller checks afterwards, by an
 * id that is cleared before and set behind. */
void sim_atomic_words_load(void *to, const _Atomic uint64_t *from, size_t words);
void sim_atomic_words_store(_Atomic uint64_t *to, const void *from, size_t words);

/* The rule in a slot. Whether there is one and it is sound. */
bool sim_plan_read(const struct sim_plan *plan, uint32_t slot_index, uint32_t *ret_id, struct sim_rule *ret_rule);

/* How many slots to look at. */
uint32_t sim_plan_num_slots(const struct sim_plan *plan);

/* Where in the pool a series of delays lies. Whether it is inside. */
bool sim_plan_find_series(const struct sim_plan *plan, uint64_t series, uint32_t *ret_first, uint32_t *ret_count);

#endif
