/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of fields, for the error messages of all steps. */
#include <stdio.h>

#include "topology_draft_priv.h"

void pcie_draft_path(const struct pcie_draft_function *function, const char *field, char path[PCIE_FIELD_PATH_SIZE])
{
	snprintf(path, PCIE_FIELD_PATH_SIZE, "cards[%u].functions[%u].%s", function->final->card,
		 pcie_draft_file_index(function), function->yaml->implied_by ? function->yaml->implied_by : field);
}
