/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading a topology's YAML with libcyaml, and turning its errors into ours. */
#include "topology_yaml_priv.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/did_you_mean.h"
#include "topology.h"

/* ---- the schema ---- */

#define REQUIRED                                CYAML_FLAG_POINTER
#define OPTIONAL                                (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT_FIELD(presence, type, member, key) CYAML_FIELD_STRING_PTR(key, presence, type, member, 0, CYAML_UNLIMITED)

static const cyaml_schema_value_t text_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, CYAML_UNLIMITED),
};

static const cyaml_schema_field_t caps_fields[] = {
#define FIELD(kind, member, key) TEXT_FIELD(OPTIONAL, struct pcie_yaml_caps, member, key),
	PCIE_YAML_CAPS(FIELD) PCIE_YAML_ACCEL_CAPS(FIELD)
#undef FIELD
		CYAML_FIELD_END
};

static const cyaml_schema_field_t link_fields[] = {
#define FIELD(member, key) TEXT_FIELD(OPTIONAL, struct pcie_yaml_link, member, key),
	PCIE_YAML_LINK(FIELD)
#undef FIELD
		CYAML_FIELD_END
};

static const cyaml_schema_field_t timing_fields[] = {
#define FIELD(member, key) TEXT_FIELD(OPTIONAL, struct pcie_yaml_timing, member, key),
	PCIE_YAML_TIMING(FIELD)
#undef FIELD
		CYAML_FIELD_END
};

static const cyaml_schema_field_t function_fields[] = {
#define FIELD(member, key, presence) TEXT_FIELD(presence, struct pcie_yaml_function, member, key),
	PCIE_YAML_FUNCTION_FIELDS(FIELD)
#undef FIELD
		CYAML_FIELD_SEQUENCE_COUNT("represents", OPTIONAL, struct pcie_yaml_function, represents,
					   num_represents, &text_schema, 0, CYAML_UNLIMITED),
	CYAML_FIELD_MAPPING_PTR("caps", OPTIONAL, struct pcie_yaml_function, caps, caps_fields), CYAML_FIELD_END
};

static const cyaml_schema_value_t function_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct pcie_yaml_function, function_fields),
};

static const cyaml_schema_field_t card_fields[] = {
	TEXT_FIELD(OPTIONAL, struct pcie_yaml_card, name, "name"),
	TEXT_FIELD(REQUIRED, struct pcie_yaml_card, profile, "profile"),
	TEXT_FIELD(OPTIONAL, struct pcie_yaml_card, mode, "mode"),
	TEXT_FIELD(OPTIONAL, struct pcie_yaml_card, management, "management"),
	CYAML_FIELD_MAPPING_PTR("link", OPTIONAL, struct pcie_yaml_card, link, link_fields),
	CYAML_FIELD_MAPPING_PTR("timing", OPTIONAL, struct pcie_yaml_card, timing, timing_fields),
	CYAML_FIELD_SEQUENCE_COUNT("functions", REQUIRED, struct pcie_yaml_card, functions, num_functions,
				   &function_schema, 0, CYAML_UNLIMITED),
	CYAML_FIELD_END
};

static const cyaml_schema_value_t card_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct pcie_yaml_card, card_fields),
};

static const cyaml_schema_field_t side_fields[] = {
	TEXT_FIELD(REQUIRED, struct pcie_yaml_side, name, "name"),
	TEXT_FIELD(OPTIONAL, struct pcie_yaml_side, page_size, "page-size"),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t side_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct pcie_yaml_side, side_fields),
};

static const cyaml_schema_field_t top_fields[] = {
	CYAML_FIELD_SEQUENCE_COUNT("cards", REQUIRED, struct pcie_yaml, cards, num_cards, &card_schema, 0,
				   CYAML_UNLIMITED),
	CYAML_FIELD_SEQUENCE_COUNT("sides", OPTIONAL, struct pcie_yaml, sides, num_sides, &side_schema, 0,
				   CYAML_UNLIMITED),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t top_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct pcie_yaml, top_fields),
};

