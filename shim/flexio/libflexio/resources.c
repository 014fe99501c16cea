/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution units of an application, from a YAML text. The vendor's format is not public: ours is
 *
 *   KEY:
 *     eus: [0, 1, 8-15]     units and ranges
 *     eugs: [2]             groups, of which only the number counts
 *
 * where the application's key may stand inside other mappings.
 */
#include "flexio.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/yaml_doc.h"

#define EXPORT  __attribute__((visibility("default")))
#define MAX_EUS 4096

struct flexio_resource {
	uint32_t eus[MAX_EUS];
	uint32_t num_eus, num_groups;
};

static const struct pcie_yaml_node *find_key(const struct pcie_yaml_node *node, const char *key)
{
	const struct pcie_yaml_node *found = NULL;

	if (node->type != PCIE_YAML_MAPPING)
		return NULL;
	for (const struct pcie_yaml_node *entry = node->first; entry && !found; entry = entry->next)
		found = strcmp(entry->key, key) == 0 ? entry : find_key(entry, key);
	return found;
}

static bool read_number(const char **at, unsigned long *ret_value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*ret_value = strtoul(*at, &end, 10);
	*at = end;
	return *ret_value < MAX_EUS;
}

static int add_units(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, struct flexio_resource *res)
{
	const char *at = node->type == PCIE_YAML_SCALAR ? node->text : "";
	unsigned long first, last;
	bool is_valid = read_number(&at, &first);

	last = first;
	if (is_valid && *at == '-') {
		at++;
		is_valid = read_number(&at, &last);
	}
	if (!is_valid || *at || last < first)
		return pcie_yaml_error(doc, node, "neither an execution unit nor a range of them, as 8-15");
	for (; first <= last; first++) {
		if (res->num_eus == MAX_EUS)
			return pcie_yaml_error(doc, node, "more than %d execution units", MAX_EUS);
		res->eus[res->num_eus++] = (uint32_t)first;
	}
	return 0;
}

static int read_resources(struct pcie_yaml_doc *doc, const char *key, struct flexio_resource *res)
{
	const struct pcie_yaml_node *app;
	int rc = pcie_yaml_load(doc);

	if (rc != 0)
		return rc;
	app = find_key(doc->root, key);
	if (!app || app->type != PCIE_YAML_MAPPING)
		return pcie_yaml_error(doc, doc->root, "no mapping with the application's key \"%s\"", key);
	for (const struct pcie_yaml_node *entry = app->first; entry && rc == 0; entry = entry->next) {
		if (strcmp(entry->key, "eugs") == 0)
			res->num_groups = entry->count;
		else if (strcmp(entry->key, "eus") != 0)
			rc = pcie_yaml_error(doc, entry, "not known: an application has eus and eugs");
		else if (entry->type != PCIE_YAML_LIST)
			rc = pcie_yaml_error(doc, entry, "no list");
		for (const struct pcie_yaml_node *unit = entry->first;
		     unit && rc == 0 && strcmp(entry->key, "eus") == 0; unit = unit->next)
			rc = add_units(doc, unit, res);
	}
	return rc;
}

EXPORT flexio_status flexio_resources_create(const char *app_key, const char *buffer, size_t size,
					     struct flexio_resource **res)
{
	char error[512] = "no memory";
	struct pcie_yaml_doc doc = { .name = "DPA resources",
				     .text = buffer,
				     .len = size,
				     .needs = "an application's key with \"eus:\" and a list",
				     .error = error,
				     .error_size = sizeof(error) };
	struct flexio_resource *made;
	int rc;

	if (!app_key || !buffer || !res)
		return FLEXIO_STATUS_FAILED;
	made = calloc(1, sizeof(*made));
	if (!made)
		return FLEXIO_STATUS_FAILED;
	rc = read_resources(&doc, app_key, made);
	pcie_yaml_unload(&doc);
	if (rc != 0) {
		fprintf(stderr, "bfsim: %s\n", error);
		free(made);
		return FLEXIO_STATUS_FAILED;
	}
	*res = made;
	return FLEXIO_STATUS_SUCCESS;
}

EXPORT flexio_status flexio_resources_destroy(struct flexio_resource *res)
{
	free(res);
	return FLEXIO_STATUS_SUCCESS;
}

EXPORT uint32_t flexio_resources_get_eus_num(struct flexio_resource *res)
{
	return res ? res->num_eus : 0;
}

EXPORT uint32_t *flexio_resources_get_eus(struct flexio_resource *res)
{
	return res ? res->eus : NULL;
}

EXPORT uint32_t flexio_resources_get_eugs_num(struct flexio_resource *res)
{
	return res ? res->num_groups : 0;
}
