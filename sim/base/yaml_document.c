/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading a document after its check. */
#include "yaml_document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "pcie_model/yaml_source.h"

static int load_checked(const struct pcie_yaml_source *source, yaml_document_t *ret_document)
{
	yaml_parser_t parser;
	int rc = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->len);
	if (!yaml_parser_load(&parser, ret_document))
		rc = parser.error == YAML_MEMORY_ERROR ?
			     -ENOMEM :
			     pcie_yaml_source_error_at(source, parser.problem_mark.line + 1, "", "not YAML: %s",
						       parser.problem ? parser.problem : "unreadable");
	yaml_parser_delete(&parser);
	return rc;
}

int sim_yaml_document_load(const char *path, const char *needs, yaml_document_t *ret_document, char *error,
			   size_t error_size)
{
	struct pcie_yaml_source source = { .name = path, .error = error, .error_size = error_size, .needs = needs };
	char *text;
	int rc = sim_file_read(path, PCIE_YAML_MAX_BYTES, &text, &source.len);

	if (rc == -EFBIG) {
		pcie_yaml_source_error_at(&source, 1, "", "is larger than %u bytes", PCIE_YAML_MAX_BYTES);
		return -EINVAL;
	}
	if (rc < 0) {
		snprintf(error, error_size, "cannot read %s: %s", path, strerror(-rc));
		return rc;
	}
	source.text = text;
	rc = pcie_yaml_source_check(&source);
	if (rc == 0)
		rc = load_checked(&source, ret_document);
	if (rc == -ENOMEM)
		snprintf(error, error_size, "cannot read %s: %s", path, strerror(ENOMEM));
	free(text);
	return rc;
}
