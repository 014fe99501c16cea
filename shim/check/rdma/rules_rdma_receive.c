/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about receives of RDMA: posted before their messages, as many as needed, and asked for their connection in time. */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "contexts.h"
#include "pcie_model/arith.h"
#include "shim/check/accel/task_rules.h"
#include "shim/check/history/outside_faults.h"
#include "sim/base/monotonic.h"

#define MAX_WAIT_NS \
	250000000    /* far beyond the retries of a card with the default count, and below those of this simulator */
#define MAX_MISSED 8 /* messages that found no receive, among others that did: by chance, a few may */

/* ---- the side that receives ---- */

static bool is_held_by_fault(void)
{
	return check_fault_has_hit(SIM_OP_RDMA_RECEIVE);
}

static void end_hit(struct check_hit *hit, const struct doca_rdma *rdma)
{
	check_hit_add_ctx(hit, &rdma->ctx);
	check_hit_end(hit);
}

static void report_wait(const struct shim_call *call, const struct doca_rdma *rdma)
{
	uint64_t num_taken = rdma->group.receives.num_taken;

	if (num_taken == 0)
		end_hit(check_hit_begin(BFC_RDMA_NO_RECEIVE, call,
					"%s: a message of a peer waits for a receive; the program has posted none",
					check_call_name(call)),
			rdma);
	else
		end_hit(check_hit_begin(
				BFC_RDMA_NO_RECEIVE, call,
				"%s: a message of a peer waits for a receive; the program has posted none since %" PRIu64
				" messages took those before",
				check_call_name(call), num_taken),
			rdma);
}

static void check_wait(const struct shim_call *call, struct check_rdma_context *context)
{
	const struct doca_rdma_connection *connection;
	uint64_t now_ns;
	bool awaits = false;

	TAILQ_FOREACH(connection, &context->rdma->connections, link)
		awaits |= sim_qp_awaits_receive(connection->qp);
	if (!awaits || context->is_wait_reported) {
		context->awaits_since_ns = 0;
		return;
	}
	now_ns = sim_monotonic_ns();
	if (context->awaits_since_ns == 0)
		context->awaits_since_ns = now_ns;
	if (now_ns - context->awaits_since_ns < min_u64(MAX_WAIT_NS, check_stall_timeout_ns()))
		return;
	context->is_wait_reported = true;
	if (!is_held_by_fault())
		report_wait(call, context->rdma);
}

static void check_lack(const struct shim_call *call, struct check_rdma_context *context)
{
	const struct sim_receive_pool *receives = &context->rdma->group.receives;

	if (receives->num_missed < MAX_MISSED || context->is_lack_reported)
		return;
	context->is_lack_reported = true;
	if (!is_held_by_fault())
		end_hit(check_hit_begin(BFC_RDMA_RECEIVES_RUN_OUT, call,
					"%s: %" PRIu64
					" messages so far found no receive, as all were in use; %u are configured",
					check_call_name(call), receives->num_missed,
					context->rdma->conf[RDMA_RECEIVE].num_tasks),
			context->rdma);
}

/* Whether the call progresses the context: by its engine, or, of the work-queue generation, in the thread that has started it. */
static bool is_progressed(const struct shim_call *call, const struct check_rdma_context *context)
{
#ifdef SHIM_WORKQ_BUILD
	(void)call;
	return context->tid == gettid();
#else
	return context->rdma->ctx.pe == check_arg(call, 0);
#endif
}

static bool see_context(struct check_rdma_context *context, void *arg)
{
	const struct shim_call *call = arg;

	if (!is_progressed(call, context) || context->rdma->ctx.state != DOCA_CTX_STATE_RUNNING)
		return true;
	check_wait(call, context);
	check_lack(call, context);
	return true;
}

/* ---- the side that sends ---- */

static void task_failed(struct doca_task *task, doca_error_t status)
{
	struct rdma_task_view view;
	struct check_hit *hit;

	(void)status;
	if (!rdma_inspect_task(task, &view) || rdma_inspect_failure(&view) != -ENOBUFS || is_held_by_fault() ||
	    check_fault_has_hit(SIM_OP_PEER))
		return;
	hit = CHECK_HIT_HERE(
		BFC_RDMA_NO_RECEIVE, "%s: the %s task failed, as the peer posted no receive within %u retries",
		check_current_name("doca_pe_progress"), task->pool->type->name, view.rdma->properties.rnr_retries);
	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static void leave_progress(struct shim_call *call)
{
	if (doca_unlikely(check_rdma_has_contexts()))
		check_rdma_contexts_each(see_context, call);
}

static const struct check_watch watches[] = { { SHIM_FN_doca_pe_progress, NULL, leave_progress } };

const struct check_part check_rdma_receive = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.task_failed = task_failed,
};

/* ---- the connection of a receive ---- */

/* Whose callback this thread is in, or has been in since its progress call began. A callback may progress another engine: the
 * mark of that call is the task of the callback that it stands in. */
static __thread const struct doca_task *reported __attribute__((tls_model("initial-exec")));

static void task_ended(struct doca_task *task, doca_error_t status)
{
	(void)status;
	reported = task;
}

static void enter_engine(struct shim_call *call)
{
	call->mark = (uintptr_t)reported;
}

static void leave_engine(struct shim_call *call)
{
	reported = (const struct doca_task *)(uintptr_t)call->mark;
}

/* Whether @call stands in a callback of the task. */
static bool is_in_callback_of(const struct shim_call *call, const struct doca_task *task)
{
	const struct shim_call *outer = call->outer;

	while (outer && (outer->function != SHIM_FN_doca_pe_progress || outer->mark != (uintptr_t)task))
		outer = outer->outer;
	return task == reported || outer;
}

/* A receive in flight, or that failed, has no result at all: another rule. One that was never submitted has no connection. */
static void enter_get_connection(struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);
	struct check_hit *hit;

	if (!shim_object_is(task, SHIM_TASK) || !rdma_inspect_is_task(task) || task->in_flight ||
	    task->status != DOCA_SUCCESS || is_in_callback_of(call, task) ||
	    !((const struct rdma_task *)task)->connection)
		return;
	hit = check_hit_begin(BFC_RDMA_CONNECTION_AFTER_CALLBACK, call,
			      "%s: the callback of the %s task %p has returned, and its connection may have ended",
			      check_call_name(call), task->pool->type->name, (const void *)task);
	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static const struct check_watch result_watches[] = {
	{ SHIM_FN_doca_rdma_task_receive_get_result_rdma_connection, enter_get_connection, NULL },
	{ SHIM_FN_doca_pe_progress, enter_engine, leave_engine },
};

const struct check_part check_rdma_result = {
	CHECK_WATCHES(result_watches),
	.mode = SIM_CHECK_RACES,
	.task_ended = task_ended,
};
