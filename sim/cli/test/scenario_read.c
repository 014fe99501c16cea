/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a scenario: tables of its fields, and what only scenarios have. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/yaml_fields.h"
#include "scenario.h"
#include "sim/base/yaml_file.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/seeds.h"

#define MAX_ERRORS      20   /* that are told of one file */
#define MAX_REPETITIONS 4096 /* of a regular expression: the product of what its intervals ({m,n}) repeat at most */

/* The errors of a scenario. */
struct errors {
	const char *path;
	unsigned int count;
};

static void on_error(void *arg, size_t line, const char *text)
{
	struct errors *errors = arg;

	if (errors->count++ < MAX_ERRORS)
		cli_scenario_fail(errors->path, line, "%s", text);
}

/* ---- lists of texts ---- */

static int append_text(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	if (node->type != PCIE_YAML_SCALAR || !node->text[0])
		return pcie_yaml_error(doc, node, "expected a text");
	return cli_texts_add(to, node->text, node->line) < 0 ? -ENOMEM : 0;
}

/* A single text is a list of one. */
static int read_texts(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, struct cli_texts *ret_texts,
		      pcie_yaml_read_fn *append)
{
	if (node->type == PCIE_YAML_MAPPING)
		return pcie_yaml_error(doc, node, "expected a text, or a list of texts");
	return node->type == PCIE_YAML_LIST ? pcie_yaml_each(doc, node, append, ret_texts) :
					      append(doc, node, ret_texts);
}

/* Intervals inside each other multiply, and so do the time and memory to compile them. */
static bool has_too_many_repetitions(const char *pattern)
{
	unsigned long product = 1;

	while ((pattern = strchr(pattern, '{')) != NULL) {
		size_t len = strcspn(++pattern, "}");
		const char *comma = memchr(pattern, ',', len);
		unsigned long least = strtoul(pattern, NULL, 10), most = comma ? strtoul(comma + 1, NULL, 10) : least;

		most = most > least ? most : least;
		if (most > MAX_REPETITIONS)
			return true;
		product *= most ? most : 1;
		if (product > MAX_REPETITIONS)
			return true;
	}
	return false;
}

static int append_pattern(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	int rc = append_text(doc, node, to);
	char error[128];
	regex_t regex;

	if (rc)
		return rc;
	if (has_too_many_repetitions(node->text))
		return pcie_yaml_error(doc, node, "\"%s\" repeats more than %d times in all", node->text,
				       MAX_REPETITIONS);
	rc = regcomp(&regex, node->text, REG_EXTENDED | REG_NOSUB);
	if (rc) {
		regerror(rc, &regex, error, sizeof(error));
		return pcie_yaml_error(doc, node, "\"%s\" is not a regular expression: %s", node->text, error);
	}
	regfree(&regex);
	return 0;
}

/* read_LIST() reads a field that is a list of texts, or of patterns. */
#define READ_TEXTS(type, list, member, append)                                                         \
	static int read_##list(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to) \
	{                                                                                              \
		return read_texts(doc, node, &((struct type *)to)->member, append);                    \
	}

READ_TEXTS(cli_scenario, faults, faults, append_text)
READ_TEXTS(cli_scenario, fault_plans, fault_plans, append_text)
READ_TEXTS(cli_scenario, copy, copy, append_text)
READ_TEXTS(cli_scenario, output, expected.output, append_pattern)
READ_TEXTS(cli_scenario, no_output, expected.no_output, append_pattern)
READ_TEXTS(cli_scenario_side, side_output, expected.output, append_pattern)
READ_TEXTS(cli_scenario_side, side_no_output, expected.no_output, append_pattern)

/* ---- values ---- */

static int read_number(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, uint64_t min, uint64_t max,
		       const char *unit, uint32_t *ret_number)
{
	const char *end;
	uint64_t number;

	if (node->type != PCIE_YAML_SCALAR || cli_number_parse(node->text, 10, min, max, &number, &end) < 0 ||
	    (*end && (!unit || strcmp(end, unit) != 0)))
		return pcie_yaml_error(doc, node, "expected a number from %llu to %llu%s%s", (unsigned long long)min,
				       (unsigned long long)max, unit ? " of seconds, such as 60" : "",
				       unit ? unit : "");
	*ret_number = (uint32_t)number;
	return 0;
}

