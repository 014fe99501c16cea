/* SPDX-License-Identifier: BSD-3-Clause */
/* Assignment of representors, of host functions and of the DPU's SFs, to DPU functions. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value_parse_priv.h"
#include "topology_draft_priv.h"

/* A parsed "SIDE/ADDRESS" or "SIDE/ADDRESS/sfN". */
struct reference {
	char side[PCIE_SIDE_SIZE];
	struct pcie_addr addr;
	bool is_sf;
	uint64_t sf_index;
};

/* Cut @text at its last '/'. Returns the part after it, or NULL. */
static char *cut_last_part(char *text)
{
	char *slash = strrchr(text, '/');

	if (!slash)
		return NULL;
	*slash = '\0';
	return slash + 1;
}

static int parse_reference(const char *text, struct reference *ret_reference)
{
	char buffer[PCIE_SIDE_SIZE + PCIE_ADDR_TEXT_SIZE + sizeof("/sf4294967295")];
	struct reference reference = { .is_sf = false };
	char *part;

	if (strlen(text) >= sizeof(buffer))
		return -EINVAL;
	strcpy(buffer, text);
	part = cut_last_part(buffer);
	if (part && strncmp(part, "sf", 2) == 0) {
		reference.is_sf = true;
		if (pcie_parse_number(part + 2, UINT32_MAX, &reference.sf_index))
			return -EINVAL;
		part = cut_last_part(buffer);
	}
	if (!part || pcie_addr_parse(part, &reference.addr) || strlen(buffer) >= PCIE_SIDE_SIZE)
		return -EINVAL;
	strcpy(reference.side, buffer);
	*ret_reference = reference;
	return 0;
}

static bool is_referenced(const struct pcie_function *function, const struct pcie_addr *addr,
			  const struct reference *reference)
{
	return strcmp(function->side, reference->side) == 0 && pcie_addr_equal(addr, &reference->addr) &&
	       (function->type == PCIE_FUNC_SF) == reference->is_sf &&
	       (!reference->is_sf || function->sf_index == reference->sf_index);
}

/* The function's address; that of a VF which the file counts, as this version or as earlier ones number it. */
static const struct pcie_addr *addr_of(const struct pcie_function *function, bool is_former)
{
	static const struct pcie_addr none;

	return is_former && !pcie_addr_equal(&function->former.addr, &none) ? &function->former.addr : &function->addr;
}

static struct pcie_draft_function *find_referenced(const struct pcie_draft *draft, uint32_t card,
						   const struct reference *reference, bool is_former)
{
	for (size_t i = 0; i < draft->topology->num_functions; i++) {
		struct pcie_draft_function *function = &draft->functions[i];

		if (function->final->card == card &&
		    is_referenced(function->final, addr_of(function->final, is_former), reference))
			return function;
	}
	return NULL;
}

/* What the names of a card's represented functions mean, as this version and as earlier ones number VFs. */
struct numbering {
	bool is_former;   /* one has a meaning of earlier versions alone: the file was written for them */
	bool is_current;  /* one has a meaning of this version alone */
	const char *both; /* one that has two; NULL = none */
};

static void look_at_name(const struct pcie_draft *draft, uint32_t card, const char *text, struct numbering *numbering)
{
	const struct pcie_draft_function *now, *before;
	struct reference reference;

	if (parse_reference(text, &reference))
		return; /* a later step reports it */
	now = find_referenced(draft, card, &reference, false);
	before = find_referenced(draft, card, &reference, true);
	numbering->is_former |= before && !now;
	numbering->is_current |= now && !before;
	if (now && before && now != before && !numbering->both)
		numbering->both = text;
}

static struct numbering find_numbering(const struct pcie_draft *draft, uint32_t card)
{
	struct numbering numbering = { 0 };

	for (size_t i = 0; i < draft->topology->num_functions; i++) {
		const struct pcie_draft_function *holder = &draft->functions[i];

		for (uint32_t k = 0; holder->final->card == card && k < holder->yaml->num_represents; k++)
			look_at_name(draft, card, holder->yaml->represents[k], &numbering);
	}
	return numbering;
}

