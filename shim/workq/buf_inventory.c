/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffer inventories: creation takes the whole configuration. The core has the other functions. */
#include <doca_buf_inventory.h>

#include "buf_priv.h"
#include "mmap_chunks.h"
#include "core_api.h"
#include "shim/common/base/check.h"

doca_error_t workq_check_extensions(const char *func, uint32_t extensions)
{
	if (extensions == DOCA_BUF_EXTENSION_NONE)
		return DOCA_SUCCESS;
	sim_err("%s: extensions %#x; there are none", func, extensions);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
				       struct doca_buf_inventory **buf_inventory)
{
	doca_error_t result = workq_check_extensions(__func__, extensions);

	if (result == DOCA_SUCCESS)
		result = core_buf_inventory_create(num_elements, buf_inventory);
	if (result == DOCA_SUCCESS && user_data)
		core_buf_inventory_set_user_data(*buf_inventory, *user_data);
	return result;
}

doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr,
					    size_t len, void *data, size_t data_len, struct doca_buf **buf)
{
	return core_buf_inventory_buf_get_by_args(inventory, workq_find_core_mmap(mmap, addr), addr, len, data,
						  data_len, buf);
}
