/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of devices, and devices that are open. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/base/check.h"
#include "dev_priv.h"
#include "shim/common/base/handle_list.h"
#include "shim/common/process/runtime.h"
#include "sim/base/fork.h"

/* The functions of this process's side, indexed by function id. The first list creates the table. */
static struct {
	pthread_mutex_t lock;
	size_t count;
	struct doca_devinfo **devinfos; /* NULL for a function of another side */
	struct doca_dev **devs;         /* NULL while closed */
	atomic_uint num_open;           /* at exit it is read without the lock */
	struct shim_handle_lists lists;
	_Atomic bool inherited; /* in a forked child: the table is the parent's, until the child attaches */
} devices = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A forked child may have memory maps of its parent's devices: the last release frees such a device. */
static void invalidate_dev(struct doca_dev *dev)
{
	dev->open_count = 0;
	dev->object.magic = 0;
	if (dev->users == 0)
		shim_object_free(dev, SHIM_DEV);
}

static void invalidate_devs(void)
{
	for (size_t i = 0; i < devices.count; i++) {
		if (devices.devs[i])
			invalidate_dev(devices.devs[i]);
		devices.devs[i] = NULL;
	}
	devices.num_open = 0;
}

static void free_table(void)
{
	invalidate_devs();
	for (size_t i = 0; i < devices.count; i++)
		if (devices.devinfos[i])
			shim_object_free(devices.devinfos[i], SHIM_DEVINFO);
	free(devices.devinfos);
	free(devices.devs);
	devices.devinfos = NULL;
	devices.devs = NULL;
	devices.count = 0;
	devices.inherited = false;
}

static void clear_devices(void)
{
	pthread_mutex_lock(&devices.lock);
	free_table();
	shim_handle_lists_free_all(&devices.lists);
	pthread_mutex_unlock(&devices.lock);
}

/* In a forked child the lists stay, and the child may open the devices in them. */
static void reset_after_fork(void)
{
	invalidate_devs();
	devices.inherited = devices.devinfos != NULL;
}

SIM_AT_FORK(SIM_FORK_USERS, .lock = &devices.lock, .child = reset_after_fork);

static bool devices_in_use(void)
{
	return devices.num_open > 0;
}

static struct shim_runtime_user runtime_user = {
	.in_use = devices_in_use,
	.detach = clear_devices,
};

static void __attribute__((constructor)) add_runtime_user(void)
{
	shim_runtime_add_user(&runtime_user);
}

/* A program that closed its devices leaves the session in order. The kernel disconnects any other
 * program, as after a crash. Threads that main() did not wait for may still use the tables, so they stay. */
static void __attribute__((destructor)) leave_at_exit(void)
{
	if (!devices_in_use())
		shim_runtime_leave();
}

/* Returns whether an entry of the table, NULL for functions of other sides, is for @function. */
static bool entry_matches(const struct doca_devinfo *devinfo, const struct pcie_function *function, const char *side)
{
	if (!devinfo || strcmp(function->side, side) != 0)
		return !devinfo && strcmp(function->side, side) != 0;
	return strcmp(devinfo->function->side, side) == 0 && strcmp(devinfo->function->ibdev, function->ibdev) == 0 &&
	       pcie_addr_equal(&devinfo->function->addr, &function->addr);
}

/* Make the handles in the lists stale for good: their memory is not reused. */
static void invalidate_devinfos(void)
{
	for (size_t i = 0; i < devices.count; i++) {
		if (devices.devinfos[i])
			devices.devinfos[i]->object.magic = 0;
		devices.devinfos[i] = NULL;
	}
}

/* Keep the parent's table if the child's session has the same functions; else forget it. */
static void adopt_parent_table(const struct pcie_topology *topology, const char *side)
{
	bool same = topology->num_functions == devices.count;

	for (size_t i = 0; same && i < devices.count; i++)
		same = entry_matches(devices.devinfos[i], &topology->functions[i], side);
	if (!same) {
		invalidate_devinfos();
		free_table();
		return;
	}
	for (size_t i = 0; i < devices.count; i++)
		if (devices.devinfos[i])
			devices.devinfos[i]->function = &topology->functions[i];
	devices.inherited = false;
}

