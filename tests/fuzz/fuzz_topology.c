/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a topology: either a topology that keeps its promises, or an
 * error text that names the file. Seeds are in corpus/topology. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/topology/topology.h"

#define FILE_NAME "fuzz.yaml"

/* Unlike assert(), not compiled out. */
static void promise(bool kept)
{
	if (!kept)
		abort();
}

static void check_function(const struct pcie_topology *topology, const struct pcie_function *function)
{
	char text[PCIE_ADDR_TEXT_SIZE];
	struct pcie_addr addr;

	promise(function->card < topology->num_cards);
	promise(pcie_topology_has_side(topology, function->side));
	promise(function->ibdev[0] && function->vuid[0]);
	promise(topology->functions[function->parent].type == PCIE_FUNC_PF);
	promise(topology->functions[function->parent].card == function->card);
	promise(!function->num_reps || pcie_side_is_dpu(function->side));

	pcie_addr_format(&function->addr, text);
	promise(pcie_addr_parse(text, &addr) == 0 && pcie_addr_equal(&addr, &function->addr));

	for (size_t i = 0; i < function->num_reps; i++) {
		const struct pcie_function *represented = &topology->functions[function->reps[i]];

		promise(function->reps[i] < topology->num_functions);
		promise(!pcie_side_is_dpu(represented->side) || represented->type != PCIE_FUNC_PF);
		promise(represented->card == function->card);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_topology *topology = NULL;
	char error[PCIE_ERROR_SIZE];
	int rc;

	rc = pcie_topology_parse(FILE_NAME, (const char *)data, size, &topology, error);
	if (rc) {
		promise(rc == -EINVAL && !topology);
		promise(strncmp(error, FILE_NAME ":", strlen(FILE_NAME ":")) == 0);
		promise(strlen(error) < PCIE_ERROR_SIZE && !strchr(error, '\n'));
		return 0;
	}
	promise(topology && !error[0] && topology->num_cards && topology->num_functions);
	for (size_t i = 0; i < topology->num_functions; i++) {
		promise(topology->functions[i].id == i);
		check_function(topology, &topology->functions[i]);
	}
	pcie_topology_destroy(topology);
	return 0;
}
