/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/topology/topology_draft_priv.h - a topology while it is made from its description.
 *
 *   load --> read --> resolve parents --> assign representors --> fill defaults --> check --> topology
 *
 *   load       topology_yaml.c      structure of the text
 *   read       topology_read.c      values that the file gives, of cards: topology_card.c
 *   link       topology_parents.c   parents of VFs and SFs, their order
 *   represent  topology_representors.c representors and who holds them
 *   complete   topology_defaults.c  values that the file leaves out
 *   check      topology_check.c     what must be unique
 *
 * Each step is a function that returns 0, -EINVAL with the source's error text
 * set, or -ENOMEM; the owner of the draft drops it all on failure.
 */
#ifndef PCIE_TOPOLOGY_DRAFT_PRIV_H
#define PCIE_TOPOLOGY_DRAFT_PRIV_H

#include "topology.h"
#include "topology_yaml_priv.h"

/* What is known of a function beyond its final form. */
struct pcie_draft_function {
	const struct pcie_yaml_function *yaml;
	struct pcie_function *final; /* in draft->topology */
	uint32_t index;              /* in its card's list, as errors count */
	/* A PF: how many PFs of its card and side stand before it. A VF or SF: how
	 * many of its kind and parent do. */
	uint32_t ordinal;
	uint32_t side_ordinal; /* how many host sides its card named before this one */
	bool is_represented;
};

struct pcie_draft {
	const struct pcie_yaml_source *source;
	struct pcie_yaml *yaml;
	struct pcie_topology *topology;
	struct pcie_draft_function *functions; /* one for each of topology->functions */
};

int pcie_draft_read(struct pcie_draft *draft);
int pcie_draft_read_card(const struct pcie_draft *draft, size_t index); /* a part of read */
int pcie_draft_resolve_parents(struct pcie_draft *draft);
int pcie_draft_assign_representors(struct pcie_draft *draft);
int pcie_draft_fill_defaults(struct pcie_draft *draft);
int pcie_draft_check_unique(struct pcie_draft *draft);

#define PCIE_FIELD_PATH_SIZE 96

/* Write the path of @function's @field ("cards[0].functions[2].pci"). */
void pcie_draft_path(const struct pcie_draft_function *function, const char *field, char path[PCIE_FIELD_PATH_SIZE]);

/* Blame @field of @function. Evaluates to -EINVAL, or -ENOMEM. */
#define pcie_draft_error(draft, function, field, ...)                        \
	({                                                                   \
		char path_[PCIE_FIELD_PATH_SIZE];                            \
		pcie_draft_path((function), (field), path_);                 \
		pcie_yaml_source_error((draft)->source, path_, __VA_ARGS__); \
	})

/* The text of what a user wrote, as much as a message has room for. */
#define PCIE_QUOTE "\"%.48s\""

#endif
