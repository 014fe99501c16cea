/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps: the maps of the core. A map in the order of 1.5 has a list of chunks besides (mmap_chunks.h). */
#include <assert.h>
#include <doca_mmap.h>
#include <stdlib.h>
#include <string.h>

#include "mmap_chunks.h"
#include "core_api.h"
#include "shim/common/base/check.h"
#include "sim/protocol/descriptor.h"

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

/* Has the map a range that is no chunk? It is configured as in 2.2, or imported. */
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

/* Add to all chunks, or to none. */
static doca_error_t add_dev_to_chunks(const struct workq_chunk_list *list, struct doca_dev *dev)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t done = 0;

	while (done < list->num_chunks && result == DOCA_SUCCESS) {
		result = core_mmap_add_dev(list->chunks[done].core_mmap, dev);
		done += result == DOCA_SUCCESS;
	}
	while (result != DOCA_SUCCESS && done > 0) {
		doca_error_t undone = core_mmap_rm_dev(list->chunks[--done].core_mmap, dev);

		assert(undone == DOCA_SUCCESS); /* the map is stopped, was never exported, and has the device */
		(void)undone;
	}
	return result;
}

/* All chunks have the same devices: if the first lacks @dev, no chunk changes. */
static doca_error_t rm_dev_from_chunks(const struct workq_chunk_list *list, struct doca_dev *dev)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < list->num_chunks && result == DOCA_SUCCESS; i++)
		result = core_mmap_rm_dev(list->chunks[i].core_mmap, dev);
	return result;
}

/* In 1.5's order devices are added and removed while the map is started. An added device
 * registers the memory; a device may be removed after its memory was freed. */
static doca_error_t change_dev(const char *func, struct doca_mmap *mmap, struct doca_dev *dev, bool add)
{
	const struct workq_chunk_list *list = workq_chunk_list_find(mmap);
	doca_error_t result = DOCA_SUCCESS;

	if (!list || list->num_chunks == 0)
		return add ? core_mmap_add_dev(mmap, dev) : core_mmap_rm_dev(mmap, dev);
	if (shim_mmap_was_exported(mmap)) {
		sim_err("%s: the memory map was exported; destroy it and create another", func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (list->started && add)
		result = workq_chunks_check_memory(func, list);
	if (result == DOCA_SUCCESS)
		result = workq_chunks_stop(func, list);
	if (result != DOCA_SUCCESS)
		return result;
	result = add ? add_dev_to_chunks(list, dev) : rm_dev_from_chunks(list, dev);
	if (list->started)
		workq_chunks_resume(list);
	return result;
}

static bool was_started_empty(const struct doca_mmap *mmap)
{
	return workq_chunk_list_find(mmap) && workq_chunk_list_find(mmap)->was_started;
}

/* The references of 1.5 and 2.2 differ in the codes for a device that is present already, or absent. */
doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	result = change_dev(__func__, mmap, dev, true);
	return result == DOCA_ERROR_ALREADY_EXIST && was_started_empty(mmap) ? DOCA_ERROR_IN_USE : result;
}

doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	result = change_dev(__func__, mmap, dev, false);
	return result == DOCA_ERROR_NOT_FOUND && was_started_empty(mmap) ? DOCA_ERROR_INVALID_VALUE : result;
}

/* The setters of 2.2 refuse a map that is started. The core does not know of a start without memory. */
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

/* In 2.2 a descriptor alone names the memory. The range has the addresses of our mapping, so the function
 * of the core, to which the program gives the address, does not serve here. */
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, size_t offset, size_t len)
{
	doca_error_t result;

	NEED_STOPPED(mmap);
	if (shim_mmap_is_started(mmap) || shim_mmap_is_imported(mmap))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the memory map %s",
				   shim_mmap_is_started(mmap) ? "is started; stop it first" :
								"was created from an export; it can't be changed");
	if (len == 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "a range of 0 bytes; give a length");
	if (mmap->range_set)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map has its range already; it is set once");
	result = shim_mmap_map_object(__func__, mmap, dmabuf_fd, offset, len);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->addr = mmap->cpu_base;
	mmap->len_bytes = len;
	mmap->range_set = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_num_bufs(struct doca_mmap *mmap, uint32_t *num_bufs)
{
	const struct workq_chunk_list *list;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(num_bufs);
	list = workq_chunk_list_find(mmap);
	*num_bufs = list && list->num_chunks > 0 ? workq_chunks_num_bufs(list) : shim_mmap_num_bufs(mmap);
	return DOCA_SUCCESS;
}

/* A descriptor describes one range. */
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

/* In 1.5 the caller owns the descriptor. Its memory is allocated before the export, which can't be undone. */
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
