/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a scenario: a table of fields for each kind of mapping. */
#include "scenario.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "pcie_model/did_you_mean.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/seeds.h"

struct reader {
	yaml_document_t document;
	const char *path;
};

/* What a field holds. */
enum kind { TEXT, LIST, PATTERNS, FLAG, SECONDS, STATUS, SEEDS, SIDES, FILES };

struct field {
	const char *key;
	enum kind kind;
	size_t offset; /* in its struct */
};

#define OF(type, member) offsetof(struct type, member)

static const struct field scenario_fields[] = {
	{ "name", TEXT, OF(cli_scenario, name) },
	{ "topology", TEXT, OF(cli_scenario, topology) },
	{ "clock", TEXT, OF(cli_scenario, clock) },
	{ "check", TEXT, OF(cli_scenario, check) },
	{ "faults", LIST, OF(cli_scenario, faults) },
	{ "fault-plan", TEXT, OF(cli_scenario, fault_plan) },
	{ "require-faults", FLAG, OF(cli_scenario, require_faults) },
	{ "shuffle", FLAG, OF(cli_scenario, shuffle) },
	{ "seeds", SEEDS, 0 },
	{ "before", TEXT, OF(cli_scenario, before) },
	{ "until", TEXT, OF(cli_scenario, until) },
	{ "copy", LIST, OF(cli_scenario, copy) },
	{ "timeout", SECONDS, OF(cli_scenario, timeout_s) },
	{ "status", STATUS, OF(cli_scenario, status) },
	{ "output", PATTERNS, OF(cli_scenario, expected.output) },
	{ "no-output", PATTERNS, OF(cli_scenario, expected.no_output) },
	{ "files", FILES, 0 },
	{ "sides", SIDES, 0 },
	{ 0 },
};

static const struct field side_fields[] = {
	{ "command", TEXT, OF(cli_scenario_side, command) },
	{ "generation", TEXT, OF(cli_scenario_side, generation) },
	{ "after", TEXT, OF(cli_scenario_side, after) },
	{ "delay", TEXT, OF(cli_scenario_side, delay) },
	{ "output", PATTERNS, OF(cli_scenario_side, expected.output) },
	{ "no-output", PATTERNS, OF(cli_scenario_side, expected.no_output) },
	{ 0 },
};

static const struct field file_fields[] = {
	{ "file", TEXT, OF(cli_scenario_file, name) },
	{ "same-as", TEXT, OF(cli_scenario_file, same_as) },
	{ 0 },
};

static int fail_at(const struct reader *reader, const yaml_node_t *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail_at(const struct reader *reader, const yaml_node_t *node, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cli_fail("%s:%zu: %s", reader->path, node ? node->start_mark.line + 1 : 1, text);
	return -1;
}

static yaml_node_t *node_of(struct reader *reader, int index)
{
	return yaml_document_get_node(&reader->document, index);
}

/* The text of a scalar, or NULL. */
static const char *scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static int read_text(const struct reader *reader, const yaml_node_t *node, const char *key, char **ret_text)
{
	const char *text = scalar(node);

	if (!text || !text[0])
		return fail_at(reader, node, "%s: expected a text", key);
	free(*ret_text);
	*ret_text = strdup(text);
	return *ret_text ? 0 : fail_at(reader, node, "out of memory");
}

static int append_text(const struct reader *reader, const yaml_node_t *node, const char *key, struct cli_texts *texts)
{
	char **list = reallocarray(texts->list, texts->count + 1, sizeof(*list));

	if (!list)
		return fail_at(reader, node, "out of memory");
	texts->list = list;
	list[texts->count] = NULL;
	if (read_text(reader, node, key, &list[texts->count]) < 0)
		return -1;
	texts->count++;
	return 0;
}

/* A single text is a list of one. */
static int read_list(struct reader *reader, const yaml_node_t *node, const char *key, struct cli_texts *ret_texts)
{
	if (node->type == YAML_SCALAR_NODE)
		return append_text(reader, node, key, ret_texts);
	if (node->type != YAML_SEQUENCE_NODE)
		return fail_at(reader, node, "%s: expected a text, or a list of texts", key);
	for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++)
		if (append_text(reader, node_of(reader, *item), key, ret_texts) < 0)
			return -1;
	return 0;
}

static int read_patterns(struct reader *reader, const yaml_node_t *node, const char *key, struct cli_texts *ret_texts)
{
	if (read_list(reader, node, key, ret_texts) < 0)
		return -1;
	for (size_t i = 0; i < ret_texts->count; i++) {
		char error[128];
		regex_t regex;
		int rc = regcomp(&regex, ret_texts->list[i], REG_EXTENDED | REG_NOSUB);

		if (rc) {
			regerror(rc, &regex, error, sizeof(error));
			return fail_at(reader, node, "%s: \"%s\" is not a regular expression: %s", key,
				       ret_texts->list[i], error);
		}
		regfree(&regex);
	}
	return 0;
}

