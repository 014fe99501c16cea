/* SPDX-License-Identifier: BSD-3-Clause */
/* What reports of tasks with source and destination have in common. */
#include <inttypes.h>

#include "task_rules.h"
#include "shim/check/history/mmap_history.h"
#include "shim/common/base/check.h"

const char *check_current_name(const char *otherwise)
{
	const struct shim_call *call = check_watched_call();

	return call ? check_call_name(call) : otherwise;
}

void check_task_add_objects(struct check_hit *hit, const struct shim_buf_task *task)
{
	check_mmap_add_object(hit, task->src->mmap);
	if (task->dst->mmap != task->src->mmap)
		check_mmap_add_object(hit, task->dst->mmap);
	check_hit_add_ctx(hit, task->task.ctx);
}

struct doca_task *check_refused_task(const struct shim_call *call, doca_error_t error)
{
	struct doca_task *task = check_arg(call, 0);

	if (doca_likely(check_result(call) != error) || !shim_object_is(task, SHIM_TASK) || task->in_flight ||
	    task->ctx->state != DOCA_CTX_STATE_RUNNING)
		return NULL;
	return task;
}

/* ---- reports ---- */

static const char *describe(const struct doca_buf *buf)
{
	if (!buf)
		return "NULL";
	return shim_object_is(buf, SHIM_BUF) ? "inside a list, not its head" : "no live buffer";
}

bool check_task_misses_buffer(const struct shim_call *call, const struct shim_buf_task *task)
{
	bool is_src = !shim_buf_is_list(task->src);
	struct check_hit *hit;

	if (!is_src && shim_buf_is_list(task->dst))
		return false;
	hit = check_hit_begin(BFC_TASK_WITHOUT_BUFFER, call, "%s: the %s of the task is %s", check_call_name(call),
			      is_src ? "source" : "destination", describe(is_src ? task->src : task->dst));
	check_hit_add_ctx(hit, task->task.ctx);
	check_hit_end(hit);
	return true;
}

static void end(struct check_hit *hit, const struct shim_buf_task *task)
{
	check_task_add_objects(hit, task);
	check_hit_end(hit);
}

static const char *device_of(const struct shim_buf_task *task)
{
	return shim_dev_function(task->task.ctx->dev)->ibdev;
}

void check_task_list_len(const struct shim_buf_task *task, const char *list, uint32_t num_bufs, uint32_t max)
{
	if (num_bufs > max)
		end(CHECK_HIT_HERE(BFC_LIST_TOO_LONG, "%s: the %s is a list of %u buffers; %s takes %u",
				   check_current_name("doca_task_submit"), list, num_bufs, device_of(task), max),
		    task);
}

bool check_task_source_size(const struct shim_buf_task *task, uint64_t data_bytes, uint64_t max_bytes)
{
	if (data_bytes > 0 && data_bytes <= max_bytes)
		return false;
	if (data_bytes == 0)
		end(CHECK_HIT_HERE(BFC_TASK_WITHOUT_DATA, "%s: the source has no data",
				   check_current_name("doca_task_submit")),
		    task);
	else
		end(CHECK_HIT_HERE(BFC_TASK_TOO_LARGE,
				   "%s: the source has %" PRIu64 " bytes; the limit of %s is %" PRIu64 " bytes",
				   check_current_name("doca_task_submit"), data_bytes, device_of(task), max_bytes),
		    task);
	return true;
}
