/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/aes_gcm/gcm_task.h - the public functions that both types of AES-GCM tasks have, as macros for gcm_task.c. */
#ifndef SHIM_AES_GCM_TASK_H
#define SHIM_AES_GCM_TASK_H

#include <string.h>

#include "gcm_priv.h"
#include "shim/common/base/check.h"

/* Define a type, and what makes tasks of it. */
#define GCM_DEFINE_TASK(name, index_, kind, op_)                                                                     \
	struct doca_aes_gcm_task_##name {                                                                            \
		struct gcm_task base;                                                                                \
	};                                                                                                           \
                                                                                                                     \
	SHIM_ACCEL_DEFINE_COMPLETE(name##_complete, struct doca_aes_gcm_task_##name,                                 \
				   doca_aes_gcm_task_##name##_completion_cb_t)                                       \
                                                                                                                     \
	static const struct shim_task_fault_ops name##_faults = SHIM_ACCEL_FAULTS(op_);                              \
                                                                                                                     \
	const struct shim_accel_type gcm_##name##_type = {                                                           \
		.task = SHIM_ACCEL_TASK(kind, struct doca_aes_gcm_task_##name, name##_complete, &name##_faults),     \
		.index = (index_),                                                                                   \
		.func = "doca_aes_gcm_task_" #name,                                                                  \
		.engine = "AES-GCM",                                                                                 \
		.accel = PCIE_ACCEL_AES_GCM,                                                                         \
		.find_lack = gcm_cipher_find_lack,                                                                   \
		.check = gcm_check,                                                                                  \
		.get_output_bytes = gcm_get_output_bytes,                                                            \
		.work = gcm_##name,                                                                                  \
		.spoil_tag = gcm_spoil_tag,                                                                          \
	};                                                                                                           \
                                                                                                                     \
	doca_error_t doca_aes_gcm_task_##name##_set_conf(                                                            \
		struct doca_aes_gcm *aes_gcm, doca_aes_gcm_task_##name##_completion_cb_t task_completion_cb,         \
		doca_aes_gcm_task_##name##_completion_cb_t task_error_cb, uint32_t num_tasks)                        \
	{                                                                                                            \
		SHIM_NEED(aes_gcm, SHIM_AES_GCM);                                                                    \
		return shim_accel_set_conf(__func__, &aes_gcm->accel, (index_), (void (*)(void))task_completion_cb,  \
					   (void (*)(void))task_error_cb, num_tasks);                                \
	}                                                                                                            \
                                                                                                                     \
	doca_error_t doca_aes_gcm_task_##name##_alloc_init(                                                          \
		struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buff, struct doca_buf *dst_buff,            \
		struct doca_aes_gcm_key *key, const uint8_t *iv, uint32_t iv_length, uint32_t tag_size,              \
		uint32_t aad_size, union doca_data user_data, struct doca_aes_gcm_task_##name **task)                \
	{                                                                                                            \
		struct gcm_task params = {                                                                           \
			.key = key, .iv_bytes = iv_length, .tag_bytes = tag_size, .aad_bytes = aad_size              \
		};                                                                                                   \
		struct gcm_task *allocated;                                                                          \
		doca_error_t result = alloc(__func__, aes_gcm, (index_), src_buff, dst_buff, iv, &params, user_data, \
					    task, &allocated);                                                       \
                                                                                                                     \
		if (doca_likely(result == DOCA_SUCCESS))                                                             \
			*task = (struct doca_aes_gcm_task_##name *)allocated;                                        \
		return result;                                                                                       \
	}                                                                                                            \
                                                                                                                     \
	struct doca_task *doca_aes_gcm_task_##name##_as_task(struct doca_aes_gcm_task_##name *task)                  \
	{                                                                                                            \
		return shim_accel_task_is(task, &gcm_##name##_type) ? &task->base.base.base.task : NULL;             \
	}

/* Define the capabilities. An engine has both sizes of tags and both types of keys. */
#define GCM_DEFINE_CAPS(name)                                                                                     \
	doca_error_t doca_aes_gcm_cap_task_##name##_is_supported(const struct doca_devinfo *devinfo)              \
	{                                                                                                         \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                                                                 \
		return shim_accel_check_support(__func__, devinfo->function, &gcm_##name##_type);                 \
	}                                                                                                         \
                                                                                                                  \
	doca_error_t doca_aes_gcm_cap_task_##name##_is_tag_96_supported(const struct doca_devinfo *devinfo)       \
	{                                                                                                         \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                                                                 \
		return shim_accel_check_support(__func__, devinfo->function, &gcm_##name##_type);                 \
	}                                                                                                         \
                                                                                                                  \
	doca_error_t doca_aes_gcm_cap_task_##name##_is_tag_128_supported(const struct doca_devinfo *devinfo)      \
	{                                                                                                         \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                                                                 \
		return shim_accel_check_support(__func__, devinfo->function, &gcm_##name##_type);                 \
	}                                                                                                         \
                                                                                                                  \
	doca_error_t doca_aes_gcm_cap_task_##name##_is_key_type_supported(const struct doca_devinfo *devinfo,     \
									  enum doca_aes_gcm_key_type key_type)    \
	{                                                                                                         \
		doca_error_t result = gcm_check_key_type(__func__, key_type);                                     \
                                                                                                                  \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                                                                 \
		return result == DOCA_SUCCESS ?                                                                   \
			       shim_accel_check_support(__func__, devinfo->function, &gcm_##name##_type) :        \
			       result;                                                                            \
	}                                                                                                         \
                                                                                                                  \
	doca_error_t doca_aes_gcm_cap_task_##name##_get_max_iv_len(const struct doca_devinfo *devinfo,            \
								   uint32_t *max_iv_len)                          \
	{                                                                                                         \
		struct pcie_accel_caps caps;                                                                      \
		doca_error_t result = get_caps(__func__, devinfo, &gcm_##name##_type, max_iv_len, &caps);         \
                                                                                                                  \
		if (result == DOCA_SUCCESS)                                                                       \
			*max_iv_len = GCM_MAX_IV_BYTES;                                                           \
		return result;                                                                                    \
	}                                                                                                         \
                                                                                                                  \
	doca_error_t doca_aes_gcm_cap_task_##name##_get_max_buf_size(const struct doca_devinfo *devinfo,          \
								     uint64_t *max_buf_size)                      \
	{                                                                                                         \
		struct pcie_accel_caps caps;                                                                      \
		doca_error_t result = get_caps(__func__, devinfo, &gcm_##name##_type, max_buf_size, &caps);       \
                                                                                                                  \
		if (result == DOCA_SUCCESS)                                                                       \
			*max_buf_size = caps.max_buf_bytes;                                                       \
		return result;                                                                                    \
	}                                                                                                         \
                                                                                                                  \
	doca_error_t doca_aes_gcm_cap_task_##name##_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, \
									      uint32_t *max_list_num_elem)        \
	{                                                                                                         \
		struct pcie_accel_caps caps;                                                                      \
		doca_error_t result = get_caps(__func__, devinfo, &gcm_##name##_type, max_list_num_elem, &caps);  \
                                                                                                                  \
		if (result == DOCA_SUCCESS)                                                                       \
			*max_list_num_elem = caps.max_list_len;                                                   \
		return result;                                                                                    \
	}

#define GCM_DEFINE_SETTERS(name)                                                                                     \
	void doca_aes_gcm_task_##name##_set_src(struct doca_aes_gcm_task_##name *task,                               \
						const struct doca_buf *src_buff)                                     \
	{                                                                                                            \
		if (shim_accel_check_settable(__func__, task, &gcm_##name##_type))                                   \
			task->base.base.base.src = src_buff;                                                         \
	}                                                                                                            \
                                                                                                                     \
	void doca_aes_gcm_task_##name##_set_dst(struct doca_aes_gcm_task_##name *task, struct doca_buf *dst_buff)    \
	{                                                                                                            \
		if (shim_accel_check_settable(__func__, task, &gcm_##name##_type))                                   \
			task->base.base.base.dst = dst_buff;                                                         \
	}                                                                                                            \
                                                                                                                     \
	void doca_aes_gcm_task_##name##_set_key(struct doca_aes_gcm_task_##name *task, struct doca_aes_gcm_key *key) \
	{                                                                                                            \
		if (shim_accel_check_settable(__func__, task, &gcm_##name##_type))                                   \
			task->base.key = key;                                                                        \
	}                                                                                                            \
                                                                                                                     \
	void doca_aes_gcm_task_##name##_set_iv(struct doca_aes_gcm_task_##name *task, const uint8_t *iv,             \
					       uint32_t iv_length)                                                   \
	{                                                                                                            \
		if (shim_accel_check_settable(__func__, task, &gcm_##name##_type))                                   \
			set_iv(__func__, &task->base, iv, iv_length);                                                \
	}                                                                                                            \
                                                                                                                     \
	void doca_aes_gcm_task_##name##_set_tag_size(struct doca_aes_gcm_task_##name *task, uint32_t tag_size)       \
	{                                                                                                            \
		if (shim_accel_check_settable(__func__, task, &gcm_##name##_type))                                   \
			task->base.tag_bytes = tag_size;                                                             \
	}                                                                                                            \
                                                                                                                     \
	void doca_aes_gcm_task_##name##_set_aad_size(struct doca_aes_gcm_task_##name *task, uint32_t aad_size)       \
	{                                                                                                            \
		if (shim_accel_check_settable(__func__, task, &gcm_##name##_type))                                   \
			task->base.aad_bytes = aad_size;                                                             \
	}

#define GCM_DEFINE_GETTERS(name)                                                                                 \
	const struct doca_buf *doca_aes_gcm_task_##name##_get_src(const struct doca_aes_gcm_task_##name *task)   \
	{                                                                                                        \
		return shim_accel_task_is(task, &gcm_##name##_type) ? task->base.base.base.src : NULL;           \
	}                                                                                                        \
                                                                                                                 \
	struct doca_buf *doca_aes_gcm_task_##name##_get_dst(const struct doca_aes_gcm_task_##name *task)         \
	{                                                                                                        \
		return shim_accel_task_is(task, &gcm_##name##_type) ? task->base.base.base.dst : NULL;           \
	}                                                                                                        \
                                                                                                                 \
	struct doca_aes_gcm_key *doca_aes_gcm_task_##name##_get_key(const struct doca_aes_gcm_task_##name *task) \
	{                                                                                                        \
		return shim_accel_task_is(task, &gcm_##name##_type) ? task->base.key : NULL;                     \
	}                                                                                                        \
                                                                                                                 \
	const uint8_t *doca_aes_gcm_task_##name##_get_iv(const struct doca_aes_gcm_task_##name *task,            \
							 uint32_t *iv_length)                                    \
	{                                                                                                        \
		bool is_task = shim_accel_task_is(task, &gcm_##name##_type);                                     \
                                                                                                                 \
		if (iv_length)                                                                                   \
			*iv_length = is_task ? task->base.iv_bytes : 0;                                          \
		return is_task ? task->base.iv : NULL;                                                           \
	}                                                                                                        \
                                                                                                                 \
	uint32_t doca_aes_gcm_task_##name##_get_tag_size(const struct doca_aes_gcm_task_##name *task)            \
	{                                                                                                        \
		return shim_accel_task_is(task, &gcm_##name##_type) ? task->base.tag_bytes : 0;                  \
	}                                                                                                        \
                                                                                                                 \
	uint32_t doca_aes_gcm_task_##name##_get_aad_size(const struct doca_aes_gcm_task_##name *task)            \
	{                                                                                                        \
		return shim_accel_task_is(task, &gcm_##name##_type) ? task->base.aad_bytes : 0;                  \
	}

#endif
