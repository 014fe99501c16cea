/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash tables of kernels. */
#include "hash_table.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/dpa/exec/process_priv.h"

int sim_dpa_hash_table_start(struct sim_dpa_process *process, uint32_t num_entries, struct sim_dpa_hash_table *table)
{
	*table = (struct sim_dpa_hash_table){ .process = process, .num_entries = num_entries };
	table->entries = calloc(num_entries, sizeof(*table->entries));
	if (table->entries)
		table->handle = sim_dpa_process_export(process, SIM_DPA_HASH_TABLE, table);
	if (!table->handle) {
		free(table->entries);
		return -ENOMEM;
	}
	return 0;
}

void sim_dpa_hash_table_stop(struct sim_dpa_hash_table *table)
{
	sim_dpa_process_withdraw(table->process, SIM_DPA_HASH_TABLE, table);
	free(table->entries);
	table->entries = NULL;
}

/* The entry of the key, or NULL. *ret_free: an entry that is free, or NULL. */
static struct sim_dpa_hash_entry *find(const struct sim_dpa_hash_table *table, uint32_t key,
				       struct sim_dpa_hash_entry **ret_free)
{
	*ret_free = NULL;
	for (uint32_t i = 0; i < table->num_entries; i++) {
		struct sim_dpa_hash_entry *entry = &table->entries[(key + i) % table->num_entries];

		if (entry->is_used && entry->key == key)
			return entry;
		if (!entry->is_used && !*ret_free)
			*ret_free = entry;
	}
	return NULL;
}

static void __attribute__((noreturn)) refuse(uint64_t handle)
{
	sim_dpa_refuse("%#llx is no hash table", (unsigned long long)handle);
}

void sim_dpa_port_hash_add(uint64_t handle, uint32_t key, uint64_t value)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	struct sim_dpa_hash_table *table;
	struct sim_dpa_hash_entry *entry = NULL, *free_entry;

	pthread_mutex_lock(&process->lock);
	table = sim_dpa_handle_find(&process->handles, SIM_DPA_HASH_TABLE, handle);
	if (table) {
		entry = find(table, key, &free_entry);
		entry = entry ? entry : free_entry;
	}
	if (entry)
		*entry = (struct sim_dpa_hash_entry){ .is_used = true, .key = key, .value = value };
	pthread_mutex_unlock(&process->lock);
	if (!table)
		refuse(handle);
	if (!entry)
		sim_dpa_refuse("the hash table is full");
}

int sim_dpa_port_hash_find(uint64_t handle, uint32_t key, uint64_t *ret_value)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	struct sim_dpa_hash_table *table;
	struct sim_dpa_hash_entry *entry = NULL, *free_entry;

	pthread_mutex_lock(&process->lock);
	table = sim_dpa_handle_find(&process->handles, SIM_DPA_HASH_TABLE, handle);
	if (table)
		entry = find(table, key, &free_entry);
	if (entry)
		*ret_value = entry->value;
	pthread_mutex_unlock(&process->lock);
	if (!table)
		refuse(handle);
	return entry != NULL;
}

void sim_dpa_port_hash_remove(uint64_t handle, uint32_t key)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	struct sim_dpa_hash_table *table;
	struct sim_dpa_hash_entry *entry = NULL, *free_entry;

	pthread_mutex_lock(&process->lock);
	table = sim_dpa_handle_find(&process->handles, SIM_DPA_HASH_TABLE, handle);
	if (table)
		entry = find(table, key, &free_entry);
	if (entry)
		entry->is_used = false;
	pthread_mutex_unlock(&process->lock);
	if (!table)
		refuse(handle);
}