static int read_timeout(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	return read_number(doc, node, 1, INT_MAX, "s", &((struct cli_scenario *)to)->timeout_s);
}

static int read_status(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	return read_number(doc, node, 0, 255, NULL, &((struct cli_scenario *)to)->status);
}

static int read_seeds(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	struct cli_scenario *scenario = to;

	scenario->has_seeds = true;
	if (node->type != PCIE_YAML_SCALAR ||
	    cli_seeds_parse(node->text, &scenario->first_seed, &scenario->last_seed) < 0)
		return pcie_yaml_error(doc, node, "expected a number, or a range such as 1..50");
	return 0;
}

/* ---- sides ---- */

static const struct pcie_yaml_field side_fields[] = {
	PCIE_YAML_FIELD("command", TEXT, cli_scenario_side, command, .is_required = true),
	PCIE_YAML_FIELD("generation", TEXT, cli_scenario_side, generation),
	PCIE_YAML_FIELD("after", TEXT, cli_scenario_side, after),
	PCIE_YAML_FIELD("delay", TEXT, cli_scenario_side, delay),
	{ "output", PCIE_YAML_READ, .read = read_side_output },
	{ "no-output", PCIE_YAML_READ, .read = read_side_no_output },
	{ 0 },
};

/* One command on a side: a text, or a mapping. */
static int read_command(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	struct cli_scenario *scenario = to;
	struct cli_scenario_side *sides, *side;

	if (scenario->num_sides == CLI_SCENARIO_MAX_SIDES)
		return pcie_yaml_error(doc, node, "there are more than %d commands", CLI_SCENARIO_MAX_SIDES);
	sides = reallocarray(scenario->sides, scenario->num_sides + 1, sizeof(*sides));
	if (!sides)
		return -ENOMEM;
	scenario->sides = sides;
	side = &sides[scenario->num_sides++];
	*side = (struct cli_scenario_side){ .name = node->key ? node->key : node->parent->key, .line = node->line };
	if (node->type != PCIE_YAML_SCALAR)
		return pcie_yaml_read(doc, node, side_fields, side);
	if (!node->text[0])
		return pcie_yaml_error(doc, node, "expected a text");
	side->command = node->text;
	return 0;
}

static bool has_side(const struct cli_scenario *scenario, const char *name)
{
	for (size_t i = 0; i < scenario->num_sides; i++)
		if (strcmp(scenario->sides[i].name, name) == 0)
			return true;
	return false;
}

/* A list is several commands on one side. */
static int read_side(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	if (!node->key[0])
		return pcie_yaml_error(doc, node, "a side has a name, such as host");
	if (has_side(to, node->key))
		return pcie_yaml_error(doc, node, "is given twice; several commands on one side are a list");
	if (node->type != PCIE_YAML_LIST)
		return read_command(doc, node, to);
	if (node->count == 0)
		return pcie_yaml_error(doc, node, "the list has no command");
	return pcie_yaml_each(doc, node, read_command, to);
}

static int read_sides(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	if (node->type != PCIE_YAML_MAPPING)
		return pcie_yaml_error(doc, node, "expected a mapping, such as \"host: ./host\"");
	return pcie_yaml_each(doc, node, read_side, to);
}

/* ---- the scenario ---- */

static int read_flag(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, bool *ret_flag)
{
	const char *text = node->type == PCIE_YAML_SCALAR ? node->text : "";

	*ret_flag = strcmp(text, "true") == 0;
	return *ret_flag || strcmp(text, "false") == 0 ? 0 : pcie_yaml_error(doc, node, "expected true or false");
}

static int read_require_faults(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	return read_flag(doc, node, &((struct cli_scenario *)to)->require_faults);
}

static int read_nodes(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	return read_flag(doc, node, &((struct cli_scenario *)to)->nodes);
}

static int read_shuffle(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	return read_flag(doc, node, &((struct cli_scenario *)to)->shuffle);
}

static const struct pcie_yaml_field file_fields[] = {
	PCIE_YAML_FIELD("file", TEXT, cli_scenario_file, name, .is_required = true),
	PCIE_YAML_FIELD("same-as", TEXT, cli_scenario_file, same_as, .is_required = true),
	{ 0 },
};

