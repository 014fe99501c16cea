/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the life of RDMA connections: made while the context runs, of descriptors of this run, used while they live. */
#include <errno.h>
#include <pthread.h>

#include "shim/check/base/check.h"
#include "shim/check/history/ctx_history.h"
#include "shim/check/history/outside_faults.h"
#include "shim/check/report/hit.h"
#include "shim/common/process/runtime.h"
#include "shim/rdma/rdma_inspect.h"
#include "sim/fabric/remote.h"
#include "sim/protocol/descriptor.h"

/* ---- the wrong state ---- */

/* The connection that the call names; in 2.5 and 2.6 no argument does, and it is the context's only one. NULL = none. */
static const struct doca_rdma_connection *connection_of(const struct shim_call *call, const struct doca_rdma *rdma)
{
	const struct doca_rdma_connection *connection = check_arg(call, 3);

	if (!connection)
		return TAILQ_FIRST(&rdma->connections);
	return shim_handle_is(connection, SHIM_RDMA_CONNECTION) ? connection : NULL;
}

/* What is wrong with the connection of a call of doca_rdma_connect(); NULL = something else is. */
static const char *describe_state(const struct shim_call *call, const struct doca_rdma *rdma)
{
	const struct doca_rdma_connection *connection;

	if (call->function != SHIM_FN_doca_rdma_connect || rdma->ctx.state == DOCA_CTX_STATE_IDLE ||
	    rdma->ctx.state == DOCA_CTX_STATE_STOPPING)
		return NULL;
	connection = connection_of(call, rdma);
	if (!connection)
		return NULL;
	return connection->qp && sim_qp_get_state(connection->qp) == SIM_QP_READY ? "is connected already" :
										    "has ended";
}

static void report_state(const struct shim_call *call, const struct doca_rdma *rdma)
{
	const char *connection = describe_state(call, rdma);
	struct check_hit *hit;

	if (connection)
		hit = check_hit_begin(BFC_RDMA_WRONG_STATE, call, "%s: the connection %s", check_call_name(call),
				      connection);
	else if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING)
		hit = check_hit_begin(BFC_RDMA_WRONG_STATE, call, "%s: the context is %s", check_call_name(call),
				      check_ctx_state_name(rdma->ctx.state));
	else
		return;
	check_hit_add_ctx(hit, &rdma->ctx);
	check_hit_end(hit);
}

static void leave_make(struct shim_call *call)
{
	const struct doca_rdma *rdma = rdma_inspect_context(check_arg(call, 0));

	if (check_result(call) == DOCA_ERROR_BAD_STATE && rdma && !shim_ctx_is_stale(&rdma->ctx))
		report_state(call, rdma);
}

/* ---- descriptors ---- */

/* Import once more, as the call does. Returns 0 or -errno. */
static int try_connect(const struct shim_call *call, const struct doca_rdma *rdma)
{
	struct sim_session *session = shim_session();
	struct sim_remote *remote;
	struct sim_key key;
	int rc = sim_descriptor_decode(sim_session_id(session), check_arg(call, 1), (size_t)call->args[2], &key);

	if (rc < 0)
		return rc == -ESTALE ? -EREMOTE : rc;
	rc = sim_session_import(session, &key, shim_dev_function(rdma->ctx.dev)->id, &remote, NULL);
	if (rc < 0)
		return rc;
	rc = remote->region.access & SIM_ACCESS_INBOX ? 0 : -EMEDIUMTYPE;
	sim_session_release(session, remote);
	return rc;
}

static void report_descriptor(const struct shim_call *call, const struct doca_rdma *rdma, enum sim_check_rule rule,
			      const char *what)
{
	struct check_hit *hit = check_hit_begin(rule, call, "%s: %s", check_call_name(call), what);

	check_hit_add_ctx(hit, &rdma->ctx);
	check_hit_end(hit);
}