/* Nothing says for which version the file was written. */
static void note_two_meanings(const struct pcie_draft *draft, uint32_t card, const struct numbering *numbering)
{
	if (numbering->both && !numbering->is_former && !numbering->is_current && !draft->yaml.cards[card].management)
		snprintf(
			draft->topology->note, PCIE_NOTE_SIZE,
			"represents: %.63s: earlier versions gave this default to another VF; \"management: true\" of the card says that the file means this version's",
			numbering->both);
}

static void note_former(const struct pcie_draft *draft, const struct pcie_function *function, const char *text)
{
	char now[PCIE_FUNCTION_TEXT_SIZE];

	if (draft->topology->note[0] || pcie_addr_equal(addr_of(function, true), &function->addr))
		return;
	pcie_function_format(function, now);
	snprintf(draft->topology->note, PCIE_NOTE_SIZE,
		 "represents: %.63s: earlier versions gave this default to %.127s", text, now);
}

static void assign_representor(const struct pcie_draft_function *holder, uint32_t *reps,
			       struct pcie_draft_function *represented)
{
	represented->is_represented = true;
	represented->holder = holder->final->id;
	reps[holder->final->num_reps++] = represented->final->id;
}

/* The DPU function that holds @id's representor, for a message. */
static const struct pcie_draft_function *find_holder(const struct pcie_draft *draft, uint32_t id)
{
	const struct pcie_function *holder = pcie_topology_find_rep_holder(draft->topology, id);

	return holder ? &draft->functions[holder->id] : NULL;
}

static int assign_named(const struct pcie_draft *draft, const struct pcie_draft_function *holder, uint32_t *reps,
			uint32_t entry, bool is_former)
{
	const char *text = holder->yaml->represents[entry];
	struct pcie_draft_function *represented;
	struct reference reference;
	char field[32];

	snprintf(field, sizeof(field), "represents[%" PRIu32 "]", entry);
	if (parse_reference(text, &reference))
		return pcie_draft_error(draft, holder, field,
					PCIE_QUOTE " does not name a function; write SIDE/ADDRESS or "
						   "SIDE/ADDRESS/sfN: host/b1:00.0, host/b1:00.0/sf4",
					text);
	represented = find_referenced(draft, holder->final->card, &reference, is_former);
	if (!represented && is_former)
		represented = find_referenced(draft, holder->final->card, &reference, false);
	if (!represented)
		return pcie_draft_error(draft, holder, field, "this card has no function " PCIE_QUOTE, text);
	if (pcie_side_is_dpu(reference.side) && represented->final->type == PCIE_FUNC_PF)
		return pcie_draft_error(draft, holder, field,
					PCIE_QUOTE " is a PF of the DPU; of a DPU side, SFs and VFs are represented",
					text);
	if (represented->is_represented) {
		const struct pcie_draft_function *other = find_holder(draft, represented->final->id);

		return pcie_draft_error(draft, holder, field,
					PCIE_QUOTE " is represented by cards[%u].functions[%u] "
						   "already; remove one",
					text, other->final->card, pcie_draft_file_index(other));
	}
	if (is_former)
		note_former(draft, represented->final, text);
	assign_representor(holder, reps, represented);
	return 0;
}

static int assign_all_named(const struct pcie_draft *draft, const struct pcie_draft_function *holder)
{
	uint32_t num_reps = holder->yaml->num_represents;
	struct numbering numbering;
	uint32_t *reps;
	int rc = 0;

	if (!num_reps)
		return 0;
	numbering = find_numbering(draft, holder->final->card);
	note_two_meanings(draft, holder->final->card, &numbering);
	reps = calloc(num_reps, sizeof(*reps));
	if (!reps)
		return -ENOMEM;
	holder->final->reps = reps;
	for (uint32_t i = 0; !rc && i < num_reps; i++)
		rc = assign_named(draft, holder, reps, i, numbering.is_former);
	return rc;
}

/* Whether @holder, a PF of the DPU, represents the host function @function by default: the PF that was chosen for it
 * (choose_holder), or a VF or SF of that PF. */
static bool holds_by_default(const struct pcie_draft *draft, const struct pcie_draft_function *holder,
			     const struct pcie_draft_function *function)
{
	const struct pcie_draft_function *pf = &draft->functions[function->final->parent];

	return function->final->card == holder->final->card && !pcie_side_is_dpu(function->final->side) &&
	       pf->holder_ordinal == holder->ordinal;
}

