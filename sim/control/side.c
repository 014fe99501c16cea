/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a side name, with a message that lists the valid names. */
#include "side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/last_error.h"

static void append_side_name(void *arg, const char *side)
{
	FILE *names = arg;

	fprintf(names, "%s%s", ftell(names) > 0 ? ", " : "", side);
}

int sim_side_check(const struct pcie_topology *topology, const char *where, const char *side)
{
	char *names = NULL;
	size_t len;
	FILE *out;

	if (pcie_topology_has_side(topology, side))
		return 0;
	out = open_memstream(&names, &len);
	if (out) {
		pcie_topology_for_each_side(topology, append_side_name, out);
		fclose(out);
	}
	sim_set_error(-ENOENT, "%s has no side \"%s\"%s; its sides are: %s", where, side,
		      pcie_topology_describe_no_side(topology, side), names ? names : "(out of memory)");
	free(names);
	return -ENOENT;
}
