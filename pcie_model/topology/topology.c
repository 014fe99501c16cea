/* SPDX-License-Identifier: BSD-3-Clause */
/* A topology: the steps that make it from YAML, and the built-in description. */
#include "topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "topology_draft_priv.h"

static const char default_yaml[] = "# One BlueField-3: two physical functions, each seen by the host and by the DPU.\n"
				   "cards:\n"
				   "  - name: card0\n"
				   "    profile: bluefield-3\n"
				   "    functions:\n"
				   "      - {side: dpu, type: pf, pci: \"03:00.0\", ibdev: mlx5_0, iface: p0,\n"
				   "         represents: [\"host/b1:00.0\"]}\n"
				   "      - {side: dpu, type: pf, pci: \"03:00.1\", ibdev: mlx5_1, iface: p1,\n"
				   "         represents: [\"host/b1:00.1\"]}\n"
				   "      - {side: host, type: pf, pci: \"b1:00.0\", ibdev: mlx5_0, iface: ens1f0np0,\n"
				   "         rep-iface: pf0hpf}\n"
				   "      - {side: host, type: pf, pci: \"b1:00.1\", ibdev: mlx5_1, iface: ens1f1np1,\n"
				   "         rep-iface: pf1hpf}\n";

const char *pcie_topology_default_yaml(void)
{
	return default_yaml;
}

static int build(struct pcie_draft *draft)
{
	int rc = pcie_yaml_load(draft->doc);

	if (!rc)
		rc = pcie_topology_yaml_read(draft->doc, &draft->yaml);
	if (!rc)
		rc = pcie_draft_expand(draft);
	if (!rc)
		rc = pcie_draft_read(draft);
	if (!rc)
		rc = pcie_draft_resolve_parents(draft);
	if (!rc)
		rc = pcie_draft_assign_representors(draft);
	if (!rc)
		rc = pcie_draft_fill_defaults(draft);
	if (!rc)
		rc = pcie_draft_check_unique(draft);
	if (!rc)
		rc = pcie_draft_read_sides(draft);
	if (!rc)
		rc = pcie_draft_apply_modes(draft);
	if (!rc)
		rc = pcie_draft_read_network(draft);
	return rc;
}

int pcie_topology_parse(const char *name, const char *yaml, size_t len, struct pcie_topology **ret_topology,
			char error[PCIE_ERROR_SIZE])
{
	struct pcie_yaml_doc doc = { .name = name,
				     .text = yaml,
				     .len = len,
				     .error = error,
				     .error_size = PCIE_ERROR_SIZE,
				     .needs = "\"cards:\" and a list" };
	struct pcie_draft draft = { .doc = &doc };
	int rc = -ENOMEM;

	error[0] = '\0';
	draft.topology = calloc(1, sizeof(*draft.topology));
	if (draft.topology)
		rc = build(&draft);
	pcie_yaml_unload(&doc);
	free(draft.functions);
	if (rc) {
		pcie_topology_destroy(draft.topology);
		if (rc == -ENOMEM)
			snprintf(error, PCIE_ERROR_SIZE, "%s: out of memory", name);
		return rc;
	}
	*ret_topology = draft.topology;
	return 0;
}

void pcie_topology_destroy(struct pcie_topology *topology)
{
	if (!topology)
		return;
	for (size_t i = 0; i < topology->num_functions; i++)
		free((void *)topology->functions[i].reps);
	free(topology->functions);
	free(topology->cards);
	free(topology->sides);
	free(topology->network.switches);
	free(topology->network.links);
	free(topology);
}