/* Its own SFs and VFs, which a card lists in this order behind the host's functions. */
static bool is_own(const struct pcie_draft_function *holder, const struct pcie_draft_function *function,
		   enum pcie_func_type type)
{
	return function->final->type == type && function->final->parent == holder->final->id;
}

static void assign_own(const struct pcie_draft *draft, const struct pcie_draft_function *holder, uint32_t *reps,
		       enum pcie_func_type type)
{
	for (size_t i = 0; i < draft->topology->num_functions; i++)
		if (is_own(holder, &draft->functions[i], type))
			assign_representor(holder, reps, &draft->functions[i]);
}

static int assign_default(const struct pcie_draft *draft, const struct pcie_draft_function *holder)
{
	size_t num_reps = 0;
	uint32_t *reps;

	if (holder->final->type != PCIE_FUNC_PF)
		return 0;
	for (size_t i = 0; i < draft->topology->num_functions; i++)
		num_reps += holds_by_default(draft, holder, &draft->functions[i]) ||
			    is_own(holder, &draft->functions[i], PCIE_FUNC_SF) ||
			    is_own(holder, &draft->functions[i], PCIE_FUNC_VF);
	if (!num_reps)
		return 0;
	reps = calloc(num_reps, sizeof(*reps));
	if (!reps)
		return -ENOMEM;
	holder->final->reps = reps;
	for (size_t i = 0; i < draft->topology->num_functions; i++) {
		struct pcie_draft_function *function = &draft->functions[i];

		if (holds_by_default(draft, holder, function))
			assign_representor(holder, reps, function);
	}
	assign_own(draft, holder, reps, PCIE_FUNC_SF);
	assign_own(draft, holder, reps, PCIE_FUNC_VF);
	return 0;
}

static bool card_names_representors(const struct pcie_draft *draft, uint32_t card)
{
	const struct pcie_yaml_card *yaml = &draft->yaml.cards[card];

	for (uint32_t i = 0; i < yaml->num_functions; i++) {
		if (yaml->functions[i].represents)
			return true;
	}
	return false;
}

static int assign_representors(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	if (!pcie_side_is_dpu(function->final->side)) {
		if (function->yaml->represents)
			return pcie_draft_error(draft, function, "represents",
						"only a DPU function holds representors");
		return 0;
	}
	if (card_names_representors(draft, function->final->card))
		return assign_all_named(draft, function);
	return assign_default(draft, function);
}

/* PF n of the DPU represents PF n of each host by default. A multi-host card whose Arm cores have more than two PFs, one for each
 * PF of its hosts, represents them in their order; earlier versions did not. */
static void choose_holder(const struct pcie_draft *draft, struct pcie_draft_function *pf)
{
	struct pcie_topology *topology = draft->topology;
	uint32_t num_before = 0, num_host_pfs = 0, num_dpu_pfs = 0;
	bool has_several_hosts = false;

	pf->holder_ordinal = pf->ordinal;
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_draft_function *other = &draft->functions[i];

		if (other->final->card != pf->final->card || other->final->type != PCIE_FUNC_PF)
			continue;
		if (pcie_side_is_dpu(other->final->side)) {
			num_dpu_pfs++;
			continue;
		}
		num_host_pfs++;
		num_before += other->final->id < pf->final->id;
		has_several_hosts |= other->side_ordinal > 0;
	}
	if (has_several_hosts && num_dpu_pfs > 2 && num_dpu_pfs == num_host_pfs)
		pf->holder_ordinal = num_before;
	if (pf->holder_ordinal != pf->ordinal && !card_names_representors(draft, pf->final->card))
		snprintf(
			topology->note, PCIE_NOTE_SIZE,
			"each PF of a DPU represents one PF of the hosts of %.63s; earlier versions: PF n of each host",
			topology->cards[pf->final->card].name);
}

int pcie_draft_assign_representors(struct pcie_draft *draft)
{
	int rc = 0;

	for (size_t i = 0; i < draft->topology->num_functions; i++)
		if (draft->functions[i].final->type == PCIE_FUNC_PF &&
		    !pcie_side_is_dpu(draft->functions[i].final->side))
			choose_holder(draft, &draft->functions[i]);
	for (size_t i = 0; !rc && i < draft->topology->num_functions; i++)
		rc = assign_representors(draft, &draft->functions[i]);
	return rc;
}
