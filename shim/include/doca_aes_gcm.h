/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_aes_gcm.h - authenticated encryption with AES in Galois/counter mode, by the card's engine (BlueField-3).
 *
 *   doca_aes_gcm_create --> set_conf --> connect to a progress engine --> doca_ctx_start --> doca_aes_gcm_key_create
 *     --> alloc_init, submit, callback ... --> doca_ctx_stop --> doca_aes_gcm_key_destroy --> doca_aes_gcm_destroy
 *
 * The source of an encrypt task is additional authenticated data (AAD; aad_size bytes) and plaintext; the task appends the
 * AAD, the ciphertext and the tag to the data segment of its destination. The source of a decrypt task is AAD, ciphertext
 * and tag; the task appends AAD and plaintext. A tag that does not match makes the task fail with DOCA_ERROR_IO_FAILED;
 * what the destination's memory then holds is not to be used. Either size may be 0, but not that of the whole source.
 *
 * Never encrypt two messages with the same key and the same initialization vector (IV).
 *
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL argument. The thread rule is the
 * context's (doca_ctx.h).
 */
#ifndef DOCA_AES_GCM_H_
#define DOCA_AES_GCM_H_

#include <inttypes.h>

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_aes_gcm;
struct doca_aes_gcm_key;
struct doca_aes_gcm_task_decrypt;
struct doca_aes_gcm_task_encrypt;
struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

enum doca_aes_gcm_key_type {
	DOCA_AES_GCM_KEY_128 = 1, /* 16 bytes */
	DOCA_AES_GCM_KEY_256 = 2, /* 32 bytes */
};

/* --- Life --- */

/* Create an instance on the device. DOCA_ERROR_NOT_SUPPORTED without an engine, DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm);

/* Destroy it. DOCA_ERROR_BAD_STATE unless its context is idle, DOCA_ERROR_IN_USE while it has keys. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm);

/* Get the instance's context; NULL if @aes_gcm is none. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm);

/* Get the maximum number of tasks of both types together. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_get_max_num_tasks(struct doca_aes_gcm *aes_gcm, uint32_t *max_num_tasks);

/* --- Keys: for any number of tasks of the instance --- */

/* Create a key of the bytes @raw_key, which are copied. In any state of the context. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key,
				     enum doca_aes_gcm_key_type raw_key_type, struct doca_aes_gcm_key **key);

/* Destroy a key. Tasks in flight are not affected; no other task may use it. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key);

/* --- To encrypt --- */

typedef void (*doca_aes_gcm_task_encrypt_completion_cb_t)(struct doca_aes_gcm_task_encrypt *task,
							  union doca_data task_user_data,
							  union doca_data ctx_user_data);

/* Capabilities: DOCA_ERROR_NOT_SUPPORTED without an engine. */

/* DOCA_SUCCESS if the device can encrypt. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_supported(const struct doca_devinfo *devinfo);

/* DOCA_SUCCESS if it can with tags of 96 bits, of 128 bits, with keys of the type. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
								 enum doca_aes_gcm_key_type key_type);

/* Get the maximum length of an IV, in bytes. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_len(const struct doca_devinfo *devinfo, uint32_t *max_iv_len);

/* Get the maximum number of bytes of one source. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/* Get the maximum length of a source or destination list. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
								     uint32_t *max_list_num_elem);

/* Have @num_tasks tasks; before the start. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_encrypt_set_conf(struct doca_aes_gcm *aes_gcm,
						doca_aes_gcm_task_encrypt_completion_cb_t task_completion_cb,
						doca_aes_gcm_task_encrypt_completion_cb_t task_error_cb,
						uint32_t num_tasks);

/* Allocate a task. The IV is copied: 1 to 12 bytes. @tag_size is 12 or 16. DOCA_ERROR_NO_MEMORY if all tasks are allocated,
 * DOCA_ERROR_BAD_STATE unless the context runs. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_encrypt_alloc_init(struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buff,
						  struct doca_buf *dst_buff, struct doca_aes_gcm_key *key,
						  const uint8_t *iv, uint32_t iv_length, uint32_t tag_size,
						  uint32_t aad_size, union doca_data user_data,
						  struct doca_aes_gcm_task_encrypt **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_aes_gcm_task_encrypt_as_task(struct doca_aes_gcm_task_encrypt *task);

/* Change a task that is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_src(struct doca_aes_gcm_task_encrypt *task, const struct doca_buf *src_buff);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_dst(struct doca_aes_gcm_task_encrypt *task, struct doca_buf *dst_buff);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_key(struct doca_aes_gcm_task_encrypt *task, struct doca_aes_gcm_key *key);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_iv(struct doca_aes_gcm_task_encrypt *task, const uint8_t *iv, uint32_t iv_length);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_tag_size(struct doca_aes_gcm_task_encrypt *task, uint32_t tag_size);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_aad_size(struct doca_aes_gcm_task_encrypt *task, uint32_t aad_size);

/* NULL or 0 if @task is none. The IV is the task's copy. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_aes_gcm_task_encrypt_get_src(const struct doca_aes_gcm_task_encrypt *task);
DOCA_EXPERIMENTAL
struct doca_buf *doca_aes_gcm_task_encrypt_get_dst(const struct doca_aes_gcm_task_encrypt *task);
DOCA_EXPERIMENTAL
struct doca_aes_gcm_key *doca_aes_gcm_task_encrypt_get_key(const struct doca_aes_gcm_task_encrypt *task);
DOCA_EXPERIMENTAL
const uint8_t *doca_aes_gcm_task_encrypt_get_iv(const struct doca_aes_gcm_task_encrypt *task, uint32_t *iv_length);
DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_encrypt_get_tag_size(const struct doca_aes_gcm_task_encrypt *task);
DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_encrypt_get_aad_size(const struct doca_aes_gcm_task_encrypt *task);

/* --- To decrypt --- */

