/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of mutes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yaml.h>

#include "mutes.h"
#include "sim/base/yaml_document.h"

#define MAX_MUTES 10000

struct reader {
	const char *path;
	char *error;
	yaml_document_t document;
	char today[SIM_CHECK_DATE_SIZE];
	bool has_rule, has_site; /* the mute that is read */
};

static int __attribute__((format(printf, 3, 4)))
fail(const struct reader *reader, const yaml_node_t *node, const char *format, ...)
{
	int used = snprintf(reader->error, SIM_CHECK_MUTES_ERROR_SIZE, "%s:%zu: ", reader->path,
			    node ? node->start_mark.line + 1 : 1);
	va_list args;

	if (used < 0 || used >= SIM_CHECK_MUTES_ERROR_SIZE)
		return -EINVAL;
	va_start(args, format);
	vsnprintf(reader->error + used, SIM_CHECK_MUTES_ERROR_SIZE - (size_t)used, format, args);
	va_end(args);
	return -EINVAL;
}

/* The text of a scalar, or NULL. */
static const char *scalar(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* Store the text of a scalar that is not empty. */
static int read_text(const struct reader *reader, const yaml_node_t *node, const char *key, char **ret_text)
{
	const char *text = scalar(node);

	if (!text || text[strspn(text, " \t\n")] == '\0')
		return fail(reader, node, "%s: give a text", key);
	if (*ret_text)
		return fail(reader, node, "%s: twice", key);
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

typedef int (*read_key)(struct reader *reader, const char *key, const yaml_node_t *value, struct sim_check_mute *mute);

/* Call @read for each key of a mapping. */
static int read_mapping(struct reader *reader, const yaml_node_t *node, read_key read, struct sim_check_mute *mute)
{
	int rc = 0;

	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; rc == 0 && pair < node->data.mapping.pairs.top;
	     pair++) {
		const yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);

		if (!scalar(key))
			return fail(reader, key, "a key is not a text");
		rc = read(reader, scalar(key), yaml_document_get_node(&reader->document, pair->value), mute);
	}
	return rc;
}

/* Take ":LINE" off the end of a file's glob. */
static int split_line(const struct reader *reader, const yaml_node_t *node, struct sim_check_mute *mute)
{
	char *colon = strrchr(mute->file, ':'), *end;
	long line;

	if (!colon)
		return 0;
	line = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || *end || line < 1 || line > 10000000)
		return fail(reader, node, "file: \"%s\" is not a line number", colon + 1);
	*colon = '\0';
	mute->source_line = (int)line;
	return 0;
}

static int read_site_key(struct reader *reader, const char *key, const yaml_node_t *value, struct sim_check_mute *mute)
{
	int rc;

	if (strcmp(key, "function") == 0)
		return read_text(reader, value, key, &mute->function);
	if (strcmp(key, "object") == 0)
		return read_text(reader, value, key, &mute->object);
	if (strcmp(key, "file") != 0)
		return fail(reader, value, "site: unknown key \"%s\": there are function, file and object", key);
	rc = read_text(reader, value, key, &mute->file);
	return rc ? rc : split_line(reader, value, mute);
}

static int read_rule(struct reader *reader, const yaml_node_t *node, struct sim_check_mute *mute)
{
	const char *text = scalar(node);
	bool is_any = text && strcmp(text, "*") == 0;

	if (reader->has_rule)
		return fail(reader, node, "rule: twice");

	mute->rule = text && !is_any ? sim_check_rule_find(text) : NULL;
	reader->has_rule = is_any || mute->rule;
	if (reader->has_rule)
		return 0;
	return fail(reader, node, "rule: no rule is called \"%s\"; bfsim rules lists them", text ? text : "");
}

