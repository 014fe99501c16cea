/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that an engine of the card runs: submission, the job, its end. */
#include <errno.h>

#include "accel.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "sim/base/memory_guard.h"

bool shim_accel_check_settable(const char *func, const void *task, const struct shim_accel_type *type)
{
	if (shim_accel_task_is(task, type) && !((const struct doca_task *)task)->in_flight)
		return true;
	sim_err("%s: the task is NULL, freed, of another type, or in flight; nothing was changed", func);
	return false;
}

doca_error_t shim_accel_hold_new(struct shim_accel_task *task, struct shim_accel_hold **slot, void *held)
{
	struct shim_accel *accel = (struct shim_accel *)task->base.task.ctx;

	if (!*slot) {
		*slot = shim_calloc(1, sizeof(**slot));
		if (!*slot)
			return DOCA_ERROR_NO_MEMORY;
		SLIST_INSERT_HEAD(&accel->holds, *slot, link);
	}
	if ((*slot)->held)
		shim_accel_lib(accel)->unref_held((*slot)->held);
	(*slot)->held = shim_accel_lib(accel)->ref_held(held);
	return DOCA_SUCCESS;
}

/* ---- submission ---- */

static doca_error_t refuse(const struct doca_task *task, doca_error_t error, const char *problem)
{
	sim_err("doca_task_submit: a task of %s: %s", shim_accel_task_type(task)->func, problem);
	return error;
}

/* Return why the device may not access a list, or NULL. Other problems make the job fail. */
static inline const char *find_access_problem(const struct doca_buf *buf, const struct doca_dev *dev, bool write)
{
	const char *problem = NULL;

	for (; buf && !problem; buf = buf->next)
		if (shim_buf_has_usable_mmap(buf))
			problem = shim_mmap_find_problem(buf->mmap, dev, write);
	return problem;
}

static doca_error_t check_access(const struct shim_buf_task *task)
{
	const struct doca_dev *dev = task->task.ctx->dev;
	const char *problem = find_access_problem(task->src, dev, false);

	if (!problem)
		problem = find_access_problem(task->dst, dev, true);
	return doca_likely(!problem) ? DOCA_SUCCESS : refuse(&task->task, DOCA_ERROR_NOT_PERMITTED, problem);
}

static doca_error_t check_sizes(const struct shim_accel_task *task, const struct pcie_accel_caps *caps,
				const struct shim_list_size *src, const struct shim_list_size *dst)
{
	if (doca_unlikely(src->data_bytes == 0))
		return refuse(&task->base.task, DOCA_ERROR_INVALID_VALUE, "the source has no data (doca_buf_set_data)");
	if (doca_unlikely(src->segments > caps->max_list_len || dst->segments > caps->max_list_len))
		return refuse(&task->base.task, DOCA_ERROR_INVALID_VALUE,
			      "a list has more elements than the device's limit for lists");
	return DOCA_SUCCESS;
}

static bool is_too_large(const struct shim_accel_task *task, const struct shim_accel_type *type,
			 const struct pcie_accel_caps *caps, uint64_t bytes)
{
	return bytes > (type->get_max_src_bytes ? type->get_max_src_bytes(task, caps) : caps->max_buf_bytes);
}

static doca_error_t check(struct shim_accel_task *task, const struct shim_accel_type *type,
			  const struct pcie_accel_caps *caps, const struct shim_list_size *src,
			  const struct shim_list_size *dst)
{
	doca_error_t result = check_sizes(task, caps, src, dst);

	if (result == DOCA_SUCCESS && type->check)
		result = type->check(task, src, dst);
	return result == DOCA_SUCCESS ? check_access(&task->base) : result;
}

