/* SPDX-License-Identifier: BSD-3-Clause */
#include "chunks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core.h"
#include "shim/common/check.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct workq_chunked *all;
static atomic_uint num_chunked; /* spares programs of 2.2 the lock */

struct workq_chunked *workq_chunked_of(const struct doca_mmap *mmap)
{
	struct workq_chunked *found;

	if (atomic_load_explicit(&num_chunked, memory_order_relaxed) == 0)
		return NULL;
	pthread_mutex_lock(&lock);
	found = all;
	while (found && found->mmap != mmap)
		found = found->next;
	pthread_mutex_unlock(&lock);
	return found;
}

struct workq_chunked *workq_chunked_get(struct doca_mmap *mmap)
{
	struct workq_chunked *chunked = workq_chunked_of(mmap);

	if (chunked)
		return chunked;
	chunked = calloc(1, sizeof(*chunked));
	if (!chunked)
		return NULL;
	chunked->mmap = mmap;
	chunked->max_chunks = WORKQ_DEFAULT_MAX_CHUNKS;
	pthread_mutex_lock(&lock);
	chunked->next = all;
	all = chunked;
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&num_chunked, 1);
	return chunked;
}

static bool has_buffers(const struct workq_chunked *chunked)
{
	uint32_t total = 0, count;

	for (uint32_t i = 0; i < chunked->num_chunks; i++)
		if (doca_mmap_get_num_bufs(chunked->chunks[i].core, &count) == DOCA_SUCCESS)
			total += count;
	return total > 0;
}

static void unlist(struct workq_chunked *chunked)
{
	struct workq_chunked **link;

	pthread_mutex_lock(&lock);
	link = &all;
	while (*link != chunked)
		link = &(*link)->next;
	*link = chunked->next;
	pthread_mutex_unlock(&lock);
	atomic_fetch_sub(&num_chunked, 1);
}

doca_error_t workq_chunked_drop(const char *func, struct workq_chunked *chunked)
{
	if (!chunked)
		return DOCA_SUCCESS;
	if (has_buffers(chunked)) {
		sim_err("%s: buffers still point into the memory map; return them with doca_buf_refcount_rm() first", func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	unlist(chunked);
	for (uint32_t i = 1; i < chunked->num_chunks; i++)
		core_mmap_destroy(chunked->chunks[i].core);
	free(chunked->chunks);
	free(chunked->devs);
	free(chunked);
	return DOCA_SUCCESS;
}

struct doca_mmap *workq_core_map(struct doca_mmap *mmap, const void *addr)
{
	const struct workq_chunked *chunked = workq_chunked_of(mmap);

	for (uint32_t i = 0; chunked && i < chunked->num_chunks; i++) {
		const struct workq_chunk *chunk = &chunked->chunks[i];

		if ((const char *)addr >= chunk->addr && (const char *)addr < chunk->addr + chunk->len)
			return chunk->core;
	}
	return mmap;
}

/* ---- the public face ---- */

doca_error_t doca_mmap_set_max_num_chunks(struct doca_mmap *mmap, uint32_t max_num_chunks)
{
	struct workq_chunked *chunked;

	SHIM_NEED(mmap, SHIM_MMAP);
	if (max_num_chunks == 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "no chunks at all");
	chunked = workq_chunked_get(mmap);
	if (!chunked)
		return DOCA_ERROR_NO_MEMORY;
	if (chunked->chunks)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the map was started already");
	chunked->max_chunks = max_num_chunks;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_max_num_chunks(struct doca_mmap *mmap, uint32_t *max_num_chunks)
{
	const struct workq_chunked *chunked;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(max_num_chunks);
	chunked = workq_chunked_of(mmap);
	*max_num_chunks = chunked ? chunked->max_chunks : WORKQ_DEFAULT_MAX_CHUNKS;
	return DOCA_SUCCESS;
}

/* Why the chunk can't be added; DOCA_SUCCESS = it can. */
static doca_error_t check_chunk(const struct workq_chunked *chunked, const char *addr, size_t len, size_t pg_sz)
{
	const char *func = "doca_mmap_populate";

	if (!addr || len == 0 || (uintptr_t)addr + len < (uintptr_t)addr || pg_sz < 4096 || (pg_sz & (pg_sz - 1))) {
		sim_err("%s: %s", func, addr && len ? "the range wraps around, or the page size is no power of two of at least 4096" :
						      "the range is empty");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!chunked || !chunked->started || chunked->exported) {
		sim_err("%s: the map is %s", func, chunked && chunked->exported ? "exported already" :
			"not started without a range of its own: start it, then add devices and chunks");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (chunked->num_chunks == chunked->max_chunks) {
		sim_err("%s: the map has %u chunks, its maximum; see doca_mmap_set_max_num_chunks()", func, chunked->max_chunks);
		return DOCA_ERROR_NO_MEMORY;
	}
	for (uint32_t i = 0; i < chunked->num_chunks; i++) {
		const struct workq_chunk *chunk = &chunked->chunks[i];

		if (addr < chunk->addr + chunk->len && chunk->addr < addr + len) {
			sim_err("%s: the range meets a chunk of the map", func);
			return DOCA_ERROR_NOT_PERMITTED;
		}
	}
	return DOCA_SUCCESS;
}

/* A map of the core's for a further chunk, with the devices of the first. */
static doca_error_t create_further(const struct workq_chunked *chunked, struct doca_mmap **ret_core)
{
	doca_error_t result = core_mmap_create(ret_core);

	for (uint32_t i = 0; result == DOCA_SUCCESS && i < chunked->num_devs; i++) {
		result = core_mmap_add_dev(*ret_core, chunked->devs[i]);
		if (result != DOCA_SUCCESS)
			core_mmap_destroy(*ret_core);
	}
	return result;
}

/* 1.5 asks for no permissions: everyone may do everything. */
static doca_error_t start_core(struct doca_mmap *core, void *addr, size_t len,
			       doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	doca_error_t result = doca_mmap_set_memrange(core, addr, len);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(core, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
	if (result == DOCA_SUCCESS && free_cb)
		result = doca_mmap_set_free_cb(core, free_cb, opaque);
	return result == DOCA_SUCCESS ? core_mmap_start(core) : result;
}

doca_error_t doca_mmap_populate(struct doca_mmap *mmap, void *addr, size_t len, size_t pg_sz,
				doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	struct workq_chunked *chunked;
	struct doca_mmap *core = mmap;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	chunked = workq_chunked_of(mmap);
	result = check_chunk(chunked, addr, len, pg_sz);
	if (result != DOCA_SUCCESS)
		return result;
	if (chunked->num_devs == 0)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the map has no device; call doca_mmap_dev_add() first");
	if (chunked->num_chunks > 0)
		result = create_further(chunked, &core);
	if (result != DOCA_SUCCESS)
		return result;
	result = start_core(core, addr, len, free_cb, opaque);
	if (result != DOCA_SUCCESS) {
		if (core != mmap)
			core_mmap_destroy(core);
		return result;
	}
	chunked->chunks[chunked->num_chunks++] = (struct workq_chunk){.addr = addr, .len = len, .core = core};
	return DOCA_SUCCESS;
}
