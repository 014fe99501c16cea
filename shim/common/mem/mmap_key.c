/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory keys of a memory map, one for each of its devices. Kernels of a DPA have them as handles (mmap_dpa.c); else nothing here
 * accesses memory by such a key: programs hand it to what bfsim does not simulate (verbs, GPUs). */
#include <stdatomic.h>

#include "shim/common/base/check.h"
#include "mmap_priv.h"

#define INDEX_BITS   24
#define VARIANT_BITS 8
#define NUM_INDEXES  ((UINT64_C(1) << INDEX_BITS) - 1) /* 0 is no index */

/* A map of a DPA's heap has one more, for all devices besides its own. */
static uint64_t num_keys(const struct doca_mmap *mmap)
{
	return mmap->num_devs + mmap->is_dpa_memory;
}

void shim_mmap_take_keys(struct doca_mmap *mmap)
{
	static atomic_uint_fast64_t num_taken;

	mmap->first_key = atomic_fetch_add(&num_taken, num_keys(mmap));
}

/* As on a card: an index, and a variant that is another one when the index is used again. */
static uint32_t key_of_number(uint64_t number)
{
	uint64_t index = number % NUM_INDEXES + 1, variant = number / NUM_INDEXES;

	return (uint32_t)(index << VARIANT_BITS | (variant & ((1 << VARIANT_BITS) - 1)));
}

uint32_t shim_mmap_key(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	uint32_t i = 0;

	while (i < mmap->num_devs && mmap->devs[i] != dev)
		i++;
	return key_of_number(mmap->first_key + i);
}

doca_error_t doca_mmap_get_mkey(const struct doca_mmap *mmap, const struct doca_dev *dev, uint32_t *mkey)
{
	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(mkey);
	if (!shim_mmap_is_usable(mmap))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the memory map is not started; start it first");
	if (!shim_mmap_has_dev(mmap, dev))
		return SHIM_REFUSE(
			DOCA_ERROR_NOT_FOUND,
			"the device is not in the memory map; add it with doca_mmap_add_dev() before the start");
	*mkey = shim_mmap_key(mmap, dev);
	return DOCA_SUCCESS;
}
