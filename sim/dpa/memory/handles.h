/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/memory/handles.h - numbers that stand for objects in device code.
 *
 *   63         56 55              24 23        0
 *   [   kind    ][    generation    ][  index  ]     never 0
 *
 * A number ends with its object: the place has another generation afterwards, so that a stale number is recognised. No lock: the
 * caller has one.
 */
#ifndef SIM_DPA_HANDLES_H
#define SIM_DPA_HANDLES_H

#include <stddef.h>
#include <stdint.h>

enum sim_dpa_handle_kind {
	SIM_DPA_DEVICE = 1,
	SIM_DPA_EVENT,
	SIM_DPA_NOTIFICATION,
	SIM_DPA_COMPLETION,
	SIM_DPA_HASH_TABLE,
	SIM_DPA_CONSUMER_COMPLETION,
	SIM_DPA_CONSUMER,
	SIM_DPA_PRODUCER,
	SIM_DPA_RDMA,
	SIM_DPA_ASYNC,
	SIM_DPA_REMOTE_EVENT,
};

struct sim_dpa_handle_slot {
	void *object; /* NULL = free */
	uint32_t generation;
	uint8_t kind;
};

struct sim_dpa_handles {
	struct sim_dpa_handle_slot *slots;
	uint32_t num_slots;
};

void sim_dpa_handles_fini(struct sim_dpa_handles *handles);

/* Give @object a number. Returns 0 = no memory. */
uint64_t sim_dpa_handle_new(struct sim_dpa_handles *handles, enum sim_dpa_handle_kind kind, void *object);

/* NULL = no live object of that kind. */
void *sim_dpa_handle_find(const struct sim_dpa_handles *handles, enum sim_dpa_handle_kind kind, uint64_t handle);

/* The number that the object has; 0 = none. */
uint64_t sim_dpa_handle_of(const struct sim_dpa_handles *handles, enum sim_dpa_handle_kind kind, const void *object);

/* End the number. 0 and stale numbers are fine. */
void sim_dpa_handle_drop(struct sim_dpa_handles *handles, uint64_t handle);

#endif
