/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/gcm_util.h - a rig for AES-GCM: an instance with tasks of both types, and a plain model of the cipher. */
#ifndef TESTS_API_GCM_UTIL_H
#define TESTS_API_GCM_UTIL_H

#include <doca_aes_gcm.h>

#include "accel_util.h"

#define GCM_TASKS 2 /* of each type */

enum gcm_kind { GCM_ENCRYPT, GCM_DECRYPT, GCM_NUM_KINDS };

struct gcm_rig {
	struct accel *accel;
	struct doca_aes_gcm *gcm;
	struct doca_ctx *ctx;
};

/* What a task takes besides its buffers. */
struct gcm_params {
	struct doca_aes_gcm_key *key;
	uint8_t iv[12];
	uint32_t iv_bytes, tag_bytes, aad_bytes;
};

/* Without a configuration; with both types, and started. */
struct gcm_rig gcm_open_idle(void);
struct gcm_rig gcm_open(void);
void gcm_close(struct gcm_rig *rig);

/* Start again after a task failed. */
void gcm_restart(struct gcm_rig *rig);

doca_error_t gcm_set_conf(struct doca_aes_gcm *gcm, enum gcm_kind kind, uint32_t num_tasks);

/* Allocate a task of either type, as a task. */
doca_error_t gcm_alloc(struct gcm_rig *rig, enum gcm_kind kind, const struct gcm_params *params,
		       const struct doca_buf *src, struct doca_buf *dst, struct doca_task **ret_task);

/* Run a task of either type once, and free it. */
doca_error_t gcm_run(struct gcm_rig *rig, enum gcm_kind kind, const struct gcm_params *params,
		     const struct doca_buf *src, struct doca_buf *dst);

/* A key of 16 or 32 bytes. */
struct doca_aes_gcm_key *gcm_key(struct gcm_rig *rig, const uint8_t *bytes, size_t len);

/* Encrypt by the definition of the cipher (FIPS 197, NIST SP 800-38D): @ret has AAD, ciphertext and 16 bytes of tag. */
void gcm_model(const uint8_t *key, size_t key_bytes, const uint8_t *iv, size_t iv_bytes, const uint8_t *src,
	       size_t aad_bytes, size_t src_bytes, uint8_t *ret);

#endif
