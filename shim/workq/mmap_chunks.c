/* SPDX-License-Identifier: BSD-3-Clause */
/* The chunks of memory maps in the order of 1.5, and the functions that concern them. */
#include "mmap_chunks.h"

#include <stdlib.h>

#include "core_api.h"
#include "shim/common/base/check.h"

struct workq_chunk_list *workq_chunk_list_get_or_create(struct doca_mmap *mmap)
{
	struct workq_chunk_list *list = mmap->compat;

	if (list)
		return list;
	list = calloc(1, sizeof(*list));
	if (list)
		list->max_chunks = WORKQ_DEFAULT_MAX_CHUNKS;
	mmap->compat = list;
	return list;
}

uint32_t workq_chunks_num_bufs(const struct workq_chunk_list *list)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < list->num_chunks; i++)
		total += shim_mmap_num_bufs(list->chunks[i].core_mmap);
	return total;
}

/* The map itself stops first: only the first chunk may have pools, which prevent the stop. */
doca_error_t workq_chunks_stop(const char *func, const struct workq_chunk_list *list)
{
	doca_error_t result = DOCA_SUCCESS;

	if (workq_chunks_num_bufs(list) > 0) {
		sim_err("%s: %u buffer(s) still point into the memory map; return them with doca_buf_refcount_rm() first",
			func, workq_chunks_num_bufs(list));
		return DOCA_ERROR_NOT_PERMITTED;
	}
	for (uint32_t i = 0; i < list->num_chunks && result == DOCA_SUCCESS; i++)
		result = core_mmap_stop(list->chunks[i].core_mmap);
	return result;
}

doca_error_t workq_chunks_start(const char *func, const struct workq_chunk_list *list)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < list->num_chunks && result == DOCA_SUCCESS; i++)
		result = shim_mmap_register(func, list->chunks[i].core_mmap);
	return result;
}

void workq_chunks_resume(const struct workq_chunk_list *list)
{
	for (uint32_t i = 0; i < list->num_chunks; i++)
		shim_mmap_set_state(list->chunks[i].core_mmap, SHIM_MMAP_STARTED);
}

doca_error_t workq_chunks_check_memory(const char *func, const struct workq_chunk_list *list)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < list->num_chunks && result == DOCA_SUCCESS; i++)
		result = shim_mmap_probe(func, list->chunks[i].core_mmap, true);
	return result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_NOT_PERMITTED;
}

void workq_chunk_list_destroy(struct workq_chunk_list *list)
{
	if (!list)
		return;
	for (uint32_t i = 0; i < list->num_chunks; i++) {
		const struct workq_chunk *chunk = &list->chunks[i];

		if (i > 0)
			core_mmap_destroy(chunk->core_mmap);
		if (chunk->free_cb)
			chunk->free_cb(chunk->addr, chunk->len, chunk->opaque);
	}
	free(list->chunks);
	free(list);
}

struct doca_mmap *workq_find_core_mmap(struct doca_mmap *mmap, const void *addr)
{
	const struct workq_chunk_list *list = shim_object_is(mmap, SHIM_MMAP) ? workq_chunk_list_find(mmap) : NULL;

	for (uint32_t i = 0; list && i < list->num_chunks; i++) {
		const struct workq_chunk *chunk = &list->chunks[i];

		if ((const char *)addr >= chunk->addr && (const char *)addr < chunk->addr + chunk->len)
			return chunk->core_mmap;
	}
	return mmap;
}

doca_error_t doca_mmap_set_max_num_chunks(struct doca_mmap *mmap, uint32_t max_num_chunks)
{
	struct workq_chunk_list *list;

	SHIM_NEED(mmap, SHIM_MMAP);
	if (max_num_chunks == 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "no chunks at all");
	if (shim_mmap_is_imported(mmap))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED,
				   "the memory map was created from an export; it can't be changed");
	list = workq_chunk_list_get_or_create(mmap);
	if (!list)
		return DOCA_ERROR_NO_MEMORY;
	if (list->was_started || shim_mmap_state(mmap) != SHIM_MMAP_NEW)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map was started before; set it earlier");
	list->max_chunks = max_num_chunks;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_max_num_chunks(struct doca_mmap *mmap, uint32_t *max_num_chunks)
{
	const struct workq_chunk_list *list;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(max_num_chunks);
	list = workq_chunk_list_find(mmap);
	*max_num_chunks = list ? list->max_chunks : WORKQ_DEFAULT_MAX_CHUNKS;
	return DOCA_SUCCESS;
}

static bool overlaps_chunk(const struct workq_chunk_list *list, const char *addr, size_t len)
{
	for (uint32_t i = 0; i < list->num_chunks; i++) {
		const struct workq_chunk *chunk = &list->chunks[i];

		if (addr < chunk->addr + chunk->len && chunk->addr < addr + len)
			return true;
	}
	return false;
}

