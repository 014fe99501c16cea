/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps. One of 2.2 is the core's; one of 1.5 has a record besides (chunks.h). */
#include <doca_mmap.h>
#include <stdlib.h>
#include <string.h>

#include "chunks.h"
#include "core.h"
#include "shim/common/check.h"

doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap)
{
	doca_error_t result = core_mmap_create(mmap);

	if (result == DOCA_SUCCESS && user_data)
		core_mmap_set_user_data(*mmap, *user_data);
	return result;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	struct workq_chunked *chunked;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	chunked = workq_chunked_of(mmap);
	if (chunked && workq_chunks_num_bufs(chunked) > 0)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED,
				   "%u buffer(s) still point into the memory map; return them with doca_buf_refcount_rm() first",
				   workq_chunks_num_bufs(chunked));
	result = core_mmap_destroy(mmap);
	if (result == DOCA_SUCCESS)
		workq_chunked_end(chunked);
	return result;
}

/* Configured as in 2.2, or imported; one of 1.5 has its first range as a chunk. */
static bool has_own_range(const struct doca_mmap *mmap)
{
	const struct workq_chunked *chunked = workq_chunked_of(mmap);

	return (mmap->range_set || shim_mmap_is_imported(mmap)) && (!chunked || chunked->num_chunks == 0);
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	struct workq_chunked *chunked;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	chunked = workq_chunked_of(mmap);
	if (chunked && chunked->started)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map is started already");
	if (has_own_range(mmap))
		return core_mmap_start(mmap);
	chunked = workq_chunked_get(mmap);
	if (!chunked)
		return DOCA_ERROR_NO_MEMORY;
	result = workq_chunks_start(chunked);
	if (result == DOCA_SUCCESS)
		chunked->started = chunked->was_started = true;
	return result;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	struct workq_chunked *chunked;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	chunked = workq_chunked_of(mmap);
	if (!chunked || !chunked->started)
		return core_mmap_stop(mmap);
	result = workq_chunks_stop(__func__, chunked);
	if (result == DOCA_SUCCESS)
		chunked->started = false;
	return result;
}

/* ---- devices ---- */

typedef doca_error_t dev_change(struct doca_mmap *mmap, struct doca_dev *dev);

/* Of all chunks, or of none. */
static doca_error_t change_all(const struct workq_chunked *chunked, struct doca_dev *dev, dev_change *change,
			       dev_change *undo)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t done = 0;

	while (done < chunked->num_chunks && result == DOCA_SUCCESS) {
		result = change(chunked->chunks[done].core, dev);
		done += result == DOCA_SUCCESS;
	}
	while (result != DOCA_SUCCESS && done > 0)
		undo(chunked->chunks[--done].core, dev);
	return result;
}

/* In 1.5's order devices come and go while the map is started. */
static doca_error_t change_devs(const char *func, struct doca_mmap *mmap, struct doca_dev *dev, dev_change *change,
				dev_change *undo)
{
	const struct workq_chunked *chunked = workq_chunked_of(mmap);
	doca_error_t result, restart;

	if (!chunked || chunked->num_chunks == 0)
		return change(mmap, dev);
	if (mmap->was_exported) {
		sim_err("%s: the memory map was exported; destroy it and create another", func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	result = workq_chunks_stop(func, chunked);
	if (result != DOCA_SUCCESS)
		return result;
	result = change_all(chunked, dev, change, undo);
	restart = chunked->started ? workq_chunks_start(chunked) : DOCA_SUCCESS;
	if (result != DOCA_SUCCESS || restart == DOCA_SUCCESS)
		return result;
	workq_chunks_stop(func, chunked); /* memory of a chunk is gone: as it was */
	change_all(chunked, dev, undo, change);
	workq_chunks_start(chunked);
	return DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	return change_devs(__func__, mmap, dev, core_mmap_add_dev, core_mmap_rm_dev);
}

doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	return change_devs(__func__, mmap, dev, core_mmap_rm_dev, core_mmap_add_dev);
}

/* ---- memory that others own ---- */

/* 2.2 names the memory by the descriptor alone: its addresses are where we map it. */
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, size_t offset, size_t len)
{
	void *any = mmap; /* an address that the core takes for one, until the right one is known */
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	result = core_mmap_set_dmabuf_memrange(mmap, dmabuf_fd, any, offset, len);
	if (result == DOCA_SUCCESS)
		mmap->addr = mmap->cpu_base;
	return result;
}

/* ---- questions ---- */

doca_error_t doca_mmap_get_num_bufs(struct doca_mmap *mmap, uint32_t *num_bufs)
{
	const struct workq_chunked *chunked;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(num_bufs);
	chunked = workq_chunked_of(mmap);
	*num_bufs = chunked && chunked->num_chunks > 0 ? workq_chunks_num_bufs(chunked) : mmap->num_bufs;
	return DOCA_SUCCESS;
}

/* ---- 1.5's export: a descriptor of the caller's ---- */

static doca_error_t check_export(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	const struct workq_chunked *chunked = workq_chunked_of(mmap);

	if (mmap->was_exported) {
		sim_err("doca_mmap_export: the memory map is exported already, which is possible once");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (chunked && chunked->num_chunks != 1) {
		sim_err("doca_mmap_export: the memory map has %u chunks; only one with a single chunk can be exported", chunked->num_chunks);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!shim_mmap_has_dev(mmap, dev)) {
		sim_err("doca_mmap_export: the device is not in the memory map; call doca_mmap_dev_add() first");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

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
	if (shim_mmap_is_imported(mmap))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map was created from an export itself");
	result = check_export(mmap, dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_export_dpu(mmap, dev, &descriptor, &len);
	if (result != DOCA_SUCCESS)
		return result;
	copy = malloc(len);
	if (!copy)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(copy, descriptor, len);
	*export_desc = copy;
	*export_desc_len = len;
	return DOCA_SUCCESS;
}
