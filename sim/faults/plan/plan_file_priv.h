/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/plan/plan_file_priv.h - a rule of a plan that is written as a mapping. */
#ifndef SIM_FAULTS_PLAN_FILE_PRIV_H
#define SIM_FAULTS_PLAN_FILE_PRIV_H

#include "pcie_model/yaml_doc.h"
#include "plan_file.h"

/* Read the mapping @node into a rule. Returns 0 or -EINVAL with the document's error set. */
int sim_plan_file_read_mapping(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node,
			       struct sim_plan_file_rule *rule);

#endif
