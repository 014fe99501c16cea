/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/hash_table.h - a table of 64-bit values by 32-bit keys, which kernels fill and read. A key that is there already
 * takes the new value. */
#ifndef SIM_DPA_HASH_TABLE_H
#define SIM_DPA_HASH_TABLE_H

#include "sim/dpa/exec/process.h"

struct sim_dpa_hash_entry {
	bool is_used;
	uint32_t key;
	uint64_t value;
};

struct sim_dpa_hash_table {
	struct sim_dpa_process *process;
	uint64_t handle;
	uint32_t num_entries;
	struct sim_dpa_hash_entry *entries;
};

/* Returns 0 or -ENOMEM. */
int sim_dpa_hash_table_start(struct sim_dpa_process *process, uint32_t num_entries, struct sim_dpa_hash_table *table);

void sim_dpa_hash_table_stop(struct sim_dpa_hash_table *table);

/* For the port. */
void sim_dpa_port_hash_add(uint64_t handle, uint32_t key, uint64_t value);
int sim_dpa_port_hash_find(uint64_t handle, uint32_t key, uint64_t *ret_value);
void sim_dpa_port_hash_remove(uint64_t handle, uint32_t key);

#endif
