/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/unit/guarded_topology.h - a topology whose table of functions ends at the end of a mapping (guarded.h). */
#ifndef TESTS_UNIT_GUARDED_TOPOLOGY_H
#define TESTS_UNIT_GUARDED_TOPOLOGY_H

#include <string.h>

#include "guarded.h"
#include "pcie_model/topology/topology.h"

struct guarded_topology {
	struct pcie_topology *topology;
	struct pcie_function *parsed;
};

static inline void guarded_topology_parse(struct guarded_topology *guarded, const char *yaml)
{
	char error[PCIE_ERROR_SIZE] = "";
	size_t bytes;

	if (pcie_topology_parse("test", yaml, strlen(yaml), &guarded->topology, error) < 0)
		fail_msg("%s", error);
	bytes = guarded->topology->num_functions * sizeof(*guarded->parsed);
	guarded->parsed = guarded->topology->functions;
	guarded->topology->functions = guarded_new(bytes);
	memcpy(guarded->topology->functions, guarded->parsed, bytes);
}

static inline void guarded_topology_destroy(struct guarded_topology *guarded)
{
	guarded_free(guarded->topology->functions, guarded->topology->num_functions * sizeof(*guarded->parsed));
	guarded->topology->functions = guarded->parsed;
	pcie_topology_destroy(guarded->topology);
}

#endif
