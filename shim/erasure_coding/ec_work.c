/* SPDX-License-Identifier: BSD-3-Clause */
/* What erasure coding tasks of all types do: multiply the matrix with the blocks of the source. */
#include <errno.h>

#include "ec_priv.h"
#include "galois.h"
#include "shim/common/base/check.h"

static doca_error_t refuse(const struct ec_task *task, const char *problem)
{
	sim_err("doca_task_submit: a task of %s: %s", shim_accel_task_type(&task->base.base.task)->func, problem);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_blocks(const struct ec_task *task, const struct ec_code *code,
				 const struct shim_list_size *src, const struct shim_list_size *dst)
{
	uint64_t block = src->data_bytes / code->num_in;

	if (doca_unlikely(block * code->num_in != src->data_bytes || block % EC_BLOCK_UNIT_BYTES != 0)) {
		sim_err("doca_task_submit: a task of %s: the source has %llu bytes; its matrix takes %zu blocks of one size, which is a multiple of %d",
			shim_accel_task_type(&task->base.base.task)->func, (unsigned long long)src->data_bytes,
			code->num_in, EC_BLOCK_UNIT_BYTES);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (doca_unlikely(dst->room_bytes < block * code->num_out)) {
		sim_err("doca_task_submit: a task of %s: the destination has room for %llu bytes behind its data, and the output has %zu blocks of %llu",
			shim_accel_task_type(&task->base.base.task)->func, (unsigned long long)dst->room_bytes,
			code->num_out, (unsigned long long)block);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t ec_check(struct shim_accel_task *accel_task, const struct shim_list_size *src,
		      const struct shim_list_size *dst)
{
	struct ec_task *task = (struct ec_task *)accel_task;
	doca_error_t result;

	if (doca_unlikely(!shim_object_is(task->matrix, SHIM_EC_MATRIX)))
		return refuse(task, "its matrix is NULL or was destroyed");
	result = check_blocks(task, task->matrix->code, src, dst);
	return doca_likely(result == DOCA_SUCCESS) ? shim_accel_hold_for(accel_task, &task->hold, task->matrix->code) :
						     result;
}

uint64_t ec_get_output_bytes(const struct shim_accel_task *task)
{
	const struct ec_code *code = ((const struct ec_task *)task)->hold->held;

	return task->base.snapshot.bytes / code->num_in * code->num_out;
}

uint64_t ec_get_max_src_bytes(const struct shim_accel_task *task, const struct pcie_accel_caps *caps)
{
	const struct ec_code *code = ((const struct ec_task *)task)->hold->held;

	return caps->max_buf_bytes * code->num_in;
}

int ec_work(struct shim_work *work)
{
	const struct ec_code *code = ((const struct ec_task *)work->task)->hold->held;
	size_t block = work->src_bytes / code->num_in;
	const uint8_t *in[EC_MAX_IN_BLOCKS];
	uint8_t *out[EC_MAX_RDNC_BLOCKS];
	int rc = shim_work_read_blocks(work, block, code->num_in, in);

	if (rc == 0)
		rc = shim_work_room_blocks(work, block, code->num_out, out);
	if (rc < 0)
		return rc;
	galois_multiply(code->tables, block, code->num_in, code->num_out, in, out);
	return shim_work_wrote_blocks(work, block, code->num_out, out);
}
