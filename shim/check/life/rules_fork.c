/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that a forked child uses objects of its own. Of the parent's, it may use inventories, which are memory alone. */
#include "shim/check/history/task_sites.h"
#include "shim/check/report/hit.h"
#include "shim/check/report/object_sites.h"
#include "shim/common/pe/task_priv.h"

/* Find the object behind @handle, any value, that a parent created: the handle's own, or a task's context. */
static bool find_parents(const void *handle, struct check_object_sites *ret_sites)
{
	const struct doca_task *task = handle;

	if (!shim_object_has_pool(handle)) {
		if (!check_task_site(task) || !shim_object_is_still(task, SHIM_TASK))
			return false;
		handle = task->ctx;
	}
	return ((const struct shim_object *)handle)->magic != 0 && !shim_object_is_still(handle, SHIM_INVENTORY) &&
	       check_object_sites_find(handle, ret_sites) && ret_sites->created.stack.num_frames > 0 &&
	       ret_sites->fork_generation != shim_fork_generation;
}

static void report(const struct shim_call *call, const struct check_object_sites *sites)
{
	struct check_hit *hit =
		check_hit_begin(BFC_USED_AFTER_FORK, call,
				"%s: the %s %p is of the process that forked this one; a child creates its own",
				check_call_name(call), sites->kind, sites->handle);

	check_hit_add_object(hit, sites->kind, sites->handle, NULL);
	check_hit_end(hit);
}

static void enter_in_child(struct shim_call *call)
{
	uint32_t handles = shim_function_names[call->function].handles;
	struct check_object_sites sites;

	for (int i = 0; handles >> i; i++)
		if (handles >> i & 1 && check_arg(call, i) && find_parents(check_arg(call, i), &sites)) {
			report(call, &sites);
			return;
		}
}

const struct check_part check_fork = {
	.mode = SIM_CHECK_API,
	.enter_in_child = enter_in_child,
};
