/* SPDX-License-Identifier: BSD-3-Clause */
/* The types of erasure coding tasks, and their public functions. */
#include "ec_task.h"

/* Allocate a task of any type; @task is the program's pointer for it. */
static doca_error_t alloc(const char *func, struct doca_ec *ec, uint32_t index, const struct doca_ec_matrix *matrix,
			  const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data, const void *task,
			  struct ec_task **ret_task)
{
	struct shim_buf_task *allocated;
	doca_error_t result;

	if (doca_unlikely(!shim_object_is(ec, SHIM_EC) || !task)) {
		sim_err("%s: ec is no live instance, or the pointer for the task is NULL", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = shim_accel_alloc(func, &ec->accel, index, src, dst, user_data, &allocated);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	*ret_task = (struct ec_task *)allocated;
	(*ret_task)->matrix = matrix;
	return DOCA_SUCCESS;
}

EC_DEFINE_TASK(galois_mul, EC_GALOIS_MUL, SIM_TASK_EC_GALOIS_MUL, SIM_OP_EC_GALOIS_MUL)
EC_DEFINE_PARAMS(galois_mul, EC_GALOIS_MUL, coding_matrix, src_buf, dst_buf, dst_buf)

EC_DEFINE_TASK(create, EC_CREATE, SIM_TASK_EC_CREATE, SIM_OP_EC_CREATE)
EC_DEFINE_PARAMS(create, EC_CREATE, coding_matrix, original_data_blocks, rdnc_blocks, rdnc_blocks)

EC_DEFINE_TASK(update, EC_UPDATE, SIM_TASK_EC_UPDATE, SIM_OP_EC_UPDATE)
EC_DEFINE_PARAMS(update, EC_UPDATE, update_matrix, original_updated_and_rdnc_blocks, updated_rdnc_blocks,
		 updated_rdnc_blocks)

EC_DEFINE_TASK(recover, EC_RECOVER, SIM_TASK_EC_RECOVER, SIM_OP_EC_RECOVER)
EC_DEFINE_PARAMS(recover, EC_RECOVER, recover_matrix, available_blocks, recovered_data_blocks, recovered_data)
