/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the order of a memory map's calls: configure once, start, export. */
#include "shim/check/report/hit.h"
#include "shim/check/history/mmap_history.h"

#define RDMA_FLAGS (DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)

static struct doca_mmap *failed_mmap(const struct shim_call *call)
{
	struct doca_mmap *mmap = check_arg(call, 0);

	return check_result(call) != DOCA_SUCCESS && shim_handle_is(mmap, SHIM_MMAP) ? mmap : NULL;
}

static void end_hit(struct check_hit *hit, const struct doca_mmap *mmap)
{
	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

static void leave_configure(struct shim_call *call)
{
	const struct doca_mmap *mmap = failed_mmap(call);
	struct check_hit *hit;

	if (!mmap || !shim_mmap_is_usable(mmap))
		return;
	hit = check_hit_begin(BFC_MMAP_CONFIGURED_LATE, call, "%s: the memory map is %s", check_call_name(call),
			      shim_mmap_is_imported(mmap) ? "an import, which takes no configuration" :
							    "started already");
	check_mmap_add_call(hit, mmap, CHECK_MMAP_START, "started the memory map");
	end_hit(hit, mmap);
}

static void leave_set_range(struct shim_call *call)
{
	const struct doca_mmap *mmap = failed_mmap(call);
	struct check_hit *hit;

	if (!mmap || shim_mmap_is_usable(mmap)) {
		leave_configure(call);
		return;
	}
	if (!mmap->range_set)
		return;
	hit = check_hit_begin(BFC_RANGE_SET_TWICE, call, "%s: the memory map has a range already",
			      check_call_name(call));
	check_mmap_add_call(hit, mmap, CHECK_MMAP_RANGE, "set the range");
	end_hit(hit, mmap);
}

static void leave_export(struct shim_call *call)
{
	const struct doca_mmap *mmap = failed_mmap(call);
	struct check_hit *hit;

	if (!mmap || shim_mmap_is_started(mmap))
		return;
	hit = check_hit_begin(BFC_EXPORT_BEFORE_START, call, "%s: the memory map is %s", check_call_name(call),
			      shim_mmap_is_imported(mmap) ? "itself an import" : "not started");
	check_mmap_add_call(hit, mmap, CHECK_MMAP_END, "ended the memory map before");
	end_hit(hit, mmap);
}

/* An export for which the permissions are missing breaks the rule of tasks that write without one. */
static void check_export(struct shim_call *call, uint32_t flags, const char *wanted)
{
	const struct doca_mmap *mmap = failed_mmap(call);
	char access[CHECK_ACCESS_TEXT_SIZE];
	struct check_hit *hit;

	leave_export(call);
	if (!mmap || !shim_mmap_is_started(mmap) || mmap->access & flags)
		return;
	hit = check_hit_begin(BFC_PERMISSION_MISSING, call,
			      "%s: the memory map has the permissions %s; an export needs %s", check_call_name(call),
			      check_access_format(mmap->access, access), wanted);
	check_mmap_add_call(hit, mmap, CHECK_MMAP_PERMISSIONS, "set the permissions of the memory map");
	end_hit(hit, mmap);
}

static void leave_export_pci(struct shim_call *call)
{
	check_export(call, DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE,
		     "PCI_READ_ONLY or PCI_READ_WRITE");
}

/* An import of the card's other side may be exported again. */
static void leave_export_rdma(struct shim_call *call)
{
	const struct doca_mmap *mmap = failed_mmap(call);

	if (mmap && shim_mmap_is_imported(mmap) && !(mmap->access & RDMA_FLAGS))
		return;
	check_export(call, RDMA_FLAGS, "RDMA_READ, RDMA_WRITE or RDMA_ATOMIC");
}

/* So does a consumer's map that the other side may not write. */
static void leave_consumer_create(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 1);
	char access[CHECK_ACCESS_TEXT_SIZE];
	struct check_hit *hit;

	if (check_result(call) == DOCA_SUCCESS || !shim_handle_is(mmap, SHIM_MMAP) || !shim_mmap_is_started(mmap) ||
	    mmap->access & DOCA_ACCESS_FLAG_PCI_READ_WRITE)
		return;
	hit = check_hit_begin(BFC_PERMISSION_MISSING, call,
			      "%s: the memory map has the permissions %s; a consumer's needs PCI_READ_WRITE",
			      check_call_name(call), check_access_format(mmap->access, access));
	check_mmap_add_call(hit, mmap, CHECK_MMAP_PERMISSIONS, "set the permissions of the memory map");
	end_hit(hit, mmap);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_add_dev, NULL, leave_configure },
	{ SHIM_FN_doca_mmap_rm_dev, NULL, leave_configure },
	{ SHIM_FN_doca_mmap_set_permissions, NULL, leave_configure },
	{ SHIM_FN_doca_mmap_set_max_num_devices, NULL, leave_configure },
	{ SHIM_FN_doca_mmap_set_free_cb, NULL, leave_configure },
	{ SHIM_FN_doca_mmap_set_user_data, NULL, leave_configure },
	{ SHIM_FN_doca_mmap_enable_thread_safety, NULL, leave_configure },
	{ SHIM_FN_doca_mmap_set_memrange, NULL, leave_set_range },
	{ SHIM_FN_doca_mmap_set_dmabuf_memrange, NULL, leave_set_range },
	{ SHIM_FN_doca_mmap_export_pci, NULL, leave_export_pci },
	{ SHIM_FN_doca_mmap_export_rdma, NULL, leave_export_rdma },
	{ SHIM_FN_doca_comch_consumer_create, NULL, leave_consumer_create },
};

const struct check_part check_mmap_order = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};
