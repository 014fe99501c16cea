/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/aes_gcm/gcm_priv.h - the AES-GCM context, for the files of libdoca_aes_gcm.
 *
 *   gcm.c          the context; the table of types
 *   gcm_key.c      keys
 *   gcm_task.[ch]  the two types of tasks, and their public functions
 *   gcm_work.c     check and work of both types
 *   cipher.[ch]    the cipher
 */
#ifndef SHIM_AES_GCM_PRIV_H
#define SHIM_AES_GCM_PRIV_H

#include <doca_aes_gcm.h>

#include "cipher.h"
#include "shim/common/accel/accel.h"

enum { GCM_ENCRYPT, GCM_DECRYPT };

struct doca_aes_gcm {
	struct shim_accel accel; /* first: a doca_aes_gcm is a doca_ctx */
	uint32_t num_keys;
};

struct doca_aes_gcm_key {
	struct shim_object object; /* first */
	struct doca_aes_gcm *aes_gcm;
	struct gcm_cipher *cipher;
};

/* A task of either type. */
struct gcm_task {
	struct shim_accel_task base; /* first */
	struct doca_aes_gcm_key *key;
	struct shim_accel_hold *hold; /* of the key's cipher */
	uint8_t iv[GCM_MAX_IV_BYTES];
	uint32_t iv_bytes, tag_bytes, aad_bytes;
	bool has_bad_tag; /* a fault: the next work takes a wrong tag */
};

extern const struct shim_accel_type gcm_encrypt_type, gcm_decrypt_type;

/* gcm_key.c: SUCCESS, or INVALID_VALUE with a log line. */
doca_error_t gcm_check_key_type(const char *func, enum doca_aes_gcm_key_type type);

/* gcm_work.c: the operations of the types. */
doca_error_t gcm_check(struct shim_accel_task *task, const struct shim_list_size *src,
		       const struct shim_list_size *dst);
uint64_t gcm_get_output_bytes(const struct shim_accel_task *task);
int gcm_encrypt(struct shim_work *work);
int gcm_decrypt(struct shim_work *work);
void gcm_spoil_tag(struct shim_accel_task *task);

#endif
