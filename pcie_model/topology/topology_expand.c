/* SPDX-License-Identifier: BSD-3-Clause */
/* The short form "vfs: 4, sfs: 2" of a PF: the VFs and SFs that it stands for, at the end of the card's list. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value_parse_priv.h"
#include "topology_draft_priv.h"

/* Addresses in use, of one side each. */
struct used_addr {
	const char *side;
	struct pcie_addr addr;
};

struct expansion {
	const struct pcie_draft *draft;
	struct used_addr *used; /* room for PCIE_MAX_FUNCTIONS */
	size_t num_used;
	size_t num_functions; /* of the topology so far */
};

static void note_address(struct expansion *expansion, const struct pcie_yaml_function *function)
{
	struct used_addr *used = &expansion->used[expansion->num_used];

	if (expansion->num_used == PCIE_MAX_FUNCTIONS || pcie_addr_parse(function->pci, &used->addr))
		return;
	used->side = function->side;
	expansion->num_used++;
}

static bool is_used(const struct expansion *expansion, const char *side, const struct pcie_addr *addr)
{
	for (size_t i = 0; i < expansion->num_used; i++) {
		if (pcie_addr_equal(&expansion->used[i].addr, addr) && strcmp(expansion->used[i].side, side) == 0)
			return true;
	}
	return false;
}

/* The next address by routing id, as VFs have. Returns 0, or -ENOSPC behind the last bus. */
static int step_addr(struct pcie_addr *addr)
{
	unsigned int routing_id = ((unsigned int)addr->bus << 8 | (unsigned int)addr->device << 3 | addr->function) + 1;

	if (routing_id > UINT16_MAX)
		return -ENOSPC;
	addr->bus = (uint8_t)(routing_id >> 8);
	addr->device = routing_id >> 3 & 0x1f;
	addr->function = routing_id & 7;
	return 0;
}

/* The first free address behind the PF's, which is valid. */
static int find_vf_addr(const struct expansion *expansion, const struct pcie_yaml_function *pf,
			char text[PCIE_ADDR_TEXT_SIZE])
{
	struct pcie_addr addr;
	int rc = pcie_addr_parse(pf->pci, &addr);

	do {
		rc = rc ? rc : step_addr(&addr);
	} while (!rc && is_used(expansion, pf->side, &addr));
	if (!rc)
		pcie_addr_format(&addr, text);
	return rc;
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* Append a function of @pf to its card. The list has room. */
static int append(struct expansion *expansion, struct pcie_yaml_card *card, uint32_t pf_index, bool is_vf,
		  const char *pci)
{
	struct pcie_yaml_function *function = &card->functions[card->num_functions++];
	const struct pcie_yaml_function *pf = &card->functions[pf_index];

	*function = (struct pcie_yaml_function){
		.implied_by = is_vf ? "vfs" : "sfs",
		.pf_index = pf_index,
		.side = strdup(pf->side),
		.type = strdup(is_vf ? "vf" : "sf"),
		.pci = strdup(pci),
		.parent = is_vf ? strdup(pf->pci) : NULL,
		.link_layer = copy_text(pf->link_layer),
		.active_rate = copy_text(pf->active_rate),
	};
	if (!function->side || !function->type || !function->pci || (is_vf && !function->parent) ||
	    (pf->link_layer && !function->link_layer) || (pf->active_rate && !function->active_rate))
		return -ENOMEM;
	if (is_vf)
		note_address(expansion, function);
	return 0;
}

static int append_vfs(struct expansion *expansion, uint32_t card, uint32_t pf_index, uint32_t count)
{
	struct pcie_yaml_card *yaml = &expansion->draft->yaml->cards[card];
	char pci[PCIE_ADDR_TEXT_SIZE], path[PCIE_FIELD_PATH_SIZE];
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count; i++) {
		rc = find_vf_addr(expansion, &yaml->functions[pf_index], pci);
		if (!rc)
			rc = append(expansion, yaml, pf_index, true, pci);
	}
	if (rc != -ENOSPC)
		return rc;
	snprintf(path, sizeof(path), "cards[%u].functions[%u].vfs", card, pf_index);
	return pcie_yaml_source_error(expansion->draft->source, path, "no addresses are left for so many VFs");
}

