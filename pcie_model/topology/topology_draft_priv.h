/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/topology/topology_draft_priv.h - a topology under construction from its description.
 *
 *   load                 topology_yaml.c          the structure of the text
 *   expand               topology_expand.c        functions that a number stands for
 *                        topology_vf_addr.c       addresses of VFs among them
 *   read                 topology_read.c          given values of functions
 *                        topology_card.c          given values of cards
 *                        topology_caps.c          capabilities by side, type and mode
 *   resolve parents      topology_parents.c       parents of VFs and SFs, ordinals
 *   assign representors  topology_representors.c  representors and their holders
 *   fill defaults        topology_defaults.c      values that the file leaves out
 *                        topology_names.c         names that it leaves out
 *   check                topology_check.c         uniqueness
 *   read sides           topology_side.c          machines of sides
 *   apply modes          topology_mode.c          functions that the card's mode hides are removed
 *   read the network     topology_net.c           ports, switches, links
 *
 * topology.c runs the steps in this order. Each step returns 0, -EINVAL with the document's error set, or
 * -ENOMEM; topology.c frees the draft on failure.
 */
#ifndef PCIE_TOPOLOGY_DRAFT_PRIV_H
#define PCIE_TOPOLOGY_DRAFT_PRIV_H

#include "topology.h"
#include "topology_yaml_priv.h"

/* A function under construction. */
struct pcie_draft_function {
	const struct pcie_yaml_function *yaml;
	struct pcie_function *final; /* in draft->topology */
	uint32_t index;              /* in its card's list */
	/* Position from 0. Of a PF: among the PFs of its card and side. Of a VF or SF: among those of its kind and
	 * parent. */
	uint32_t ordinal;
	uint32_t side_ordinal;   /* position of its host side among those of the card, from 0 */
	uint32_t num_siblings;   /* PFs of its card and side, if it is one */
	uint32_t holder_ordinal; /* of a host's PF: ordinal of the PF of the DPU that represents it by default */
	bool is_represented;
	uint32_t holder; /* then: id of the DPU function that holds its representor */
};

struct pcie_draft {
	struct pcie_yaml_doc *doc;
	struct pcie_yaml yaml;
	struct pcie_topology *topology;
	struct pcie_draft_function *functions;               /* one for each of topology->functions */
	bool gives_ibdevs, gives_vhca_ids, gives_sf_indices; /* the file does, of some function */
};

int pcie_draft_expand(struct pcie_draft *draft);
int pcie_draft_read(struct pcie_draft *draft);
int pcie_draft_read_card(const struct pcie_draft *draft, size_t index); /* a part of read */
int pcie_draft_resolve_parents(struct pcie_draft *draft);
int pcie_draft_assign_representors(struct pcie_draft *draft);
int pcie_draft_fill_defaults(struct pcie_draft *draft);
int pcie_draft_default_names(const struct pcie_draft *draft,
			     const struct pcie_draft_function *function); /* a part of fill defaults */
int pcie_draft_check_unique(struct pcie_draft *draft);
int pcie_draft_read_sides(struct pcie_draft *draft);
int pcie_draft_apply_modes(struct pcie_draft *draft); /* the draft's functions are invalid afterwards */
int pcie_draft_read_network(struct pcie_draft *draft);

/* The capabilities of a function with its side and type, before the overrides of the file. */
struct pcie_caps pcie_draft_default_caps(const struct pcie_card *card, const struct pcie_function *function);

/* Read a VF's "parent": an address on @own_side, or SIDE/ADDRESS. Returns 0 or -EINVAL. */
int pcie_parse_parent(const char *text, const char *own_side, char ret_side[PCIE_SIDE_SIZE],
		      struct pcie_addr *ret_addr);

/* Returns 0, or -EINVAL: @text is not the name of a mode. */
int pcie_mode_parse(const char *text, enum pcie_mode *ret_mode);

/* The function's place in its card's list in the file. A function that a number of its PF stands for has the PF's place. */
static inline uint32_t pcie_draft_file_index(const struct pcie_draft_function *function)
{
	return function->yaml->implied_by ? function->yaml->pf_index : function->index;
}

#define PCIE_FIELD_PATH_SIZE 96

/* Write the path of @function's @field ("cards[0].functions[2].pci"). */
void pcie_draft_path(const struct pcie_draft_function *function, const char *field, char path[PCIE_FIELD_PATH_SIZE]);

/* Report an error in @field of @function. Evaluates to -EINVAL, or -ENOMEM. */
#define pcie_draft_error(draft, function, field, ...)                 \
	({                                                            \
		char path_[PCIE_FIELD_PATH_SIZE];                     \
		pcie_draft_path((function), (field), path_);          \
		pcie_yaml_error_at((draft)->doc, path_, __VA_ARGS__); \
	})

/* Format of quoted input, cut to the room in a message. */
#define PCIE_QUOTE "\"%.48s\""

#endif