/* An error of libcyaml: its first line, and the path from its trace of places, which begins with the innermost. */
struct load_error {
	char text[PCIE_ERROR_SIZE];
	char path[PCIE_YAML_PATH_SIZE];
	bool innermost_is_field; /* the innermost place is a field, not a list entry */
};

static bool has_no_path(const struct load_error *load_error)
{
	return load_error->path[0] == '\0';
}

static void prepend(struct load_error *load_error, const char *part)
{
	size_t part_len = strlen(part), path_len = strlen(load_error->path);

	if (part_len + path_len + 1 > sizeof(load_error->path))
		return;
	memmove(load_error->path + part_len, load_error->path, path_len + 1);
	memcpy(load_error->path, part, part_len);
}

static void record_location(struct load_error *load_error, const char *line)
{
	char key[PCIE_YAML_MAX_KEY], part[PCIE_YAML_MAX_KEY + 2];
	unsigned int count;

	if (sscanf(line, " in mapping field '%63[^']'", key) == 1) {
		load_error->innermost_is_field |= has_no_path(load_error);
		snprintf(part, sizeof(part), ".%s", key);
		prepend(load_error, part);
	} else if (sscanf(line, " in sequence entry '%u'", &count) == 1 && count > 0) {
		snprintf(part, sizeof(part), "[%u]", count - 1); /* libcyaml counts from 1 */
		prepend(load_error, part);
	}
}

static void on_log(cyaml_log_t level, void *arg, const char *format, va_list args)
{
	struct load_error *load_error = arg;
	char line[PCIE_ERROR_SIZE];

	if (level < CYAML_LOG_ERROR)
		return;
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = '\0';
	if (!load_error->text[0])
		snprintf(load_error->text, sizeof(load_error->text), "%s", line);
	else
		record_location(load_error, line);
}

static const char *describe_expected_kind(const char *text)
{
	if (strstr(text, "Expecting SEQUENCE"))
		return "expected a list ([a, b] or \"- a\" lines)";
	if (strstr(text, "Expecting MAPPING"))
		return "expected a mapping (\"key: value\" lines)";
	return "expected a single value";
}

/* The field's name in a line "Load: reason: name". */
static const char *extract_field_name(const char *text)
{
	const char *colon = strstr(text, ": ");

	colon = colon ? strstr(colon + 2, ": ") : NULL;
	return colon ? colon + 2 : text;
}

static int report_field_error(const struct pcie_yaml_source *source, const char *outer, const char *field,
			      const char *reason)
{
	char path[PCIE_YAML_PATH_SIZE + PCIE_ERROR_SIZE + 1];

	snprintf(path, sizeof(path), "%s%s%s", outer, *outer ? "." : "", field);
	return pcie_yaml_source_error(source, path, "%s", reason);
}

/* The fields of the mapping at @path, such as "cards[0].functions[2]". */
static const cyaml_schema_field_t *fields_at(const char *path)
{
	static const struct {
		const char *name;
		const cyaml_schema_field_t *fields;
	} mappings[] = {
		{ "cards[", card_fields }, { "functions[", function_fields }, { "caps", caps_fields },
		{ "link", link_fields },   { "timing", timing_fields },       { "sides[", side_fields },
	};
	const char *dot = strrchr(path, '.'), *last = dot ? dot + 1 : path;

	for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++)
		if (strncmp(last, mappings[i].name, strlen(mappings[i].name)) == 0)
			return mappings[i].fields;
	return top_fields;
}

static const char *field_name_at(const void *arg, size_t i)
{
	const cyaml_schema_field_t *fields = arg;

	return fields[i].key;
}

