/* SPDX-License-Identifier: BSD-3-Clause */
/* Walking a YAML text by paths, and finding the line of an error. */
#include "yaml_source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define MAX_NAME_SHOWN 80 /* characters at the end of the file's name in a message */

/* One open list or mapping. */
struct level {
	bool is_mapping;
	bool at_value;   /* mapping: the key was read, its value comes next */
	size_t entries;  /* list: entries seen */
	size_t path_len; /* of the path that leads to the list or mapping itself */
};

struct walker {
	const struct pcie_yaml_source *source;
	pcie_yaml_visit *visit; /* may be NULL */
	void *arg;
	yaml_parser_t parser;
	struct level levels[PCIE_YAML_MAX_DEPTH];
	size_t depth;
	size_t documents;
	size_t line; /* of the current event, from 1 */
	char path[PCIE_YAML_PATH_SIZE];
};

static int write_error(const struct pcie_yaml_source *source, size_t line, const char *path, const char *format,
		       va_list args)
{
	const char *name = source->name;
	size_t name_len = strlen(name);
	char *error = source->error;
	int used;

	if (name_len > MAX_NAME_SHOWN)
		name += name_len - MAX_NAME_SHOWN;
	used = snprintf(error, source->error_size, "%s:%zu: %s%s", name, line, path, *path ? ": " : "");
	if (used >= 0 && (size_t)used < source->error_size)
		vsnprintf(error + used, source->error_size - (size_t)used, format, args);

	/* Quoted input may hold control characters; a message is one line of text. */
	for (; *error; error++) {
		if ((unsigned char)*error < ' ' || *error == 0x7f)
			*error = '?';
	}
	return -EINVAL;
}

int pcie_yaml_source_error_at(const struct pcie_yaml_source *source, size_t line, const char *path, const char *format,
			      ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = write_error(source, line, path, format, args);
	va_end(args);
	return rc;
}

/* The best match of a path so far. */
struct search {
	const char *path;
	size_t best_len;
	size_t line;
};

/* Whether @outer is @path or encloses it. */
static bool encloses(const char *outer, const char *path)
{
	size_t len = strlen(outer);

	return strncmp(outer, path, len) == 0 && (path[len] == '\0' || path[len] == '.' || path[len] == '[');
}

static void search_visit(void *arg, const char *path, size_t line)
{
	struct search *search = arg;
	size_t len = strlen(path);

	if (len >= search->best_len && encloses(path, search->path)) {
		search->best_len = len;
		search->line = line;
	}
}

int pcie_yaml_source_error(const struct pcie_yaml_source *source, const char *path, const char *format, ...)
{
	struct search search = { .path = path, .line = 1 };
	va_list args;
	int rc;

	rc = pcie_yaml_source_walk(source, search_visit, &search);
	if (rc)
		return rc;
	va_start(args, format);
	rc = write_error(source, search.line, path, format, args);
	va_end(args);
	return rc;
}

#define walker_error(walker, ...) \
	pcie_yaml_source_error_at((walker)->source, (walker)->line, (walker)->path, __VA_ARGS__)

/* ---- events of the walk ---- */

static struct level *current_level(struct walker *walker)
{
	return walker->depth ? &walker->levels[walker->depth - 1] : NULL;
}

static void call_visitor(struct walker *walker)
{
	if (walker->visit)
		walker->visit(walker->arg, walker->path, walker->line);
}

/* A value begins: in a list it is a new entry; in a mapping its key was visited. */
static int begin_value(struct walker *walker)
{
	struct level *level = current_level(walker);

	if (!level)
		return 0;
	if (level->is_mapping) {
		if (!level->at_value) {
			walker->path[level->path_len] = '\0';
			return walker_error(walker, "a key must be a plain word");
		}
		level->at_value = false;
		return 0;
	}
	snprintf(walker->path + level->path_len, sizeof(walker->path) - level->path_len, "[%zu]", level->entries++);
	call_visitor(walker);
	return 0;
}

static int on_key(struct walker *walker, const char *key, size_t len)
{
	struct level *level = current_level(walker);

	walker->path[level->path_len] = '\0'; /* leave the previous key */
	if (len >= PCIE_YAML_MAX_KEY - 1)     /* one byte for the dot */
		return walker_error(walker, "\"%.16s...\" is too long for a key", key);
	snprintf(walker->path + level->path_len, sizeof(walker->path) - level->path_len, "%s%s",
		 level->path_len ? "." : "", key);
	level->at_value = true;
	call_visitor(walker);
	return 0;
}

