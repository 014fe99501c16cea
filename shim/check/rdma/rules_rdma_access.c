/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about what tasks of RDMA access at their peer, and about what this side permits to its peers. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "shim/check/accel/task_rules.h"
#include "shim/check/history/mmap_history.h"
#include "shim/rdma/rdma_inspect.h"
#include "sim/fabric/remote.h"

static const char *flag_of(uint32_t access)
{
	if (access & SIM_ACCESS_READ)
		return "RDMA_READ";
	return access & SIM_ACCESS_WRITE ? "RDMA_WRITE" : "RDMA_ATOMIC";
}

/* ---- at the side that submits ---- */

static void end_hit(struct check_hit *hit, const struct rdma_task_view *view)
{
	if (view->remote)
		check_mmap_add_object(hit, view->remote->mmap);
	check_hit_add_ctx(hit, &view->rdma->ctx);
	check_hit_end(hit);
}

static const char *name_of(const struct rdma_task_view *view)
{
	return view->task->task.pool->type->name;
}

static void check_bounds(const struct rdma_task_view *view)
{
	const struct sim_region *region = &view->task->remote->region;
	uint64_t addr = view->task->remote_addr, bytes = rdma_inspect_remote_bytes(view), offset = addr - region->addr;

	if (bytes == 0 || (offset <= region->len_bytes && bytes <= region->len_bytes - offset))
		return;
	end_hit(CHECK_HIT_HERE(BFC_RDMA_OUTSIDE_MEMORY,
			       "%s: the %s task accesses %" PRIu64 " bytes at offset %" PRId64
			       " of the peer's memory map, which has %" PRIu64 " bytes",
			       check_current_name("doca_task_submit"), name_of(view), bytes, (int64_t)offset,
			       region->len_bytes),
		view);
}

static void check_alignment(const struct rdma_task_view *view)
{
	if (view->type->peer_access == SIM_ACCESS_ATOMIC && view->task->remote_addr % sizeof(uint64_t) != 0)
		end_hit(CHECK_HIT_HERE(BFC_RDMA_ATOMIC_UNALIGNED,
				       "%s: the %s task works on the 8 bytes at %p of the peer, not a multiple of 8",
				       check_current_name("doca_task_submit"), name_of(view),
				       (void *)(uintptr_t)view->task->remote_addr),
			view);
}

static void check_peer_permits(const struct rdma_task_view *view)
{
	uint32_t access = view->type->peer_access;
	bool by_memory = view->remote && !(view->task->remote->region.access & access);
	bool by_context = !(sim_qp_peer_access(view->connection->qp) & access);

	if (!by_memory && !by_context)
		return;
	end_hit(CHECK_HIT_HERE(BFC_RDMA_NOT_PERMITTED, "%s: the %s task needs %s; the peer's %s not permit that",
			       check_current_name("doca_task_submit"), name_of(view), flag_of(access),
			       by_memory && by_context ? "memory map and context do" :
			       by_memory               ? "memory map does" :
							 "context does"),
		view);
}

/* Most tasks have neither: a few comparisons. */
static void task_posting(const struct doca_task *task)
{
	struct rdma_task_view view;

	if (doca_likely(!rdma_inspect_is_task(task)) || !rdma_inspect_task(task, &view) || !view.type->peer_access ||
	    !view.connection || !view.connection->qp)
		return;
	if (view.remote) {
		check_bounds(&view);
		check_alignment(&view);
	}
	if (view.remote || rdma_is_event_type(view.type))
		check_peer_permits(&view);
}

/* A local buffer that the task writes, of a map without the permission. */
static void leave_submit(struct shim_call *call)
{
	const struct doca_task *task = check_refused_task(call, DOCA_ERROR_NOT_PERMITTED);
	char access[CHECK_ACCESS_TEXT_SIZE];
	struct rdma_task_view view;
	struct check_hit *hit;

	if (doca_likely(!task) || !rdma_inspect_task(task, &view) || !view.type->writes_local)
		return;
	for (const struct doca_buf *buf = view.local; shim_object_is(buf, SHIM_BUF); buf = buf->next) {
		if (!shim_buf_has_usable_mmap(buf) || buf->mmap->access & DOCA_ACCESS_FLAG_LOCAL_READ_WRITE)
			continue;
		hit = check_hit_begin(
			BFC_PERMISSION_MISSING, call,
			"%s: the %s task writes to a memory map with the permissions %s; it needs LOCAL_READ_WRITE",
			check_call_name(call), task->pool->type->name, check_access_format(buf->mmap->access, access));
		check_mmap_add_call(hit, buf->mmap, CHECK_MMAP_PERMISSIONS, "set the permissions of the memory map");
		check_mmap_add_object(hit, buf->mmap);
		check_hit_add_ctx(hit, task->ctx);
		check_hit_end(hit);
		return;
	}
}