#define LINE_OF(member) .line_offset = offsetof(struct cli_scenario, lines.member)

static const struct pcie_yaml_field scenario_fields[] = {
	PCIE_YAML_FIELD("name", TEXT, cli_scenario, name),
	PCIE_YAML_FIELD("topology", TEXT, cli_scenario, topology, LINE_OF(topology)),
	PCIE_YAML_FIELD("clock", TEXT, cli_scenario, clock, LINE_OF(clock)),
	PCIE_YAML_FIELD("check", TEXT, cli_scenario, check, LINE_OF(check)),
	{ "faults", PCIE_YAML_READ, .read = read_faults },
	{ "fault-plan", PCIE_YAML_READ, .read = read_fault_plans },
	{ "require-faults", PCIE_YAML_READ, LINE_OF(require_faults), .read = read_require_faults },
	{ "nodes", PCIE_YAML_READ, .read = read_nodes },
	{ "shuffle", PCIE_YAML_READ, .read = read_shuffle },
	{ "seeds", PCIE_YAML_READ, .read = read_seeds },
	PCIE_YAML_FIELD("before", TEXT, cli_scenario, before),
	PCIE_YAML_FIELD("until", TEXT, cli_scenario, until, LINE_OF(until)),
	{ "copy", PCIE_YAML_READ, .read = read_copy },
	{ "timeout", PCIE_YAML_READ, .read = read_timeout },
	{ "status", PCIE_YAML_READ, .read = read_status },
	{ "output", PCIE_YAML_READ, .read = read_output },
	{ "no-output", PCIE_YAML_READ, .read = read_no_output },
	PCIE_YAML_LIST_FIELD("files", STRUCTS, cli_scenario, files, num_files, .fields = file_fields,
			     .size = sizeof(struct cli_scenario_file)),
	{ "sides", PCIE_YAML_READ, .read = read_sides },
	{ 0 },
};

/* Names that are not given: of the file without its extension, of its folder. */
static int set_names(const char *path, const char *folder, struct cli_scenario *scenario)
{
	char *copy = pcie_yaml_copy(&scenario->doc, path), *dir = pcie_yaml_copy(&scenario->doc, path);
	char *base = copy ? basename(copy) : NULL, *dot = base ? strrchr(base, '.') : NULL;

	if (dot && dot != base)
		*dot = '\0';
	if (!scenario->name)
		scenario->name = base;
	scenario->path = pcie_yaml_copy(&scenario->doc, path);
	scenario->folder = folder ? strdup(folder) : dir ? realpath(dirname(dir), NULL) : NULL;
	if (scenario->name && scenario->path && scenario->folder)
		return 0;
	return cli_error("%s: %s", path, strerror(errno));
}

static int read_scenario(struct cli_scenario *scenario)
{
	struct pcie_yaml_doc *doc = &scenario->doc;
	int rc = sim_yaml_file_load(doc);

	if (rc < 0)
		return rc;
	rc = pcie_yaml_read_root(doc, scenario_fields, scenario);
	if (rc == -ENOMEM)
		return sim_yaml_file_error(doc, rc);
	if (rc == 0 && scenario->num_sides == 0)
		return pcie_yaml_error(doc, doc->root,
				       "sides is missing: which commands run? Such as \"sides: {dpu: ./dpu}\"");
	return rc;
}

int cli_scenario_read(const char *path, const char *folder, struct cli_scenario *ret_scenario)
{
	struct errors errors = { .path = path };
	struct cli_scenario scenario = { .timeout_s = CLI_SCENARIO_TIMEOUT_S,
					 .require_faults = true,
					 .doc = { .name = path,
						  .needs = "sides with commands; see bfsim-test(1)",
						  .on_error = on_error,
						  .arg = &errors } };
	int rc = read_scenario(&scenario);

	if (errors.count > MAX_ERRORS)
		cli_fail("%s: %u more errors", path, errors.count - MAX_ERRORS);
	if (rc == 0)
		rc = set_names(path, folder, &scenario);
	if (rc < 0)
		cli_scenario_fini(&scenario);
	*ret_scenario = scenario;
	return rc < 0 ? -1 : 0;
}
