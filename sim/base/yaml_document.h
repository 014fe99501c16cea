/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/yaml_document.h - a YAML file of a user as a document, within the limits of topologies.
 *
 * Refused are files of more than 1 MiB, several documents, anchors and aliases, deep nesting, and text with a zero byte
 * (pcie_model/yaml_source.h). A caller refuses keys that are given twice: it knows which ones there are.
 */
#ifndef SIM_YAML_DOCUMENT_H
#define SIM_YAML_DOCUMENT_H

#include <stddef.h>
#include <yaml.h>

/* Read the file @path. @needs: what an empty one lacks, "a mapping named \"sides\"". Returns 0 (the caller ends the document with
 * yaml_document_delete()), or -EINVAL ("FILE:LINE: reason"), -ENOMEM or another -errno with the reason in @error. */
int sim_yaml_document_load(const char *path, const char *needs, yaml_document_t *ret_document, char *error,
			   size_t error_size);

#endif
