/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of AES-GCM. */
#include "gcm_priv.h"
#include "shim/common/base/check.h"

doca_error_t gcm_check_key_type(const char *func, enum doca_aes_gcm_key_type type)
{
	if (type == DOCA_AES_GCM_KEY_128 || type == DOCA_AES_GCM_KEY_256)
		return DOCA_SUCCESS;
	sim_err("%s: key type %d is none of enum doca_aes_gcm_key_type", func, (int)type);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key,
				     enum doca_aes_gcm_key_type raw_key_type, struct doca_aes_gcm_key **key)
{
	struct doca_aes_gcm_key *created;
	doca_error_t result;

	SHIM_NEED(aes_gcm, SHIM_AES_GCM);
	SHIM_NEED_OUT(raw_key);
	SHIM_NEED_OUT(key);
	result = gcm_check_key_type(__func__, raw_key_type);
	if (result != DOCA_SUCCESS)
		return result;
	created = shim_object_new(SHIM_AES_GCM_KEY, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->aes_gcm = aes_gcm;
	created->cipher = gcm_cipher_new(raw_key, raw_key_type == DOCA_AES_GCM_KEY_128 ? 16 : 32);
	if (!created->cipher) {
		shim_object_free(created, SHIM_AES_GCM_KEY);
		return DOCA_ERROR_NO_MEMORY;
	}
	aes_gcm->num_keys++;
	*key = created;
	return DOCA_SUCCESS;
}

/* Tasks in flight keep the cipher. */
doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key)
{
	SHIM_NEED(key, SHIM_AES_GCM_KEY);
	gcm_cipher_unref(key->cipher);
	key->cipher = NULL;
	key->aes_gcm->num_keys--;
	shim_object_free(key, SHIM_AES_GCM_KEY);
	return DOCA_SUCCESS;
}
