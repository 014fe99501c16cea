/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/aes_gcm/gcm_inspect.h - what the checker may know of tasks of AES-GCM. */
#ifndef SHIM_AES_GCM_INSPECT_H
#define SHIM_AES_GCM_INSPECT_H

#include "gcm_priv.h"

struct gcm_task_view {
	bool is_encrypt;
	const struct doca_aes_gcm_key *key;
	const uint8_t *iv;
	uint32_t iv_bytes, tag_bytes, aad_bytes;
	uint64_t written; /* bytes of output, once it ended */
};

/* Returns false if the task is of another library. */
static inline bool gcm_inspect_task(const struct doca_task *task, struct gcm_task_view *ret_view)
{
	const struct gcm_task *gcm = (const struct gcm_task *)task;

	if (!shim_object_is_still(task->ctx, SHIM_AES_GCM))
		return false;
	*ret_view = (struct gcm_task_view){ .is_encrypt = shim_accel_task_type(task)->index == GCM_ENCRYPT,
					    .key = gcm->key,
					    .iv = gcm->iv,
					    .iv_bytes = gcm->iv_bytes,
					    .tag_bytes = gcm->tag_bytes,
					    .aad_bytes = gcm->aad_bytes,
					    .written = gcm->base.written };
	return true;
}

#endif
