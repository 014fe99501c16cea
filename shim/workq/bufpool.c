/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffer pools: creation takes the whole configuration. The core has the pools and the other functions. */
#include <doca_bufpool.h>

#include "buf_priv.h"
#include "mmap_chunks.h"
#include "core_api.h"
#include "shim/common/base/check.h"

static struct doca_buf_pool *to_core_pool(struct doca_bufpool *bufpool)
{
	return (struct doca_buf_pool *)bufpool;
}

/* BAD_STATE for a map without a range, INVALID_VALUE for one with several chunks. */
static doca_error_t check_pool_mmap(const struct doca_mmap *mmap)
{
	static const char func[] = "doca_bufpool_create";
	const struct workq_chunk_list *list = workq_chunk_list_find(mmap);

	if (!mmap->range_set) {
		sim_err("%s: the memory map has no range; see doca_mmap_set_memrange() or doca_mmap_populate()", func);
		return DOCA_ERROR_BAD_STATE;
	}
	if (list && list->num_chunks > 1) {
		sim_err("%s: the memory map has %u chunks; a pool is over one range", func, list->num_chunks);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* An alignment of 0 means none. */
static doca_error_t configure_pool(struct doca_buf_pool *core_pool, const union doca_data *user_data, size_t alignment)
{
	if (user_data)
		core_buf_pool_set_user_data(core_pool, *user_data);
	return core_buf_pool_set_element_alignment(core_pool, alignment ? alignment : 1);
}

doca_error_t doca_bufpool_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
				 size_t element_size, size_t element_alignment, const struct doca_mmap *mmap,
				 struct doca_bufpool **bufpool)
{
	struct doca_buf_pool *core_pool;
	doca_error_t result = workq_check_extensions(__func__, extensions);

	if (result != DOCA_SUCCESS)
		return result;
	SHIM_NEED_OUT(bufpool);
	SHIM_NEED(mmap, SHIM_MMAP);
	result = check_pool_mmap(mmap);
	if (result == DOCA_SUCCESS)
		result = core_buf_pool_create(num_elements, element_size, mmap, &core_pool);
	if (result != DOCA_SUCCESS)
		return result;
	result = configure_pool(core_pool, user_data, element_alignment);
	if (result != DOCA_SUCCESS)
		doca_bufpool_destroy((struct doca_bufpool *)core_pool);
	else
		*bufpool = (struct doca_bufpool *)core_pool;
	return result;
}

/* The references of the generations differ in the codes for a map that is too small, and for an empty pool. */
doca_error_t doca_bufpool_start(struct doca_bufpool *bufpool)
{
	doca_error_t result = core_buf_pool_start(to_core_pool(bufpool));

	return result == DOCA_ERROR_INITIALIZATION ? DOCA_ERROR_INVALID_VALUE : result;
}

/* In this generation a pool may stop while the program holds buffers. */
doca_error_t doca_bufpool_stop(struct doca_bufpool *bufpool)
{
	SHIM_NEED(bufpool, SHIM_BUF_POOL);
	shim_buf_pool_force_stop(to_core_pool(bufpool));
	return DOCA_SUCCESS;
}

doca_error_t doca_bufpool_buf_alloc(struct doca_bufpool *bufpool, struct doca_buf **buf)
{
	doca_error_t result = core_buf_pool_buf_alloc(to_core_pool(bufpool), buf);

	return result == DOCA_ERROR_EMPTY ? DOCA_ERROR_NO_MEMORY : result;
}
