/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/yaml_file.h - a file of a user as a YAML document (pcie_model/yaml_doc.h). */
#ifndef SIM_YAML_FILE_H
#define SIM_YAML_FILE_H

#include "pcie_model/yaml_doc.h"

/* Read the file doc->name, with the limits of @doc, and load it. The caller ends the document with pcie_yaml_unload(), also on
 * failure. Returns 0, -EINVAL, -ENOMEM or another -errno; the error is set. */
int sim_yaml_file_load(struct pcie_yaml_doc *doc);

/* Set the error "FILE: what @rc means", which has no line, and return @rc. */
int sim_yaml_file_error(const struct pcie_yaml_doc *doc, int rc);

#endif
