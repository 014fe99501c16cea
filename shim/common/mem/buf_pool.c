/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools: freelists of buffers with fixed ranges in one memory map. */
#include <doca_buf_pool.h>

#include "buf_priv.h"
#include "shim/common/base/check.h"

struct doca_buf_pool {
	struct shim_object object;
	bool started;
	struct shim_buf_freelist freelist; /* one block; an element's index gives its address */
	size_t element_bytes;
	size_t alignment; /* of an element's address; a power of two */
	struct doca_mmap *mmap;
	uint64_t mmap_serial; /* differs from the serial of @mmap if a thread-safe map is gone */
	uint8_t *first;       /* address of element 0, while started */
	size_t stride;        /* from one element to the next, while started */
	union doca_data user_data;
};

/* Return from the public function unless the pool is stopped. */
#define NEED_STOPPED(pool)                                                                              \
	do {                                                                                            \
		SHIM_NEED((pool), SHIM_BUF_POOL);                                                       \
		if ((pool)->started)                                                                    \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the pool is started; stop it first"); \
	} while (0)

static bool has_usable_mmap(const struct doca_buf_pool *pool)
{
	return shim_mmap_is_same(pool->mmap, pool->mmap_serial) && shim_mmap_is_usable(pool->mmap);
}

static doca_error_t check_create(const char *func, size_t num_elements, size_t element_size,
				 const struct doca_mmap *mmap)
{
	if (num_elements == 0 || num_elements > UINT32_MAX || element_size == 0) {
		sim_err("%s: %zu elements of %zu bytes; give 1 to %u elements of 1 byte or more", func, num_elements,
			element_size, UINT32_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!mmap->range_set) {
		sim_err("%s: the memory map has no range; call doca_mmap_set_memrange() first", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* The map is const for the application, which sees no change of it; bfsim counts the map's pools. */
static void hold_mmap(struct doca_buf_pool *pool, const struct doca_mmap *mmap)
{
	pool->mmap = (struct doca_mmap *)mmap;
	pool->mmap_serial = mmap->serial;
	pool->mmap->num_users++;
}

static void release_mmap(struct doca_buf_pool *pool)
{
	if (shim_mmap_is_same(pool->mmap, pool->mmap_serial))
		pool->mmap->num_users--;
}

doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
				  struct doca_buf_pool **buf_pool)
{
	struct doca_buf_pool *created;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(buf_pool);
	result = check_create(__func__, num_elements, element_size, mmap);
	if (result != DOCA_SUCCESS)
		return result;
	created = shim_object_new(SHIM_BUF_POOL, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	if (!shim_buf_freelist_grow(&created->freelist, num_elements)) {
		shim_object_free(created, SHIM_BUF_POOL);
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "no memory for %zu elements", num_elements);
	}
	created->freelist.has_fixed_ranges = true;
	created->element_bytes = element_size;
	created->alignment = 1;
	hold_mmap(created, mmap);
	*buf_pool = created;
	return DOCA_SUCCESS;
}

static doca_error_t check_none_in_use(const char *func, const struct doca_buf_pool *pool)
{
	uint32_t num_in_use = shim_buf_freelist_num_in_use(&pool->freelist);

	if (num_in_use == 0)
		return DOCA_SUCCESS;
	sim_err("%s: %u of its buffers were not returned; see doca_buf_dec_refcount()", func, num_in_use);
	return DOCA_ERROR_IN_USE;
}

doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool)
{
	doca_error_t result;

	SHIM_NEED(buf_pool, SHIM_BUF_POOL);
	result = check_none_in_use(__func__, buf_pool);
	if (result != DOCA_SUCCESS)
		return result;
	release_mmap(buf_pool);
	shim_buf_freelist_fini(&buf_pool->freelist);
	shim_object_free(buf_pool, SHIM_BUF_POOL);
	return DOCA_SUCCESS;
}

/* Return the distance from the map's start to the first element. */
static size_t alignment_padding(const struct doca_buf_pool *pool)
{
	return -(uintptr_t)pool->mmap->addr & (pool->alignment - 1);
}

/* Return the distance from the map's start to the end of the last element; SIZE_MAX on overflow. */
static size_t bytes_needed(const struct doca_buf_pool *pool)
{
	size_t needed;

	if (__builtin_add_overflow(pool->element_bytes, pool->alignment - 1, &needed) ||
	    __builtin_mul_overflow(needed & ~(pool->alignment - 1), pool->freelist.num_elements - 1, &needed) ||
	    __builtin_add_overflow(needed, pool->element_bytes, &needed) ||
	    __builtin_add_overflow(needed, alignment_padding(pool), &needed))
		return SIZE_MAX;
	return needed;
}

doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool)
{
	SHIM_NEED(buf_pool, SHIM_BUF_POOL);
	if (buf_pool->started)
		return DOCA_SUCCESS;
	if (!has_usable_mmap(buf_pool))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the memory map is not started");
	if (bytes_needed(buf_pool) > buf_pool->mmap->len_bytes)
		return SHIM_REFUSE(DOCA_ERROR_INITIALIZATION,
				   "%u elements of %zu bytes, aligned to %zu, need %zu bytes; the memory map has %zu",
				   buf_pool->freelist.num_elements, buf_pool->element_bytes, buf_pool->alignment,
				   bytes_needed(buf_pool), buf_pool->mmap->len_bytes);
	buf_pool->first = buf_pool->mmap->addr + alignment_padding(buf_pool);
	buf_pool->stride = (buf_pool->element_bytes + buf_pool->alignment - 1) & ~(buf_pool->alignment - 1);
	buf_pool->started = true;
	return DOCA_SUCCESS;
}

void shim_buf_pool_force_stop(struct doca_buf_pool *buf_pool)
{
	buf_pool->started = false;
}

doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool)
{
	doca_error_t result;

	SHIM_NEED(buf_pool, SHIM_BUF_POOL);
	result = check_none_in_use(__func__, buf_pool);
	if (result == DOCA_SUCCESS)
		shim_buf_pool_force_stop(buf_pool);
	return result;
}

doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf)
{
	struct doca_buf *new_buf;
	uint8_t *addr;

	SHIM_NEED_FAST(buf_pool, SHIM_BUF_POOL);
	SHIM_NEED_OUT(buf);
	if (doca_unlikely(!buf_pool->started || !has_usable_mmap(buf_pool)))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the %s is not started",
				   buf_pool->started ? "pool's memory map" : "pool");
	new_buf = shim_buf_alloc(&buf_pool->freelist, buf_pool->mmap);
	if (doca_unlikely(!new_buf))
		return SHIM_REFUSE(DOCA_ERROR_EMPTY,
				   "all %u buffers of the pool are in use; see doca_buf_dec_refcount()",
				   buf_pool->freelist.num_elements);
	addr = buf_pool->first + shim_buf_freelist_index(&buf_pool->freelist, new_buf) * buf_pool->stride;
	shim_buf_set_range(new_buf, addr, buf_pool->element_bytes, addr, 0);
	*buf = new_buf;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data)
{
	NEED_STOPPED(buf_pool);
	buf_pool->user_data = user_data;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_buf_pool_get_user_data, const struct doca_buf_pool, buf_pool, SHIM_BUF_POOL, union doca_data,
		   user_data, buf_pool->user_data)

doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment)
{
	NEED_STOPPED(buf_pool);
	if (element_alignment == 0 || (element_alignment & (element_alignment - 1)) != 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%zu is not a power of two", element_alignment);
	buf_pool->alignment = element_alignment;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_buf_pool_get_element_alignment, const struct doca_buf_pool, buf_pool, SHIM_BUF_POOL, size_t,
		   element_alignment, buf_pool->alignment)
SHIM_DEFINE_GETTER(doca_buf_pool_get_num_elements, const struct doca_buf_pool, buf_pool, SHIM_BUF_POOL, uint32_t,
		   num_of_elements, buf_pool->freelist.num_elements)
SHIM_DEFINE_GETTER(doca_buf_pool_get_num_free_elements, const struct doca_buf_pool, buf_pool, SHIM_BUF_POOL, uint32_t,
		   num_of_free_elements, buf_pool->freelist.num_free)