/* May the chunk be added to the map? */
static doca_error_t check_chunk(const struct doca_mmap *mmap, const char *addr, size_t len)
{
	static const char func[] = "doca_mmap_populate";
	const struct workq_chunk_list *list = workq_chunk_list_find(mmap);

	if (!list || !list->started || shim_mmap_was_exported(mmap) || shim_mmap_is_imported(mmap)) {
		sim_err("%s: the memory map is %s", func,
			shim_mmap_was_exported(mmap) ?
				"exported already" :
			shim_mmap_is_imported(mmap) ?
				"created from an export" :
				"not started without a range of its own: start it, then add devices and chunks");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (list->num_chunks >= list->max_chunks) {
		sim_err("%s: the memory map has %u chunks, its maximum; see doca_mmap_set_max_num_chunks()", func,
			list->max_chunks);
		return DOCA_ERROR_NO_MEMORY;
	}
	if (overlaps_chunk(list, addr, len)) {
		sim_err("%s: %p, %zu bytes, overlaps a chunk of the memory map", func, (const void *)addr, len);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

static bool reserve_chunk(struct workq_chunk_list *list)
{
	uint32_t capacity = list->capacity ? 2 * list->capacity : 4;
	struct workq_chunk *grown;

	if (list->num_chunks < list->capacity)
		return true;
	grown = realloc(list->chunks, capacity * sizeof(*grown));
	if (!grown)
		return false;
	list->chunks = grown;
	list->capacity = capacity;
	return true;
}

/* Create a map of the core for a further chunk, with the devices of the first. */
static doca_error_t create_extra_mmap(const struct doca_mmap *first, struct doca_mmap **ret_core_mmap)
{
	doca_error_t result = core_mmap_create(ret_core_mmap);

	if (result != DOCA_SUCCESS)
		return result;
	result = core_mmap_set_max_num_devices(*ret_core_mmap, first->max_devs);
	for (uint32_t i = 0; i < first->num_devs && result == DOCA_SUCCESS; i++)
		result = core_mmap_add_dev(*ret_core_mmap, first->devs[i]);
	if (result != DOCA_SUCCESS)
		core_mmap_destroy(*ret_core_mmap);
	return result;
}

/* 1.5 has no permissions: both sides may read and write. A failure means, in its terms, that the
 * memory can't be registered with the device. */
static doca_error_t configure_core_mmap(struct doca_mmap *core_mmap, void *addr, size_t len)
{
	doca_error_t result = core_mmap_set_memrange(core_mmap, addr, len);

	if (result == DOCA_SUCCESS)
		result =
			core_mmap_set_permissions(core_mmap, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = shim_mmap_register("doca_mmap_populate", core_mmap);
	return result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_NOT_PERMITTED;
}

/* Set up the map of a chunk. The first chunk has the map itself, which is unchanged on failure. */
static doca_error_t create_core_mmap(struct doca_mmap *mmap, void *addr, size_t len, struct doca_mmap **ret_core_mmap)
{
	bool is_first = workq_chunk_list_find(mmap)->num_chunks == 0;
	doca_error_t result = DOCA_SUCCESS;

	if (is_first)
		*ret_core_mmap = mmap;
	else
		result = create_extra_mmap(mmap, ret_core_mmap);
	if (result != DOCA_SUCCESS)
		return result;
	result = configure_core_mmap(*ret_core_mmap, addr, len);
	if (result == DOCA_SUCCESS)
		return result;
	if (is_first)
		mmap->range_set = false;
	else
		core_mmap_destroy(*ret_core_mmap);
	return result;
}

doca_error_t doca_mmap_populate(struct doca_mmap *mmap, void *addr, size_t len, size_t pg_sz,
				doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	struct workq_chunk_list *list;
	struct doca_mmap *core_mmap;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	if (!addr || len == 0 || (uintptr_t)addr + len < (uintptr_t)addr)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%p, %zu bytes, is %s", addr, len,
				   addr && len ? "beyond the address space" : "empty; give an address and a length");
	if (pg_sz < 4096 || (pg_sz & (pg_sz - 1)))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "a page size of %zu; give a power of two of at least 4096",
				   pg_sz);
	result = check_chunk(mmap, addr, len);
	if (result != DOCA_SUCCESS)
		return result;
	list = workq_chunk_list_find(mmap);
	if (!reserve_chunk(list))
		return DOCA_ERROR_NO_MEMORY;
	result = create_core_mmap(mmap, addr, len, &core_mmap);
	if (result == DOCA_SUCCESS)
		list->chunks[list->num_chunks++] = (struct workq_chunk){
			.addr = addr, .len = len, .core_mmap = core_mmap, .free_cb = free_cb, .opaque = opaque
		};
	return result;
}
