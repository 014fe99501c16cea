/* SPDX-License-Identifier: BSD-3-Clause */
/* Representors of the host's functions on a DPU's device. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/base/check.h"
#include "devinfo_priv.h"
#include "shim/common/base/handle_list.h"
#include "shim/common/process/runtime.h"
#include "sim/base/fork.h"

static struct {
	pthread_mutex_t lock;
	struct shim_handle_lists lists;
} reps = { .lock = PTHREAD_MUTEX_INITIALIZER };

#define KNOWN_FILTERS (DOCA_DEVINFO_REP_FILTER_NET | DOCA_DEVINFO_REP_FILTER_EMULATED)

static bool has_representors(const struct pcie_function *function)
{
	const struct pcie_caps *caps = &function->caps;

	return caps->rep_filter_all || caps->rep_filter_net || caps->rep_filter_emulated;
}

#define FILTER_CAPABILITY(function_name, out, field)                                                             \
	doca_error_t function_name(const struct doca_devinfo *devinfo, uint8_t *out)                             \
	{                                                                                                        \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                                                                \
		SHIM_NEED_OUT(out);                                                                              \
		if (!has_representors(devinfo->function) && !devinfo->function->caps.dpa)                        \
			return DOCA_ERROR_NOT_SUPPORTED; /* not logged: programs search for a device this way */ \
		*out = devinfo->function->caps.field;                                                            \
		return DOCA_SUCCESS;                                                                             \
	}

FILTER_CAPABILITY(doca_devinfo_rep_cap_is_filter_all_supported, filter_all_supported, rep_filter_all)
FILTER_CAPABILITY(doca_devinfo_rep_cap_is_filter_net_supported, filter_net_supported, rep_filter_net)
FILTER_CAPABILITY(doca_devinfo_rep_cap_is_filter_emulated_supported, filter_emulated_supported, rep_filter_emulated)

static bool filter_supported(const struct pcie_caps *caps, int filter)
{
	if (filter == DOCA_DEVINFO_REP_FILTER_ALL)
		return caps->rep_filter_all;
	return (!(filter & DOCA_DEVINFO_REP_FILTER_NET) || caps->rep_filter_net) &&
	       (!(filter & DOCA_DEVINFO_REP_FILTER_EMULATED) || caps->rep_filter_emulated);
}

/* Emulated functions are plugged by software; no function here is. */
static bool filter_includes_net(int filter)
{
	return filter == DOCA_DEVINFO_REP_FILTER_ALL || filter & DOCA_DEVINFO_REP_FILTER_NET;
}

static void free_list(struct doca_devinfo_rep **list)
{
	for (struct doca_devinfo_rep **rep = list; *rep; rep++)
		shim_object_free(*rep, SHIM_DEVINFO_REP);
	shim_handle_list_free(&reps.lists, list);
}

static bool rep_is_removed(const struct pcie_function *function)
{
	const _Atomic uint64_t *status_word = sim_session_function_status(shim_session(), function->id);

	return atomic_load_explicit(status_word, memory_order_acquire) & SIM_FUNCTION_REP_REMOVED;
}

static doca_error_t make_list(struct doca_dev *dev, size_t max, struct doca_devinfo_rep ***ret_list,
			      uint32_t *ret_count)
{
	const struct pcie_topology *topology = sim_session_topology(shim_session());
	struct doca_devinfo_rep **list = shim_handle_list_new(&reps.lists, max);
	uint32_t count = 0;

	if (!list)
		return DOCA_ERROR_NO_MEMORY;
	for (size_t i = 0; i < max; i++) {
		const struct pcie_function *function = &topology->functions[shim_dev_function(dev)->reps[i]];

		if (rep_is_removed(function))
			continue;
		list[count] = shim_object_new(SHIM_DEVINFO_REP, sizeof(*list[count]));
		if (!list[count]) {
			free_list(list);
			return DOCA_ERROR_NO_MEMORY;
		}
		list[count]->dev = dev;
		list[count]->listed_by = shim_dev_function(dev);
		list[count++]->function = function;
	}
	*ret_list = list;
	*ret_count = count;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep)
{
	const struct pcie_function *function;
	doca_error_t result;
	size_t count;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(dev_list_rep);
	SHIM_NEED_OUT(nb_devs_rep);
	if (filter & ~KNOWN_FILTERS)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "filter %#x has unknown bits; doca_dev.h lists the filters", (unsigned int)filter);
	function = shim_dev_function(dev);
	if (!has_representors(function))
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "%s on side %s shows no representors; use a DPU's device",
				   function->ibdev, function->side);
	if (!filter_supported(&function->caps, filter))
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the device lacks filter %#x; ask its capabilities first",
				   (unsigned int)filter);
	count = filter_includes_net(filter) ? function->num_reps : 0;
	pthread_mutex_lock(&reps.lock);
	result = make_list(dev, count, dev_list_rep, nb_devs_rep);
	pthread_mutex_unlock(&reps.lock);
	return result;
}

doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
	bool found;

	pthread_mutex_lock(&reps.lock);
	found = shim_handle_list_has(&reps.lists, dev_list_rep);
	if (found)
		free_list(dev_list_rep);
	pthread_mutex_unlock(&reps.lock);
	if (!found)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "not a list of doca_devinfo_rep_create_list(), or destroyed already");
	return DOCA_SUCCESS;
}

static void free_all_lists(void)
{
	void *list;

	pthread_mutex_lock(&reps.lock);
	while ((list = shim_handle_lists_first(&reps.lists)))
		free_list(list);
	pthread_mutex_unlock(&reps.lock);
}

