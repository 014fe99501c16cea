/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices of a memory map that the program has not added. */
#include "mmap_priv.h"
#include "shim/common/dev/dev_priv.h"

bool shim_mmap_has_dpa_dev(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	const struct pcie_function *function = shim_dev_function(dev);

	return function->caps.dpa && function->card == shim_dev_function(mmap->devs[0])->card;
}
