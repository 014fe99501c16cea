/* SPDX-License-Identifier: BSD-3-Clause */
/* Partial hash tasks: the digest of a message that comes in pieces, a submission for each. */
#include <errno.h>
#include <stdlib.h>

#include "sha_priv.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"

static struct doca_sha_task_partial_hash *to_partial(const struct shim_accel_task *task)
{
	return (struct doca_sha_task_partial_hash *)(uintptr_t)task;
}

static doca_error_t partial_check(struct shim_accel_task *accel_task, const struct shim_list_size *src,
				  const struct shim_list_size *dst)
{
	const struct doca_sha_task_partial_hash *task = to_partial(accel_task);
	uint32_t block = shim_sha_block_bytes(task->algorithm);

	if (doca_unlikely(task->has_ended)) {
		sim_err("doca_task_submit: the partial hash task has its result; call doca_sha_task_partial_hash_reset() before another message");
		return DOCA_ERROR_BAD_STATE;
	}
	if (doca_unlikely(!task->is_final && src->data_bytes % block != 0)) {
		sim_err("doca_task_submit: a piece of a partial hash has %llu bytes; all pieces but the last have a multiple of %u (doca_sha_cap_get_partial_hash_block_size), and doca_sha_task_partial_hash_set_is_final_buf() announces the last",
			(unsigned long long)src->data_bytes, block);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return shim_sha_check_room(task->algorithm, dst);
}

static uint64_t partial_get_output_bytes(const struct shim_accel_task *accel_task)
{
	const struct doca_sha_task_partial_hash *task = to_partial(accel_task);

	return task->is_final ? shim_sha_digest_bytes(task->algorithm) : 0;
}

/* Return the digest of the task, or NULL without memory. */
static struct sha_digest *ensure_digest(struct doca_sha *sha, struct doca_sha_task_partial_hash *task)
{
	struct sha_state *state;

	if (task->state)
		return task->state->digest;
	state = shim_calloc(1, sizeof(*state));
	if (!state)
		return NULL;
	state->digest = sha_digest_new();
	if (!state->digest) {
		free(state);
		return NULL;
	}
	SLIST_INSERT_HEAD(&sha->states, state, link);
	task->state = state;
	return state->digest;
}

doca_error_t shim_sha_partial_copy(const struct doca_sha_task_partial_hash *from, struct doca_sha_task_partial_hash *to)
{
	struct sha_digest *digest = from->has_begun ? ensure_digest(shim_to_sha(to->base.base.task.ctx), to) : NULL;

	if (from->has_begun && (!digest || sha_digest_copy(digest, from->state->digest) < 0))
		return DOCA_ERROR_NO_MEMORY;
	to->algorithm = from->algorithm;
	to->has_begun = from->has_begun;
	to->is_final = from->is_final;
	to->has_ended = from->has_ended;
	return DOCA_SUCCESS;
}

static int partial_work(struct shim_work *work)
{
	struct doca_sha_task_partial_hash *task = to_partial(work->task);
	struct sha_digest *digest = ensure_digest((struct doca_sha *)work->accel, task);
	int rc = 0;

	if (!digest)
		return -ENOMEM;
	if (!task->has_begun)
		rc = sha_digest_begin(digest, task->algorithm);
	task->has_begun = true;
	if (rc == 0)
		rc = shim_sha_read(work, digest);
	if (rc < 0 || !task->is_final)
		return rc;
	task->has_ended = true;
	return shim_sha_write(work, digest, task->algorithm);
}

SHIM_ACCEL_DEFINE_COMPLETE(partial_complete, struct doca_sha_task_partial_hash,
			   doca_sha_task_partial_hash_completion_cb_t)

static const struct shim_task_fault_ops partial_faults = SHIM_ACCEL_FAULTS(SIM_OP_SHA_PARTIAL_HASH);

const struct shim_accel_type shim_sha_partial_hash_type = {
	.task = SHIM_ACCEL_TASK(SIM_TASK_SHA_PARTIAL_HASH, struct doca_sha_task_partial_hash, partial_complete,
				&partial_faults),
	.index = SHA_PARTIAL_HASH,
	.func = "doca_sha_task_partial_hash",
	.engine = "SHA",
	.accel = PCIE_ACCEL_SHA,
	.find_lack = sha_digest_find_lack,
	.check = partial_check,
	.get_output_bytes = partial_get_output_bytes,
	.work = partial_work,
};

doca_error_t doca_sha_task_partial_hash_set_conf(struct doca_sha *sha,
						 doca_sha_task_partial_hash_completion_cb_t task_completion_cb,
						 doca_sha_task_partial_hash_completion_cb_t task_error_cb,
						 uint8_t log_num_tasks)
{
	SHIM_NEED(sha, SHIM_SHA);
	return shim_sha_set_conf(__func__, sha, SHA_PARTIAL_HASH, (void (*)(void))task_completion_cb,
				 (void (*)(void))task_error_cb, log_num_tasks);
}

static void reset(struct doca_sha_task_partial_hash *task)
{
	task->has_begun = task->is_final = task->has_ended = false;
}

doca_error_t doca_sha_task_partial_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
						   const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						   union doca_data user_data, struct doca_sha_task_partial_hash **task)
{
	struct shim_buf_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(sha, SHIM_SHA);
	SHIM_NEED_OUT(task);
	result = shim_sha_check_algorithm(__func__, algorithm);
	if (result == DOCA_SUCCESS)
		result = shim_accel_alloc(__func__, &sha->accel, SHA_PARTIAL_HASH, src_buf, dst_buf, user_data,
					  &allocated);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	*task = (struct doca_sha_task_partial_hash *)allocated;
	(*task)->algorithm = algorithm;
	reset(*task);
	return DOCA_SUCCESS;
}

