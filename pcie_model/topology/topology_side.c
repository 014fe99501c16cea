/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the values of sides: the machines that see the functions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value_parse_priv.h"
#include "topology_draft_priv.h"

#define KIB 1024u

static int side_error(const struct pcie_draft *draft, uint32_t index, const char *field, const char *quoted,
		      const char *reason)
{
	char path[PCIE_FIELD_PATH_SIZE];

	snprintf(path, sizeof(path), "sides[%u].%s", index, field);
	return pcie_yaml_error_at(draft->doc, path, PCIE_QUOTE " %s", quoted, reason);
}

static int read_name(const struct pcie_draft *draft, uint32_t index)
{
	struct pcie_topology *topology = draft->topology;
	const char *name = draft->yaml.sides[index].name;

	if (!pcie_topology_has_side(topology, name))
		return side_error(draft, index, "name", name, "is not the side of any function");
	for (uint32_t i = 0; i < index; i++)
		if (strcmp(topology->sides[i].name, name) == 0)
			return side_error(draft, index, "name", name, "is described twice; remove one");
	strcpy(topology->sides[index].name, name);
	return 0;
}

/* Those that Linux on Arm can be built with. */
static int read_page_size(const struct pcie_draft *draft, uint32_t index)
{
	const char *text = draft->yaml.sides[index].page_size;
	uint64_t bytes = PCIE_DEFAULT_PAGE_BYTES;

	if (text && (pcie_parse_bytes(text, &bytes) || (bytes != 4 * KIB && bytes != 16 * KIB && bytes != 64 * KIB)))
		return side_error(draft, index, "page-size", text, "is not a page size; write 4 KiB, 16 KiB or 64 KiB");
	draft->topology->sides[index].page_bytes = (uint32_t)bytes;
	return 0;
}

int pcie_draft_read_sides(struct pcie_draft *draft)
{
	uint32_t count = draft->yaml.num_sides;
	int rc = 0;

	if (count == 0)
		return 0;
	draft->topology->sides = calloc(count, sizeof(*draft->topology->sides));
	if (!draft->topology->sides)
		return -ENOMEM;
	draft->topology->num_sides = count;
	for (uint32_t i = 0; !rc && i < count; i++) {
		rc = read_name(draft, i);
		if (!rc)
			rc = read_page_size(draft, i);
	}
	return rc;
}