/* A day of the calendar, as YYYY-MM-DD. */
static bool is_date(const char *text)
{
	struct tm day = { 0 }, same;
	int len = 0;

	if (strlen(text) != SIM_CHECK_DATE_SIZE - 1 ||
	    sscanf(text, "%4d-%2d-%2d%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &len) != 3 ||
	    len != SIM_CHECK_DATE_SIZE - 1)
		return false;
	day.tm_year -= 1900;
	day.tm_mon -= 1;
	same = day;
	return timegm(&same) != -1 && same.tm_mday == day.tm_mday && same.tm_mon == day.tm_mon;
}

static int read_expires(const struct reader *reader, const yaml_node_t *node, struct sim_check_mute *mute)
{
	const char *text = scalar(node);

	if (mute->expires[0])
		return fail(reader, node, "expires: twice");
	if (!text || !is_date(text))
		return fail(reader, node, "expires: \"%s\" is not a day: write it as 2027-01-31", text ? text : "");
	memcpy(mute->expires, text, SIM_CHECK_DATE_SIZE);
	mute->is_expired = strcmp(mute->expires, reader->today) < 0;
	return 0;
}

static int read_mute_key(struct reader *reader, const char *key, const yaml_node_t *value, struct sim_check_mute *mute)
{
	if (strcmp(key, "rule") == 0)
		return read_rule(reader, value, mute);
	if (strcmp(key, "reason") == 0)
		return read_text(reader, value, key, &mute->reason);
	if (strcmp(key, "expires") == 0)
		return read_expires(reader, value, mute);
	if (strcmp(key, "site") != 0)
		return fail(reader, value, "unknown key \"%s\": there are rule, site, reason and expires", key);
	if (value->type != YAML_MAPPING_NODE)
		return fail(reader, value, "site: give function, file or object, such as {function: \"legacy_*\"}");
	if (reader->has_site)
		return fail(reader, value, "site: twice");
	reader->has_site = true;
	return read_mapping(reader, value, read_site_key, mute);
}

static int read_mute(struct reader *reader, const yaml_node_t *node, struct sim_check_mute *mute)
{
	int rc;

	if (node->type != YAML_MAPPING_NODE)
		return fail(reader, node, "a mute has the keys rule, site, reason and expires");
	mute->line = (int)node->start_mark.line + 1;
	reader->has_rule = reader->has_site = false;
	rc = read_mapping(reader, node, read_mute_key, mute);
	if (rc)
		return rc;
	if (!reader->has_rule)
		return fail(reader, node, "the mute has no rule: give an id, a name, or \"*\"");
	if (!mute->reason)
		return fail(reader, node, "the mute has no reason: say why the hit may stay");
	if (!mute->rule && !mute->function && !mute->file && !mute->object)
		return fail(reader, node, "the mute of \"*\" has no site: it would mute everything");
	return 0;
}

static int read_list(struct reader *reader, const yaml_node_t *node, struct sim_check_mutes *mutes)
{
	size_t count;
	int rc = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return fail(reader, node, "mutes: expected a list (\"- rule: ...\" lines)");
	count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
	if (count > MAX_MUTES)
		return fail(reader, node, "there are more than %d mutes", MAX_MUTES);
	mutes->list = calloc(count + 1, sizeof(*mutes->list));
	if (!mutes->list)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		mutes->count++;
		rc = read_mute(reader, yaml_document_get_node(&reader->document, node->data.sequence.items.start[i]),
			       &mutes->list[i]);
	}
	return rc;
}

static int read_document(struct reader *reader, struct sim_check_mutes *mutes)
{
	const yaml_node_t *root = yaml_document_get_root_node(&reader->document), *key;
	const yaml_node_pair_t *pair;

	if (!root || root->type != YAML_MAPPING_NODE)
		return fail(reader, root, "expected \"mutes:\" with a list");
	pair = root->data.mapping.pairs.start;
	if (root->data.mapping.pairs.top - pair != 1)
		return fail(reader, root, "expected one key, \"mutes\"");
	key = yaml_document_get_node(&reader->document, pair->key);
	if (!scalar(key) || strcmp(scalar(key), "mutes") != 0)
		return fail(reader, key, "unknown key \"%s\": there is mutes", scalar(key) ? scalar(key) : "");
	return read_list(reader, yaml_document_get_node(&reader->document, pair->value), mutes);
}

static int read_file(struct reader *reader, struct sim_check_mutes *mutes)
{
	int rc = sim_yaml_document_load(reader->path, "a list named \"mutes\"", &reader->document, reader->error,
					SIM_CHECK_MUTES_ERROR_SIZE);

	if (rc)
		return rc;
	rc = read_document(reader, mutes);
	yaml_document_delete(&reader->document);
	return rc;
}

int sim_check_mutes_read(const char *path, struct sim_check_mutes **ret_mutes, char error[SIM_CHECK_MUTES_ERROR_SIZE])
{
	struct reader reader = { .path = path, .error = error };
	struct sim_check_mutes *mutes = calloc(1, sizeof(*mutes));
	time_t now = time(NULL);
	struct tm today;
	int rc = -ENOMEM;

	snprintf(error, SIM_CHECK_MUTES_ERROR_SIZE, "cannot read %s: %s", path, strerror(ENOMEM));
	strftime(reader.today, sizeof(reader.today), "%Y-%m-%d", localtime_r(&now, &today));
	if (mutes && (mutes->path = strdup(path)) != NULL)
		rc = read_file(&reader, mutes);
	if (rc < 0) {
		sim_check_mutes_free(mutes);
		return rc;
	}
	*ret_mutes = mutes;
	return 0;
}