SIM_AT_FORK(SIM_FORK_USERS, .lock = &reps.lock);

static struct shim_runtime_user runtime_user = { .detach = free_all_lists };

static void __attribute__((constructor)) add_runtime_user(void)
{
	shim_runtime_add_user(&runtime_user);
}

/* Returns whether the device that listed it is open. Its handle may now be that of another device. */
static bool listing_dev_is_open(const struct doca_devinfo_rep *devinfo)
{
	return shim_object_is(devinfo->dev, SHIM_DEV) && shim_dev_function(devinfo->dev) == devinfo->listed_by;
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep)
{
	struct doca_dev_rep *rep;
	struct doca_devinfo_rep *copy;

	SHIM_NEED(devinfo, SHIM_DEVINFO_REP);
	SHIM_NEED_OUT(dev_rep);
	if (!listing_dev_is_open(devinfo))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the device that listed the representor is closed");
	if (rep_is_removed(devinfo->function))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the representor was removed; create the list again");
	rep = shim_object_new(SHIM_DEV_REP, sizeof(*rep));
	copy = shim_object_new(SHIM_DEVINFO_REP, sizeof(*copy));
	if (!rep || !copy) {
		if (rep)
			shim_object_free(rep, SHIM_DEV_REP);
		if (copy)
			shim_object_free(copy, SHIM_DEVINFO_REP);
		return DOCA_ERROR_NO_MEMORY;
	}
	copy->dev = devinfo->dev;
	copy->listed_by = devinfo->listed_by;
	copy->function = devinfo->function;
	rep->devinfo = copy;
	shim_dev_hold(copy->dev);
	*dev_rep = rep;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
	SHIM_NEED(dev, SHIM_DEV_REP);
	shim_dev_release(dev->devinfo->dev);
	shim_object_free(dev->devinfo, SHIM_DEVINFO_REP);
	shim_object_free(dev, SHIM_DEV_REP);
	return DOCA_SUCCESS;
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep)
{
	return shim_handle_is(dev_rep, SHIM_DEV_REP) ? dev_rep->devinfo : NULL;
}

doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str)
{
	SHIM_NEED(devinfo_rep, SHIM_DEVINFO_REP);
	SHIM_NEED_OUT(pci_addr_str);
	pcie_addr_format(&devinfo_rep->function->addr, pci_addr_str);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr_str,
						uint8_t *is_equal)
{
	SHIM_NEED(devinfo_rep, SHIM_DEVINFO_REP);
	return shim_pci_addr_is_equal(__func__, devinfo_rep->function, pci_addr_str, is_equal);
}

#define REP_GETTER(name, type, out, value) \
	SHIM_DEFINE_GETTER(name, const struct doca_devinfo_rep, devinfo_rep, SHIM_DEVINFO_REP, type, out, value)

REP_GETTER(doca_devinfo_rep_get_pci_func_type, enum doca_pci_func_type, pci_func_type,
	   (enum doca_pci_func_type)devinfo_rep->function->type) /* the numbers are equal */

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid, uint32_t size)
{
	SHIM_NEED(devinfo_rep, SHIM_DEVINFO_REP);
	/* The reference sets no minimum size of this buffer: the text must fit. */
	return shim_get_text(__func__, devinfo_rep->function->vuid, rep_vuid, size,
			     (uint32_t)strlen(devinfo_rep->function->vuid) + 1);
}

REP_GETTER(doca_devinfo_rep_get_vhca_id, uint16_t, vhca_id, devinfo_rep->function->vhca_id)

doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep, char *iface_name,
					     uint32_t size)
{
	doca_error_t result;

	SHIM_NEED(devinfo_rep, SHIM_DEVINFO_REP);
	result = shim_check_out(__func__, iface_name, size, DOCA_DEVINFO_IFACE_NAME_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	if (!devinfo_rep->function->rep_iface[0])
		return SHIM_REFUSE(DOCA_ERROR_OPERATING_SYSTEM,
				   "the representor has no network interface in the topology");
	return shim_get_text(__func__, devinfo_rep->function->rep_iface, iface_name, size,
			     DOCA_DEVINFO_IFACE_NAME_SIZE);
}

REP_GETTER(doca_devinfo_rep_get_is_hotplug, uint8_t, is_hotplug, devinfo_rep->function->hotplug)
REP_GETTER(doca_devinfo_rep_get_host_index, uint32_t, host_index, devinfo_rep->function->host_index)
REP_GETTER(doca_devinfo_rep_get_pf_index, uint32_t, pf_index, devinfo_rep->function->pf_index)

doca_error_t doca_devinfo_rep_get_vf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *vf_index)
{
	SHIM_NEED(devinfo_rep, SHIM_DEVINFO_REP);
	SHIM_NEED_OUT(vf_index);
	if (devinfo_rep->function->type != PCIE_FUNC_VF)
		return DOCA_ERROR_NOT_SUPPORTED; /* not logged: programs search for a VF this way */
	*vf_index = devinfo_rep->function->vf_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_sf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *sf_index)
{
	SHIM_NEED(devinfo_rep, SHIM_DEVINFO_REP);
	SHIM_NEED_OUT(sf_index);
	if (devinfo_rep->function->type != PCIE_FUNC_SF)
		return DOCA_ERROR_NOT_SUPPORTED; /* not logged: programs search for an SF this way */
	*sf_index = devinfo_rep->function->sf_index;
	return DOCA_SUCCESS;
}