static void check_descriptor(const struct shim_call *call, const struct doca_rdma *rdma)
{
	switch (try_connect(call, rdma)) {
	case -EINVAL:
		report_descriptor(call, rdma, BFC_DESCRIPTOR_ALTERED, "the bytes are not those of doca_rdma_export()");
		break;
	case -EMEDIUMTYPE:
		report_descriptor(
			call, rdma, BFC_DESCRIPTOR_ALTERED,
			"the descriptor is of memory or of a sync event, not one of doca_rdma_export(): were two files exchanged?");
		break;
	case -EREMOTE:
		report_descriptor(
			call, rdma, BFC_DESCRIPTOR_STALE,
			"the descriptor was made in another session, or in an earlier run: a file that the other side left?");
		break;
	case -ESTALE:
		if (!check_function_failed_ever() && !check_peer_was_killed())
			report_descriptor(
				call, rdma, BFC_DESCRIPTOR_STALE,
				"the peer's connection has ended: its context was stopped, or its process has ended; is the descriptor one of an earlier connection?");
		break;
	}
}

static void leave_connect(struct shim_call *call)
{
	const struct doca_rdma *rdma = rdma_inspect_context(check_arg(call, 0));

	leave_make(call);
	if (check_result(call) == DOCA_ERROR_CONNECTION_ABORTED && rdma && check_arg(call, 1))
		check_descriptor(call, rdma);
}

/* ---- tasks on connections that are none ---- */

#define NUM_ENDED 64

/* Serials of connections whose end the program knows: a task has failed, or the program has disconnected. */
static struct {
	pthread_mutex_t lock;
	uint64_t serials[NUM_ENDED];
	uint64_t num;
} ended = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note_ended(const struct doca_rdma_connection *connection)
{
	pthread_mutex_lock(&ended.lock);
	ended.serials[ended.num++ % NUM_ENDED] = connection->serial;
	pthread_mutex_unlock(&ended.lock);
}

static bool knows_end(const struct doca_rdma_connection *connection)
{
	bool is_found = false;

	pthread_mutex_lock(&ended.lock);
	for (uint64_t i = 0; i < NUM_ENDED && i < ended.num && !is_found; i++)
		is_found = ended.serials[i] == connection->serial;
	pthread_mutex_unlock(&ended.lock);
	return is_found;
}

static void task_failed(struct doca_task *task, doca_error_t status)
{
	struct rdma_task_view view;

	(void)status;
	if (rdma_inspect_task(task, &view) && view.connection)
		note_ended(view.connection);
}

static void leave_disconnect(struct shim_call *call)
{
	const struct doca_rdma_connection *connection = check_arg(call, 0);

	if (check_result(call) == DOCA_SUCCESS && shim_handle_is(connection, SHIM_RDMA_CONNECTION))
		note_ended(connection);
}

/* NULL: the connection lives, or the program does not know yet that it has ended. */
static const char *describe_connection(const struct rdma_task_view *view)
{
	const struct doca_rdma_connection *connection = view->connection;

	if (!connection)
		return "has ended, and is no connection of the context any more";
	if (!connection->qp)
		return "has ended";
	if (sim_qp_get_state(connection->qp) == SIM_QP_RESET)
		return "is not established";
	if (sim_qp_get_state(connection->qp) == SIM_QP_ERROR && (connection->cm.is_told || knows_end(connection)))
		return "has ended";
	return NULL;
}

static void leave_submit(struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);
	struct rdma_task_view view;
	const char *connection;
	struct check_hit *hit;

	if (doca_likely(check_result(call) != DOCA_ERROR_BAD_STATE) || !shim_object_is(task, SHIM_TASK) ||
	    task->in_flight || task->ctx->state != DOCA_CTX_STATE_RUNNING || shim_ctx_is_stale(task->ctx) ||
	    !rdma_inspect_task(task, &view) || view.is_receive)
		return;
	connection = describe_connection(&view);
	if (!connection)
		return;
	hit = check_hit_begin(BFC_RDMA_NOT_CONNECTED, call, "%s: the connection of the %s task %s",
			      check_call_name(call), task->pool->type->name, connection);
	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_rdma_export, NULL, leave_make },
	{ SHIM_FN_doca_rdma_connect, NULL, leave_connect },
	{ SHIM_FN_doca_rdma_connect_to_addr, NULL, leave_make },
	{ SHIM_FN_doca_rdma_start_listen_to_port, NULL, leave_make },
	{ SHIM_FN_doca_rdma_connection_disconnect, NULL, leave_disconnect },
	{ SHIM_FN_doca_task_submit, NULL, leave_submit },
	{ SHIM_FN_doca_task_submit_ex, NULL, leave_submit },
	{ SHIM_FN_doca_task_try_submit, NULL, leave_submit },
};

const struct check_part check_rdma_order = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.task_failed = task_failed,
	.lock = &ended.lock,
};
