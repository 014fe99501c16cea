/* SPDX-License-Identifier: BSD-3-Clause */
/* The short form "vfs: 4, sfs: 2" of a PF: the VFs and SFs that it stands for, at the end of the card's list. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value_parse_priv.h"
#include "topology_draft_priv.h"
#include "topology_vf_addr_priv.h"

struct expansion {
	const struct pcie_draft *draft;
	struct pcie_addr_set used;   /* at first those that the file gives */
	struct pcie_addr_set former; /* as earlier versions assigned them: the next free one behind the PF */
	size_t num_functions;        /* of the topology so far */
};

/* Append a function of @pf to its card. The list has room, and @pci stays. */
static void append(struct pcie_yaml_card *card, uint32_t pf_index, bool is_vf, const char *pci)
{
	const struct pcie_yaml_function *pf = &card->functions[pf_index];

	card->functions[card->num_functions++] = (struct pcie_yaml_function){
		.implied_by = is_vf ? "vfs" : "sfs",
		.pf_index = pf_index,
		.side = pf->side,
		.type = is_vf ? "vf" : "sf",
		.pci = pci,
		.parent = is_vf ? pf->pci : NULL,
		.link_layer = pf->link_layer,
		.active_rate = pf->active_rate,
	};
}

/* Append a VF at the first free address from *addr on. */
static int append_vf(struct expansion *expansion, struct pcie_yaml_card *card, uint32_t pf_index,
		     struct pcie_addr *addr, struct pcie_addr *former)
{
	const char *side = card->functions[pf_index].side;
	char *pci = pcie_yaml_alloc(expansion->draft->doc, 1, PCIE_ADDR_TEXT_SIZE);
	int rc = pci ? pcie_addr_set_find_free(&expansion->former, side, former) : -ENOMEM;

	if (rc)
		return rc;
	rc = pcie_addr_set_find_free(&expansion->used, side, addr);
	if (rc) { /* on the last bus, where earlier versions found addresses */
		pcie_addr_parse(card->functions[pf_index].pci, addr);
		rc = pcie_addr_set_find_free(&expansion->used, side, addr);
	}
	if (rc)
		return rc;
	pcie_addr_format(addr, pci);
	append(card, pf_index, true, pci);
	card->functions[card->num_functions - 1].former_addr = *former;
	pcie_addr_set_add(&expansion->used, side, addr);
	pcie_addr_set_add(&expansion->former, side, former);
	return 0;
}

/* The number of VFs of @pf that the file lists on other sides: the first ones, whose addresses on this side are free. */
static unsigned int count_vfs_elsewhere(const struct pcie_yaml_card *card, const struct pcie_yaml_function *pf)
{
	struct pcie_addr pf_addr, addr;
	char side[PCIE_SIDE_SIZE];
	unsigned int count = 0;

	for (uint32_t i = 0; i < card->num_functions; i++) {
		const struct pcie_yaml_function *vf = &card->functions[i];

		if (vf->parent && strcmp(vf->side, pf->side) != 0 && !pcie_addr_parse(pf->pci, &pf_addr) &&
		    !pcie_parse_parent(vf->parent, vf->side, side, &addr) && strcmp(side, pf->side) == 0)
			count += pcie_addr_equal(&addr, &pf_addr);
	}
	return count;
}

static int append_vfs(struct expansion *expansion, uint32_t card, uint32_t pf_index, uint32_t count)
{
	struct pcie_yaml_card *yaml = &expansion->draft->yaml.cards[card];
	struct pcie_addr addr, former;
	char path[PCIE_FIELD_PATH_SIZE];
	int rc = pcie_addr_parse(yaml->functions[pf_index].pci, &former);

	addr = former;
	if (pcie_first_vf_addr(yaml, pf_index, &expansion->used, &addr) == 0)
		pcie_addr_step(&addr, count_vfs_elsewhere(yaml, &yaml->functions[pf_index]));
	for (uint32_t i = 0; !rc && i < count; i++)
		rc = append_vf(expansion, yaml, pf_index, &addr, &former);
	if (rc != -ENOSPC)
		return rc;
	snprintf(path, sizeof(path), "cards[%u].functions[%u].vfs", card, pf_index);
	return pcie_yaml_error_at(expansion->draft->doc, path, "no addresses are left for so many VFs");
}

