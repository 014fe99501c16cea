/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of sides. */
#include <string.h>

#include "topology.h"

bool pcie_side_is_dpu(const char *side)
{
	const char *slash = strrchr(side, '/');

	return strcmp(slash ? slash + 1 : side, "dpu") == 0;
}
