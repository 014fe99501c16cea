/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints about memory maps: more permissions than the run needed, and exports that no capability query preceded. */
#include <stdatomic.h>

#include "shim/check/report/hit.h"
#include "shim/check/history/mmap_history.h"
#include "shim/check/history/tasks_in_flight.h"
#include "sim/fabric/remote.h"

/* ---- permissions ---- */

#define NUM_PLACES 1024

/* How tasks used a map. Of two maps that share a place, the last one is known. */
struct usage {
	_Atomic uint64_t serial;
	_Atomic bool was_read, was_written;
};

static struct usage usages[NUM_PLACES];

/* Tasks of other libraries use maps, too, in ways that are not seen here. */
static _Atomic bool has_other_tasks;

static struct usage *usage_of(const struct doca_mmap *mmap)
{
	struct usage *usage = &usages[mmap->serial % NUM_PLACES];

	if (usage->serial != mmap->serial) {
		usage->was_read = usage->was_written = false;
		usage->serial = mmap->serial;
	}
	return usage;
}

static void task_posted(struct doca_task *task)
{
	if (!check_is_buf_task(task)) {
		has_other_tasks = true;
		return;
	}
	for (const struct doca_buf *buf = shim_to_buf_task(task)->src; buf; buf = buf->next)
		usage_of(buf->mmap)->was_read = true;
	for (const struct doca_buf *buf = shim_to_buf_task(task)->dst; buf; buf = buf->next)
		usage_of(buf->mmap)->was_written = true;
}

static void enter_destroy(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);
	const struct usage *usage;
	struct check_hit *hit;

	if (has_other_tasks || !shim_handle_is(mmap, SHIM_MMAP) || shim_mmap_is_imported(mmap) ||
	    shim_mmap_was_exported(mmap) || !(mmap->access & DOCA_ACCESS_FLAG_LOCAL_READ_WRITE))
		return;
	usage = usage_of(mmap);
	if (!usage->was_read || usage->was_written)
		return;
	hit = check_hit_begin(BFC_PERMISSION_UNUSED, call,
			      "%s: devices may write to the memory map (LOCAL_READ_WRITE), and tasks only read it",
			      check_call_name(call));
	check_mmap_add_call(hit, mmap, CHECK_MMAP_PERMISSIONS, "set the permissions");
	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

/* ---- capability queries ---- */

static _Atomic bool asked_export, asked_import;

static void leave_query(struct shim_call *call)
{
	if (call->function == SHIM_FN_doca_mmap_cap_is_export_pci_supported)
		asked_export = true;
	else
		asked_import = true;
}

static void report_query(const struct shim_call *call, const struct doca_dev *dev, const char *query)
{
	struct check_hit *hit = check_hit_begin(BFC_CAPABILITY_NOT_QUERIED, call, "%s: %s was never called",
						check_call_name(call), query);

	check_hit_add_object(hit, "device", dev, shim_dev_function(dev)->ibdev);
	check_hit_end(hit);
}

static void enter_export(struct shim_call *call)
{
	if (!asked_export && shim_handle_is(check_arg(call, 1), SHIM_DEV))
		report_query(call, check_arg(call, 1), "doca_mmap_cap_is_export_pci_supported()");
}

/* Memory that was exported for RDMA has no such capability. */
static bool is_of_network(const struct shim_call *call)
{
	const struct doca_mmap *const *imported = check_arg(call, 4);

	return (*imported)->remote->region.access & SIM_ACCESS_NET;
}

static void leave_import(struct shim_call *call)
{
	if (!asked_import && check_result(call) == DOCA_SUCCESS && !is_of_network(call) &&
	    shim_handle_is(check_arg(call, 3), SHIM_DEV))
		report_query(call, check_arg(call, 3), "doca_mmap_cap_is_create_from_export_pci_supported()");
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_destroy, enter_destroy, NULL },
	{ SHIM_FN_doca_mmap_cap_is_export_pci_supported, NULL, leave_query },
	{ SHIM_FN_doca_mmap_cap_is_create_from_export_pci_supported, NULL, leave_query },
	{ SHIM_FN_doca_mmap_export_pci, enter_export, NULL },
	{ SHIM_FN_doca_mmap_create_from_export, NULL, leave_import },
};

const struct check_part check_mmap_hints = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_STRICT,
	.task_posted = task_posted,
};
