/* SPDX-License-Identifier: BSD-3-Clause */
/* The AES-GCM context: life, and the capability of an instance. */
#include "gcm_priv.h"
#include "shim/common/base/check.h"

static void unref_cipher(void *cipher)
{
	gcm_cipher_unref(cipher);
}

static void *ref_cipher(void *cipher)
{
	return gcm_cipher_ref(cipher);
}

static const struct shim_accel_lib gcm_lib = {
	.ops = SHIM_ACCEL_OPS("aes_gcm"),
	.kind = SHIM_AES_GCM,
	.num_types = 2,
	.types = { [GCM_ENCRYPT] = &gcm_encrypt_type, [GCM_DECRYPT] = &gcm_decrypt_type },
	.ref_held = ref_cipher,
	.unref_held = unref_cipher,
};

doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm)
{
	struct doca_aes_gcm *created;
	doca_error_t result;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(aes_gcm);
	result = shim_accel_check_support(__func__, shim_dev_function(dev), &gcm_encrypt_type);
	if (result != DOCA_SUCCESS)
		return result;
	created = shim_accel_new(&gcm_lib, sizeof(*created), dev);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	*aes_gcm = created;
	return DOCA_SUCCESS;
}

/* The reference has BAD_STATE where other libraries have IN_USE, which means keys. */
doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm)
{
	doca_error_t result;

	SHIM_NEED(aes_gcm, SHIM_AES_GCM);
	if (aes_gcm->accel.ctx.state == DOCA_CTX_STATE_IDLE && aes_gcm->num_keys > 0)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "the instance has %u keys; call doca_aes_gcm_key_destroy() first",
				   aes_gcm->num_keys);
	result = shim_accel_destroy(&aes_gcm->accel);
	return result == DOCA_ERROR_IN_USE ? DOCA_ERROR_BAD_STATE : result;
}

struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm)
{
	return shim_handle_is(aes_gcm, SHIM_AES_GCM) ? &aes_gcm->accel.ctx : NULL;
}

SHIM_DEFINE_GETTER(doca_aes_gcm_cap_get_max_num_tasks, struct doca_aes_gcm, aes_gcm, SHIM_AES_GCM, uint32_t,
		   max_num_tasks, shim_accel_max_tasks(&aes_gcm->accel))
