/* SPDX-License-Identifier: BSD-3-Clause */
/* Which execution unit a thread runs on. */
#include "dpa_priv.h"

doca_error_t doca_dpa_eu_affinity_create(struct doca_dpa *dpa, struct doca_dpa_eu_affinity **affinity)
{
	struct doca_dpa_eu_affinity *created;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(affinity);
	created = dpa_object_new(__func__, SHIM_DPA_AFFINITY, sizeof(*created), dpa);
	if (!created)
		return DOCA_ERROR_INVALID_VALUE; /* the reference has no other code */
	created->dpa = dpa;
	*affinity = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_eu_affinity_destroy(struct doca_dpa_eu_affinity *affinity)
{
	SHIM_NEED(affinity, SHIM_DPA_AFFINITY);
	if (affinity->num_users > 0)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "%u threads have the affinity; destroy them first",
				   affinity->num_users);
	dpa_object_free(affinity, SHIM_DPA_AFFINITY, affinity->dpa);
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_eu_affinity_set(struct doca_dpa_eu_affinity *affinity, unsigned int eu_id)
{
	SHIM_NEED(affinity, SHIM_DPA_AFFINITY);
	affinity->is_set = true;
	affinity->eu = eu_id;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_eu_affinity_clear(struct doca_dpa_eu_affinity *affinity)
{
	SHIM_NEED(affinity, SHIM_DPA_AFFINITY);
	affinity->is_set = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_eu_affinity_get(struct doca_dpa_eu_affinity *affinity, unsigned int *eu_id)
{
	SHIM_NEED(affinity, SHIM_DPA_AFFINITY);
	SHIM_NEED_OUT(eu_id);
	if (!affinity->is_set)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the affinity has no execution unit");
	*eu_id = affinity->eu;
	return DOCA_SUCCESS;
}