static bool is_partial(const struct doca_sha_task_partial_hash *task)
{
	return shim_accel_task_is(task, &shim_sha_partial_hash_type);
}

struct doca_task *doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task)
{
	return is_partial(task) ? &task->base.base.task : NULL;
}

/* Check a change to the task @task. */
static doca_error_t check_change(const char *func, const struct doca_sha_task_partial_hash *task)
{
	if (!is_partial(task)) {
		sim_err("%s: the task is NULL, freed, or of another type", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (task->base.base.task.in_flight) {
		sim_err("%s: the task is in flight; wait for its callback", func);
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

/* The same for what holds for a whole message. */
static doca_error_t check_first(const char *func, const struct doca_sha_task_partial_hash *task)
{
	doca_error_t result = check_change(func, task);

	if (result != DOCA_SUCCESS || !task->has_begun)
		return result;
	sim_err("%s: the task has hashed a piece already; call doca_sha_task_partial_hash_reset() first", func);
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_sha_task_partial_hash_set_algorithm(struct doca_sha_task_partial_hash *task,
						      enum doca_sha_algorithm algorithm)
{
	doca_error_t result = shim_sha_check_algorithm(__func__, algorithm);

	if (result == DOCA_SUCCESS)
		result = check_first(__func__, task);
	if (result == DOCA_SUCCESS)
		task->algorithm = algorithm;
	return result;
}

doca_error_t doca_sha_task_partial_hash_set_dst(struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf)
{
	doca_error_t result = check_first(__func__, task);

	if (result == DOCA_SUCCESS)
		task->base.base.dst = dst_buf;
	return result;
}

doca_error_t doca_sha_task_partial_hash_set_src(struct doca_sha_task_partial_hash *task, const struct doca_buf *src_buf)
{
	if (!shim_accel_check_settable(__func__, task, &shim_sha_partial_hash_type))
		return DOCA_ERROR_INVALID_VALUE;
	task->base.base.src = src_buf;
	return DOCA_SUCCESS;
}

doca_error_t doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task)
{
	doca_error_t result = check_change(__func__, task);

	if (result == DOCA_SUCCESS)
		task->is_final = true;
	return result;
}

/* At any time, but not while the engine may write to the task. */
doca_error_t doca_sha_task_partial_hash_reset(struct doca_sha_task_partial_hash *task)
{
	if (!shim_accel_check_settable(__func__, task, &shim_sha_partial_hash_type))
		return DOCA_ERROR_INVALID_VALUE;
	reset(task);
	return DOCA_SUCCESS;
}

enum doca_sha_algorithm doca_sha_task_partial_hash_get_algorithm(const struct doca_sha_task_partial_hash *task)
{
	return is_partial(task) ? task->algorithm : DOCA_SHA_ALGORITHM_SHA1;
}

const struct doca_buf *doca_sha_task_partial_hash_get_src(const struct doca_sha_task_partial_hash *task)
{
	return is_partial(task) ? task->base.base.src : NULL;
}

const struct doca_buf *doca_sha_task_partial_hash_get_dst(const struct doca_sha_task_partial_hash *task)
{
	return is_partial(task) ? task->base.base.dst : NULL;
}

uint8_t doca_sha_task_partial_hash_get_is_final(const struct doca_sha_task_partial_hash *task)
{
	return is_partial(task) && task->is_final;
}

uint8_t doca_sha_task_partial_hash_get_has_result(const struct doca_sha_task_partial_hash *task)
{
	return is_partial(task) && task->has_ended && !task->base.base.task.in_flight &&
	       task->base.base.task.status == DOCA_SUCCESS;
}
