/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes of a card: their names, and the functions that a mode hides. Hidden functions are removed at the end, so that all
 * other functions have the same names and numbers in every mode. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology_draft_priv.h"

static const char *const mode_names[] = {
	[PCIE_MODE_DPU] = "dpu",
	[PCIE_MODE_NIC] = "nic",
	[PCIE_MODE_SEPARATED] = "separated",
	[PCIE_MODE_ZERO_TRUST] = "zero-trust",
};

const char *pcie_mode_name(enum pcie_mode mode)
{
	return mode_names[mode];
}

const char *pcie_mode_hiding_reason(enum pcie_mode mode)
{
	switch (mode) {
	case PCIE_MODE_NIC:
		return "the Arm cores are inactive";
	case PCIE_MODE_SEPARATED:
		return "SFs need switchdev mode, which no function has, and the host alone has VFs";
	default:
		return "";
	}
}

int pcie_mode_parse(const char *text, enum pcie_mode *ret_mode)
{
	for (int mode = PCIE_MODE_DPU; mode <= PCIE_MODE_ZERO_TRUST; mode++) {
		if (strcmp(text, mode_names[mode]) == 0) {
			*ret_mode = (enum pcie_mode)mode;
			return 0;
		}
	}
	return -EINVAL;
}

/* pcie_mode_hiding_reason() says why. One public report of a BlueField-2 in separated mode names SFs of the Arm cores; the
 * vendor's guide, which bfsim follows, excludes them (doc/hardware.md). */
static bool is_hidden(const struct pcie_topology *topology, const struct pcie_function *function)
{
	bool is_dpu = pcie_side_is_dpu(function->side);

	switch (topology->cards[function->card].mode) {
	case PCIE_MODE_NIC:
		return is_dpu;
	case PCIE_MODE_SEPARATED:
		return function->type == PCIE_FUNC_SF || (is_dpu && function->type == PCIE_FUNC_VF);
	default:
		return false;
	}
}

/* Whether representors exist: the Arm cores manage the card's switch. */
static bool has_representors(enum pcie_mode mode)
{
	return mode == PCIE_MODE_DPU || mode == PCIE_MODE_ZERO_TRUST;
}

/* No functions of the card that are left hold or have representors. */
static void drop_representors(const struct pcie_topology *topology, struct pcie_function *function)
{
	if (has_representors(topology->cards[function->card].mode))
		return;
	free((void *)function->reps);
	function->reps = NULL;
	function->num_reps = 0;
	function->rep_iface[0] = function->former.rep_iface[0] = '\0';
}

static int check_card_is_visible(const struct pcie_draft *draft, uint32_t card)
{
	const struct pcie_topology *topology = draft->topology;
	char path[PCIE_FIELD_PATH_SIZE];

	for (size_t i = 0; i < topology->num_functions; i++)
		if (topology->functions[i].card == card && !is_hidden(topology, &topology->functions[i]))
			return 0;
	snprintf(path, sizeof(path), "cards[%u].mode", card);
	return pcie_yaml_error_at(draft->doc, path, "hides all functions of the card; list functions of the host");
}

/* Several hosts need the Arm cores' switch. */
static int check_one_host(const struct pcie_draft *draft, uint32_t card)
{
	const struct pcie_topology *topology = draft->topology;
	char path[PCIE_FIELD_PATH_SIZE];

	for (size_t i = 0; i < topology->num_functions; i++) {
		if (topology->functions[i].card != card || draft->functions[i].side_ordinal == 0)
			continue;
		snprintf(path, sizeof(path), "cards[%u].mode", card);
		return pcie_yaml_error_at(draft->doc, path,
					  "a card in NIC mode has one host side; the file gives it more");
	}
	return 0;
}

/* Each function's id once the hidden ones are gone. */
static uint32_t *renumber(const struct pcie_topology *topology, size_t *ret_count)
{
	uint32_t *new_ids = calloc(topology->num_functions, sizeof(*new_ids));
	uint32_t count = 0;

	for (size_t i = 0; new_ids && i < topology->num_functions; i++)
		new_ids[i] = is_hidden(topology, &topology->functions[i]) ? count : count++;
	*ret_count = count;
	return new_ids;
}

static int remove_hidden(struct pcie_topology *topology)
{
	size_t count;
	uint32_t *new_ids = renumber(topology, &count);

	if (!new_ids)
		return -ENOMEM;
	for (size_t i = 0; i < topology->num_functions; i++) {
		struct pcie_function *function = &topology->functions[i];
		bool hidden = is_hidden(topology, function);

		drop_representors(topology, function);
		function->id = new_ids[i];
		function->parent = new_ids[function->parent];
		for (size_t j = 0; j < function->num_reps; j++)
			((uint32_t *)(uintptr_t)function->reps)[j] = new_ids[function->reps[j]];
		if (hidden)
			topology->cards[function->card].num_hidden++;
		else
			topology->functions[new_ids[i]] = *function;
	}
	topology->num_functions = count;
	free(new_ids);
	return 0;
}

int pcie_draft_apply_modes(struct pcie_draft *draft)
{
	int rc = 0;

	for (uint32_t card = 0; !rc && card < draft->topology->num_cards; card++) {
		rc = check_card_is_visible(draft, card);
		if (!rc && draft->topology->cards[card].mode == PCIE_MODE_NIC)
			rc = check_one_host(draft, card);
	}
	return rc ? rc : remove_hidden(draft->topology);
}
