/* SPDX-License-Identifier: BSD-3-Clause */
/* Check of the values that must be unique. Defaults are checked too, since a given value may equal a default. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "topology_draft_priv.h"

/* Orders functions by a value; 0 = the same. */
typedef int compare_fn(const struct pcie_function *a, const struct pcie_function *b);

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static uint64_t addr_number(const struct pcie_addr *addr)
{
	return (uint64_t)addr->domain << 24 | (uint64_t)addr->bus << 16 | (uint64_t)addr->device << 8 | addr->function;
}

static int compare_addrs(const struct pcie_function *a, const struct pcie_function *b)
{
	int order = compare_numbers(addr_number(&a->addr), addr_number(&b->addr));

	return order ? order : strcmp(a->side, b->side);
}

static int compare_ibdevs(const struct pcie_function *a, const struct pcie_function *b)
{
	int order = strcmp(a->ibdev, b->ibdev);

	return order ? order : strcmp(a->side, b->side);
}

static int compare_ifaces(const struct pcie_function *a, const struct pcie_function *b)
{
	int order = strcmp(a->iface, b->iface);

	return order ? order : strcmp(a->side, b->side);
}

static int compare_rep_ifaces(const struct pcie_function *a, const struct pcie_function *b)
{
	int order = strcmp(a->rep_iface, b->rep_iface);

	return order ? order : compare_numbers(a->card, b->card);
}

static int compare_macs(const struct pcie_function *a, const struct pcie_function *b)
{
	return memcmp(a->mac, b->mac, sizeof(a->mac));
}

static int compare_vuids(const struct pcie_function *a, const struct pcie_function *b)
{
	return strcmp(a->vuid, b->vuid);
}

static int compare_vhca_ids(const struct pcie_function *a, const struct pcie_function *b)
{
	int order = compare_numbers(a->vhca_id, b->vhca_id);

	return order ? order : compare_numbers(a->card, b->card);
}

static int compare_sf_indices(const struct pcie_function *a, const struct pcie_function *b)
{
	int order = compare_numbers(a->sf_index, b->sf_index);

	return order ? order : compare_numbers(a->parent, b->parent);
}

static int compare_aux_indices(const struct pcie_function *a, const struct pcie_function *b)
{
	int order = compare_numbers(a->aux_index, b->aux_index);

	return order ? order : strcmp(a->side, b->side);
}

/* An SF's address is its PF's. */
static bool has_addr(const struct pcie_function *function)
{
	return function->type != PCIE_FUNC_SF;
}

static bool has_iface(const struct pcie_function *function)
{
	return function->iface[0] != '\0';
}

static bool has_rep_iface(const struct pcie_function *function)
{
	return function->rep_iface[0] != '\0';
}

/* Not the default, which SFs of two PFs share. */
static bool has_aux_index(const struct pcie_function *function)
{
	return function->type == PCIE_FUNC_SF && function->aux_index != function->sf_index;
}

static bool is_sf(const struct pcie_function *function)
{
	return function->type == PCIE_FUNC_SF;
}

static const struct unique {
	const char *field;
	const char *within;
	compare_fn *compare;
	bool (*has)(const struct pcie_function *function); /* NULL = every function has one */
} unique[] = {
	{ "pci", "on one side", compare_addrs, has_addr },
	{ "ibdev", "on one side", compare_ibdevs, NULL },
	{ "iface", "on one side", compare_ifaces, has_iface },
	{ "rep-iface", "on one card", compare_rep_ifaces, has_rep_iface },
	{ "mac", "in a topology", compare_macs, NULL },
	{ "vuid", "in a topology", compare_vuids, NULL },
	{ "vhca-id", "on one card", compare_vhca_ids, NULL },
	{ "sf-index", "on one PF", compare_sf_indices, is_sf },
	{ "aux-index", "on one side", compare_aux_indices, has_aux_index },
};

/* Two functions that have the same value of @field; the error names the first such pair in the file's order. */
struct duplicate {
	const struct unique *field;
	const struct pcie_function *function, *earlier; /* NULL = none */
};

static int compare(const void *left, const void *right, void *arg)
{
	const struct pcie_function *a = *(const struct pcie_function *const *)left,
				   *b = *(const struct pcie_function *const *)right;
	const struct unique *field = arg;
	int order = field->compare(a, b);

	return order ? order : compare_numbers(a->id, b->id);
}

static void note(struct duplicate *first, const struct duplicate *found)
{
	if (!first->function || found->function->id < first->function->id ||
	    (found->function->id == first->function->id && found->earlier->id < first->earlier->id))
		*first = *found;
}

/* @sorted has room for all functions. */
static void find_duplicates(const struct pcie_draft *draft, const struct unique *field,
			    const struct pcie_function **sorted, struct duplicate *first)
{
	size_t count = 0, run = 0;

	for (size_t i = 0; i < draft->topology->num_functions; i++)
		if (!field->has || field->has(draft->functions[i].final))
			sorted[count++] = draft->functions[i].final;
	qsort_r(sorted, count, sizeof(const struct pcie_function *), compare, (void *)(uintptr_t)field);
	for (size_t i = 1; i < count; i++) {
		if (field->compare(sorted[run], sorted[i]) != 0)
			run = i;
		else
			note(first, &(struct duplicate){ field, sorted[i], sorted[run] });
	}
}

int pcie_draft_check_unique(struct pcie_draft *draft)
{
	const struct pcie_function **sorted = calloc(draft->topology->num_functions + 1, sizeof(*sorted));
	struct duplicate first = { NULL, NULL, NULL };

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(unique) / sizeof(unique[0]); i++)
		find_duplicates(draft, &unique[i], sorted, &first);
	free(sorted);
	if (!first.function)
		return 0;
	return pcie_draft_error(draft, &draft->functions[first.function->id], first.field->field,
				"is the same as that of cards[%u].functions[%u]; it must be unique %s",
				first.earlier->card, pcie_draft_file_index(&draft->functions[first.earlier->id]),
				first.field->within);
}