static int on_scalar(struct walker *walker, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	struct level *level = current_level(walker);

	if (event->data.scalar.anchor)
		return walker_error(walker, "anchors (&name) are not supported; repeat the value");
	if (strlen(text) != len)
		return walker_error(walker, "has a zero byte in its text; remove it");
	if (level && level->is_mapping && !level->at_value)
		return on_key(walker, text, len);
	return begin_value(walker);
}

static int on_open(struct walker *walker, bool is_mapping, const yaml_char_t *anchor)
{
	int rc = begin_value(walker);

	if (rc)
		return rc;
	if (anchor)
		return walker_error(walker, "anchors (&name) are not supported; repeat the value");
	if (walker->depth == PCIE_YAML_MAX_DEPTH)
		return walker_error(walker, "is nested too deeply; no field needs more than six levels");
	walker->levels[walker->depth++] = (struct level){
		.is_mapping = is_mapping,
		.path_len = strlen(walker->path),
	};
	return 0;
}

static int on_close(struct walker *walker)
{
	walker->path[current_level(walker)->path_len] = '\0';
	walker->depth--;
	return 0;
}

static int on_document(struct walker *walker)
{
	if (walker->documents++)
		return walker_error(walker, "a second document (---) starts here; write one per file");
	return 0;
}

static int on_stream_end(struct walker *walker)
{
	if (!walker->documents)
		return walker_error(walker, "the file is empty; it needs %s", walker->source->needs);
	return 0;
}

static int on_event(struct walker *walker, const yaml_event_t *event)
{
	walker->line = event->start_mark.line + 1;
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return on_document(walker);
	case YAML_SCALAR_EVENT:
		return on_scalar(walker, event);
	case YAML_SEQUENCE_START_EVENT:
		return on_open(walker, false, event->data.sequence_start.anchor);
	case YAML_MAPPING_START_EVENT:
		return on_open(walker, true, event->data.mapping_start.anchor);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_close(walker);
	case YAML_ALIAS_EVENT:
		return walker_error(walker, "aliases (*name) are not supported; repeat the value");
	case YAML_STREAM_END_EVENT:
		return on_stream_end(walker);
	default:
		return 0;
	}
}

/* For errors of libyaml's reader, which reports only a byte offset. */
static size_t line_of_offset(const struct pcie_yaml_source *source, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i < source->len; i++)
		line += source->text[i] == '\n';
	return line;
}

static int on_parser_error(struct walker *walker)
{
	const yaml_parser_t *parser = &walker->parser;

	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	walker->line = parser->error == YAML_READER_ERROR ? line_of_offset(walker->source, parser->problem_offset) :
							    parser->problem_mark.line + 1;
	return walker_error(walker, "not YAML: %s", parser->problem ? parser->problem : "unreadable");
}

static int walk(struct walker *walker)
{
	bool end = false;
	int rc = 0;

	while (!rc && !end) {
		yaml_event_t event;

		if (!yaml_parser_parse(&walker->parser, &event))
			return on_parser_error(walker);
		end = event.type == YAML_STREAM_END_EVENT;
		rc = on_event(walker, &event);
		yaml_event_delete(&event);
	}
	return rc;
}

int pcie_yaml_source_walk(const struct pcie_yaml_source *source, pcie_yaml_visit *visit, void *arg)
{
	struct walker walker = { .source = source, .visit = visit, .arg = arg, .line = 1 };
	int rc;

	if (!yaml_parser_initialize(&walker.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&walker.parser, (const unsigned char *)source->text, source->len);
	rc = walk(&walker);
	yaml_parser_delete(&walker.parser);
	return rc;
}

int pcie_yaml_source_check(const struct pcie_yaml_source *source)
{
	if (source->len > PCIE_YAML_MAX_BYTES)
		return pcie_yaml_source_error_at(source, 1, "", "is larger than %u bytes; split it into several files",
						 PCIE_YAML_MAX_BYTES);
	return pcie_yaml_source_walk(source, NULL, NULL);
}
