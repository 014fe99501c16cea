/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and loading a file of YAML. */
#include "yaml_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

int sim_yaml_file_error(const struct pcie_yaml_doc *doc, int rc)
{
	if (doc->on_error)
		doc->on_error(doc->arg, 0, strerror(-rc));
	else
		snprintf(doc->error, doc->error_size, "%s: %s", doc->name, strerror(-rc));
	return rc;
}

int sim_yaml_file_load(struct pcie_yaml_doc *doc)
{
	size_t max_bytes = doc->max_bytes ? doc->max_bytes : PCIE_YAML_MAX_BYTES;
	char *text = NULL;
	int rc = sim_file_read(doc->name, max_bytes, &text, &doc->len);

	if (rc == -EFBIG)
		doc->len = max_bytes + 1; /* which the load refuses */
	else if (rc < 0)
		return sim_yaml_file_error(doc, rc);
	doc->text = text;
	rc = pcie_yaml_load(doc);
	doc->text = NULL;
	free(text);
	return rc == -ENOMEM ? sim_yaml_file_error(doc, rc) : rc;
}
