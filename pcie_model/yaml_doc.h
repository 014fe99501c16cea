/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/yaml_doc.h - a YAML text of a user as a tree of nodes: its limits, and errors that name file, line and place.
 *
 *   text --load--> tree of nodes --tables of fields (yaml_fields.h)--> structs, whose texts belong to the tree
 *
 * A path, "cards[0].functions[2].pci", names a place. An error is one line, "lab.yaml:12: cards[0].name: reason".
 * Refused are texts of too many bytes or values, several documents, anchors and aliases, deep nesting, keys that are not plain
 * text, and text with a zero byte.
 */
#ifndef PCIE_YAML_DOC_H
#define PCIE_YAML_DOC_H

#include <stddef.h>
#include <stdint.h>

#define PCIE_YAML_MAX_BYTES  (1u << 20) /* of a text, unless the caller gives another limit */
#define PCIE_YAML_MAX_VALUES (1u << 18)
#define PCIE_YAML_MAX_KEY    64 /* of a key with its terminating zero */
#define PCIE_YAML_MAX_DEPTH  8  /* lists and mappings inside each other */
#define PCIE_YAML_PATH_SIZE  (PCIE_YAML_MAX_DEPTH * PCIE_YAML_MAX_KEY)

enum pcie_yaml_type { PCIE_YAML_SCALAR = 1, PCIE_YAML_LIST, PCIE_YAML_MAPPING };

struct pcie_yaml_node {
	enum pcie_yaml_type type;
	size_t line;                         /* from 1: of its key, or where the entry begins */
	char *key;                           /* NULL: an entry of a list, or the document */
	char *text;                          /* of a scalar */
	uint32_t index;                      /* among the entries of its parent */
	uint32_t count;                      /* of its own entries */
	struct pcie_yaml_node *parent;       /* NULL: the document */
	struct pcie_yaml_node *first, *last; /* of its entries */
	struct pcie_yaml_node *next;         /* entry of its parent */
};

struct pcie_yaml_doc {
	/* Set by the caller; texts are borrowed. */
	const char *name; /* the file's name in messages */
	const char *text; /* @len bytes, not terminated; not used after the load */
	size_t len;
	size_t max_bytes;  /* 0 = PCIE_YAML_MAX_BYTES */
	const char *needs; /* what a file has at least, for messages: "\"cards:\" and a list" */
	char *error;       /* @error_size bytes: the error */
	size_t error_size;
	/* If it is not NULL, it gets each error instead, without the file's name, and reading goes on (yaml_fields.h). */
	void (*on_error)(void *arg, size_t line, const char *text);
	void *arg;

	struct pcie_yaml_node *root; /* after the load */
	struct pcie_yaml_block *blocks;
};

/* Read the text. The caller ends the document with pcie_yaml_unload(), also on failure. Returns 0, -EINVAL with the error
 * set, or -ENOMEM without. */
int pcie_yaml_load(struct pcie_yaml_doc *doc);
void pcie_yaml_unload(struct pcie_yaml_doc *doc);

/* Memory that lives as long as the document: @count entries of @size zero bytes, or a copy of a text. NULL without memory. */
void *pcie_yaml_alloc(struct pcie_yaml_doc *doc, size_t count, size_t size);
char *pcie_yaml_copy(struct pcie_yaml_doc *doc, const char *text);

/* Set the error and return -EINVAL. The place is a node; or one at a line; or a path, which may lead to a field that is
 * missing: then the line is that of the nearest enclosing place. An empty path means the document. */
#define pcie_yaml_error(doc, node, ...) pcie_yaml_error_at_line((doc), (node), (node)->line, __VA_ARGS__)
int pcie_yaml_error_at_line(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, size_t line,
			    const char *format, ...) __attribute__((format(printf, 4, 5)));
int pcie_yaml_error_at(const struct pcie_yaml_doc *doc, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
