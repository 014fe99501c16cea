/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a scenario: a table of fields for each kind of mapping. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/did_you_mean.h"
#include "scenario.h"
#include "sim/base/yaml_document.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/seeds.h"

#define MAX_ERRORS      20   /* that are told of one file */
#define MAX_REPETITIONS 4096 /* of a regular expression: the product of what its intervals ({m,n}) repeat at most */

struct reader {
	yaml_document_t document;
	const char *path;
	unsigned int num_errors;
};

/* What a field holds. */
enum kind { TEXT, LIST, PATTERNS, FLAG, SECONDS, STATUS, SEEDS, SIDES, FILES };

struct field {
	const char *key;
	enum kind kind;
	size_t offset;      /* in its struct */
	size_t line_offset; /* of its line in the struct; 0 = the line is not kept */
};

#define OF(type, member) offsetof(struct type, member)

static const struct field scenario_fields[] = {
	{ "name", TEXT, OF(cli_scenario, name), 0 },
	{ "topology", TEXT, OF(cli_scenario, topology), OF(cli_scenario, lines.topology) },
	{ "clock", TEXT, OF(cli_scenario, clock), OF(cli_scenario, lines.clock) },
	{ "check", TEXT, OF(cli_scenario, check), OF(cli_scenario, lines.check) },
	{ "faults", LIST, OF(cli_scenario, faults), 0 },
	{ "fault-plan", LIST, OF(cli_scenario, fault_plans), 0 },
	{ "require-faults", FLAG, OF(cli_scenario, require_faults), OF(cli_scenario, lines.require_faults) },
	{ "shuffle", FLAG, OF(cli_scenario, shuffle), 0 },
	{ "seeds", SEEDS, 0, 0 },
	{ "before", TEXT, OF(cli_scenario, before), 0 },
	{ "until", TEXT, OF(cli_scenario, until), OF(cli_scenario, lines.until) },
	{ "copy", LIST, OF(cli_scenario, copy), 0 },
	{ "timeout", SECONDS, OF(cli_scenario, timeout_s), 0 },
	{ "status", STATUS, OF(cli_scenario, status), OF(cli_scenario, lines.status) },
	{ "output", PATTERNS, OF(cli_scenario, expected.output), 0 },
	{ "no-output", PATTERNS, OF(cli_scenario, expected.no_output), 0 },
	{ "files", FILES, 0, 0 },
	{ "sides", SIDES, 0, 0 },
	{ 0 },
};

static const struct field side_fields[] = {
	{ "command", TEXT, OF(cli_scenario_side, command), 0 },
	{ "generation", TEXT, OF(cli_scenario_side, generation), 0 },
	{ "after", TEXT, OF(cli_scenario_side, after), 0 },
	{ "delay", TEXT, OF(cli_scenario_side, delay), 0 },
	{ "output", PATTERNS, OF(cli_scenario_side, expected.output), 0 },
	{ "no-output", PATTERNS, OF(cli_scenario_side, expected.no_output), 0 },
	{ 0 },
};

static const struct field file_fields[] = {
	{ "file", TEXT, OF(cli_scenario_file, name), 0 },
	{ "same-as", TEXT, OF(cli_scenario_file, same_as), 0 },
	{ 0 },
};

static size_t line_of(const yaml_node_t *node)
{
	return node ? node->start_mark.line + 1 : 1;
}