static void list_fields(char *text, size_t size, const cyaml_schema_field_t *fields)
{
	size_t used = (size_t)snprintf(text, size, "unknown field; the fields here are");

	for (size_t i = 0; fields[i].key && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s %s", i > 0 ? "," : "", fields[i].key);
}

static int report_unknown_field(const struct pcie_yaml_source *source, const char *path, const char *name)
{
	const cyaml_schema_field_t *fields = fields_at(path);
	const char *closest;
	char reason[PCIE_ERROR_SIZE];
	size_t count = 0;

	while (fields[count].key)
		count++;
	closest = pcie_did_you_mean(name, strlen(name), field_name_at, fields, count);
	if (closest)
		snprintf(reason, sizeof(reason), "unknown field; did you mean %s?", closest);
	else
		list_fields(reason, sizeof(reason), fields);
	return report_field_error(source, path, name, reason);
}

/* For an error in a whole mapping, libcyaml names the field that it read last: remove it. */
static void strip_field(struct load_error *load_error)
{
	char *dot = strrchr(load_error->path, '.');

	if (load_error->innermost_is_field && dot)
		*dot = '\0';
}

static int report_load_error(const struct pcie_yaml_source *source, struct load_error *load_error, cyaml_err_t err)
{
	char *path = load_error->path;

	if (err == CYAML_ERR_MAPPING_FIELD_MISSING)
		strip_field(load_error);
	if (*path == '.') /* of the outermost field */
		path++;
	switch (err) {
	case CYAML_ERR_OOM:
		return -ENOMEM;
	case CYAML_ERR_MAPPING_FIELD_MISSING:
		return report_field_error(source, path, extract_field_name(load_error->text),
					  "is missing; this field is required");
	case CYAML_ERR_INVALID_KEY:
		return report_unknown_field(source, path, extract_field_name(load_error->text));
	case CYAML_ERR_UNEXPECTED_EVENT:
		return pcie_yaml_source_error(source, path, "is given twice; remove one");
	case CYAML_ERR_INVALID_VALUE:
		if (!*path)
			return pcie_yaml_source_error(source, path, "expected \"cards:\" and a list");
		return pcie_yaml_source_error(source, path, "%s", describe_expected_kind(load_error->text));
	default:
		return pcie_yaml_source_error(source, path, "%s",
					      load_error->text[0] ? load_error->text : cyaml_strerror(err));
	}
}

/* ---- loading ---- */

static void *realloc_hook(void *arg, void *ptr, size_t size)
{
	(void)arg;
	if (size)
		return realloc(ptr, size);
	free(ptr);
	return NULL;
}

static cyaml_config_t config_with(struct load_error *load_error)
{
	return (cyaml_config_t){
		.log_fn = load_error ? on_log : NULL,
		.log_ctx = load_error,
		.log_level = CYAML_LOG_ERROR,
		.mem_fn = realloc_hook,
		.flags = CYAML_CFG_NO_ALIAS,
	};
}

/* libcyaml does not tell apart an absent list and an empty one, so the text is walked again. */
static void mark_represents(void *arg, const char *path, size_t line)
{
	struct pcie_yaml *yaml = arg;
	unsigned int card, function;
	int end = 0;

	(void)line;
	if (sscanf(path, "cards[%u].functions[%u].represents%n", &card, &function, &end) == 2 && end > 0 && !path[end])
		yaml->cards[card].functions[function].has_represents = true;
}

int pcie_yaml_load(const struct pcie_yaml_source *source, struct pcie_yaml **ret_yaml)
{
	struct load_error load_error = { .innermost_is_field = false };
	cyaml_config_t config = config_with(&load_error);
	struct pcie_yaml *yaml = NULL;
	cyaml_err_t err;
	int rc;

	rc = pcie_yaml_source_check(source);
	if (rc)
		return rc;
	err = cyaml_load_data((const uint8_t *)source->text, source->len, &config, &top_schema, (cyaml_data_t **)&yaml,
			      NULL);
	if (err != CYAML_OK)
		return report_load_error(source, &load_error, err);
	rc = pcie_yaml_source_walk(source, mark_represents, yaml);
	if (rc) {
		pcie_yaml_free(yaml);
		return rc;
	}
	*ret_yaml = yaml;
	return 0;
}

void pcie_yaml_free(struct pcie_yaml *yaml)
{
	cyaml_config_t config = config_with(NULL);

	cyaml_free(&config, &top_schema, yaml, 0);
}
