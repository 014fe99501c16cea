/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about what the memory maps of a task permit, and to which devices. */
#include "task_rules.h"
#include "shim/check/history/mmap_history.h"

#define MAY_WRITE (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE)

static void check_device(const struct shim_buf_task *task, const struct doca_buf *buf, const char *end)
{
	const struct doca_dev *dev = task->task.ctx->dev;
	struct check_hit *hit;

	if (shim_mmap_has_dev(buf->mmap, dev))
		return;
	hit = CHECK_HIT_HERE(BFC_MMAP_WITHOUT_DEVICE,
			     "%s: the context is of device %s, which the memory map of the %s does not have",
			     check_current_name("doca_task_submit"), shim_dev_function(dev)->ibdev, end);
	check_mmap_add_object(hit, buf->mmap);
	check_hit_add_ctx(hit, task->task.ctx);
	check_hit_end(hit);
}

static void check_writable(const struct shim_buf_task *task, const struct doca_mmap *mmap)
{
	char access[CHECK_ACCESS_TEXT_SIZE];
	struct check_hit *hit;

	if (mmap->access & MAY_WRITE)
		return;
	hit = CHECK_HIT_HERE(BFC_PERMISSION_MISSING, "%s: the task writes to a memory map %s %s; it needs %s",
			     check_current_name("doca_task_submit"),
			     shim_mmap_is_imported(mmap) ? "that was exported with" : "with the permissions",
			     check_access_format(mmap->access, access),
			     shim_mmap_is_imported(mmap) ?
				     "PCI_READ_WRITE in the exporter's doca_mmap_set_permissions()" :
				     "LOCAL_READ_WRITE");
	check_mmap_add_call(hit, mmap, CHECK_MMAP_PERMISSIONS, "set the permissions of the memory map");
	check_mmap_add_object(hit, mmap);
	check_hit_add_ctx(hit, task->task.ctx);
	check_hit_end(hit);
}

void check_task_access(const struct shim_buf_task *task)
{
	for (const struct doca_buf *buf = task->src; buf; buf = buf->next)
		check_device(task, buf, "source");
	for (const struct doca_buf *buf = task->dst; buf; buf = buf->next) {
		check_device(task, buf, "destination");
		check_writable(task, buf->mmap);
	}
}
