/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about imports of memory: the descriptor, the device, and the life of the export. */
#include <errno.h>
#include <inttypes.h>

#include "shim/check/accel/task_rules.h"
#include "shim/check/history/mmap_history.h"
#include "shim/check/history/outside_faults.h"
#include "shim/check/history/session_tasks.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"
#include "shim/rdma/rdma_inspect.h"
#include "sim/fabric/remote.h"
#include "sim/protocol/descriptor.h"
#include "sim/session/session.h"
#include "shim/check/history/tasks_in_flight.h"

/* ---- an import that was refused ---- */

/* The session's id in the descriptor is another one: of another session, or of one that has ended. */
static void report_other_session(const struct shim_call *call)
{
	check_hit_end(check_hit_begin(
		BFC_DESCRIPTOR_STALE, call,
		"%s: the descriptor was made in another session, or in an earlier run: a file that the other side left?",
		check_call_name(call)));
}

/* Import once more, as the call does. Returns 0 or -errno; -EXDEV and -EPERM set *ret_exporter. */
static int try_import(const struct shim_call *call, const struct doca_dev *dev, uint32_t *ret_exporter)
{
	struct sim_session *session = shim_session();
	struct sim_remote *remote;
	struct sim_key key;
	int rc = sim_descriptor_decode(sim_session_id(session), check_arg(call, 1), (size_t)call->args[2], &key);

	if (rc < 0)
		return rc == -ESTALE ? -EREMOTE : rc;
	rc = sim_session_import(session, &key, shim_dev_function(dev)->id, &remote, ret_exporter);
	if (rc == 0)
		sim_session_release(session, remote);
	return rc;
}

static void report_descriptor(const struct shim_call *call)
{
	size_t len = (size_t)call->args[2];
	struct check_hit *hit;

	if (len == SIM_DESCRIPTOR_BYTES)
		hit = check_hit_begin(BFC_DESCRIPTOR_ALTERED, call, "%s: the %zu bytes are not those of an export",
				      check_call_name(call), len);
	else
		hit = check_hit_begin(BFC_DESCRIPTOR_ALTERED, call, "%s: a descriptor of %zu bytes; an export has %d",
				      check_call_name(call), len, SIM_DESCRIPTOR_BYTES);
	check_hit_end(hit);
}

static void report_unrelated(const struct shim_call *call, const struct doca_dev *dev, uint32_t exporter)
{
	const struct pcie_topology *topology = sim_session_topology(shim_session());
	const struct pcie_function *ours = shim_dev_function(dev);
	char our_name[PCIE_FUNCTION_TEXT_SIZE], their_name[PCIE_FUNCTION_TEXT_SIZE];
	const struct pcie_function *theirs;
	struct check_hit *hit;

	if (exporter >= topology->num_functions)
		return;
	theirs = &topology->functions[exporter];
	pcie_function_format(ours, our_name);
	pcie_function_format(theirs, their_name);
	hit = check_hit_begin(BFC_IMPORT_UNRELATED, call,
			      "%s: device %s is %s of %s; the memory was exported through %s of %s",
			      check_call_name(call), ours->ibdev, our_name, topology->cards[ours->card].name,
			      their_name, topology->cards[theirs->card].name);
	check_hit_add_object(hit, "device", dev, ours->ibdev);
	check_hit_end(hit);
}

/* The descriptor does not name its function or process: if a fault may have ended the export, nobody is blamed. */
static void report_gone(const struct shim_call *call)
{
	if (check_function_failed_ever() || check_peer_was_killed())
		return;
	check_hit_end(check_hit_begin(
		BFC_EXPORT_GONE, call,
		"%s: the descriptor's export has ended: its memory map was stopped or destroyed, or its process ended",
		check_call_name(call)));
}

static void check_import_on(const struct shim_call *call, const struct doca_dev *dev)
{
	uint32_t exporter = UINT32_MAX;

	if (check_result(call) == DOCA_SUCCESS || !check_arg(call, 1) || !shim_handle_is(dev, SHIM_DEV) ||
	    shim_dev_is_stale(dev) ||
	    (!shim_dev_function(dev)->caps.mmap_from_export_pci && !shim_dev_function(dev)->caps.rdma))
		return;
	switch (try_import(call, dev, &exporter)) {
	case -EINVAL:
		report_descriptor(call);
		break;
	case -EXDEV:
	case -EPERM:
		report_unrelated(call, dev, exporter);
		break;
	case -ESTALE:
		report_gone(call);
		break;
	case -EREMOTE:
		report_other_session(call);
		break;
	}
}

static void leave_import(struct shim_call *call)
{
	check_import_on(call, check_arg(call, 3));
}

static void leave_import_event(struct shim_call *call)
{
	check_import_on(call, check_arg(call, 0));
}

/* ---- an import that is used ---- */

/* A process that a fault rule kills leaves the session a moment before its end. */
#define DEATH_MS 2000

static bool ends_within(const struct sim_remote *remote, int ms)
{
	const struct sim_shared_range of_exporter = { .pid = remote->exporter_pid,
						      .pid_ns = sim_session_pid_ns(shim_session()) };

	return check_session_ends_within(&of_exporter, ms);
}

/* Returns whether the exporter ended the export; not a fault of a function or of the session, or the importer itself. */
static bool was_ended_by_exporter(const struct sim_remote *remote)
{
	return atomic_load(&remote->revoked) && atomic_load(&remote->revoke_cause) == SIM_REVOKED_EXPORT &&
	       !(check_peer_was_killed() && ends_within(remote, DEATH_MS));
}

static const struct doca_mmap *find_ended(const struct doca_buf *buf)
{
	for (; shim_object_is(buf, SHIM_BUF) && shim_buf_has_usable_mmap(buf); buf = buf->next)
		if (buf->mmap->remote && was_ended_by_exporter(buf->mmap->remote))
			return buf->mmap;
	return NULL;
}

static const struct doca_mmap *find_ended_of(const struct doca_task *task)
{
	const struct shim_buf_task *buf_task = shim_to_buf_task(task);
	const struct doca_mmap *mmap;
	struct rdma_task_view rdma;

	if (rdma_inspect_task(task, &rdma))
		return rdma_inspect_failure(&rdma) == -EIO ? find_ended(rdma.remote) : NULL;
	if (!check_is_buf_task(task))
		return NULL;
	mmap = find_ended(buf_task->src);
	return mmap ? mmap : find_ended(buf_task->dst);
}

static void task_failed(struct doca_task *task, doca_error_t status)
{
	const struct doca_mmap *mmap = check_task_fails_from_outside(task) ? NULL : find_ended_of(task);
	const char *format;
	struct check_hit *hit;

	(void)status;
	if (!mmap)
		return;
	format =
		ends_within(mmap->remote, 0) ?
			"%s: a task failed, because process %d (%s), which exported the memory that it uses, has ended" :
			"%s: a task failed, because process %d (%s) has ended the export of the memory that it uses";
	hit = CHECK_HIT_HERE(BFC_IMPORT_OUTLIVES_EXPORT, format, check_current_name("doca_pe_progress"),
			     (int)mmap->remote->exporter_pid, mmap->remote->program);
	check_mmap_add_object(hit, mmap);
	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_create_from_export, NULL, leave_import },
	{ SHIM_FN_doca_sync_event_remote_net_create_from_export, NULL, leave_import_event },
};

const struct check_part check_import = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.task_failed = task_failed,
};
