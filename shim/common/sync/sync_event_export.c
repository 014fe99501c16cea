/* SPDX-License-Identifier: BSD-3-Clause */
/* Export of a sync event to the card's other side, and import. */
#include <stdatomic.h>
#include <unistd.h>

#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"
#include "sync_event_priv.h"

SHIM_DEFINE_IS_SUPPORTED(doca_sync_event_cap_is_export_to_remote_pci_supported,
			 devinfo->function->caps.sync_event_export_pci)
SHIM_DEFINE_IS_SUPPORTED(doca_sync_event_cap_is_create_from_export_supported,
			 devinfo->function->caps.sync_event_from_export_pci)

/* ---- export ---- */

/* Return the memory to export: a whole cell, or a bare word. */
static struct sim_region make_region(const struct doca_sync_event *event, const struct doca_dev *dev, bool to_net)
{
	return (struct sim_region){
		.addr = (uintptr_t)event->value.word,
		.cpu_addr = (uintptr_t)event->value.word,
		.len_bytes = event->value.cell ? sizeof(struct sim_sync_cell) : sizeof(uint64_t),
		.access = SIM_ACCESS_SYNC | (to_net ? (uint32_t)SIM_ACCESS_NET : 0),
		.function = shim_dev_function(dev)->id,
	};
}

/* Export a value in the user's memory. Importers do atomic operations on the same word, so the memory
 * has to be in a shared object. */
static doca_error_t export_user_memory(const char *func, struct doca_sync_event *event, struct doca_dev *dev,
				       bool to_net, struct shim_export **ret_export)
{
	struct sim_region region = make_region(event, dev, to_net);
	doca_error_t result;
	int fd;

	if (!to_net && event->buf && !(event->buf->mmap->access & DOCA_ACCESS_FLAG_PCI_READ_WRITE)) {
		sim_err("%s: the buffer's memory map has no permission to be read and written over PCI; see doca_mmap_set_permissions()",
			func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (shim_range_probe((void *)(uintptr_t)region.addr, sizeof(uint64_t), &fd, &region.object_offset) || fd < 0) {
		sim_err("%s: the memory given for the value lies in no shared object (memfd, /dev/shm, dmabuf), so that no other process can do atomic operations on it; give such memory, or none",
			func);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	result = shim_export_get_or_create(func, &event->exports, dev, &region, fd, ret_export);
	close(fd);
	return result;
}

doca_error_t shim_sync_event_export(const char *func, struct doca_sync_event *event, struct doca_dev *dev, bool to_net,
				    struct shim_export **ret_export)
{
	struct sim_region region = make_region(event, dev, to_net);

	if (!event->value.cell)
		return export_user_memory(func, event, dev, to_net, ret_export);
	return shim_export_get_or_create(func, &event->exports, dev, &region, event->value.segment_fd, ret_export);
}

/* An importer publishes or subscribes from remote PCI, and the event was declared for CPUs of this side alone. */
static void warn_if_all_is_local(const struct doca_sync_event *event)
{
	static atomic_flag warned = ATOMIC_FLAG_INIT;

	if ((event->publisher.locations | event->subscriber.locations) & SHIM_SYNC_LOCATION_REMOTE_PCI ||
	    atomic_flag_test_and_set(&warned))
		return;
	sim_warn(
		"doca_sync_event_export_to_remote_pci: publisher and subscriber of the event are both declared on the CPU of this side; declare its importer as one of them (doca_sync_event_add_publisher_location_remote_pci, ..._subscriber_...)");
}

doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event, struct doca_dev *dev,
						  const uint8_t **data, size_t *sz)
{
	struct shim_export *made;
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(data);
	SHIM_NEED_OUT(sz);
	if (event->remote)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the event was created from an export itself");
	if (!shim_sync_event_is_started(event))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the event is not started; start it first");
	result = shim_sync_event_check(__func__, event);
	if (result != DOCA_SUCCESS)
		return result;
	if (!shim_dev_function(dev)->caps.sync_event_export_pci)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "%s on side %s can't export sync events over PCI",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side);
	result = shim_sync_event_export(__func__, event, dev, false, &made);
	if (result != DOCA_SUCCESS)
		return result;
	warn_if_all_is_local(event);
	event->session = shim_session();
	*data = made->bytes;
	*sz = sizeof(made->bytes);
	return DOCA_SUCCESS;
}

/* ---- import ---- */

/* Whether the region can hold a value: the exporter may be any program of the session. */
static bool is_value_region(const struct sim_remote *remote)
{
	if (sim_remote_is_far(remote)) /* not mapped here */
		return remote->region.access & SIM_ACCESS_SYNC && remote->region.len_bytes >= sizeof(uint64_t);
	return (uintptr_t)remote->base % _Alignof(struct sim_sync_cell) == 0 &&
	       remote->region.len_bytes >= sizeof(uint64_t);
}

static doca_error_t check_imported(const char *func, const struct sim_remote *remote, bool from_net)
{
	bool is_net = remote->region.access & SIM_ACCESS_NET;

	if (is_net != from_net)
		sim_err("%s: the descriptor is not of doca_sync_event_export_to_remote_%s()", func,
			from_net ? "net" : "pci");
	else if (!is_value_region(remote))
		sim_err("%s: the exported memory can't hold a value; is its exporter of another version of bfsim?",
			func);
	else
		return DOCA_SUCCESS;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t shim_sync_event_import(const char *func, const uint8_t *data, size_t sz, const struct doca_dev *dev,
				    bool from_net, struct sim_remote **ret_remote)
{
	const struct pcie_function *function = shim_dev_function(dev);
	doca_error_t result;

	if (!(from_net ? function->caps.rdma : function->caps.sync_event_from_export_pci)) {
		sim_err("%s: %s on side %s can't import sync events %s", func, function->ibdev, function->side,
			from_net ? "of the network: it has no RDMA (rdma in the topology)" : "over PCI");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	result = shim_import(func, data, sz, dev, true, ret_remote);
	if (result != DOCA_SUCCESS)
		return result;
	result = check_imported(func, *ret_remote, from_net);
	if (result != DOCA_SUCCESS)
		shim_import_release(*ret_remote, shim_session());
	return result;
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
						struct doca_sync_event **event)
{
	struct sim_remote *remote;
	doca_error_t result;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(data);
	SHIM_NEED_OUT(event);
	result = shim_sync_event_import(__func__, data, sz, dev, false, &remote);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_sync_event_create(event);
	if (result != DOCA_SUCCESS) {
		shim_import_release(remote, shim_session());
		return result;
	}
	shim_dev_hold(dev);
	(*event)->import_dev = dev;
	(*event)->remote = remote;
	(*event)->session = shim_session();
	return DOCA_SUCCESS;
}
