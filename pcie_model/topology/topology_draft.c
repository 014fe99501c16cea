/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of fields, for the error messages of all steps. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "topology_draft_priv.h"

void pcie_draft_path(const struct pcie_draft_function *function, const char *field, char path[PCIE_FIELD_PATH_SIZE])
{
	snprintf(path, PCIE_FIELD_PATH_SIZE, "cards[%u].functions[%u].%s", function->final->card,
		 pcie_draft_file_index(function), function->yaml->implied_by ? function->yaml->implied_by : field);
}

int pcie_parse_parent(const char *text, const char *own_side, char ret_side[PCIE_SIDE_SIZE], struct pcie_addr *ret_addr)
{
	const char *slash = strrchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(own_side);

	if (len >= PCIE_SIDE_SIZE || pcie_addr_parse(slash ? slash + 1 : text, ret_addr))
		return -EINVAL;
	memcpy(ret_side, slash ? text : own_side, len);
	ret_side[len] = '\0';
	return 0;
}
