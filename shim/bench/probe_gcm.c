/* SPDX-License-Identifier: BSD-3-Clause */
/* AES-256-GCM in both directions, with one key and IV and a tag behind the ciphertext. */
#include <doca_aes_gcm.h>

#include "probe_engine.h"

#define TAG_BYTES 16

static const uint8_t raw_key[32] = { 1 }, iv[12] = { 2 };

PROBE_CALLBACKS(aes_gcm_task_encrypt)
PROBE_CALLBACKS(aes_gcm_task_decrypt)

static void destroy(struct probe_worker *worker)
{
	probe_must(doca_aes_gcm_key_destroy(worker->with), "destroy the key");
	probe_must(doca_aes_gcm_destroy(worker->instance), "destroy the context");
}

/* The functions of struct probe_kind for a type of tasks. */
#define KIND(type)                                                                                                     \
	static struct doca_ctx *create_for_##type(struct probe_worker *worker)                                         \
	{                                                                                                              \
		struct doca_aes_gcm_key *key;                                                                          \
		struct doca_aes_gcm *gcm;                                                                              \
                                                                                                                       \
		probe_must(doca_aes_gcm_create(worker->run->dev, &gcm), "create a context");                           \
		probe_must(doca_aes_gcm_key_create(gcm, raw_key, DOCA_AES_GCM_KEY_256, &key), "create a key");         \
		probe_must(doca_aes_gcm_task_##type##_set_conf(gcm, on_aes_gcm_task_##type,                            \
							       on_aes_gcm_task_##type##_failed, worker->run->depth),   \
			   "configure it");                                                                            \
		worker->instance = gcm;                                                                                \
		worker->with = key;                                                                                    \
		return doca_aes_gcm_as_ctx(gcm);                                                                       \
	}                                                                                                              \
                                                                                                                       \
	static struct doca_task *alloc_##type(struct probe_worker *worker, struct doca_buf *from, struct doca_buf *to, \
					      union doca_data task_data)                                               \
	{                                                                                                              \
		struct doca_aes_gcm_task_##type *task;                                                                 \
                                                                                                                       \
		probe_must(doca_aes_gcm_task_##type##_alloc_init(worker->instance, from, to, worker->with, iv,         \
								 sizeof(iv), TAG_BYTES, 0, task_data, &task),          \
			   "make a task");                                                                             \
		return doca_aes_gcm_task_##type##_as_task(task);                                                       \
	}

KIND(encrypt)
KIND(decrypt)

const struct probe_engine probe_gcm_encrypt = {
	.name = "gcm-encrypt",
	.kind = { create_for_encrypt, alloc_encrypt, destroy },
	.is_supported = doca_aes_gcm_cap_task_encrypt_is_supported,
};

const struct probe_engine probe_gcm_decrypt = {
	.name = "gcm-decrypt",
	.kind = { create_for_decrypt, alloc_decrypt, destroy },
	.is_supported = doca_aes_gcm_cap_task_decrypt_is_supported,
	.reverse = &probe_gcm_encrypt,
};
