/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash tasks: the digest of a whole message. */
#include <errno.h>

#include "sha_priv.h"
#include "shim/common/base/check.h"

static doca_error_t hash_check(struct shim_accel_task *task, const struct shim_list_size *src,
			       const struct shim_list_size *dst)
{
	(void)src;
	return shim_sha_check_room(((const struct doca_sha_task_hash *)task)->algorithm, dst);
}

static uint64_t hash_get_output_bytes(const struct shim_accel_task *task)
{
	return shim_sha_digest_bytes(((const struct doca_sha_task_hash *)task)->algorithm);
}

static int hash_work(struct shim_work *work)
{
	const struct doca_sha_task_hash *task = (const struct doca_sha_task_hash *)work->task;
	struct doca_sha *sha = (struct doca_sha *)work->accel;
	int rc;

	if (!sha->digest)
		sha->digest = sha_digest_new();
	if (!sha->digest)
		return -ENOMEM;
	rc = sha_digest_begin(sha->digest, task->algorithm);
	if (rc == 0)
		rc = shim_sha_read(work, sha->digest);
	return rc == 0 ? shim_sha_write(work, sha->digest, task->algorithm) : rc;
}

SHIM_ACCEL_DEFINE_COMPLETE(hash_complete, struct doca_sha_task_hash, doca_sha_task_hash_completion_cb_t)

static const struct shim_task_fault_ops hash_faults = SHIM_ACCEL_FAULTS(SIM_OP_SHA_HASH);

const struct shim_accel_type shim_sha_hash_type = {
	.task = SHIM_ACCEL_TASK(SIM_TASK_SHA_HASH, struct doca_sha_task_hash, hash_complete, &hash_faults),
	.index = SHA_HASH,
	.func = "doca_sha_task_hash",
	.engine = "SHA",
	.accel = PCIE_ACCEL_SHA,
	.find_lack = sha_digest_find_lack,
	.check = hash_check,
	.get_output_bytes = hash_get_output_bytes,
	.work = hash_work,
};

doca_error_t doca_sha_task_hash_set_conf(struct doca_sha *sha, doca_sha_task_hash_completion_cb_t task_completion_cb,
					 doca_sha_task_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks)
{
	SHIM_NEED(sha, SHIM_SHA);
	return shim_sha_set_conf(__func__, sha, SHA_HASH, (void (*)(void))task_completion_cb,
				 (void (*)(void))task_error_cb, log_num_tasks);
}

doca_error_t doca_sha_task_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
					   const struct doca_buf *src_buf, struct doca_buf *dst_buf,
					   union doca_data user_data, struct doca_sha_task_hash **task)
{
	struct shim_buf_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(sha, SHIM_SHA);
	SHIM_NEED_OUT(task);
	result = shim_sha_check_algorithm(__func__, algorithm);
	if (result == DOCA_SUCCESS)
		result = shim_accel_alloc(__func__, &sha->accel, SHA_HASH, src_buf, dst_buf, user_data, &allocated);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	*task = (struct doca_sha_task_hash *)allocated;
	(*task)->algorithm = algorithm;
	return DOCA_SUCCESS;
}

static bool is_hash(const struct doca_sha_task_hash *task)
{
	return shim_accel_task_is(task, &shim_sha_hash_type);
}

struct doca_task *doca_sha_task_hash_as_task(struct doca_sha_task_hash *task)
{
	return is_hash(task) ? &task->base.base.task : NULL;
}

doca_error_t doca_sha_task_hash_set_algorithm(struct doca_sha_task_hash *task, enum doca_sha_algorithm algorithm)
{
	doca_error_t result = shim_sha_check_algorithm(__func__, algorithm);

	if (result == DOCA_SUCCESS && !shim_accel_check_settable(__func__, task, &shim_sha_hash_type))
		result = DOCA_ERROR_INVALID_VALUE;
	if (result == DOCA_SUCCESS)
		task->algorithm = algorithm;
	return result;
}

doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task, const struct doca_buf *src_buf)
{
	if (!shim_accel_check_settable(__func__, task, &shim_sha_hash_type))
		return DOCA_ERROR_INVALID_VALUE;
	task->base.base.src = src_buf;
	return DOCA_SUCCESS;
}

doca_error_t doca_sha_task_hash_set_dst(struct doca_sha_task_hash *task, struct doca_buf *dst_buf)
{
	if (!shim_accel_check_settable(__func__, task, &shim_sha_hash_type))
		return DOCA_ERROR_INVALID_VALUE;
	task->base.base.dst = dst_buf;
	return DOCA_SUCCESS;
}

enum doca_sha_algorithm doca_sha_task_hash_get_algorithm(const struct doca_sha_task_hash *task)
{
	return is_hash(task) ? task->algorithm : DOCA_SHA_ALGORITHM_SHA1;
}

const struct doca_buf *doca_sha_task_hash_get_src(const struct doca_sha_task_hash *task)
{
	return is_hash(task) ? task->base.base.src : NULL;
}

const struct doca_buf *doca_sha_task_hash_get_dst(const struct doca_sha_task_hash *task)
{
	return is_hash(task) ? task->base.base.dst : NULL;
}