/* Read the number in the field "vfs" or "sfs" of a function; 0 without it. */
static int read_count(const struct expansion *expansion, uint32_t card, uint32_t index, const char *field,
		      const char *text, uint32_t *ret_count)
{
	const struct pcie_yaml_function *function = &expansion->draft->yaml.cards[card].functions[index];
	char path[PCIE_FIELD_PATH_SIZE];
	uint64_t count;

	*ret_count = 0;
	if (!text)
		return 0;
	snprintf(path, sizeof(path), "cards[%u].functions[%u].%s", card, index, field);
	if (strcmp(function->type, "pf") != 0)
		return pcie_yaml_error_at(expansion->draft->doc, path, "only a PF has %s; remove it", field);
	if (pcie_parse_number(text, PCIE_MAX_FUNCTIONS, &count))
		return pcie_yaml_error_at(expansion->draft->doc, path, PCIE_QUOTE " is not a number from 0 to %d", text,
					  PCIE_MAX_FUNCTIONS);
	if (expansion->num_functions + count > PCIE_MAX_FUNCTIONS)
		return pcie_yaml_error_at(expansion->draft->doc, path, "the topology has more than %d functions",
					  PCIE_MAX_FUNCTIONS);
	*ret_count = (uint32_t)count;
	return 0;
}

static int make_room(struct expansion *expansion, struct pcie_yaml_card *card, uint32_t count)
{
	uint32_t needed = card->num_functions + count;

	expansion->num_functions += count;
	if (needed > card->capacity) {
		struct pcie_yaml_function *grown =
			pcie_yaml_alloc(expansion->draft->doc, 2 * (size_t)needed, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memcpy(grown, card->functions, card->num_functions * sizeof(*grown));
		card->functions = grown;
		card->capacity = 2 * needed;
	}
	return 0;
}

static int expand_function(struct expansion *expansion, uint32_t card, uint32_t index)
{
	struct pcie_yaml_card *yaml = &expansion->draft->yaml.cards[card];
	uint32_t vfs, sfs;
	struct pcie_addr addr;
	int rc;

	rc = read_count(expansion, card, index, "vfs", yaml->functions[index].vfs, &vfs);
	expansion->num_functions += rc ? 0 : vfs;
	if (!rc)
		rc = read_count(expansion, card, index, "sfs", yaml->functions[index].sfs, &sfs);
	expansion->num_functions -= rc ? 0 : vfs;
	if (rc || vfs + sfs == 0 || pcie_addr_parse(yaml->functions[index].pci, &addr)) /* a later step reports that */
		return rc;
	rc = make_room(expansion, yaml, vfs + sfs);
	if (!rc)
		rc = append_vfs(expansion, card, index, vfs);
	for (uint32_t i = 0; !rc && i < sfs; i++)
		append(yaml, index, false, yaml->functions[index].pci);
	return rc;
}

static int expand_all(struct expansion *expansion)
{
	const struct pcie_yaml *yaml = &expansion->draft->yaml;
	int rc = 0;

	for (uint32_t card = 0; !rc && card < yaml->num_cards; card++) {
		uint32_t num_given = yaml->cards[card].num_functions;

		for (uint32_t i = 0; !rc && i < num_given; i++)
			rc = expand_function(expansion, card, i);
	}
	return rc;
}

static void note_given_addresses(struct expansion *expansion)
{
	const struct pcie_yaml *yaml = &expansion->draft->yaml;
	struct pcie_addr addr;

	for (uint32_t card = 0; card < yaml->num_cards; card++) {
		expansion->num_functions += yaml->cards[card].num_functions;
		for (uint32_t i = 0; i < yaml->cards[card].num_functions; i++) {
			const struct pcie_yaml_function *function = &yaml->cards[card].functions[i];

			if (strcmp(function->type, "sf") == 0 || pcie_addr_parse(function->pci, &addr))
				continue;
			pcie_addr_set_add(&expansion->used, function->side, &addr);
			pcie_addr_set_add(&expansion->former, function->side, &addr);
		}
	}
}

int pcie_draft_expand(struct pcie_draft *draft)
{
	struct expansion expansion = { .draft = draft };
	int rc = -ENOMEM;

	expansion.used.entries = calloc(PCIE_MAX_FUNCTIONS, sizeof(*expansion.used.entries));
	expansion.former.entries = calloc(PCIE_MAX_FUNCTIONS, sizeof(*expansion.former.entries));
	if (expansion.used.entries && expansion.former.entries) {
		note_given_addresses(&expansion);
		/* a later step reports too many */
		rc = expansion.num_functions > PCIE_MAX_FUNCTIONS ? 0 : expand_all(&expansion);
	}
	free(expansion.used.entries);
	free(expansion.former.entries);
	return rc;
}