/* ---- at the owner ---- */

/* Where contexts got their permissions. */
#define NUM_PLACES 64

static struct {
	pthread_mutex_t lock;
	const struct doca_rdma *rdma[NUM_PLACES];
	struct check_stack stacks[NUM_PLACES];
} permissions = { .lock = PTHREAD_MUTEX_INITIALIZER };

static size_t place_of(const struct doca_rdma *rdma)
{
	return (uintptr_t)rdma / 64 % NUM_PLACES;
}

static void leave_set_permissions(struct shim_call *call)
{
	const struct doca_rdma *rdma = check_arg(call, 0);
	struct check_stack stack;

	if (check_result(call) != DOCA_SUCCESS)
		return;
	check_stack_take(call->caller, &stack);
	pthread_mutex_lock(&permissions.lock);
	permissions.rdma[place_of(rdma)] = rdma;
	permissions.stacks[place_of(rdma)] = stack;
	pthread_mutex_unlock(&permissions.lock);
}

static void add_permissions(struct check_hit *hit, const struct doca_rdma *rdma)
{
	struct check_stack stack = { 0 };

	pthread_mutex_lock(&permissions.lock);
	if (permissions.rdma[place_of(rdma)] == rdma)
		stack = permissions.stacks[place_of(rdma)];
	pthread_mutex_unlock(&permissions.lock);
	if (stack.num_frames > 0)
		check_hit_add_party(hit, 0, &stack, "doca_rdma_set_permissions set the permissions of the context");
}

static void report_refused(const struct doca_rdma *rdma, uint32_t access, bool by_memory)
{
	char text[CHECK_ACCESS_TEXT_SIZE];
	struct check_hit *hit;

	if (by_memory)
		hit = CHECK_HIT_HERE(
			BFC_RDMA_NOT_PERMITTED,
			"%s: a peer's task failed, as it needed %s, which the memory map that this side exported does not permit",
			check_current_name("doca_pe_progress"), flag_of(access));
	else
		hit = CHECK_HIT_HERE(
			BFC_RDMA_NOT_PERMITTED,
			"%s: a peer's task failed, as it needed %s; the context of this side has the permissions %s",
			check_current_name("doca_pe_progress"), flag_of(access),
			check_access_format(rdma->properties.permissions, text));
	if (!by_memory)
		add_permissions(hit, rdma);
	check_hit_add_ctx(hit, &rdma->ctx);
	check_hit_end(hit);
}

/* A responder executes no code for its peers' tasks: it learns of those that failed when the connection ends at its side. */
static void report_all_refused(const struct doca_rdma_connection *connection)
{
	for (int by_memory = 0; by_memory < 2; by_memory++) {
		uint32_t access = sim_qp_take_refused(connection->qp, by_memory);

		if (access)
			report_refused(connection->rdma, access, by_memory);
	}
}

static void enter_disconnect(struct shim_call *call)
{
	const struct doca_rdma_connection *connection = check_arg(call, 0);

	if (shim_handle_is(connection, SHIM_RDMA_CONNECTION) && connection->qp)
		report_all_refused(connection);
}

static void ctx_changed(struct doca_ctx *ctx, enum doca_ctx_states from)
{
	const struct doca_rdma *rdma = rdma_inspect_context(ctx);
	const struct doca_rdma_connection *connection;

	if (!rdma || from != DOCA_CTX_STATE_RUNNING)
		return;
	TAILQ_FOREACH(connection, &rdma->connections, link)
		report_all_refused(connection);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_task_submit, NULL, leave_submit },
	{ SHIM_FN_doca_task_submit_ex, NULL, leave_submit },
	{ SHIM_FN_doca_task_try_submit, NULL, leave_submit },
	{ SHIM_FN_doca_rdma_set_permissions, NULL, leave_set_permissions },
	{ SHIM_FN_doca_rdma_connection_disconnect, enter_disconnect, NULL },
};

const struct check_part check_rdma_access = {
	CHECK_WATCHES(watches), .mode = SIM_CHECK_API,      .task_posting = task_posting,
	.wants_plain = true,    .ctx_changed = ctx_changed, .lock = &permissions.lock,
};
