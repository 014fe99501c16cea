/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories and pools: configured when they are created. */
#include <doca_buf_inventory.h>
#include <doca_bufpool.h>

#include "chunks.h"
#include "core.h"
#include "shim/common/check.h"

static doca_error_t check_extensions(const char *func, uint32_t extensions)
{
	if (extensions == DOCA_BUF_EXTENSION_NONE)
		return DOCA_SUCCESS;
	sim_err("%s: extensions %#x; there are none", func, extensions);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
				       struct doca_buf_inventory **buf_inventory)
{
	doca_error_t result = check_extensions(__func__, extensions);

	if (result == DOCA_SUCCESS)
		result = core_buf_inventory_create(num_elements, buf_inventory);
	if (result == DOCA_SUCCESS && user_data)
		core_buf_inventory_set_user_data(*buf_inventory, *user_data);
	return result;
}

doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr,
					    size_t len, void *data, size_t data_len, struct doca_buf **buf)
{
	return core_buf_inventory_buf_get_by_args(inventory, workq_core_map(mmap, addr), addr, len, data, data_len, buf);
}

doca_error_t doca_bufpool_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
				 size_t element_size, size_t element_alignment, const struct doca_mmap *mmap,
				 struct doca_bufpool **bufpool)
{
	struct doca_buf_pool *core;
	doca_error_t result = check_extensions(__func__, extensions);

	SHIM_NEED_OUT(bufpool);
	SHIM_NEED(mmap, SHIM_MMAP);
	if (workq_chunked_of(mmap) && workq_chunked_of(mmap)->num_chunks > 1)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the memory map has %u chunks; a pool is over one range",
				   workq_chunked_of(mmap)->num_chunks);
	if (result == DOCA_SUCCESS)
		result = core_buf_pool_create(num_elements, element_size, mmap, &core);
	if (result != DOCA_SUCCESS)
		return result;
	if (user_data)
		core_buf_pool_set_user_data(core, *user_data);
	result = core_buf_pool_set_element_alignment(core, element_alignment);
	if (result != DOCA_SUCCESS)
		doca_bufpool_destroy((struct doca_bufpool *)core);
	else
		*bufpool = (struct doca_bufpool *)core; /* the same object: the core has the other functions */
	return result;
}