/* A program may look in vain for an SF that the topology file lists. NIC mode hides the Arm cores' functions alone, which
 * no program on the host can have. */
static void warn_of_hidden(const struct pcie_topology *topology)
{
	for (size_t i = 0; i < topology->num_cards; i++) {
		const struct pcie_card *card = &topology->cards[i];

		if (card->mode == PCIE_MODE_SEPARATED && card->num_hidden)
			sim_warn("%s: mode %s leaves out functions of the topology file, %u in all: %s", card->name,
				 pcie_mode_name(card->mode), card->num_hidden, pcie_mode_hiding_reason(card->mode));
	}
}

static doca_error_t make_table(struct sim_session *session)
{
	const struct pcie_topology *topology = sim_session_topology(session);
	size_t count = topology->num_functions;

	if (devices.inherited)
		adopt_parent_table(topology, sim_session_side(session));
	if (devices.devinfos)
		return DOCA_SUCCESS;
	devices.devinfos = calloc(count, sizeof(struct doca_devinfo *));
	devices.devs = calloc(count, sizeof(struct doca_dev *));
	devices.count = devices.devinfos && devices.devs ? count : 0;
	for (size_t i = 0; i < devices.count; i++) {
		if (strcmp(topology->functions[i].side, sim_session_side(session)) != 0)
			continue;
		devices.devinfos[i] = shim_object_new(SHIM_DEVINFO, sizeof(struct doca_devinfo));
		if (!devices.devinfos[i]) {
			devices.count = i;
			break;
		}
		devices.devinfos[i]->function = &topology->functions[i];
	}
	if (devices.count == count) {
		warn_of_hidden(topology);
		return DOCA_SUCCESS;
	}
	free_table();
	return DOCA_ERROR_NO_MEMORY;
}

static uint64_t load_status_word(size_t function)
{
	return atomic_load_explicit(sim_session_function_status(shim_session(), (uint32_t)function),
				    memory_order_acquire);
}

static doca_error_t make_list(struct doca_devinfo ***ret_list, uint32_t *ret_count)
{
	struct doca_devinfo **list = shim_handle_list_new(&devices.lists, devices.count);
	uint32_t count = 0;

	if (!list)
		return DOCA_ERROR_NO_MEMORY;
	for (size_t i = 0; i < devices.count; i++)
		if (devices.devinfos[i] && !(load_status_word(i) & SIM_FUNCTION_REMOVED))
			list[count++] = devices.devinfos[i];
	*ret_list = list;
	*ret_count = count;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	struct sim_session *session;
	doca_error_t result;

	SHIM_NEED_OUT(dev_list);
	SHIM_NEED_OUT(nb_devs);
	result = shim_runtime_hold(&session);
	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&devices.lock);
	result = make_table(session);
	if (result == DOCA_SUCCESS)
		result = make_list(dev_list, nb_devs);
	pthread_mutex_unlock(&devices.lock);
	shim_runtime_release();
	return result;
}

doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	bool found;

	pthread_mutex_lock(&devices.lock);
	found = shim_handle_list_free(&devices.lists, dev_list);
	pthread_mutex_unlock(&devices.lock);
	if (!found)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "not a list of doca_devinfo_create_list(), or destroyed already");
	return DOCA_SUCCESS;
}

