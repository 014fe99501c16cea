/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the end of what tasks of RDMA use: memory that is exported for RDMA outlives the connections whose peers may use it;
 * an event of a peer outlives the tasks on it. */
#include <unistd.h>

#include "contexts.h"
#include "shim/check/history/mmap_history.h"
#include "shim/common/mem/export.h"

#define RDMA_ACCESS (DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)

struct search {
	const struct doca_mmap *mmap;
	const struct doca_rdma *user;
};

static bool is_exported_by(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	const struct shim_export *export = mmap->exports;

	while (export && !(export->is_net && export->dev == dev))
		export = export->next;
	return export != NULL;
}

static bool has_peer(const struct doca_rdma *rdma)
{
	const struct doca_rdma_connection *connection;

	TAILQ_FOREACH(connection, &rdma->connections, link)
		if (sim_qp_has_peer(connection->qp))
			return true;
	return false;
}

static bool see_context(struct check_rdma_context *context, void *arg)
{
	const struct doca_rdma *rdma = context->rdma;
	struct search *search = arg;

	if (context->tid == gettid() && rdma->ctx.state == DOCA_CTX_STATE_RUNNING &&
	    rdma->properties.permissions & RDMA_ACCESS && is_exported_by(search->mmap, rdma->ctx.dev) && has_peer(rdma))
		search->user = rdma;
	return !search->user;
}

static void enter_end(struct shim_call *call)
{
	struct search search = { .mmap = check_arg(call, 0) };
	struct check_hit *hit;

	if (!check_rdma_has_contexts() || !shim_handle_is(search.mmap, SHIM_MMAP) ||
	    shim_mmap_state(search.mmap) != SHIM_MMAP_EXPORTED)
		return;
	check_rdma_contexts_each(see_context, &search);
	if (!search.user)
		return;
	hit = check_hit_begin(
		BFC_RDMA_MEMORY_ENDED, call,
		"%s: a peer is connected to the context, and may use the memory that was exported for RDMA",
		check_call_name(call));
	check_mmap_add_object(hit, search.mmap);
	check_hit_add_ctx(hit, &search.user->ctx);
	check_hit_end(hit);
}

/* ---- events of peers ---- */

static void leave_event_end(struct shim_call *call)
{
	struct check_hit *hit;

	if (check_result(call) != DOCA_ERROR_IN_USE)
		return;
	hit = check_hit_begin(BFC_RDMA_EVENT_ENDED_IN_FLIGHT, call, "%s: a task in flight uses the event",
			      check_call_name(call));
	check_hit_end(hit);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_sync_event_remote_net_destroy, NULL, leave_event_end },
	{ SHIM_FN_doca_mmap_stop, enter_end, NULL },
	{ SHIM_FN_doca_mmap_destroy, enter_end, NULL },
};

const struct check_part check_rdma_memory = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};
