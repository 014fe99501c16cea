/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/compress/compress_task.h - the public functions that all types of compress tasks have, as macros for
 * compress_task.c. */
#ifndef SHIM_COMPRESS_TASK_H
#define SHIM_COMPRESS_TASK_H

#include "compress_priv.h"
#include "shim/common/base/check.h"

/* Returns a field of a task that has succeeded, else 0. */
#define COMPRESS_RESULT(task, type, field)                                                          \
	(shim_accel_task_is((task), (type)) && !to_compress_task(task)->base.base.task.in_flight && \
			 to_compress_task(task)->base.base.task.status == DOCA_SUCCESS ?            \
		 to_compress_task(task)->field :                                                    \
		 0)

/* Define the public functions that all types have, but alloc_init(); and the type itself. */
#define COMPRESS_DEFINE_TASK(name, index_, kind, op_, engine_, caps_, lack, work_)                                   \
	struct doca_compress_task_##name {                                                                           \
		struct compress_task base;                                                                           \
	};                                                                                                           \
                                                                                                                     \
	SHIM_ACCEL_DEFINE_COMPLETE(name##_complete, struct doca_compress_task_##name,                                \
				   doca_compress_task_##name##_completion_cb_t)                                      \
                                                                                                                     \
	static const struct shim_task_fault_ops name##_faults = SHIM_ACCEL_FAULTS(op_);                              \
                                                                                                                     \
	const struct shim_accel_type name##_type = {                                                                 \
		.task = SHIM_ACCEL_TASK(kind, struct doca_compress_task_##name, name##_complete, &name##_faults),    \
		.index = (index_),                                                                                   \
		.func = "doca_compress_task_" #name,                                                                 \
		.engine = (engine_),                                                                                 \
		.accel = (caps_),                                                                                    \
		.find_lack = (lack),                                                                                 \
		.work = (work_),                                                                                     \
		.spoil = compress_spoil,                                                                             \
	};                                                                                                           \
                                                                                                                     \
	doca_error_t doca_compress_cap_task_##name##_is_supported(const struct doca_devinfo *devinfo)                \
	{                                                                                                            \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                                                                    \
		return shim_accel_check_support(__func__, devinfo->function, &name##_type);                          \
	}                                                                                                            \
                                                                                                                     \
	doca_error_t doca_compress_cap_task_##name##_get_max_buf_size(const struct doca_devinfo *devinfo,            \
								      uint64_t *max_buffer_size)                     \
	{                                                                                                            \
		return get_max_buf_size(__func__, devinfo, &name##_type, max_buffer_size);                           \
	}                                                                                                            \
                                                                                                                     \
	doca_error_t doca_compress_cap_task_##name##_get_max_buf_list_len(const struct doca_devinfo *devinfo,        \
									  uint32_t *max_buf_list_len)                \
	{                                                                                                            \
		return get_max_buf_list_len(__func__, devinfo, &name##_type, max_buf_list_len);                      \
	}                                                                                                            \
                                                                                                                     \
	doca_error_t doca_compress_task_##name##_set_conf(                                                           \
		struct doca_compress *compress, doca_compress_task_##name##_completion_cb_t task_completion_cb,      \
		doca_compress_task_##name##_completion_cb_t task_error_cb, uint32_t num_tasks)                       \
	{                                                                                                            \
		SHIM_NEED(compress, SHIM_COMPRESS);                                                                  \
		return shim_accel_set_conf(__func__, &compress->accel, (index_), (void (*)(void))task_completion_cb, \
					   (void (*)(void))task_error_cb, num_tasks);                                \
	}                                                                                                            \
                                                                                                                     \
	struct doca_task *doca_compress_task_##name##_as_task(struct doca_compress_task_##name *task)                \
	{                                                                                                            \
		return shim_accel_task_is(task, &name##_type) ? &task->base.base.base.task : NULL;                   \
	}                                                                                                            \
                                                                                                                     \
	void doca_compress_task_##name##_set_src(struct doca_compress_task_##name *task,                             \
						 const struct doca_buf *src_buff)                                    \
	{                                                                                                            \
		set_src(__func__, task, &name##_type, src_buff);                                                     \
	}                                                                                                            \
                                                                                                                     \
	const struct doca_buf *doca_compress_task_##name##_get_src(const struct doca_compress_task_##name *task)     \
	{                                                                                                            \
		return shim_accel_task_is(task, &name##_type) ? task->base.base.base.src : NULL;                     \
	}                                                                                                            \
                                                                                                                     \
	void doca_compress_task_##name##_set_dst(struct doca_compress_task_##name *task, struct doca_buf *dst_buff)  \
	{                                                                                                            \
		set_dst(__func__, task, &name##_type, dst_buff);                                                     \
	}                                                                                                            \
                                                                                                                     \
	struct doca_buf *doca_compress_task_##name##_get_dst(const struct doca_compress_task_##name *task)           \
	{                                                                                                            \
		return shim_accel_task_is(task, &name##_type) ? task->base.base.base.dst : NULL;                     \
	}                                                                                                            \
                                                                                                                     \
	uint32_t doca_compress_task_##name##_get_crc_cs(const struct doca_compress_task_##name *task)                \
	{                                                                                                            \
		return COMPRESS_RESULT(task, &name##_type, crc);                                                     \
	}

/* Define the getter of the second checksum. */
#define COMPRESS_DEFINE_CHECKSUM(name, checksum)                                                               \
	uint32_t doca_compress_task_##name##_get_##checksum##_cs(const struct doca_compress_task_##name *task) \
	{                                                                                                      \
		return COMPRESS_RESULT(task, &name##_type, checksum);                                          \
	}

/* Define alloc_init() of a type without parameters of its own. */
#define COMPRESS_DEFINE_ALLOC(name, index_)                                                                   \
	doca_error_t doca_compress_task_##name##_alloc_init(                                                  \
		struct doca_compress *compress, const struct doca_buf *src_buff, struct doca_buf *dst_buff,   \
		union doca_data user_data, struct doca_compress_task_##name **task)                           \
	{                                                                                                     \
		struct shim_buf_task *allocated;                                                              \
		doca_error_t result =                                                                         \
			alloc(__func__, compress, (index_), src_buff, dst_buff, user_data, task, &allocated); \
                                                                                                              \
		if (doca_likely(result == DOCA_SUCCESS))                                                      \
			*task = (struct doca_compress_task_##name *)allocated;                                \
		return result;                                                                                \
	}

#endif
