/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps: life, configuration. */
#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/dpa/dpa.h"
#include "sim/base/fork.h"
#include "export.h"
#include "mmap_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/fabric/remote.h"

#define DEFAULT_MAX_DEVICES 8 /* chosen, as the profiles' max-mmap-devices is: the reference gives no number */

#define KNOWN_ACCESS                                                                                       \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |    \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC | DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE | \
	 DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)

/* Return from the public function unless the map's configuration can change now. */
#define NEED_CONFIGURABLE(mmap, code_if_started)                                                       \
	do {                                                                                           \
		SHIM_NEED((mmap), SHIM_MMAP);                                                          \
		if (shim_mmap_is_usable(mmap))                                                         \
			return SHIM_REFUSE((code_if_started), "the memory map %s",                     \
					   shim_mmap_is_imported(mmap) ?                               \
						   "was created from an export; it can't be changed" : \
						   "is started; stop it first");                       \
	} while (0)

/* Return from the public function if the map was ever exported: then its devices, permissions and state are final. */
#define NEED_NEVER_EXPORTED(mmap)                                                                         \
	do {                                                                                              \
		if (shim_mmap_was_exported(mmap))                                                         \
			return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED,                                      \
					   "the memory map was exported; destroy it and create another"); \
	} while (0)

static const bool edges[SHIM_MMAP_NUM_STATES][SHIM_MMAP_NUM_STATES] = {
	/* [from][to] */
	[SHIM_MMAP_NEW] = { [SHIM_MMAP_STARTED] = true, [SHIM_MMAP_IMPORTED] = true },
	[SHIM_MMAP_STARTED] = { [SHIM_MMAP_STOPPED] = true, [SHIM_MMAP_EXPORTED] = true },
	[SHIM_MMAP_STOPPED] = { [SHIM_MMAP_STARTED] = true },
	[SHIM_MMAP_EXPORTED] = { [SHIM_MMAP_SPENT] = true },
	[SHIM_MMAP_IMPORTED] = { [SHIM_MMAP_SPENT] = true },
	[SHIM_MMAP_SPENT] = { [SHIM_MMAP_EXPORTED] = true },
};

void shim_mmap_set_state(struct doca_mmap *mmap, enum shim_mmap_state to)
{
	assert(edges[shim_mmap_state(mmap)][to]);
	atomic_store_explicit(&mmap->state, to, memory_order_relaxed);
}

struct doca_mmap *shim_mmap_new(void)
{
	static atomic_uint_fast64_t serials;
	struct doca_mmap *created = shim_object_new(SHIM_MMAP, sizeof(*created));

	if (created) {
		created->object_fd = -1;
		created->serial = atomic_fetch_add(&serials, 1) + 1;
	}
	return created;
}

doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
	struct doca_mmap *created;

	SHIM_NEED_OUT(mmap);
	created = shim_mmap_new();
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
	created->max_devs = DEFAULT_MAX_DEVICES;
	*mmap = created;
	return DOCA_SUCCESS;
}

/* ---- maps of DPAs' heaps ---- */

static pthread_mutex_t heap_maps_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, doca_mmap) heap_maps = LIST_HEAD_INITIALIZER(heap_maps);

SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &heap_maps_lock);

static void add_to_heap(struct doca_mmap *mmap, struct doca_dpa *dpa)
{
	pthread_mutex_lock(&heap_maps_lock);
	mmap->dpa = dpa;
	LIST_INSERT_HEAD(&heap_maps, mmap, dpa_link);
	pthread_mutex_unlock(&heap_maps_lock);
}

static void remove_from_heap(struct doca_mmap *mmap)
{
	if (!mmap->is_dpa_memory)
		return;
	pthread_mutex_lock(&heap_maps_lock);
	if (mmap->dpa)
		LIST_REMOVE(mmap, dpa_link);
	mmap->dpa = NULL;
	pthread_mutex_unlock(&heap_maps_lock);
}

/* ---- life ---- */

static void unmap_dmabuf(struct doca_mmap *mmap)
{
	if (mmap->cpu_base)
		munmap(mmap->cpu_base - mmap->object_offset % (uint64_t)sysconf(_SC_PAGESIZE),
		       mmap->len_bytes + mmap->object_offset % (uint64_t)sysconf(_SC_PAGESIZE));
	if (mmap->object_fd >= 0)
		close(mmap->object_fd);
}

