/* SPDX-License-Identifier: BSD-3-Clause */
/* The types of AES-GCM tasks, and their public functions. */
#include "gcm_task.h"

/* ---- capabilities ---- */

/* Get the limits; @ret is the program's pointer for the result. */
static doca_error_t get_caps(const char *func, const struct doca_devinfo *devinfo, const struct shim_accel_type *type,
			     const void *ret, struct pcie_accel_caps *ret_caps)
{
	if (shim_handle_is(devinfo, SHIM_DEVINFO) && ret)
		return shim_accel_get_caps(func, devinfo->function, type, ret_caps);
	sim_err("%s: devinfo is no live device's, or the pointer for the result is NULL", func);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- tasks ---- */

/* Set the IV of a task; nothing is changed unless it has one of 0 to 12 bytes. */
static doca_error_t set_iv(const char *func, struct gcm_task *task, const uint8_t *iv, uint32_t iv_length)
{
	if (doca_unlikely(iv_length > GCM_MAX_IV_BYTES || (!iv && iv_length > 0))) {
		sim_err("%s: an IV of %u bytes%s; give 1 to %d", func, iv_length, iv ? "" : " at NULL",
			GCM_MAX_IV_BYTES);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (iv_length > 0)
		memcpy(task->iv, iv, iv_length);
	task->iv_bytes = iv_length;
	return DOCA_SUCCESS;
}

/* Allocate a task of either type, with the parameters of @params; @task is the program's pointer for it. */
static doca_error_t alloc(const char *func, struct doca_aes_gcm *aes_gcm, uint32_t index, const struct doca_buf *src,
			  struct doca_buf *dst, const uint8_t *iv, struct gcm_task *params, union doca_data user_data,
			  const void *task, struct gcm_task **ret_task)
{
	struct shim_buf_task *allocated;
	doca_error_t result;

	if (doca_unlikely(!shim_object_is(aes_gcm, SHIM_AES_GCM) || !task)) {
		sim_err("%s: aes_gcm is no live instance, or the pointer for the task is NULL", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = set_iv(func, params, iv, params->iv_bytes);
	if (result == DOCA_SUCCESS)
		result = shim_accel_alloc(func, &aes_gcm->accel, index, src, dst, user_data, &allocated);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	*ret_task = (struct gcm_task *)allocated;
	memcpy((*ret_task)->iv, params->iv, sizeof(params->iv));
	(*ret_task)->key = params->key;
	(*ret_task)->iv_bytes = params->iv_bytes;
	(*ret_task)->tag_bytes = params->tag_bytes;
	(*ret_task)->aad_bytes = params->aad_bytes;
	return DOCA_SUCCESS;
}

GCM_DEFINE_TASK(encrypt, GCM_ENCRYPT, SIM_TASK_AES_GCM_ENCRYPT, SIM_OP_AES_GCM_ENCRYPT)
GCM_DEFINE_CAPS(encrypt)
GCM_DEFINE_SETTERS(encrypt)
GCM_DEFINE_GETTERS(encrypt)

GCM_DEFINE_TASK(decrypt, GCM_DECRYPT, SIM_TASK_AES_GCM_DECRYPT, SIM_OP_AES_GCM_DECRYPT)
GCM_DEFINE_CAPS(decrypt)
GCM_DEFINE_SETTERS(decrypt)
GCM_DEFINE_GETTERS(decrypt)
