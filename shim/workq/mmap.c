/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps. One of 2.2 is the core's; one of 1.5 has a record besides (mmap_chunks.h). */
#include <doca_mmap.h>
#include <stdlib.h>
#include <string.h>

#include "mmap_chunks.h"
#include "core_api.h"
#include "shim/common/base/check.h"

doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap)
{
	doca_error_t result = core_mmap_create(mmap);

	if (result == DOCA_SUCCESS && user_data)
		core_mmap_set_user_data(*mmap, *user_data);
	return result;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	struct workq_chunk_list *list;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	list = workq_chunk_list_find(mmap);
	if (list && workq_chunks_num_bufs(list) > 0)
		return SHIM_REFUSE(
			DOCA_ERROR_NOT_PERMITTED,
			"%u buffer(s) still point into the memory map; return them with doca_buf_refcount_rm() first",
			workq_chunks_num_bufs(list));
	result = core_mmap_destroy(mmap);
	if (result == DOCA_SUCCESS)
		workq_chunk_list_destroy(list);
	return result;
}

/* Configured as in 2.2, or imported; one of 1.5 has its first range as a chunk. */
static bool has_own_range(const struct doca_mmap *mmap)
{
	const struct workq_chunk_list *list = workq_chunk_list_find(mmap);

	return (mmap->range_set || shim_mmap_is_imported(mmap)) && (!list || list->num_chunks == 0);
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	struct workq_chunk_list *list;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	list = workq_chunk_list_find(mmap);
	if (list && list->started)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map is started already");
	if (has_own_range(mmap))
		return core_mmap_start(mmap);
	list = workq_chunk_list_get_or_create(mmap);
	if (!list)
		return DOCA_ERROR_NO_MEMORY;
	result = workq_chunks_start(__func__, list);
	if (result == DOCA_SUCCESS)
		list->started = list->was_started = true;
	return result;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	struct workq_chunk_list *list;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	list = workq_chunk_list_find(mmap);
	if (!list || !list->started)
		return core_mmap_stop(mmap);
	result = workq_chunks_stop(__func__, list);
	if (result == DOCA_SUCCESS)
		list->started = false;
	return result;
}

/* ---- devices ---- */

typedef doca_error_t dev_change(struct doca_mmap *mmap, struct doca_dev *dev);

/* Of all chunks, or of none. */
static doca_error_t change_dev_of_chunks(const struct workq_chunk_list *list, struct doca_dev *dev, dev_change *change,
					 dev_change *undo)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t done = 0;

	while (done < list->num_chunks && result == DOCA_SUCCESS) {
		result = change(list->chunks[done].core_mmap, dev);
		done += result == DOCA_SUCCESS;
	}
	while (result != DOCA_SUCCESS && done > 0)
		undo(list->chunks[--done].core_mmap, dev);
	return result;
}

/* In 1.5's order devices come and go while the map is started. One that comes
 * registers the memory; one that goes may well go after the memory. */
static doca_error_t change_dev(const char *func, struct doca_mmap *mmap, struct doca_dev *dev, dev_change *change,
			       dev_change *undo)
{
	const struct workq_chunk_list *list = workq_chunk_list_find(mmap);
	doca_error_t result = DOCA_SUCCESS;

	if (!list || list->num_chunks == 0)
		return change(mmap, dev);
	if (shim_mmap_was_exported(mmap)) {
		sim_err("%s: the memory map was exported; destroy it and create another", func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (list->started && change == core_mmap_add_dev)
		result = workq_chunks_check_memory(func, list);
	if (result == DOCA_SUCCESS)
		result = workq_chunks_stop(func, list);
	if (result != DOCA_SUCCESS)
		return result;
	result = change_dev_of_chunks(list, dev, change, undo);
	if (list->started)
		workq_chunks_resume(list);
	return result;
}

static bool was_started_empty(const struct doca_mmap *mmap)
{
	return workq_chunk_list_find(mmap) && workq_chunk_list_find(mmap)->was_started;
}

/* The reference of 1.5 has other codes for a device that is there, or not, than that of 2.2. */
doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	result = change_dev(__func__, mmap, dev, core_mmap_add_dev, core_mmap_rm_dev);
	return result == DOCA_ERROR_ALREADY_EXIST && was_started_empty(mmap) ? DOCA_ERROR_IN_USE : result;
}

doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	result = change_dev(__func__, mmap, dev, core_mmap_rm_dev, core_mmap_add_dev);
	return result == DOCA_ERROR_NOT_FOUND && was_started_empty(mmap) ? DOCA_ERROR_INVALID_VALUE : result;
}

