/* SPDX-License-Identifier: BSD-3-Clause */
/* dpa-app-attributes2blob - the features of a DPA application: YAML of the user to the text that dpacc copies into the application.
 *
 *   Feature_list:
 *     Generating_Empty_CQE: true
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/yaml_doc.h"
#include "words.h"

static const char *const known[] = { "Generating_Empty_CQE", "Device_Emulation",
				     "Congestion_Control_Flow_Context_Access", "Programmable_Congestion_Control",
				     NULL };

static int add_feature(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, struct text *blob)
{
	size_t i = 0;

	while (known[i] && strcmp(known[i], node->key) != 0)
		i++;
	if (!known[i])
		return pcie_yaml_error(doc, node,
				       "no feature that bfsim knows: Generating_Empty_CQE, Device_Emulation, "
				       "Congestion_Control_Flow_Context_Access, Programmable_Congestion_Control");
	if (node->type != PCIE_YAML_SCALAR ||
	    (strcasecmp(node->text, "true") != 0 && strcasecmp(node->text, "false") != 0))
		return pcie_yaml_error(doc, node, "neither true nor false");
	if (strcasecmp(node->text, "true") == 0)
		text_addf(blob, "%s\n", node->key);
	return 0;
}

static int add_features(struct pcie_yaml_doc *doc, struct text *blob)
{
	int rc = pcie_yaml_load(doc);

	if (rc != 0)
		return rc;
	if (doc->root->type != PCIE_YAML_MAPPING)
		return pcie_yaml_error(doc, doc->root, "no mapping with \"Feature_list:\"");
	for (const struct pcie_yaml_node *list = doc->root->first; list; list = list->next) {
		if (strcmp(list->key, "Feature_list") != 0)
			return pcie_yaml_error(doc, list, "not known: a file has \"Feature_list:\"");
		if (list->type == PCIE_YAML_LIST || (list->type == PCIE_YAML_SCALAR && list->text[0]))
			return pcie_yaml_error(doc, list, "no mapping of features");
		for (const struct pcie_yaml_node *node = list->first; node; node = node->next)
			if (add_feature(doc, node, blob) != 0)
				return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct text yaml = { 0 }, blob = { 0 };
	char error[512] = "no memory";
	struct pcie_yaml_doc doc = { .error = error, .error_size = sizeof(error), .needs = "\"Feature_list:\"" };
	int rc;

	if (argc != 3 || argv[1][0] == '-') {
		fputs("Usage: dpa-app-attributes2blob ATTRIBUTES.yaml BLOB\n", stderr);
		return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
	}
	if (!text_read_file(&yaml, argv[1])) {
		perror(argv[1]);
		return 1;
	}
	doc.name = argv[1];
	doc.text = yaml.bytes;
	doc.len = yaml.len;
	text_addf(&blob, "bfsim DPA attributes\n");
	rc = add_features(&doc, &blob);
	if (rc != 0)
		fprintf(stderr, "dpa-app-attributes2blob: %s\n", error);
	pcie_yaml_unload(&doc);
	if (rc == 0 && !text_write_file(&blob, argv[2])) {
		perror(argv[2]);
		rc = 1;
	}
	free(yaml.bytes);
	free(blob.bytes);
	return rc == 0 ? 0 : 1;
}
