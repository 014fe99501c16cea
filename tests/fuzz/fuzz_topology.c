/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a topology: either a topology that keeps its promises, or an
 * error text that names the file. Seeds are in corpus/topology. */
#include <errno.h>

#include "fuzz_input.h"
#include "pcie_model/topology/topology.h"

#define FILE_NAME "fuzz.yaml"

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

static void check_end(const struct pcie_topology *topology, const struct pcie_link_end *end)
{
	promise(end->index < (end->is_switch ? topology->network.num_switches : topology->num_ports));
}

static void check_network(const struct pcie_topology *topology)
{
	const struct pcie_network *network = &topology->network;

	promise(topology->num_ports >= 1 && topology->num_ports <= PCIE_NET_MAX_PORTS);
	promise(network->num_switches <= PCIE_NET_MAX_SWITCHES && network->num_links <= PCIE_NET_MAX_LINKS);
	for (uint32_t i = 0; i < network->num_links; i++) {
		check_end(topology, &network->links[i].ends[0]);
		check_end(topology, &network->links[i].ends[1]);
		promise(network->links[i].loss_ppb < 1000000000);
	}
}

/* A path is as long as the path back, over stations that the shared state has. */
static void check_path(const struct pcie_topology *topology, const struct pcie_function *from,
		       const struct pcie_function *to)
{
	struct pcie_net_path path, back;
	int rc = pcie_topology_find_path(topology, from, to, &path);

	promise(rc == 0 || rc == -ENETUNREACH);
	promise(pcie_topology_find_path(topology, to, from, &back) == rc);
	if (rc < 0)
		return;
	promise(path.num_hops >= 1 && path.num_hops <= PCIE_NET_MAX_HOPS && path.num_hops == back.num_hops);
	promise(path.mtu_bytes >= 256 && path.mtu_bytes <= PCIE_NET_MAX_MTU);
	for (uint32_t i = 0; i < path.num_hops; i++)
		promise(path.hops[i].station < PCIE_NET_MAX_STATIONS);
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
		promise(topology->functions[i].port < topology->num_ports);
		check_path(topology, &topology->functions[0], &topology->functions[i]);
	}
	check_network(topology);
	pcie_topology_destroy(topology);
	return 0;
}
