/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the tree of a YAML text from libyaml's events. */
#include "yaml_doc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* ---- memory ---- */

struct pcie_yaml_block {
	struct pcie_yaml_block *next;
	max_align_t memory[];
};

void *pcie_yaml_alloc(struct pcie_yaml_doc *doc, size_t count, size_t size)
{
	struct pcie_yaml_block *block = calloc(1, sizeof(*block) + count * size);

	if (!block)
		return NULL;
	block->next = doc->blocks;
	doc->blocks = block;
	return block->memory;
}

char *pcie_yaml_copy(struct pcie_yaml_doc *doc, const char *text)
{
	char *copy = pcie_yaml_alloc(doc, strlen(text) + 1, 1);

	return copy ? strcpy(copy, text) : NULL;
}

void pcie_yaml_unload(struct pcie_yaml_doc *doc)
{
	while (doc->blocks) {
		struct pcie_yaml_block *block = doc->blocks;

		doc->blocks = block->next;
		free(block);
	}
	doc->root = NULL;
}

/* ---- nodes ---- */

struct loader {
	struct pcie_yaml_doc *doc;
	yaml_parser_t parser;
	struct pcie_yaml_node *open; /* the innermost list or mapping that is open, or NULL */
	struct pcie_yaml_node *at;   /* the place that was reached */
	size_t line;                 /* of the current event, from 1 */
	size_t depth, num_documents, num_values;
};

#define loader_error(loader, ...) pcie_yaml_error_at_line((loader)->doc, (loader)->at, (loader)->line, __VA_ARGS__)

/* Append a node to the open list or mapping; of a mapping the key was read, and the value follows. */
static int append(struct loader *loader, const char *key)
{
	struct pcie_yaml_node *node = pcie_yaml_alloc(loader->doc, 1, sizeof(*node)), *open = loader->open;

	if (!node || (key && !(node->key = pcie_yaml_copy(loader->doc, key))))
		return -ENOMEM;
	node->line = loader->line;
	node->parent = open;
	if (!open)
		loader->doc->root = node;
	else if (!open->first)
		open->first = node;
	else
		open->last->next = node;
	if (open) {
		open->last = node;
		node->index = open->count++;
	}
	loader->at = node;
	if (++loader->num_values > PCIE_YAML_MAX_VALUES)
		return loader_error(loader, "the file has more than %u values", PCIE_YAML_MAX_VALUES);
	return 0;
}

static bool is_key_expected(const struct loader *loader)
{
	const struct pcie_yaml_node *open = loader->open;

	return open && open->type == PCIE_YAML_MAPPING && !(open->last && open->last->type == 0);
}

static int check_text(const struct loader *loader, const yaml_event_t *event)
{
	if (event->data.scalar.anchor)
		return loader_error(loader, "anchors (&name) are not supported; repeat the value");
	if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
		return loader_error(loader, "has a zero byte in its text; remove it");
	return 0;
}

/* A value begins: its node is there if it has a key. */
static int begin_value(struct loader *loader)
{
	if (is_key_expected(loader))
		return loader_error(loader, "a key must be a plain word");
	return loader->open && loader->open->type == PCIE_YAML_MAPPING ? 0 : append(loader, NULL);
}

static int on_key(struct loader *loader, const yaml_event_t *event)
{
	const char *key = (const char *)event->data.scalar.value;
	int rc;

	loader->at = loader->open;
	rc = check_text(loader, event);
	if (rc)
		return rc;
	if (event->data.scalar.length >= PCIE_YAML_MAX_KEY - 1) /* one byte for the dot */
		return loader_error(loader, "\"%.16s...\" is too long for a key", key);
	return append(loader, key);
}

static int on_scalar(struct loader *loader, const yaml_event_t *event)
{
	int rc;

	if (is_key_expected(loader))
		return on_key(loader, event);
	rc = begin_value(loader);
	if (!rc)
		rc = check_text(loader, event);
	if (rc)
		return rc;
	loader->at->type = PCIE_YAML_SCALAR;
	loader->at->text = pcie_yaml_copy(loader->doc, (const char *)event->data.scalar.value);
	return loader->at->text ? 0 : -ENOMEM;
}

static int on_open(struct loader *loader, enum pcie_yaml_type type, const yaml_char_t *anchor)
{
	int rc = begin_value(loader);

	if (rc)
		return rc;
	if (anchor)
		return loader_error(loader, "anchors (&name) are not supported; repeat the value");
	if (loader->depth == PCIE_YAML_MAX_DEPTH)
		return loader_error(loader, "is nested too deeply; no field needs more than six levels");
	loader->depth++;
	loader->at->type = type;
	loader->open = loader->at;
	return 0;
}

static void on_close(struct loader *loader)
{
	loader->depth--;
	loader->at = loader->open;
	loader->open = loader->open->parent;
}

static int on_alias(struct loader *loader)
{
	int rc = begin_value(loader);

	return rc ? rc : loader_error(loader, "aliases (*name) are not supported; repeat the value");
}

static int on_event(struct loader *loader, const yaml_event_t *event)
{
	loader->line = event->start_mark.line + 1;
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (loader->num_documents++)
			return loader_error(loader, "a second document (---) starts here; write one per file");
		return 0;
	case YAML_SCALAR_EVENT:
		return on_scalar(loader, event);
	case YAML_SEQUENCE_START_EVENT:
		return on_open(loader, PCIE_YAML_LIST, event->data.sequence_start.anchor);
	case YAML_MAPPING_START_EVENT:
		return on_open(loader, PCIE_YAML_MAPPING, event->data.mapping_start.anchor);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		on_close(loader);
		return 0;
	case YAML_ALIAS_EVENT:
		return on_alias(loader);
	case YAML_STREAM_END_EVENT:
		if (!loader->num_documents)
			return loader_error(loader, "the file is empty; it needs %s", loader->doc->needs);
		return 0;
	default:
		return 0;
	}
}

/* ---- the text ---- */

/* For errors of libyaml's reader, which reports only a byte offset. */
static size_t line_of_offset(const struct pcie_yaml_doc *doc, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i < doc->len; i++)
		line += doc->text[i] == '\n';
	return line;
}

static int on_parser_error(struct loader *loader)
{
	const yaml_parser_t *parser = &loader->parser;

	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	loader->line = parser->error == YAML_READER_ERROR ? line_of_offset(loader->doc, parser->problem_offset) :
							    parser->problem_mark.line + 1;
	return loader_error(loader, "not YAML: %s", parser->problem ? parser->problem : "unreadable");
}

static int load_events(struct loader *loader)
{
	bool end = false;
	int rc = 0;

	while (!rc && !end) {
		yaml_event_t event;

		if (!yaml_parser_parse(&loader->parser, &event))
			return on_parser_error(loader);
		end = event.type == YAML_STREAM_END_EVENT;
		rc = on_event(loader, &event);
		yaml_event_delete(&event);
	}
	return rc;
}

int pcie_yaml_load(struct pcie_yaml_doc *doc)
{
	size_t max_bytes = doc->max_bytes ? doc->max_bytes : PCIE_YAML_MAX_BYTES;
	struct loader loader = { .doc = doc, .line = 1 };
	int rc;

	if (doc->len > max_bytes)
		return loader_error(&loader, "is larger than %zu bytes", max_bytes);
	if (!yaml_parser_initialize(&loader.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&loader.parser, (const unsigned char *)doc->text, doc->len);
	rc = load_events(&loader);
	yaml_parser_delete(&loader.parser);
	return rc;
}
