/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash tables of kernels. */
#include "dpa_priv.h"

/* Our choice. */
#define MAX_ENTRIES (1u << 20)

doca_error_t doca_dpa_hash_table_create(struct doca_dpa *dpa, unsigned int num_entries, struct doca_dpa_hash_table **ht)
{
	struct doca_dpa_hash_table *created;
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(ht);
	if (num_entries == 0 || num_entries > MAX_ENTRIES)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u entries; give 1 to %u", num_entries, MAX_ENTRIES);
	result = shim_dpa_check_running(__func__, dpa);
	if (result != DOCA_SUCCESS)
		return result;
	created = dpa_object_new(__func__, SHIM_DPA_HASH_TABLE, sizeof(*created), dpa);
	if (!created)
		return DOCA_ERROR_DRIVER;
	created->dpa = dpa;
	if (sim_dpa_hash_table_start(dpa->process, num_entries, &created->table) < 0) {
		dpa_object_free(created, SHIM_DPA_HASH_TABLE, dpa);
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "no memory for %u entries", num_entries);
	}
	*ht = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_hash_table_destroy(struct doca_dpa_hash_table *ht)
{
	SHIM_NEED(ht, SHIM_DPA_HASH_TABLE);
	if (shim_dpa_is_own(ht->dpa))
		sim_dpa_hash_table_stop(&ht->table);
	dpa_object_free(ht, SHIM_DPA_HASH_TABLE, ht->dpa);
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_dpa_hash_table_get_dpa_handle, struct doca_dpa_hash_table, ht, SHIM_DPA_HASH_TABLE,
		   doca_dpa_dev_hash_table_t, ht_handle, ht->table.handle)