static int fail_at(struct reader *reader, const yaml_node_t *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail_at(struct reader *reader, const yaml_node_t *node, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (reader->num_errors++ < MAX_ERRORS)
		cli_scenario_fail(reader->path, line_of(node), "%s", text);
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

static int read_text(struct reader *reader, const yaml_node_t *node, const char *key, char **ret_text)
{
	const char *text = scalar(node);

	if (!text || !text[0])
		return fail_at(reader, node, "%s: expected a text", key);
	free(*ret_text);
	*ret_text = strdup(text);
	return *ret_text ? 0 : fail_at(reader, node, "out of memory");
}

static int append_text(struct reader *reader, const yaml_node_t *node, const char *key, struct cli_texts *texts)
{
	const char *text = scalar(node);

	if (!text || !text[0])
		return fail_at(reader, node, "%s: expected a text", key);
	return cli_texts_add(texts, text, line_of(node)) < 0 ? fail_at(reader, node, "out of memory") : 0;
}

/* A single text is a list of one. */
static int read_list(struct reader *reader, const yaml_node_t *node, const char *key, struct cli_texts *ret_texts)
{
	int rc = 0;

	if (node->type == YAML_SCALAR_NODE)
		return append_text(reader, node, key, ret_texts);
	if (node->type != YAML_SEQUENCE_NODE)
		return fail_at(reader, node, "%s: expected a text, or a list of texts", key);
	for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++)
		rc |= append_text(reader, node_of(reader, *item), key, ret_texts);
	return rc;
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

static int check_pattern(struct reader *reader, const yaml_node_t *node, const char *key, const char *pattern)
{
	char error[128];
	regex_t regex;
	int rc;

	if (has_too_many_repetitions(pattern))
		return fail_at(reader, node, "%s: \"%s\" repeats more than %d times in all", key, pattern,
			       MAX_REPETITIONS);
	rc = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (rc) {
		regerror(rc, &regex, error, sizeof(error));
		return fail_at(reader, node, "%s: \"%s\" is not a regular expression: %s", key, pattern, error);
	}
	regfree(&regex);
	return 0;
}

static int read_patterns(struct reader *reader, const yaml_node_t *node, const char *key, struct cli_texts *ret_texts)
{
	int rc = read_list(reader, node, key, ret_texts);

	for (size_t i = 0; i < ret_texts->count; i++)
		rc |= check_pattern(reader, node, key, ret_texts->list[i]);
	return rc;
}

static int read_number(struct reader *reader, const yaml_node_t *node, const char *key, uint64_t min, uint64_t max,
		       const char *unit, uint32_t *ret_number)
{
	const char *text = scalar(node), *end;
	uint64_t number;

	if (!text || cli_number_parse(text, 10, min, max, &number, &end) < 0 ||
	    (*end && (!unit || strcmp(end, unit) != 0)))
		return fail_at(reader, node, "%s: expected a number from %llu to %llu%s%s", key,
			       (unsigned long long)min, (unsigned long long)max, unit ? " of seconds, such as 60" : "",
			       unit ? unit : "");
	*ret_number = (uint32_t)number;
	return 0;
}

static int read_flag(struct reader *reader, const yaml_node_t *node, const char *key, bool *ret_flag)
{
	const char *text = scalar(node);

	*ret_flag = text && strcmp(text, "true") == 0;
	if (!text || (!*ret_flag && strcmp(text, "false") != 0))
		return fail_at(reader, node, "%s: expected true or false", key);
	return 0;
}

static int read_seeds(struct reader *reader, const yaml_node_t *node, struct cli_scenario *scenario)
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

	if (field->line_offset)
		*(size_t *)(void *)((char *)to + field->line_offset) = line_of(node);
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
		return read_number(reader, node, field->key, 1, INT_MAX, "s", place);
	case STATUS:
		return read_number(reader, node, field->key, 0, 255, NULL, place);
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

static int fail_unknown_field(struct reader *reader, const yaml_node_t *node, const char *key,
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

/* Read the field of one pair; @seen has a bit for each field that was there before. */
static int read_pair(struct reader *reader, const yaml_node_pair_t *pair, const struct field *fields, uint64_t *seen,
		     void *to)
{
	const yaml_node_t *key_node = node_of(reader, pair->key);
	const struct field *field = fields;
	const char *key = scalar(key_node);
	uint64_t bit;

	while (key && field->key && strcmp(field->key, key) != 0)
		field++;
	if (!key || !field->key)
		return fail_unknown_field(reader, key_node, key ? key : "", fields);
	bit = UINT64_C(1) << (field - fields);
	if (*seen & bit)
		return fail_at(reader, key_node, "%s is given twice; remove one", key);
	*seen |= bit;
	return read_field(reader, node_of(reader, pair->value), field, to);
}

static int read_mapping(struct reader *reader, const yaml_node_t *node, const char *what, const struct field *fields,
			void *to)
{
	uint64_t seen = 0;
	int rc = 0;

	if (!node || node->type != YAML_MAPPING_NODE)
		return fail_at(reader, node, "%s: expected a mapping (\"key: value\" lines)", what);
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
		rc |= read_pair(reader, pair, fields, &seen, to);
	return rc;
}

/* One command on a side: a text, or a mapping. */
static int read_side(struct reader *reader, const yaml_node_t *node, const char *name, struct cli_scenario *scenario)
{
	struct cli_scenario_side *sides, *side;
	int rc;

	if (scenario->num_sides == CLI_SCENARIO_MAX_SIDES)
		return fail_at(reader, node, "sides: there are more than %d commands", CLI_SCENARIO_MAX_SIDES);
	sides = reallocarray(scenario->sides, scenario->num_sides + 1, sizeof(*sides));
	if (!sides)
		return fail_at(reader, node, "out of memory");
	scenario->sides = sides;
	side = &sides[scenario->num_sides++];
	*side = (struct cli_scenario_side){ .name = strdup(name), .line = line_of(node) };
	if (!side->name)
		return fail_at(reader, node, "out of memory");
	if (scalar(node))
		return read_text(reader, node, name, &side->command);
	rc = read_mapping(reader, node, name, side_fields, side);
	if (rc == 0 && !side->command)
		return fail_at(reader, node, "%s: command is missing", name);
	return rc;
}

static bool has_side(const struct cli_scenario *scenario, const char *name)
{
	for (size_t i = 0; i < scenario->num_sides; i++)
		if (strcmp(scenario->sides[i].name, name) == 0)
			return true;
	return false;
}

/* A list is several commands on one side. */
static int read_commands(struct reader *reader, const yaml_node_pair_t *pair, struct cli_scenario *scenario)
{
	const yaml_node_t *key = node_of(reader, pair->key), *value = node_of(reader, pair->value);
	const char *name = scalar(key);
	int rc = 0;

	if (!name || !name[0])
		return fail_at(reader, key, "sides: a side has a name, such as host");
	if (has_side(scenario, name))
		return fail_at(reader, key, "%s is given twice; several commands on one side are a list", name);
	if (value->type != YAML_SEQUENCE_NODE)
		return read_side(reader, value, name, scenario);
	if (value->data.sequence.items.start == value->data.sequence.items.top)
		return fail_at(reader, value, "%s: the list has no command", name);
	for (yaml_node_item_t *item = value->data.sequence.items.start; item < value->data.sequence.items.top; item++)
		rc |= read_side(reader, node_of(reader, *item), name, scenario);
	return rc;
}

static int read_sides(struct reader *reader, const yaml_node_t *node, struct cli_scenario *scenario)
{
	int rc = 0;

	if (node->type != YAML_MAPPING_NODE)
		return fail_at(reader, node, "sides: expected a mapping, such as \"host: ./host\"");
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
		rc |= read_commands(reader, pair, scenario);
	return rc;
}

static int read_file(struct reader *reader, const yaml_node_t *node, struct cli_scenario *scenario)
{
	struct cli_scenario_file *files = reallocarray(scenario->files, scenario->num_files + 1, sizeof(*files)), *file;

	if (!files)
		return fail_at(reader, node, "out of memory");
	scenario->files = files;
	file = &files[scenario->num_files++];
	*file = (struct cli_scenario_file){ 0 };
	if (read_mapping(reader, node, "files", file_fields, file) < 0)
		return -1;
	return file->name && file->same_as ? 0 : fail_at(reader, node, "files: an entry has file and same-as");
}

static int read_files(struct reader *reader, const yaml_node_t *node, struct cli_scenario *scenario)
{
	int rc = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return fail_at(reader, node, "files: expected a list, such as \"- {file: out, same-as: in}\"");
	for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++)
		rc |= read_file(reader, node_of(reader, *item), scenario);
	return rc;
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
	int rc = read_mapping(reader, root, "the scenario", scenario_fields, scenario);

	if (rc == 0 && scenario->num_sides == 0)
		rc = fail_at(reader, root, "sides is missing: which commands run? Such as \"sides: {dpu: ./dpu}\"");
	if (reader->num_errors > MAX_ERRORS)
		cli_fail("%s: %u more errors", reader->path, reader->num_errors - MAX_ERRORS);
	return rc < 0 ? -1 : set_names(reader->path, folder, scenario);
}

int cli_scenario_read(const char *path, const char *folder, struct cli_scenario *ret_scenario)
{
	struct reader reader = { .path = path };
	char error[1024];
	int rc;

	*ret_scenario = (struct cli_scenario){ .timeout_s = CLI_SCENARIO_TIMEOUT_S, .require_faults = true };
	rc = sim_yaml_document_load(path, "sides with commands; see bfsim-test(1)", &reader.document, error,
				    sizeof(error));
	if (rc < 0) {
		cli_fail("%s", error);
		return -1;
	}
	rc = read_document(&reader, folder, ret_scenario);
	yaml_document_delete(&reader.document);
	if (rc < 0)
		cli_scenario_fini(ret_scenario);
	return rc;
}