/* The users of a stale device close it. An open of its function creates another device. */
static doca_error_t open_locked(struct doca_devinfo *devinfo, struct doca_dev **ret_dev)
{
	struct doca_dev **slot = &devices.devs[devinfo->function->id];
	uint64_t status_word = load_status_word(devinfo->function->id);

	if (!sim_function_is_usable(status_word))
		return DOCA_ERROR_NOT_CONNECTED;
	if (!*slot || shim_dev_is_stale(*slot)) {
		struct doca_dev *dev = shim_object_new(SHIM_DEV, sizeof(*dev));

		if (!dev)
			return DOCA_ERROR_NO_MEMORY;
		*slot = dev;
		dev->status_word = sim_session_function_status(shim_session(), devinfo->function->id);
		dev->function_generation = sim_function_generation(status_word);
		(*slot)->devinfo = devinfo;
		(*slot)->function = devinfo->function;
		devices.num_open++;
	}
	(*slot)->open_count++;
	*ret_dev = *slot;
	return DOCA_SUCCESS;
}

/* A forked child may open a device of its parent's list, which attaches the child. */
static doca_error_t attach_inherited(void)
{
	struct sim_session *session;
	doca_error_t result = shim_runtime_hold(&session);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&devices.lock);
	result = make_table(session);
	pthread_mutex_unlock(&devices.lock);
	shim_runtime_release();
	return result;
}

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	doca_error_t result = doca_unlikely(devices.inherited) ? attach_inherited() : DOCA_SUCCESS;

	if (result != DOCA_SUCCESS)
		return result;
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(dev);
	result = shim_fault_inject(devinfo->function, SIM_OP_DEV_OPEN, 0, 0);
	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&devices.lock);
	result = open_locked(devinfo, dev);
	pthread_mutex_unlock(&devices.lock);
	if (result == DOCA_ERROR_NOT_CONNECTED)
		return SHIM_REFUSE(
			result,
			"%s does not answer: it was removed, or failed and must be reset (bfsim function add, reset)",
			devinfo->function->ibdev);
	return result;
}

static doca_error_t close_locked(struct doca_dev *dev)
{
	if (dev->open_count == 1 && dev->users > 0)
		return DOCA_ERROR_IN_USE;
	if (--dev->open_count == 0) {
		if (devices.devs[dev->function->id] == dev)
			devices.devs[dev->function->id] = NULL;
		devices.num_open--;
		shim_object_free(dev, SHIM_DEV);
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
	doca_error_t result;

	if (!dev) /* as the vendor's library: its DMA samples close NULL */
		return DOCA_SUCCESS;
	SHIM_NEED(dev, SHIM_DEV);
	pthread_mutex_lock(&devices.lock);
	result = close_locked(dev);
	pthread_mutex_unlock(&devices.lock);
	if (result == DOCA_ERROR_IN_USE)
		return SHIM_REFUSE(
			result,
			"%u memory map(s), context(s) or representor(s) still use the device; destroy them first",
			dev->users);
	return result;
}

struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
	return shim_handle_is(dev, SHIM_DEV) ? dev->devinfo : NULL;
}

doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev)
{
	SHIM_NEED(dev, SHIM_DEV);
	if (!shim_dev_function(dev)->caps.accelerate_resource_reclaim)
		return SHIM_REFUSE(
			DOCA_ERROR_NOT_SUPPORTED,
			"the device lacks it; ask doca_devinfo_cap_is_accelerate_resource_reclaim_supported() first");
	return DOCA_SUCCESS; /* nothing here is slow to reclaim */
}

void shim_dev_hold(struct doca_dev *dev)
{
	pthread_mutex_lock(&devices.lock);
	dev->users++;
	pthread_mutex_unlock(&devices.lock);
}

void shim_dev_release(struct doca_dev *dev)
{
	pthread_mutex_lock(&devices.lock);
	if (--dev->users == 0 && dev->open_count == 0)
		shim_object_free(dev, SHIM_DEV);
	pthread_mutex_unlock(&devices.lock);
}

struct pcie_timing shim_dev_timing(const struct doca_dev *dev)
{
	const struct sim_session *session = shim_session();

	if (!dev || sim_clock_mode(sim_session_clock(session)) == SIM_CLOCK_FUNCTIONAL)
		return (struct pcie_timing){ 0 };
	return sim_session_topology(session)->cards[shim_dev_function(dev)->card].timing;
}
