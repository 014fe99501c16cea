/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that a message of a Comch producer fits what its consumer has posted, and takes. */
#include <doca_comch.h>

#include "shim/check/base/check.h"
#include "shim/check/report/hit.h"
#include "shim/comch/comch_inspect.h"

static struct check_hit *begin(const struct shim_call *call, const struct comch_send_view *send)
{
	const char *name = check_call_name(call);
	size_t len = shim_object_is(send->buf, SHIM_BUF) ? send->buf->data_len : 0;

	if (send->imm_bytes > send->max_imm_bytes)
		return check_hit_begin(BFC_MESSAGE_DOES_NOT_FIT, call,
				       "%s: %u bytes of immediate data; consumer %u takes %u", name, send->imm_bytes,
				       send->consumer, send->max_imm_bytes);
	if (len > send->room_bytes)
		return check_hit_begin(BFC_MESSAGE_DOES_NOT_FIT, call,
				       "%s: a message of %zu bytes; the buffer that consumer %u has posted has %u",
				       name, len, send->consumer, send->room_bytes);
	return NULL;
}

static bool is_submission(const struct shim_call *call)
{
	return call->function == SHIM_FN_doca_task_submit || call->function == SHIM_FN_doca_task_submit_ex ||
	       call->function == SHIM_FN_doca_task_try_submit;
}

static void call_failed(const struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);
	struct comch_send_view send;
	struct check_hit *hit;

	if (check_result(call) != DOCA_ERROR_INVALID_VALUE || !is_submission(call) || !comch_inspect_send(task, &send))
		return;
	hit = begin(call, &send);
	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

const struct check_part check_comch_fast = {
	.mode = SIM_CHECK_API,
	.call_failed = call_failed,
};
