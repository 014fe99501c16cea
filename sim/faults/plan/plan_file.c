/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans as YAML files: their fields, their files of delays, and adding their rules to a plan. */
#include "plan_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/yaml_fields.h"
#include "plan_file_priv.h"
#include "sim/base/yaml_file.h"
#include "sim/faults/rule/value.h"

/* ---- the list of rules ---- */

static int add_rule(struct sim_plan_file *file, const struct sim_plan_file_rule *rule)
{
	uint32_t count = file->num_rules;

	if ((count & (count - 1)) == 0) { /* full: double it */
		struct sim_plan_file_rule *larger =
			realloc(file->rules, (count ? 2 * (size_t)count : 1) * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		file->rules = larger;
	}
	file->rules[file->num_rules++] = *rule;
	return 0;
}

static int read_line(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node,
		     struct sim_plan_file_rule *rule)
{
	struct sim_rule_error error;

	if (sim_rule_parse(node->text, &rule->rule, rule->delays_file, &error))
		return pcie_yaml_error(doc, node, "column %u of the rule: %s", error.column, error.text);
	return 0;
}

static int read_rule(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	struct sim_plan_file_rule rule = { .line = (unsigned int)node->line };
	int rc;

	if (node->type == PCIE_YAML_SCALAR)
		rc = read_line(doc, node, &rule);
	else if (node->type == PCIE_YAML_MAPPING)
		rc = sim_plan_file_read_mapping(doc, node, &rule);
	else
		return pcie_yaml_error(doc, node,
				       "expected a rule: a line (dma.memcpy nth=3 fail=IO_FAILED) or a mapping "
				       "({op: dma.memcpy, nth: 3, fail: IO_FAILED})");
	return rc ? rc : add_rule(to, &rule);
}

static int read_seed(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	const char *text = node->type == PCIE_YAML_SCALAR ? node->text : "";
	struct sim_plan_file *file = to;

	if (sim_value_number((struct sim_text){ text, strlen(text) }, UINT64_MAX, &file->seed))
		return pcie_yaml_error(doc, node, "expected a number from 0, got `%.48s`", text);
	file->has_seed = true;
	return 0;
}

static const struct pcie_yaml_field plan_fields[] = {
	{ "seed", PCIE_YAML_READ, .read = read_seed },
	{ "faults", PCIE_YAML_ENTRIES, .is_required = true, .max_entries = SIM_PLAN_MAX_RULES, .read = read_rule },
	{ 0 },
};

static struct pcie_yaml_doc new_doc(const char *name, char error[SIM_PLAN_FILE_ERROR_SIZE])
{
	return (struct pcie_yaml_doc){ .name = name,
				       .max_bytes = SIM_PLAN_FILE_MAX_BYTES,
				       .needs = "\"faults:\" and a list of rules",
				       .error = error,
				       .error_size = SIM_PLAN_FILE_ERROR_SIZE };
}

/* Read a document, of which @rc is the outcome of the load, and end it. */
static int read_doc(struct pcie_yaml_doc *doc, int rc, struct sim_plan_file *ret_file)
{
	struct sim_plan_file file = { 0 };

	if (!rc)
		rc = pcie_yaml_read_root(doc, plan_fields, &file);
	if (rc == -ENOMEM)
		sim_yaml_file_error(doc, rc);
	pcie_yaml_unload(doc);
	if (rc)
		sim_plan_file_fini(&file);
	else
		*ret_file = file;
	return rc;
}

int sim_plan_file_parse(const char *name, const char *yaml, size_t len, struct sim_plan_file *ret_file,
			char error[SIM_PLAN_FILE_ERROR_SIZE])
{
	struct pcie_yaml_doc doc = new_doc(name, error);

	doc.text = yaml;
	doc.len = len;
	return read_doc(&doc, pcie_yaml_load(&doc), ret_file);
}

/* ---- files ---- */

static int load_delays(const char *path, struct sim_plan_file *file, char error[SIM_PLAN_FILE_ERROR_SIZE])
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	char delays_error[SIM_RULE_ERROR_SIZE];
	int rc = dir ? 0 : -ENOMEM;

	if (rc)
		snprintf(error, SIM_PLAN_FILE_ERROR_SIZE, "%.200s: %s", path, strerror(-rc));
	for (uint32_t i = 0; !rc && i < file->num_rules; i++) {
		struct sim_plan_file_rule *rule = &file->rules[i];

		if (!rule->delays_file[0])
			continue;
		rc = sim_delays_load(rule->delays_file, dir, &rule->delays, delays_error);
		if (rc)
			snprintf(error, SIM_PLAN_FILE_ERROR_SIZE, "%.160s:%u: %s", path, rule->line, delays_error);
	}
	free(dir);
	return rc;
}

int sim_plan_file_load(const char *path, struct sim_plan_file *ret_file, char error[SIM_PLAN_FILE_ERROR_SIZE])
{
	struct pcie_yaml_doc doc = new_doc(path, error);
	struct sim_plan_file file;
	int rc = read_doc(&doc, sim_yaml_file_load(&doc), &file);

	if (rc)
		return rc;
	rc = load_delays(path, &file, error);
	if (rc) {
		sim_plan_file_fini(&file);
		return rc;
	}
	*ret_file = file;
	return 0;
}

void sim_plan_file_fini(struct sim_plan_file *file)
{
	for (uint32_t i = 0; i < file->num_rules; i++)
		free(file->rules[i].delays);
	free(file->rules);
	memset(file, 0, sizeof(*file));
}

int sim_plan_file_apply(const struct sim_plan_file *file, struct sim_plan *plan, uint64_t now_ns,
			char error[SIM_PLAN_FILE_ERROR_SIZE])
{
	uint32_t id;
	int rc;

	if (file->has_seed)
		sim_plan_set_seed(plan, file->seed);
	for (uint32_t i = 0; i < file->num_rules; i++) {
		const struct sim_plan_file_rule *rule = &file->rules[i];

		rc = sim_plan_add(plan, &rule->rule, rule->delays, now_ns, &id);
		if (rc) {
			snprintf(error, SIM_PLAN_FILE_ERROR_SIZE, "the rule of line %u cannot be added to the plan: %s",
				 rule->line, rc == -ENOSPC ? "it is full" : "it is not valid");
			return rc;
		}
	}
	return 0;
}