static doca_error_t refuse_while_bufs_out(const char *func, const struct doca_mmap *mmap)
{
	sim_err("%s: %u buffer(s) still point into the memory map; return them with doca_buf_dec_refcount() first",
		func, shim_mmap_num_bufs(mmap));
	return DOCA_ERROR_NOT_PERMITTED;
}

/* Return whether buffers or other users of a map keep it from being stopped or destroyed. */
static bool mmap_is_in_use(const struct doca_mmap *mmap)
{
	return shim_mmap_num_bufs(mmap) > 0 || shim_task_count_get(&mmap->tasks) > 0 ||
	       (!mmap->thread_safe && mmap->num_users > 0);
}

static doca_error_t refuse_while_in_use(const char *func, const struct doca_mmap *mmap)
{
	if (shim_mmap_num_bufs(mmap) > 0)
		return refuse_while_bufs_out(func, mmap);
	if (shim_task_count_get(&mmap->tasks) > 0) {
		sim_err("%s: %u task(s) in flight use the memory map; stop their context and progress it until it is idle",
			func, shim_task_count_get(&mmap->tasks));
		return DOCA_ERROR_NOT_PERMITTED;
	}
	sim_err("%s: %u buffer pool(s) or started Comch consumer(s) use the memory map; destroy or stop them first",
		func, mmap->num_users);
	return DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	struct doca_mmap destroyed;

	SHIM_NEED(mmap, SHIM_MMAP);
	if (mmap_is_in_use(mmap))
		return refuse_while_in_use(__func__, mmap);
	remove_from_heap(mmap);
	shim_mmap_withdraw_from_dpa(mmap);
	shim_exports_revoke(&mmap->exports, mmap->session);
	if (mmap->remote)
		shim_import_release(mmap->remote, mmap->session);
	for (uint32_t i = 0; i < mmap->num_devs; i++)
		shim_dev_release(mmap->devs[i]);
	free(mmap->devs);
	unmap_dmabuf(mmap);
	destroyed = *mmap;
	mmap->serial = 0;                  /* for buffers of a thread-safe map */
	shim_object_free(mmap, SHIM_MMAP); /* before the user's callback, which may use the handle */
	if (destroyed.free_cb && destroyed.free_armed)
		destroyed.free_cb(destroyed.addr, destroyed.len_bytes, destroyed.free_cookie);
	return DOCA_SUCCESS;
}

static bool wants_write(uint32_t access)
{
	return access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE |
			 DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC);
}

doca_error_t shim_mmap_register(const char *func, struct doca_mmap *mmap)
{
	doca_error_t result = shim_mmap_probe(func, mmap, wants_write(mmap->access));

	if (result != DOCA_SUCCESS)
		return result;
	shim_mmap_take_keys(mmap);
	shim_mmap_set_state(mmap, shim_mmap_was_exported(mmap) ? SHIM_MMAP_EXPORTED : SHIM_MMAP_STARTED);
	mmap->free_armed = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	if (shim_mmap_is_imported(mmap))
		return DOCA_SUCCESS; /* its import has started it */
	NEED_CONFIGURABLE(mmap, DOCA_ERROR_NOT_PERMITTED);
	NEED_NEVER_EXPORTED(mmap);
	if (!mmap->range_set)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "no memory range; call doca_mmap_set_memrange() first");
	if (mmap->num_devs == 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "no device; call doca_mmap_add_dev() first");
	return shim_mmap_register(__func__, mmap);
}

/* The vendor's samples of RDMA and its storage applications stop the map of a peer's memory, and one that they have exported
 * again, before they destroy it; the reference says that maps that were created from an export can't be stopped. */
static bool may_stop_imported(const struct doca_mmap *mmap)
{
	return mmap->remote->region.access & SIM_ACCESS_NET || mmap->exports;
}

