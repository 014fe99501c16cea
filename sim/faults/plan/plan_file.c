/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans as YAML files: the document, its files of delays, and adding its rules to a plan. */
#include "plan_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/file.h"
#include "sim/faults/rule/value.h"
#include "yaml_reader_priv.h"

/* ---- the list of rules ---- */

static int add_rule(struct sim_yaml_reader *reader, struct sim_plan_file *file, const struct sim_plan_file_rule *rule)
{
	uint32_t count = file->num_rules;

	if (count == SIM_PLAN_MAX_RULES)
		return sim_yaml_reader_fail_at(reader, rule->line, "there are more than %d rules", SIM_PLAN_MAX_RULES);
	if ((count & (count - 1)) == 0) { /* full: double it */
		struct sim_plan_file_rule *larger =
			realloc(file->rules, (count ? 2 * (size_t)count : 1) * sizeof(*larger));

		if (!larger)
			return sim_yaml_reader_fail_no_memory(reader);
		file->rules = larger;
	}
	file->rules[file->num_rules++] = *rule;
	return 0;
}

static int read_scalar_rule(struct sim_yaml_reader *reader, struct sim_plan_file_rule *rule)
{
	struct sim_rule_error error;

	if (sim_rule_parse(sim_yaml_reader_text(reader), &rule->rule, rule->delays_file, &error))
		return sim_yaml_reader_fail(reader, "column %u of the rule: %s", error.column, error.text);
	return 0;
}

static int read_rule(struct sim_yaml_reader *reader, struct sim_plan_file *file)
{
	struct sim_plan_file_rule rule = { .line = reader->line };
	int rc;

	if (reader->event.type == YAML_SCALAR_EVENT)
		rc = read_scalar_rule(reader, &rule);
	else if (reader->event.type == YAML_MAPPING_START_EVENT)
		rc = sim_plan_file_read_mapping(reader, &rule);
	else
		return sim_yaml_reader_fail(reader,
					    "expected a rule: a line (dma.memcpy nth=3 fail=IO_FAILED) or a mapping "
					    "({op: dma.memcpy, nth: 3, fail: IO_FAILED})");
	return rc ? rc : add_rule(reader, file, &rule);
}

static int read_faults(struct sim_yaml_reader *reader, struct sim_plan_file *file)
{
	int rc = sim_yaml_reader_next(reader);

	if (rc)
		return rc;
	if (reader->event.type != YAML_SEQUENCE_START_EVENT)
		return sim_yaml_reader_fail(reader, "faults: expected a list ([a, b] or \"- a\" lines)");
	for (;;) {
		rc = sim_yaml_reader_next(reader);
		if (rc || reader->event.type == YAML_SEQUENCE_END_EVENT)
			return rc;
		rc = read_rule(reader, file);
		if (rc)
			return rc;
	}
}

static int read_seed(struct sim_yaml_reader *reader, struct sim_plan_file *file)
{
	int rc = sim_yaml_reader_next(reader);
	const char *text;

	if (rc)
		return rc;
	text = reader->event.type == YAML_SCALAR_EVENT ? sim_yaml_reader_text(reader) : "";
	if (sim_value_number((struct sim_text){ text, strlen(text) }, UINT64_MAX, &file->seed))
		return sim_yaml_reader_fail(reader, "seed: expected a number from 0, got `%.48s`", text);
	file->has_seed = true;
	return 0;
}

/* ---- the document ---- */

static int read_key(struct sim_yaml_reader *reader, struct sim_plan_file *file, bool *has_faults)
{
	const char *key = reader->event.type == YAML_SCALAR_EVENT ? sim_yaml_reader_text(reader) : "";

	if (strcmp(key, "seed") == 0)
		return file->has_seed ? sim_yaml_reader_fail(reader, "seed: is given twice; remove one") :
					read_seed(reader, file);
	if (strcmp(key, "faults") != 0)
		return sim_yaml_reader_fail(reader, "unknown field `%.48s`; a plan has seed and faults", key);
	if (*has_faults)
		return sim_yaml_reader_fail(reader, "faults: is given twice; make one list of both");
	*has_faults = true;
	return read_faults(reader, file);
}

static int read_root(struct sim_yaml_reader *reader, struct sim_plan_file *file)
{
	bool has_faults = false;
	int rc;

	if (reader->event.type != YAML_MAPPING_START_EVENT)
		return sim_yaml_reader_fail(reader, "expected \"faults:\" and a list of rules");
	for (;;) {
		rc = sim_yaml_reader_next(reader);
		if (rc)
			return rc;
		if (reader->event.type == YAML_MAPPING_END_EVENT)
			break;
		rc = read_key(reader, file, &has_faults);
		if (rc)
			return rc;
	}
	return has_faults ? 0 : sim_yaml_reader_fail(reader, "there is no list named faults");
}

/* Go to the next event, which must be of @type. */
static int expect_event(struct sim_yaml_reader *reader, yaml_event_type_t type, const char *message)
{
	int rc = sim_yaml_reader_next(reader);

	if (rc)
		return rc;
	return reader->event.type == type ? 0 : sim_yaml_reader_fail(reader, "%s", message);
}

static int read_document(struct sim_yaml_reader *reader, struct sim_plan_file *file)
{
	int rc = expect_event(reader, YAML_STREAM_START_EVENT, "not YAML");

	if (!rc)
		rc = expect_event(reader, YAML_DOCUMENT_START_EVENT, "the file is empty; it needs a list named faults");
	if (!rc)
		rc = sim_yaml_reader_next(reader);
	if (!rc)
		rc = read_root(reader, file);
	if (!rc)
		rc = expect_event(reader, YAML_DOCUMENT_END_EVENT, "remove the text behind the plan");
	if (!rc)
		rc = expect_event(reader, YAML_STREAM_END_EVENT,
				  "a second document (---) starts here; write one per file");
	return rc;
}

int sim_plan_file_parse(const char *name, const char *yaml, size_t len, struct sim_plan_file *ret_file,
			char error[SIM_PLAN_FILE_ERROR_SIZE])
{
	struct sim_yaml_reader reader = { .name = name, .text = yaml, .len = len, .error = error, .line = 1 };
	struct sim_plan_file file = { 0 };
	int rc;

	if (len > SIM_PLAN_FILE_MAX_BYTES)
		return sim_yaml_reader_fail(&reader, "is larger than %u bytes", SIM_PLAN_FILE_MAX_BYTES);
	rc = sim_yaml_reader_init(&reader);
	if (rc)
		return rc;
	rc = read_document(&reader, &file);
	sim_yaml_reader_fini(&reader);
	if (rc) {
		sim_plan_file_fini(&file);
		return rc;
	}
	*ret_file = file;
	return 0;
}

/* ---- files ---- */

static int format_error(int rc, char error[SIM_PLAN_FILE_ERROR_SIZE], const char *path, const char *reason)
{
	snprintf(error, SIM_PLAN_FILE_ERROR_SIZE, "%.200s: %.240s", path, reason);
	return rc;
}

static int load_delays(const char *path, struct sim_plan_file *file, char error[SIM_PLAN_FILE_ERROR_SIZE])
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	char delays_error[SIM_RULE_ERROR_SIZE];
	int rc = dir ? 0 : format_error(-ENOMEM, error, path, "no memory to read this");

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
	struct sim_plan_file file;
	char *text = NULL;
	size_t len = 0;
	int rc;

	rc = sim_file_read(path, SIM_PLAN_FILE_MAX_BYTES, &text, &len);
	if (rc)
		return format_error(rc, error, path, strerror(-rc));
	rc = sim_plan_file_parse(path, text, len, &file, error);
	free(text);
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