static int read_number(const struct reader *reader, const yaml_node_t *node, const char *key, uint64_t max,
		       const char *unit, uint32_t *ret_number)
{
	const char *text = scalar(node), *end;
	uint64_t number;

	if (!text || cli_number_parse(text, 10, 0, max, &number, &end) < 0 ||
	    (*end && (!unit || strcmp(end, unit) != 0)))
		return fail_at(reader, node, "%s: expected a number from 0 to %llu%s%s", key, (unsigned long long)max,
			       unit ? " of seconds, such as 60" : "", unit ? unit : "");
	*ret_number = (uint32_t)number;
	return 0;
}

static int read_flag(const struct reader *reader, const yaml_node_t *node, const char *key, bool *ret_flag)
{
	const char *text = scalar(node);

	*ret_flag = text && strcmp(text, "true") == 0;
	if (!text || (!*ret_flag && strcmp(text, "false") != 0))
		return fail_at(reader, node, "%s: expected true or false", key);
	return 0;
}

static int read_seeds(const struct reader *reader, const yaml_node_t *node, struct cli_scenario *scenario)
{
	const char *text = scalar(node);

	scenario->has_seeds = true;
	if (!text || cli_seeds_parse(text, &scenario->first_seed, &scenario->last_seed) < 0)
		return fail_at(reader, node, "seeds: expected a number, or a range such as 1..50");
	return 0;
}

static int read_sides(struct reader *reader, const yaml_node_t *node, struct cli_scenario *scenario);
static int read_files(struct reader *reader, const yaml_node_t *node, struct cli_scenario *scenario);

/* Read the value of @field to its place in the struct @to. */
static int read_field(struct reader *reader, const yaml_node_t *node, const struct field *field, void *to)
{
	void *place = (char *)to + field->offset;

	switch (field->kind) {
	case TEXT:
		return read_text(reader, node, field->key, place);
	case LIST:
		return read_list(reader, node, field->key, place);
	case PATTERNS:
		return read_patterns(reader, node, field->key, place);
	case FLAG:
		return read_flag(reader, node, field->key, place);
	case SECONDS:
		return read_number(reader, node, field->key, INT_MAX, "s", place);
	case STATUS:
		return read_number(reader, node, field->key, 255, NULL, place);
	case SEEDS:
		return read_seeds(reader, node, to);
	case SIDES:
		return read_sides(reader, node, to);
	case FILES:
	default:
		return read_files(reader, node, to);
	}
}

static const char *field_key(const void *arg, size_t i)
{
	const struct field *fields = arg;

	return fields[i].key;
}

static int fail_unknown_field(const struct reader *reader, const yaml_node_t *node, const char *key,
			      const struct field *fields)
{
	size_t count = 0;
	const char *closest;

	while (fields[count].key)
		count++;
	closest = pcie_did_you_mean(key, strlen(key), field_key, fields, count);
	return fail_at(reader, node, "%s: unknown field%s%s%s", key,
		       closest ? "; did you mean " : "; see bfsim-test(1)", closest ? closest : "", closest ? "?" : "");
}

static int read_mapping(struct reader *reader, const yaml_node_t *node, const char *what, const struct field *fields,
			void *to)
{
	if (!node || node->type != YAML_MAPPING_NODE)
		return fail_at(reader, node, "%s: expected a mapping (\"key: value\" lines)", what);
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key_node = node_of(reader, pair->key);
		const struct field *field = fields;
		const char *key = scalar(key_node);

		while (key && field->key && strcmp(field->key, key) != 0)
			field++;
		if (!key || !field->key)
			return fail_unknown_field(reader, key_node, key ? key : "", fields);
		if (read_field(reader, node_of(reader, pair->value), field, to) < 0)
			return -1;
	}
	return 0;
}

/* One command on a side: a text, or a mapping. */
static int read_side(struct reader *reader, const yaml_node_t *node, const char *name, struct cli_scenario *scenario)
{
	struct cli_scenario_side *sides = reallocarray(scenario->sides, scenario->num_sides + 1, sizeof(*sides)), *side;
	int rc;

	if (!sides)
		return fail_at(reader, node, "out of memory");
	scenario->sides = sides;
	side = &sides[scenario->num_sides++];
	*side = (struct cli_scenario_side){ .name = strdup(name) };
	if (!side->name)
		return fail_at(reader, node, "out of memory");
	if (scalar(node))
		return read_text(reader, node, name, &side->command);
	rc = read_mapping(reader, node, name, side_fields, side);
	if (rc == 0 && !side->command)
		return fail_at(reader, node, "%s: command is missing", name);
	return rc;
}

/* A list is several commands on one side. */
static int read_sides(struct reader *reader, const yaml_node_t *node, struct cli_scenario *scenario)
{
	if (node->type != YAML_MAPPING_NODE)
		return fail_at(reader, node, "sides: expected a mapping, such as \"host: ./host\"");
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *value = node_of(reader, pair->value);
		const char *name = scalar(node_of(reader, pair->key));

		if (!name || !name[0])
			return fail_at(reader, node, "sides: a side has a name, such as host");
		if (value->type != YAML_SEQUENCE_NODE) {
			if (read_side(reader, value, name, scenario) < 0)
				return -1;
			continue;
		}
		for (yaml_node_item_t *item = value->data.sequence.items.start; item < value->data.sequence.items.top;
		     item++)
			if (read_side(reader, node_of(reader, *item), name, scenario) < 0)
				return -1;
	}
	return 0;
}