doca_error_t shim_accel_check(struct doca_task *base)
{
	struct shim_accel_task *task = (struct shim_accel_task *)base;
	const struct shim_accel_type *type = shim_accel_task_type(base);
	const struct pcie_accel_caps *caps = &shim_accel_task_conf(base)->caps;
	struct shim_accel *accel = (struct shim_accel *)base->ctx;
	bool may_replace = doca_unlikely(shim_compat->replaces_full_data) && type->get_output_bytes, replaces;
	struct shim_list_size src, dst;
	uint64_t room;
	doca_error_t result;

	if (doca_unlikely(!shim_buf_is_list(task->base.src) || !shim_buf_is_list(task->base.dst)))
		return refuse(base, DOCA_ERROR_INVALID_VALUE,
			      "source and destination must be live buffers, heads of their lists");
	src = shim_list_measure(task->base.src);
	dst = shim_list_measure(task->base.dst);
	room = dst.room_bytes;
	if (may_replace)
		dst.room_bytes += dst.data_bytes;
	result = check(task, type, caps, &src, &dst);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	task->base.snapshot.bytes = src.data_bytes;
	replaces = may_replace && room < type->get_output_bytes(task);
	result = shim_snapshot_take_lists(&task->base.snapshot, &accel->lists, task->base.src, src.segments,
					  task->base.dst, dst.segments, replaces);
	if (result == DOCA_SUCCESS && doca_unlikely(is_too_large(task, type, caps, src.data_bytes)))
		task->base.snapshot.problem = "the source is larger than the device's limit";
	return result;
}

doca_error_t shim_accel_validate(struct doca_task *task)
{
	doca_error_t result = shim_accel_check(task);
	const char *problem = result == DOCA_SUCCESS ? shim_buf_task_find_problem(shim_to_buf_task(task)) : NULL;

	if (doca_likely(!problem))
		return result;
	sim_err("doca_task_try_submit: a task of %s can't succeed: %s", shim_accel_task_type(task)->func, problem);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- the job ---- */

static const char *describe(int rc)
{
	switch (rc) {
	case -ENOSPC:
		return "the destination has too little room behind its data";
	case -EBADMSG:
		return "the source's data is invalid";
	case -EKEYREJECTED:
		return "the tag does not match: the data was changed, or key, IV, tag size or AAD size differ";
	case -EFBIG:
		return "the output is larger than the device's limit";
	default:
		return NULL; /* logged already */
	}
}

/* Of memory that is gone, there is a report of its own. */
static int fail(const struct shim_accel_task *task, const char *problem)
{
	if (problem && !sim_guard_has_lost())
		sim_err("a task of %s fails as it does on a card: %s", shim_accel_task_type(&task->base.task)->func,
			problem);
	return -EIO;
}

/* Work on at most this size is a short job (sim_job.is_short). */
#define SHORT_WORK_BYTES 256

static bool is_short(const struct shim_accel_task *task)
{
	return task->base.task.bytes <= SHORT_WORK_BYTES && !task->base.src->mmap->remote &&
	       !task->base.dst->mmap->remote;
}

/* Whether the work has another try: with the output in place of the destination's data. */
static bool has_more_room(const struct shim_accel_task *task)
{
	return shim_compat->replaces_full_data && shim_lists_replace_data(task->base.snapshot.lists);
}

int shim_accel_do_work(struct shim_accel_task *task, uint64_t limit)
{
	const char *problem = shim_buf_task_find_problem(&task->base);
	struct shim_work work;
	int rc;

	if (doca_unlikely(problem != NULL))
		return fail(task, problem);
	shim_work_init(&work, task, limit);
	rc = shim_accel_task_type(&task->base.task)->work(&work);
	if (doca_unlikely(rc == -ENOSPC && limit == UINT64_MAX && has_more_room(task))) {
		shim_work_init(&work, task, limit);
		rc = shim_accel_task_type(&task->base.task)->work(&work);
	}
	if (doca_unlikely(work.rc < 0))
		rc = work.rc;
	task->written = work.written;
	task->base.task.bytes = work.src_bytes > work.written ? work.src_bytes : work.written;
	task->base.task.job.is_short = is_short(task);
	return doca_likely(rc == 0) ? 0 : fail(task, limit == UINT64_MAX ? describe(rc) : NULL);
}

int shim_accel_run(struct sim_job *job)
{
	return shim_accel_do_work((struct shim_accel_task *)shim_task_from_job(job), UINT64_MAX);
}

void shim_accel_apply(struct doca_task *task)
{
	const struct shim_accel_task *accel_task = (const struct shim_accel_task *)task;

	shim_snapshot_extend_data(&accel_task->base.snapshot, accel_task->base.dst, accel_task->written);
}
