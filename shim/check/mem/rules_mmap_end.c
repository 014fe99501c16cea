/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the end of a memory map: nothing uses it, and its memory is still there. */
#include <inttypes.h>

#include "shim/check/accel/task_rules.h"
#include "shim/check/base/probe.h"
#include "shim/check/history/mmap_history.h"
#include "shim/check/history/outside_faults.h"
#include "shim/check/history/releases.h"
#include "shim/check/history/session_tasks.h"
#include "shim/common/base/check.h"
#include "shim/check/history/task_sites.h"
#include "shim/check/history/tasks_in_flight.h"

/* ---- tasks and buffers that use it ---- */

struct users {
	const struct doca_mmap *mmap;
	uint32_t count;
	const struct doca_task *first;
};

static bool see_task(const struct doca_task *task, void *arg)
{
	struct users *users = arg;

	if (check_task_uses_mmap(task, users->mmap) && users->count++ == 0)
		users->first = task;
	return true;
}

/* Where tasks are submitted is not recorded in each mode. */
static void add_allocation(struct check_hit *hit, const struct doca_task *task)
{
	const void *site = check_task_site(task);
	struct check_stack stack = check_stack_of(site);

	if (site)
		check_hit_add_party(hit, 0, &stack, "the %s task %p was allocated", task->pool->type->name,
				    (const void *)task);
}

static void check_tasks(const struct shim_call *call, const struct doca_mmap *mmap)
{
	struct users users = { .mmap = mmap };
	struct check_hit *hit;

	check_posted_tasks(see_task, &users);
	if (users.count == 0)
		return;
	hit = check_hit_begin(BFC_MMAP_ENDED_IN_FLIGHT, call, "%s: %" PRIu32 " task%s in flight use%s the memory map",
			      check_call_name(call), users.count, users.count > 1 ? "s" : "",
			      users.count > 1 ? "" : "s");
	add_allocation(hit, users.first);
	check_mmap_add_object(hit, mmap);
	check_hit_add_ctx(hit, users.first->ctx);
	check_hit_end(hit);
}

/* Importers whose processes are checked enter their tasks in the session's ledger. */
static void check_importers(const struct shim_call *call, const struct doca_mmap *mmap)
{
	const uint8_t *cpu = (const uint8_t *)(uintptr_t)shim_mmap_cpu_addr(mmap, mmap->addr);
	struct sim_shared_range user;
	struct check_hit *hit;

	if (shim_mmap_state(mmap) != SHIM_MMAP_EXPORTED || !check_session_find_user(cpu, mmap->len_bytes, &user))
		return;
	hit = check_hit_begin(BFC_MMAP_ENDED_IN_FLIGHT, call,
			      "%s: a task of another process, in flight, uses the memory map", check_call_name(call));
	check_session_add_task(hit, &user);
	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

static void leave_end(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);
	struct users users = { .mmap = mmap };
	struct check_hit *hit;

	if (check_result(call) == DOCA_SUCCESS || !shim_handle_is(mmap, SHIM_MMAP) || shim_mmap_num_bufs(mmap) == 0)
		return;
	check_posted_tasks(see_task, &users);
	if (users.count > 0)
		return;
	hit = check_hit_begin(BFC_MMAP_ENDED_WITH_BUFFERS, call,
			      "%s: %" PRIu32 " buffer%s of the memory map %s not returned", check_call_name(call),
			      shim_mmap_num_bufs(mmap), shim_mmap_num_bufs(mmap) > 1 ? "s" : "",
			      shim_mmap_num_bufs(mmap) > 1 ? "were" : "was");
	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

/* ---- its memory ---- */

static void check_memory(const struct shim_call *call, const struct doca_mmap *mmap)
{
	struct check_hit *hit;

	if (!check_mmap_was_started_here(mmap) || mmap->cpu_base || !check_is_unmapped(mmap->addr, mmap->len_bytes))
		return;
	hit = check_hit_begin(BFC_MMAP_OUTLIVES_MEMORY, call,
			      "%s: memory of the started memory map was freed or unmapped before",
			      check_call_name(call));
	check_release_add_party(hit, (uintptr_t)mmap->addr, mmap->len_bytes);
	check_mmap_add_call(hit, mmap, CHECK_MMAP_START, "started the memory map");
	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

static void enter_end(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);

	if (!shim_handle_is(mmap, SHIM_MMAP))
		return;
	check_tasks(call, mmap);
	check_importers(call, mmap);
	check_memory(call, mmap);
}

/* ---- buffers that outlive it: of a thread-safe map, which does not count them ---- */

static void check_buf(const struct doca_task *task, const struct doca_buf *buf, const char *end)
{
	struct check_hit *hit;

	if (!shim_object_is(buf, SHIM_BUF) || shim_buf_has_usable_mmap(buf))
		return;
	hit = CHECK_HIT_HERE(
		BFC_BUFFER_WITHOUT_MMAP, "%s: a task failed%s the memory map of its %s has ended",
		check_current_name("doca_pe_progress"),
		check_task_fails_from_outside(task) ? ", by a fault rule or a stop; besides," : ", because", end);
	check_mmap_add_call(hit, buf->mmap, CHECK_MMAP_END, "ended the memory map");
	check_mmap_add_object(hit, buf->mmap);
	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static void task_failed(struct doca_task *task, doca_error_t status)
{
	(void)status;
	if (!check_is_buf_task(task))
		return;
	check_buf(task, shim_to_buf_task(task)->src, "source");
	check_buf(task, shim_to_buf_task(task)->dst, "destination");
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_stop, enter_end, leave_end },
	{ SHIM_FN_doca_mmap_destroy, enter_end, leave_end },
};

const struct check_part check_mmap_end = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.task_failed = task_failed,
};