static int read_files(struct reader *reader, const yaml_node_t *node, struct cli_scenario *scenario)
{
	if (node->type != YAML_SEQUENCE_NODE)
		return fail_at(reader, node, "files: expected a list, such as \"- {file: out, same-as: in}\"");
	for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
		struct cli_scenario_file *files =
			reallocarray(scenario->files, scenario->num_files + 1, sizeof(*files));
		const yaml_node_t *entry = node_of(reader, *item);

		if (!files)
			return fail_at(reader, entry, "out of memory");
		scenario->files = files;
		files[scenario->num_files++] = (struct cli_scenario_file){ 0 };
		if (read_mapping(reader, entry, "files", file_fields, &files[scenario->num_files - 1]) < 0)
			return -1;
		if (!files[scenario->num_files - 1].name || !files[scenario->num_files - 1].same_as)
			return fail_at(reader, entry, "files: an entry has file and same-as");
	}
	return 0;
}

/* Names that are not given: of the file without its extension, of its folder. */
static int set_names(const char *path, const char *folder, struct cli_scenario *scenario)
{
	char *copy = strdup(path), *dir = copy ? strdup(path) : NULL;
	char *base = copy ? basename(copy) : NULL, *dot = base ? strrchr(base, '.') : NULL;

	if (dot && dot != base)
		*dot = '\0';
	if (base && !scenario->name)
		scenario->name = strdup(base);
	scenario->path = strdup(path);
	scenario->folder = folder ? strdup(folder) : dir ? realpath(dirname(dir), NULL) : NULL;
	free(copy);
	free(dir);
	if (scenario->name && scenario->path && scenario->folder)
		return 0;
	cli_fail("%s: %s", path, strerror(errno));
	return -1;
}

static int read_document(struct reader *reader, const char *folder, struct cli_scenario *scenario)
{
	const yaml_node_t *root = yaml_document_get_root_node(&reader->document);

	if (!root)
		return fail_at(reader, NULL, "is empty; a scenario has sides with commands, see bfsim-test(1)");
	if (read_mapping(reader, root, "the scenario", scenario_fields, scenario) < 0)
		return -1;
	if (scenario->num_sides == 0)
		return fail_at(reader, root, "sides is missing: which commands run? Such as \"sides: {dpu: ./dpu}\"");
	return set_names(reader->path, folder, scenario);
}

int cli_scenario_read(const char *path, const char *folder, struct cli_scenario *ret_scenario)
{
	FILE *file = fopen(path, "re");
	struct reader reader = { .path = path };
	yaml_parser_t parser;
	int rc = -1;

	*ret_scenario = (struct cli_scenario){ .timeout_s = CLI_SCENARIO_TIMEOUT_S };
	if (!file) {
		cli_fail("%s: %s", path, strerror(errno));
		return -1;
	}
	if (!yaml_parser_initialize(&parser)) {
		fclose(file);
		cli_fail("out of memory");
		return -1;
	}
	yaml_parser_set_input_file(&parser, file);
	if (!yaml_parser_load(&parser, &reader.document)) {
		cli_fail("%s:%zu: %s", path, parser.problem_mark.line + 1, parser.problem ? parser.problem : "no YAML");
	} else {
		rc = read_document(&reader, folder, ret_scenario);
		yaml_document_delete(&reader.document);
	}
	yaml_parser_delete(&parser);
	fclose(file);
	if (rc < 0)
		cli_scenario_fini(ret_scenario);
	return rc;
}

static void free_texts(struct cli_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->list[i]);
	free(texts->list);
}

static void free_expected(struct cli_expected *expected)
{
	free_texts(&expected->output);
	free_texts(&expected->no_output);
}

void cli_scenario_fini(struct cli_scenario *scenario)
{
	for (size_t i = 0; i < scenario->num_sides; i++) {
		struct cli_scenario_side *side = &scenario->sides[i];

		free(side->name);
		free(side->command);
		free(side->generation);
		free(side->after);
		free(side->delay);
		free_expected(&side->expected);
	}
	for (size_t i = 0; i < scenario->num_files; i++) {
		free(scenario->files[i].name);
		free(scenario->files[i].same_as);
	}
	free_texts(&scenario->faults);
	free_texts(&scenario->copy);
	free_expected(&scenario->expected);
	free(scenario->sides);
	free(scenario->files);
	free(scenario->path);
	free(scenario->folder);
	free(scenario->name);
	free(scenario->topology);
	free(scenario->clock);
	free(scenario->check);
	free(scenario->fault_plan);
	free(scenario->before);
	free(scenario->until);
	*scenario = (struct cli_scenario){ 0 };
}
