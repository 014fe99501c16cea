/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps that kernels of a DPA use. A handle is the map's memory key for the device. */
#include <stdlib.h>

#include "mmap_priv.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/dpa/dpa.h"
#include "sim/card/card.h"
#include "sim/dpa/memory/map.h"
#include "sim/fabric/remote.h"

/* Of a map that has a handle: one for each device. */
struct shim_mmap_handle {
	const struct doca_dev *dev;
	struct sim_dpa_map map;
	struct shim_mmap_handle *next;
};

void shim_mmap_withdraw_from_dpa(struct doca_mmap *mmap)
{
	struct shim_mmap_handle *handle;

	while ((handle = mmap->dpa_handles)) {
		mmap->dpa_handles = handle->next;
		sim_dpa_map_remove(&handle->map, shim_dpa_forget_ranges);
		free(handle);
	}
}

static struct shim_mmap_handle *find(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	struct shim_mmap_handle *handle = mmap->dpa_handles;

	while (handle && handle->dev != dev)
		handle = handle->next;
	return handle;
}

static bool is_writable(const struct doca_mmap *mmap)
{
	if (mmap->remote)
		return mmap->remote->region.access & SIM_ACCESS_WRITE;
	/* Public programs that ran on cards copy to maps with the second permission alone. */
	return mmap->access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
}

static struct sim_dpa_map make_map(const struct doca_mmap *mmap, uint32_t handle)
{
	return (struct sim_dpa_map){ .handle = handle,
				     .addr = (uintptr_t)mmap->addr,
				     .len_bytes = mmap->len_bytes,
				     .base = mmap->cpu_base ? mmap->cpu_base : mmap->addr,
				     .remote = mmap->remote,
				     .is_writable = is_writable(mmap),
				     .is_of_dpa = mmap->is_dpa_memory };
}

static struct shim_mmap_handle *make(struct doca_mmap *mmap, const struct doca_dev *dev)
{
	struct shim_mmap_handle *handle = shim_malloc(sizeof(*handle));

	if (!handle)
		return NULL;
	*handle = (struct shim_mmap_handle){ .dev = dev, .next = mmap->dpa_handles };
	handle->map = make_map(mmap, shim_mmap_key(mmap, dev));
	mmap->dpa_handles = handle;
	sim_dpa_map_add(&handle->map);
	return handle;
}

uint32_t shim_mmap_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev)
{
	struct shim_mmap_handle *handle = find(mmap, dev);

	if (!handle)
		handle = make(mmap, dev);
	return handle ? handle->map.handle : 0;
}

doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *dpa_mmap_handle)
{
	uint32_t handle;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(dpa_mmap_handle);
	if (!shim_mmap_is_usable(mmap))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map is not started");
	if (!shim_mmap_has_dev(mmap, dev))
		return SHIM_REFUSE(DOCA_ERROR_NOT_FOUND, "the device is not in the memory map");
	handle = shim_mmap_get_dpa_handle(mmap, dev);
	if (handle == 0)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "no memory for the handle");
	*dpa_mmap_handle = handle;
	return DOCA_SUCCESS;
}

int shim_mmap_copy_from(const struct doca_mmap *mmap, const void *addr, void *to, size_t len)
{
	struct sim_dpa_map map = make_map(mmap, 0);

	return sim_dpa_map_read(&map, (uintptr_t)addr, to, len);
}

int shim_mmap_copy_to(const struct doca_mmap *mmap, void *addr, const void *from, size_t len)
{
	struct sim_dpa_map map = make_map(mmap, 0);

	return sim_dpa_map_write(&map, (uintptr_t)addr, from, len);
}