static int append_sfs(struct expansion *expansion, struct pcie_yaml_card *yaml, uint32_t pf_index, uint32_t count)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count; i++)
		rc = append(expansion, yaml, pf_index, false, yaml->functions[pf_index].pci);
	return rc;
}

/* Read the number in the field "vfs" or "sfs" of a function; 0 without it. */
static int read_count(const struct expansion *expansion, uint32_t card, uint32_t index, const char *field,
		      const char *text, uint32_t *ret_count)
{
	const struct pcie_yaml_function *function = &expansion->draft->yaml->cards[card].functions[index];
	char path[PCIE_FIELD_PATH_SIZE];
	uint64_t count;

	*ret_count = 0;
	if (!text)
		return 0;
	snprintf(path, sizeof(path), "cards[%u].functions[%u].%s", card, index, field);
	if (strcmp(function->type, "pf") != 0)
		return pcie_yaml_source_error(expansion->draft->source, path, "only a PF has %s; remove it", field);
	if (pcie_parse_number(text, PCIE_MAX_FUNCTIONS, &count))
		return pcie_yaml_source_error(expansion->draft->source, path,
					      PCIE_QUOTE " is not a number from 0 to %d", text, PCIE_MAX_FUNCTIONS);
	if (expansion->num_functions + count > PCIE_MAX_FUNCTIONS)
		return pcie_yaml_source_error(expansion->draft->source, path, "the topology has more than %d functions",
					      PCIE_MAX_FUNCTIONS);
	*ret_count = (uint32_t)count;
	return 0;
}

static int make_room(struct expansion *expansion, struct pcie_yaml_card *card, uint32_t count)
{
	size_t size = ((size_t)card->num_functions + count) * sizeof(*card->functions);
	struct pcie_yaml_function *grown = realloc(card->functions, size);

	if (!grown)
		return -ENOMEM;
	card->functions = grown;
	expansion->num_functions += count;
	return 0;
}

static int expand_function(struct expansion *expansion, uint32_t card, uint32_t index)
{
	struct pcie_yaml_card *yaml = &expansion->draft->yaml->cards[card];
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
	return rc ? rc : append_sfs(expansion, yaml, index, sfs);
}

static int expand_all(struct expansion *expansion)
{
	const struct pcie_yaml *yaml = expansion->draft->yaml;
	int rc = 0;

	for (uint32_t card = 0; !rc && card < yaml->num_cards; card++) {
		uint32_t num_given = yaml->cards[card].num_functions;

		for (uint32_t i = 0; !rc && i < num_given; i++)
			rc = expand_function(expansion, card, i);
	}
	return rc;
}

int pcie_draft_expand(struct pcie_draft *draft)
{
	struct expansion expansion = { .draft = draft };
	int rc;

	expansion.used = calloc(PCIE_MAX_FUNCTIONS, sizeof(*expansion.used));
	if (!expansion.used)
		return -ENOMEM;
	for (uint32_t card = 0; card < draft->yaml->num_cards; card++) {
		const struct pcie_yaml_card *yaml = &draft->yaml->cards[card];

		expansion.num_functions += yaml->num_functions;
		for (uint32_t i = 0; i < yaml->num_functions; i++)
			if (strcmp(yaml->functions[i].type, "sf") != 0)
				note_address(&expansion, &yaml->functions[i]);
	}
	rc = expansion.num_functions > PCIE_MAX_FUNCTIONS ? 0 : expand_all(&expansion); /* a later step reports that */
	free(expansion.used);
	return rc;
}
