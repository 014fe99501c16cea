/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/erasure_coding/ec_task.h - the public functions that all types of erasure coding tasks have, as macros for
 * ec_task.c. */
#ifndef SHIM_EC_TASK_H
#define SHIM_EC_TASK_H

#include "ec_priv.h"
#include "galois.h"
#include "shim/common/base/check.h"

/* Define a type, and the public functions whose names depend on nothing but the type's. */
#define EC_DEFINE_TASK(name, index_, kind, op_)                                                                        \
	struct doca_ec_task_##name {                                                                                   \
		struct ec_task base;                                                                                   \
	};                                                                                                             \
                                                                                                                       \
	SHIM_ACCEL_DEFINE_COMPLETE(name##_complete, struct doca_ec_task_##name, doca_ec_task_##name##_completion_cb_t) \
                                                                                                                       \
	static const struct shim_task_fault_ops name##_faults = SHIM_ACCEL_FAULTS(op_);                                \
                                                                                                                       \
	const struct shim_accel_type ec_##name##_type = {                                                              \
		.task = SHIM_ACCEL_TASK(kind, struct doca_ec_task_##name, name##_complete, &name##_faults),            \
		.index = (index_),                                                                                     \
		.func = "doca_ec_task_" #name,                                                                         \
		.engine = "erasure coding",                                                                            \
		.accel = PCIE_ACCEL_ERASURE_CODING,                                                                    \
		.find_lack = galois_find_lack,                                                                         \
		.check = ec_check,                                                                                     \
		.get_output_bytes = ec_get_output_bytes,                                                               \
		.get_max_src_bytes = ec_get_max_src_bytes,                                                             \
		.work = ec_work,                                                                                       \
	};                                                                                                             \
                                                                                                                       \
	doca_error_t doca_ec_cap_task_##name##_is_supported(const struct doca_devinfo *devinfo)                        \
	{                                                                                                              \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                                                                      \
		return shim_accel_check_support(__func__, devinfo->function, &ec_##name##_type);                       \
	}                                                                                                              \
                                                                                                                       \
	doca_error_t doca_ec_task_##name##_set_conf(                                                                   \
		struct doca_ec *ec, doca_ec_task_##name##_completion_cb_t successful_task_completion_cb,               \
		doca_ec_task_##name##_completion_cb_t error_task_completion_cb, uint32_t num_tasks)                    \
	{                                                                                                              \
		SHIM_NEED(ec, SHIM_EC);                                                                                \
		return shim_accel_set_conf(__func__, &ec->accel, (index_),                                             \
					   (void (*)(void))successful_task_completion_cb,                              \
					   (void (*)(void))error_task_completion_cb, num_tasks);                       \
	}                                                                                                              \
                                                                                                                       \
	struct doca_task *doca_ec_task_##name##_as_task(struct doca_ec_task_##name *task)                              \
	{                                                                                                              \
		return shim_accel_task_is(task, &ec_##name##_type) ? &task->base.base.base.task : NULL;                \
	}

/* Define the functions whose names say what matrix, source and destination of the type are. */
#define EC_DEFINE_PARAMS(name, index_, matrix_, src_, dst_, dst_getter)                                                \
	doca_error_t doca_ec_task_##name##_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *matrix_,     \
							 const struct doca_buf *src_, struct doca_buf *dst_,           \
							 union doca_data user_data, struct doca_ec_task_##name **task) \
	{                                                                                                              \
		struct ec_task *allocated;                                                                             \
		doca_error_t result = alloc(__func__, ec, (index_), matrix_, src_, dst_, user_data, task, &allocated); \
                                                                                                                       \
		if (doca_likely(result == DOCA_SUCCESS))                                                               \
			*task = (struct doca_ec_task_##name *)allocated;                                               \
		return result;                                                                                         \
	}                                                                                                              \
                                                                                                                       \
	void doca_ec_task_##name##_set_##matrix_(struct doca_ec_task_##name *task,                                     \
						 const struct doca_ec_matrix *matrix_)                                 \
	{                                                                                                              \
		if (shim_accel_check_settable(__func__, task, &ec_##name##_type))                                      \
			task->base.matrix = matrix_;                                                                   \
	}                                                                                                              \
                                                                                                                       \
	const struct doca_ec_matrix *doca_ec_task_##name##_get_##matrix_(const struct doca_ec_task_##name *task)       \
	{                                                                                                              \
		return shim_accel_task_is(task, &ec_##name##_type) ? task->base.matrix : NULL;                         \
	}                                                                                                              \
                                                                                                                       \
	void doca_ec_task_##name##_set_##src_(struct doca_ec_task_##name *task, const struct doca_buf *src_)           \
	{                                                                                                              \
		if (shim_accel_check_settable(__func__, task, &ec_##name##_type))                                      \
			task->base.base.base.src = src_;                                                               \
	}                                                                                                              \
                                                                                                                       \
	const struct doca_buf *doca_ec_task_##name##_get_##src_(const struct doca_ec_task_##name *task)                \
	{                                                                                                              \
		return shim_accel_task_is(task, &ec_##name##_type) ? task->base.base.base.src : NULL;                  \
	}                                                                                                              \
                                                                                                                       \
	void doca_ec_task_##name##_set_##dst_(struct doca_ec_task_##name *task, struct doca_buf *dst_)                 \
	{                                                                                                              \
		if (shim_accel_check_settable(__func__, task, &ec_##name##_type))                                      \
			task->base.base.base.dst = dst_;                                                               \
	}                                                                                                              \
                                                                                                                       \
	struct doca_buf *doca_ec_task_##name##_get_##dst_getter(const struct doca_ec_task_##name *task)                \
	{                                                                                                              \
		return shim_accel_task_is(task, &ec_##name##_type) ? task->base.base.base.dst : NULL;                  \
	}

#endif