/* ---- 2.2's configuration: of a map that is started in neither order ---- */

/* The core doesn't know of maps that are started without memory. */
#define NEED_STOPPED(mmap)                                                                                              \
	do {                                                                                                            \
		SHIM_NEED(mmap, SHIM_MMAP);                                                                             \
		if (workq_chunk_list_find(mmap) && workq_chunk_list_find(mmap)->started)                                \
			return SHIM_REFUSE(                                                                             \
				DOCA_ERROR_BAD_STATE,                                                                   \
				"the memory map is started without a range: give it memory with doca_mmap_populate()"); \
	} while (0)

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	NEED_STOPPED(mmap);
	return core_mmap_set_memrange(mmap, addr, len);
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	NEED_STOPPED(mmap);
	return core_mmap_set_permissions(mmap, access_mask);
}

doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	NEED_STOPPED(mmap);
	return core_mmap_set_free_cb(mmap, free_cb, opaque);
}

doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	if (was_started_empty(mmap))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map was started before; set it earlier");
	return core_mmap_set_max_num_devices(mmap, max_num_devices);
}

/* 2.2 names the memory by the descriptor alone: its addresses are where we map it. */
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, size_t offset, size_t len)
{
	void *placeholder = mmap; /* an address that the core takes for one, until the right one is known */
	doca_error_t result;

	NEED_STOPPED(mmap);
	result = core_mmap_set_dmabuf_memrange(mmap, dmabuf_fd, placeholder, offset, len);
	if (result == DOCA_SUCCESS)
		mmap->addr = mmap->cpu_base;
	return result;
}

/* ---- questions ---- */

doca_error_t doca_mmap_get_num_bufs(struct doca_mmap *mmap, uint32_t *num_bufs)
{
	const struct workq_chunk_list *list;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(num_bufs);
	list = workq_chunk_list_find(mmap);
	*num_bufs = list && list->num_chunks > 0 ? workq_chunks_num_bufs(list) : mmap->num_bufs;
	return DOCA_SUCCESS;
}

/* ---- exports ---- */

/* A descriptor speaks of one range. */
static doca_error_t check_single_range(const char *func, const struct doca_mmap *mmap)
{
	const struct workq_chunk_list *list = workq_chunk_list_find(mmap);

	if (!list || !list->started || list->num_chunks == 1)
		return DOCA_SUCCESS;
	sim_err("%s: the memory map has %u chunks; only one with a single chunk can be exported", func,
		list->num_chunks);
	return DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t doca_mmap_export_dpu(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len)
{
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	result = check_single_range(__func__, mmap);
	return result == DOCA_SUCCESS ? core_mmap_export_pci(mmap, dev, export_desc, export_desc_len) : result;
}

static doca_error_t check_export(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	static const char func[] = "doca_mmap_export";
	uint8_t can_export = 0;

	if (shim_mmap_is_imported(mmap) || shim_mmap_was_exported(mmap)) {
		sim_err("%s: the memory map %s", func,
			shim_mmap_was_exported(mmap) ? "is exported already, which is possible once" :
						       "was created from an export itself");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!shim_mmap_is_started(mmap) && mmap->range_set) {
		sim_err("%s: the memory map is not started", func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!shim_mmap_has_dev(mmap, dev)) {
		sim_err("%s: the device is not in the memory map; call doca_mmap_dev_add() first", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_devinfo_get_is_mmap_export_dpu_supported(doca_dev_as_devinfo(dev), &can_export);
	if (!can_export) {
		sim_err("%s: the device can't export memory to the DPU; see doca_devinfo_get_is_mmap_export_supported()",
			func);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	return check_single_range(func, mmap);
}

/* 1.5's: the descriptor is the caller's. There is memory for it before anything is exported. */
doca_error_t doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev, void **export_desc,
			      size_t *export_desc_len)
{
	const void *descriptor;
	doca_error_t result;
	void *copy;
	size_t len;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(export_desc);
	SHIM_NEED_OUT(export_desc_len);
	result = check_export(mmap, dev);
	if (result != DOCA_SUCCESS)
		return result;
	copy = malloc(SIM_DESCRIPTOR_BYTES);
	if (!copy)
		return DOCA_ERROR_NO_MEMORY;
	result = core_mmap_export_pci(mmap, dev, &descriptor, &len);
	if (result != DOCA_SUCCESS) {
		free(copy);
		return result;
	}
	memcpy(copy, descriptor, len);
	*export_desc = copy;
	*export_desc_len = len;
	return DOCA_SUCCESS;
}
