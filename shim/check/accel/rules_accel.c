/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about tasks of SHA, compression, erasure coding and AES-GCM, when they are posted, and when they are refused. */
#include <inttypes.h>

#include "shim/aes_gcm/gcm_inspect.h"
#include "shim/check/history/task_ranges.h"
#include "shim/check/history/tasks_in_flight.h"
#include "shim/common/base/check.h"
#include "shim/erasure_coding/ec_inspect.h"
#include "shim/sha/sha_inspect.h"
#include "task_rules.h"

static uint64_t max_source_of(const struct shim_accel_task *task)
{
	const struct shim_accel_type *type = shim_accel_task_type(&task->base.task);
	const struct pcie_accel_caps *caps = &shim_accel_task_conf(&task->base.task)->caps;

	return type->get_max_src_bytes ? type->get_max_src_bytes(task, caps) : caps->max_buf_bytes;
}

/* The message has one piece. */
static void report_single_piece(const struct shim_accel_task *task)
{
	struct check_hit *hit =
		CHECK_HIT_HERE(BFC_PARTIAL_HASH_SINGLE_PIECE,
			       "%s: the first piece of the partial hash, %" PRIu64 " bytes, is marked as the last",
			       check_current_name("doca_task_submit"), task->base.snapshot.bytes);

	check_task_add_objects(hit, &task->base);
	check_hit_end(hit);
}

void check_accel_task(const struct shim_accel_task *task)
{
	struct sha_partial_view partial;

	if (doca_unlikely(task->base.snapshot.problem != NULL))
		check_task_source_size(&task->base, task->base.snapshot.bytes, max_source_of(task));
	else
		check_task_overlap(&task->base, check_task_output_bytes(task));
	check_gcm_iv_use(&task->base.task);
	if (sha_inspect_partial(&task->base.task, &partial) && partial.is_final && !partial.has_begun)
		report_single_piece(task);
}

/* ---- refused submissions ---- */

static void end(struct check_hit *hit, const struct shim_accel_task *task)
{
	check_task_add_objects(hit, &task->base);
	check_hit_end(hit);
}

static void check_piece(const struct shim_call *call, const struct shim_accel_task *task, uint64_t bytes)
{
	struct sha_partial_view partial;

	if (!sha_inspect_partial(&task->base.task, &partial) || partial.is_final || partial.has_ended ||
	    bytes % partial.block_bytes == 0)
		return;
	end(check_hit_begin(BFC_PARTIAL_HASH_LENGTH, call,
			    "%s: the piece has %" PRIu64 " bytes, which is no multiple of %" PRIu32
			    ", and was not announced as the last",
			    check_call_name(call), bytes, partial.block_bytes),
	    task);
}

/* Returns false if the task has no blocks, or valid ones. */
static bool check_blocks(const struct shim_call *call, const struct shim_accel_task *task, uint64_t bytes)
{
	struct ec_task_view ec;

	if (!ec_inspect_task(&task->base.task, &ec) || ec.num_in == 0 ||
	    (bytes % ec.num_in == 0 && bytes / ec.num_in % EC_BLOCK_UNIT_BYTES == 0))
		return false;
	end(check_hit_begin(BFC_EC_BLOCK_SIZE, call,
			    "%s: the source has %" PRIu64 " bytes, and the matrix takes %zu blocks: %" PRIu64
			    " bytes each%s",
			    check_call_name(call), bytes, ec.num_in, bytes / ec.num_in,
			    bytes % ec.num_in ? ", and some are left" : ""),
	    task);
	return true;
}

/* What a task that was not posted would write; 0 = that is not known, or nothing. */
static uint64_t output_of(const struct shim_accel_task *task, uint64_t src_bytes)
{
	struct gcm_task_view gcm;
	struct ec_task_view ec;

	if (shim_object_is_still(task->base.task.ctx, SHIM_SHA))
		return check_task_output_bytes(task);
	if (ec_inspect_task(&task->base.task, &ec))
		return ec.num_in ? src_bytes / ec.num_in * ec.num_out : 0;
	if (!gcm_inspect_task(&task->base.task, &gcm))
		return 0;
	if (gcm.is_encrypt)
		return src_bytes + gcm.tag_bytes;
	return src_bytes > gcm.tag_bytes ? src_bytes - gcm.tag_bytes : 0;
}

static void check_room(const struct shim_call *call, const struct shim_accel_task *task,
		       const struct shim_list_size *src, const struct shim_list_size *dst)
{
	uint64_t output = output_of(task, src->data_bytes);

	if (dst->room_bytes + (shim_compat->replaces_full_data ? dst->data_bytes : 0) >= output)
		return;
	end(check_hit_begin(BFC_TASK_WITHOUT_ROOM, call,
			    "%s: the output has %" PRIu64 " bytes; the destination has %" PRIu64
			    " bytes of data, and room for %" PRIu64 " bytes behind them",
			    check_call_name(call), output, dst->data_bytes, dst->room_bytes),
	    task);
}

static void check_invalid(const struct shim_call *call, const struct shim_accel_task *task)
{
	uint32_t max_list_len = shim_accel_task_conf(&task->base.task)->caps.max_list_len;
	struct shim_list_size src, dst;

	if (check_task_misses_buffer(call, &task->base))
		return;
	src = shim_list_measure(task->base.src);
	dst = shim_list_measure(task->base.dst);
	if (check_task_source_size(&task->base, src.data_bytes, UINT64_MAX))
		return;
	check_task_list_len(&task->base, "source", src.segments, max_list_len);
	check_task_list_len(&task->base, "destination", dst.segments, max_list_len);
	if (check_blocks(call, task, src.data_bytes))
		return;
	check_room(call, task, &src, &dst);
	check_piece(call, task, src.data_bytes);
}

/* A submission that was refused before the task was posted. */
static void leave_submit(struct shim_call *call)
{
	const struct doca_task *task = check_refused_task(call, DOCA_ERROR_INVALID_VALUE);

	if (doca_unlikely(task != NULL) && check_is_accel(task))
		check_invalid(call, (const struct shim_accel_task *)task);
	task = check_refused_task(call, DOCA_ERROR_NOT_PERMITTED);
	if (doca_unlikely(task != NULL) && check_is_accel(task))
		check_task_access(shim_to_buf_task(task));
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_task_submit, NULL, leave_submit },
	{ SHIM_FN_doca_task_submit_ex, NULL, leave_submit },
	{ SHIM_FN_doca_task_try_submit, NULL, leave_submit },
};

const struct check_part check_accel = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};