typedef void (*doca_aes_gcm_task_decrypt_completion_cb_t)(struct doca_aes_gcm_task_decrypt *task,
							  union doca_data task_user_data,
							  union doca_data ctx_user_data);

/* Capabilities: DOCA_ERROR_NOT_SUPPORTED without an engine. */

/* DOCA_SUCCESS if the device can decrypt. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_supported(const struct doca_devinfo *devinfo);

/* DOCA_SUCCESS if it can with tags of 96 bits, of 128 bits, with keys of the type. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
								 enum doca_aes_gcm_key_type key_type);

/* Get the maximum length of an IV, in bytes. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_len(const struct doca_devinfo *devinfo, uint32_t *max_iv_len);

/* Get the maximum number of bytes of one source. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/* Get the maximum length of a source or destination list. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
								     uint32_t *max_list_num_elem);

/* Have @num_tasks tasks; before the start. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_decrypt_set_conf(struct doca_aes_gcm *aes_gcm,
						doca_aes_gcm_task_decrypt_completion_cb_t task_completion_cb,
						doca_aes_gcm_task_decrypt_completion_cb_t task_error_cb,
						uint32_t num_tasks);

/* Allocate a task. The IV is copied: 1 to 12 bytes. @tag_size is 12 or 16. DOCA_ERROR_NO_MEMORY if all tasks are allocated,
 * DOCA_ERROR_BAD_STATE unless the context runs. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_decrypt_alloc_init(struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buff,
						  struct doca_buf *dst_buff, struct doca_aes_gcm_key *key,
						  const uint8_t *iv, uint32_t iv_length, uint32_t tag_size,
						  uint32_t aad_size, union doca_data user_data,
						  struct doca_aes_gcm_task_decrypt **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_aes_gcm_task_decrypt_as_task(struct doca_aes_gcm_task_decrypt *task);

/* Change a task that is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_src(struct doca_aes_gcm_task_decrypt *task, const struct doca_buf *src_buff);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_dst(struct doca_aes_gcm_task_decrypt *task, struct doca_buf *dst_buff);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_key(struct doca_aes_gcm_task_decrypt *task, struct doca_aes_gcm_key *key);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_iv(struct doca_aes_gcm_task_decrypt *task, const uint8_t *iv, uint32_t iv_length);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_tag_size(struct doca_aes_gcm_task_decrypt *task, uint32_t tag_size);
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_aad_size(struct doca_aes_gcm_task_decrypt *task, uint32_t aad_size);

/* NULL or 0 if @task is none. The IV is the task's copy. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_aes_gcm_task_decrypt_get_src(const struct doca_aes_gcm_task_decrypt *task);
DOCA_EXPERIMENTAL
struct doca_buf *doca_aes_gcm_task_decrypt_get_dst(const struct doca_aes_gcm_task_decrypt *task);
DOCA_EXPERIMENTAL
struct doca_aes_gcm_key *doca_aes_gcm_task_decrypt_get_key(const struct doca_aes_gcm_task_decrypt *task);
DOCA_EXPERIMENTAL
const uint8_t *doca_aes_gcm_task_decrypt_get_iv(const struct doca_aes_gcm_task_decrypt *task, uint32_t *iv_length);
DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_decrypt_get_tag_size(const struct doca_aes_gcm_task_decrypt *task);
DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_decrypt_get_aad_size(const struct doca_aes_gcm_task_decrypt *task);

/* --- Release 2.5 only: the vendor's later headers have these functions under other names --- */

DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_length(const struct doca_devinfo *devinfo,
							     uint32_t *max_iv_length);
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_length(const struct doca_devinfo *devinfo,
							     uint32_t *max_iv_length);

#ifdef __cplusplus
}
#endif

#endif