/* Nobody accesses the memory by the map afterwards, but for buffers of it. */
static void end_use(struct doca_mmap *mmap)
{
	bool is_spent = shim_mmap_is_imported(mmap) || shim_mmap_was_exported(mmap);

	shim_mmap_withdraw_from_dpa(mmap);
	if (!shim_mmap_is_usable(mmap))
		return;
	shim_exports_revoke(&mmap->exports, mmap->session);
	shim_mmap_set_state(mmap, is_spent ? SHIM_MMAP_SPENT : SHIM_MMAP_STOPPED);
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	if (shim_mmap_is_imported(mmap) && !may_stop_imported(mmap))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED,
				   "the memory map was created from an export; destroy it instead");
	if (mmap_is_in_use(mmap))
		return refuse_while_in_use(__func__, mmap);
	end_use(mmap);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct doca_dev **grown;

	NEED_CONFIGURABLE(mmap, DOCA_ERROR_NOT_PERMITTED);
	NEED_NEVER_EXPORTED(mmap);
	SHIM_NEED(dev, SHIM_DEV);
	if (shim_mmap_has_dev(mmap, dev))
		return SHIM_REFUSE(DOCA_ERROR_ALREADY_EXIST, "the device is in the memory map already");
	if (mmap->num_devs >= shim_dev_function(dev)->caps.max_mmap_devices)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY,
				   "%s can be one of %u devices of a memory map (max-mmap-devices)",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->caps.max_mmap_devices);
	if (mmap->num_devs == mmap->max_devs)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY,
				   "the memory map has its %u devices; see doca_mmap_set_max_num_devices()",
				   mmap->max_devs);
	grown = shim_realloc(mmap->devs, (mmap->num_devs + 1) * sizeof(struct doca_dev *));
	if (!grown)
		return DOCA_ERROR_NO_MEMORY;
	mmap->devs = grown;
	mmap->devs[mmap->num_devs++] = dev;
	mmap->first_dev = mmap->devs[0];
	shim_dev_hold(dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	NEED_CONFIGURABLE(mmap, DOCA_ERROR_NOT_PERMITTED);
	NEED_NEVER_EXPORTED(mmap);
	SHIM_NEED(dev, SHIM_DEV);
	for (uint32_t i = 0; i < mmap->num_devs; i++) {
		if (mmap->devs[i] != dev)
			continue;
		mmap->devs[i] = mmap->devs[--mmap->num_devs];
		mmap->first_dev = mmap->num_devs > 0 ? mmap->devs[0] : NULL;
		shim_dev_release(dev);
		return DOCA_SUCCESS;
	}
	return SHIM_REFUSE(DOCA_ERROR_NOT_FOUND, "the device is not in the memory map");
}

static doca_error_t check_new_memrange(const char *func, const struct doca_mmap *mmap, const void *addr, size_t len)
{
	if (!addr || len == 0 || (uintptr_t)addr + len < (uintptr_t)addr) {
		sim_err("%s: range %p of %zu bytes is %s", func, addr, len,
			addr && len ? "beyond the address space" : "empty; give an address and a length");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mmap->range_set) {
		sim_err("%s: the memory map has its range already; it is set once", func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	doca_error_t result;

	NEED_CONFIGURABLE(mmap, DOCA_ERROR_BAD_STATE);
	result = check_new_memrange(__func__, mmap, addr, len);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->addr = addr;
	mmap->len_bytes = len;
	mmap->range_set = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr, size_t dmabuf_offset,
					   size_t len)
{
	doca_error_t result;

	NEED_CONFIGURABLE(mmap, DOCA_ERROR_BAD_STATE);
	result = check_new_memrange(__func__, mmap, addr, len);
	if (result == DOCA_SUCCESS)
		result = shim_mmap_map_object(__func__, mmap, dmabuf_fd, dmabuf_offset, len);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->addr = addr;
	mmap->cpu_offset = (uintptr_t)mmap->cpu_base - (uintptr_t)addr;
	mmap->len_bytes = len;
	mmap->range_set = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa, uint64_t dpa_addr, size_t len)
{
	doca_error_t result;

	NEED_CONFIGURABLE(mmap, DOCA_ERROR_BAD_STATE);
	if (mmap->range_set)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map has its range already; it is set once");
	SHIM_NEED(dpa, SHIM_DPA);
	if (!shim_dpa_is_own(dpa) || len == 0 || !sim_dpa_process_has_heap(dpa->process, dpa_addr, len))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%zu bytes at %#llx are in no block of the DPA's heap",
				   len, (unsigned long long)dpa_addr);
	if (!shim_mmap_has_dev(mmap, dpa->dev)) {
		result = doca_mmap_add_dev(mmap, dpa->dev);
		if (result != DOCA_SUCCESS)
			return result == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_NOT_PERMITTED : result;
	}
	mmap->addr = (uint8_t *)(uintptr_t)dpa_addr;
	mmap->len_bytes = len;
	mmap->range_set = true;
	mmap->is_dpa_memory = true;
	add_to_heap(mmap, dpa->base);
	return DOCA_SUCCESS;
}

/* Buffers and other users of the map stay, and fail. */
static void end_dpa_range(struct doca_mmap *mmap)
{
	if (shim_mmap_num_bufs(mmap) > 0)
		sim_warn("the DPA context ends whose heap has the memory of a memory map: tasks with its buffers fail");
	end_use(mmap);
	mmap->range_set = false;
	mmap->is_dpa_memory = false;
}

/* Take one from the list; NULL = the context's heap has none. */
static struct doca_mmap *take_heap_map(const struct doca_dpa *dpa)
{
	struct doca_mmap *mmap;

	pthread_mutex_lock(&heap_maps_lock);
	LIST_FOREACH(mmap, &heap_maps, dpa_link)
		if (mmap->dpa == dpa)
			break;
	if (mmap) {
		LIST_REMOVE(mmap, dpa_link);
		mmap->dpa = NULL;
	}
	pthread_mutex_unlock(&heap_maps_lock);
	return mmap;
}

void shim_mmap_end_dpa_ranges(const struct doca_dpa *dpa)
{
	struct doca_mmap *mmap;

	while ((mmap = take_heap_map(dpa)))
		end_dpa_range(mmap);
}

doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(addr);
	SHIM_NEED_OUT(len);
	if (!mmap->range_set)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the memory map has no range yet");
	*addr = mmap->addr;
	*len = mmap->len_bytes;
	return DOCA_SUCCESS;
}

