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
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	result = workq_chunked_drop(__func__, workq_chunked_of(mmap));
	return result == DOCA_SUCCESS ? core_mmap_destroy(mmap) : result;
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	struct workq_chunked *chunked;

	SHIM_NEED(mmap, SHIM_MMAP);
	chunked = workq_chunked_of(mmap);
	if (chunked && chunked->started)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the map is started already");
	if (shim_mmap_has_range(mmap)) { /* configured as in 2.2, or imported */
		workq_chunked_drop(__func__, chunked);
		return core_mmap_start(mmap);
	}
	chunked = workq_chunked_get(mmap);
	if (chunked && !chunked->chunks)
		chunked->chunks = calloc(chunked->max_chunks, sizeof(*chunked->chunks));
	if (!chunked || !chunked->chunks)
		return DOCA_ERROR_NO_MEMORY;
	chunked->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	struct workq_chunked *chunked;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	chunked = workq_chunked_of(mmap);
	if (!chunked)
		return core_mmap_stop(mmap);
	result = chunked->num_chunks > 0 ? core_mmap_stop(mmap) : DOCA_SUCCESS;
	return result == DOCA_SUCCESS ? workq_chunked_drop(__func__, chunked) : result;
}

/* ---- devices ---- */

static doca_error_t remember_dev(struct workq_chunked *chunked, struct doca_dev *dev)
{
	struct doca_dev **grown;

	if (chunked->num_devs == chunked->max_devs) {
		grown = realloc(chunked->devs, (chunked->max_devs + 4) * sizeof(struct doca_dev *));
		if (!grown)
			return DOCA_ERROR_NO_MEMORY;
		chunked->devs = grown;
		chunked->max_devs += 4;
	}
	chunked->devs[chunked->num_devs++] = dev;
	return DOCA_SUCCESS;
}

static void forget_dev(struct workq_chunked *chunked, const struct doca_dev *dev)
{
	for (uint32_t i = 0; i < chunked->num_devs; i++) {
		if (chunked->devs[i] == dev) {
			chunked->devs[i] = chunked->devs[--chunked->num_devs];
			return;
		}
	}
}

#define NEED_NO_CHUNKS(chunked)                                                                                   \
	do {                                                                                                      \
		if ((chunked) && (chunked)->num_chunks > 0)                                                       \
			return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the map has chunks already; change its devices before"); \
	} while (0)

doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct workq_chunked *chunked;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	chunked = workq_chunked_get(mmap); /* it may become a map of 1.5 yet */
	if (!chunked)
		return DOCA_ERROR_NO_MEMORY;
	NEED_NO_CHUNKS(chunked);
	result = core_mmap_add_dev(mmap, dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = remember_dev(chunked, dev);
	if (result != DOCA_SUCCESS)
		core_mmap_rm_dev(mmap, dev);
	return result;
}

doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct workq_chunked *chunked;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	chunked = workq_chunked_of(mmap);
	NEED_NO_CHUNKS(chunked);
	result = core_mmap_rm_dev(mmap, dev);
	if (result == DOCA_SUCCESS && chunked)
		forget_dev(chunked, dev);
	return result;
}

/* ---- memory that others own ---- */

/* 2.2 names the memory by the descriptor alone: its addresses are where we map it. */
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, size_t offset, size_t len)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	return core_mmap_set_dmabuf_memrange(mmap, dmabuf_fd, NULL, offset, len);
}

/* ---- 1.5's export: a descriptor of the caller's ---- */

static doca_error_t check_export(struct doca_mmap *mmap, const struct workq_chunked *chunked)
{
	uint8_t exported = 0;

	doca_mmap_get_exported(mmap, &exported);
	if (exported) {
		sim_err("doca_mmap_export: the map is exported already, which is possible once");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (chunked && chunked->num_chunks != 1) {
		sim_err("doca_mmap_export: the map has %u chunks; only one with a single chunk can be exported", chunked->num_chunks);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev, void **export_desc,
			      size_t *export_desc_len)
{
	struct workq_chunked *chunked;
	const void *descriptor;
	doca_error_t result;
	size_t len;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(export_desc);
	SHIM_NEED_OUT(export_desc_len);
	chunked = workq_chunked_of(mmap);
	result = check_export(mmap, chunked);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_export_dpu(mmap, dev, &descriptor, &len);
	if (result != DOCA_SUCCESS)
		return result;
	*export_desc = malloc(len);
	if (!*export_desc)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(*export_desc, descriptor, len);
	*export_desc_len = len;
	if (chunked)
		chunked->exported = true;
	return DOCA_SUCCESS;
}