/* The reference names the invalid combinations; a card of release 3.2 refuses the same ones (device_capabilities). */
static bool is_valid_access(uint32_t access)
{
	uint32_t pci = access & (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE);

	if (access & ~(uint32_t)KNOWN_ACCESS)
		return false;
	if (pci == (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE))
		return false;
	return !(pci && access & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING);
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	NEED_CONFIGURABLE(mmap, DOCA_ERROR_BAD_STATE);
	NEED_NEVER_EXPORTED(mmap);
	if (!is_valid_access(access_mask))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%#x has unknown flags, both PCI permissions, or one of them with relaxed ordering",
				   access_mask);
	mmap->access = access_mask;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	NEED_CONFIGURABLE(mmap, DOCA_ERROR_BAD_STATE);
	SHIM_NEED_OUT(free_cb);
	mmap->free_cb = free_cb;
	mmap->free_cookie = opaque;
	mmap->free_armed = false; /* the callback is called only if the map is started after this call */
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
	NEED_CONFIGURABLE(mmap, DOCA_ERROR_NOT_PERMITTED);
	if (shim_mmap_state(mmap) != SHIM_MMAP_NEW)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map was started before; set it earlier");
	if (max_num_devices == 0 || max_num_devices < mmap->num_devs)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u is less than the %u devices it has, or zero",
				   max_num_devices, mmap->num_devs);
	mmap->max_devs = max_num_devices;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_mmap_get_max_num_devices, const struct doca_mmap, mmap, SHIM_MMAP, uint32_t, max_num_devices,
		   mmap->max_devs)

doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data)
{
	NEED_CONFIGURABLE(mmap, DOCA_ERROR_BAD_STATE);
	mmap->user_data = user_data;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_mmap_get_user_data, const struct doca_mmap, mmap, SHIM_MMAP, union doca_data, user_data,
		   mmap->user_data)
SHIM_DEFINE_GETTER(doca_mmap_get_num_bufs, const struct doca_mmap, mmap, SHIM_MMAP, uint32_t, num_bufs,
		   shim_mmap_num_bufs(mmap))
SHIM_DEFINE_GETTER(doca_mmap_get_exported, const struct doca_mmap, mmap, SHIM_MMAP, uint8_t, exported,
		   shim_mmap_was_exported(mmap) || mmap->exports)
SHIM_DEFINE_GETTER(doca_mmap_get_from_export, const struct doca_mmap, mmap, SHIM_MMAP, uint8_t, from_export,
		   shim_mmap_is_imported(mmap))

/* An imported map is started from its creation. The vendor's storage applications call this for one, and need its success. */
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	if (!shim_mmap_is_imported(mmap))
		NEED_CONFIGURABLE(mmap, DOCA_ERROR_NOT_PERMITTED);
	if (shim_mmap_num_bufs(mmap) > 0)
		return refuse_while_bufs_out(__func__, mmap);
	mmap->thread_safe = true;
	return DOCA_SUCCESS;
}
