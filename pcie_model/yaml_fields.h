/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/yaml_fields.h - reading a mapping of a YAML text into a struct, by a table of its fields.
 *
 *   static const struct pcie_yaml_field side_fields[] = {
 *           PCIE_YAML_FIELD("name", VALUE, side, name, .is_required = true),
 *           PCIE_YAML_FIELD("page-size", VALUE, side, page_size),
 *           { 0 },
 *   };
 *
 * A field that is unknown, given twice, missing or of another kind is refused. The first error ends the reading, unless
 * the document has an on_error(): then the rest is read, too, for its errors.
 */
#ifndef PCIE_YAML_FIELDS_H
#define PCIE_YAML_FIELDS_H

#include <stdbool.h>

#include "yaml_doc.h"

#define PCIE_YAML_MAX_FIELDS 128 /* of a table */

/* Read @node into a struct. Returns 0, -EINVAL (pcie_yaml_error()) or -ENOMEM. */
typedef int pcie_yaml_read_fn(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to);

/* The member that a field has. Texts and arrays belong to the document. */
enum pcie_yaml_kind {
	PCIE_YAML_VALUE,  /* char *: a single value, also an empty one */
	PCIE_YAML_TEXT,   /* char *: a single value that is not blank */
	PCIE_YAML_VALUES, /* char **, and a count: a list of single values; not NULL if the list is given */
	PCIE_YAML_STRUCT, /* a pointer to a struct with @fields, of @size bytes; 0 = those are members of the outer one */
	PCIE_YAML_STRUCTS, /* a pointer to an array of them, and a count */
	PCIE_YAML_ENTRIES, /* none: a list, and read() gets each entry, and the struct that has the field */
	PCIE_YAML_READ,    /* none: read() gets the value, and the struct that has the field */
};

struct pcie_yaml_field {
	const char *key; /* NULL: the table ends */
	enum pcie_yaml_kind kind;
	size_t offset;       /* of the member */
	size_t count_offset; /* of a list's count, a uint32_t */
	size_t line_offset;  /* of a size_t that gets the line; 0 = none */
	bool is_required;
	uint32_t max_entries; /* of a list; 0 = no limit */
	const struct pcie_yaml_field *fields;
	size_t size;
	pcie_yaml_read_fn *read; /* of STRUCT and STRUCTS: gets each struct when its fields are read; NULL = none */
};

/* A row of a table: a field with a member of the struct @type, and what more it has; and a list, whose count is another member. */
#define PCIE_YAML_FIELD(key_, kind_, type, member, ...)                                                          \
	{                                                                                                        \
		.key = (key_), .kind = PCIE_YAML_##kind_, .offset = offsetof(struct type, member), ##__VA_ARGS__ \
	}
#define PCIE_YAML_LIST_FIELD(key_, kind_, type, member, count, ...) \
	PCIE_YAML_FIELD(key_, kind_, type, member, .count_offset = offsetof(struct type, count), ##__VA_ARGS__)

/* Read the mapping @node into the struct @to. Returns 0, -EINVAL with the error set, or -ENOMEM. */
int pcie_yaml_read(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, const struct pcie_yaml_field *fields,
		   void *to);

/* The same for the whole document. */
int pcie_yaml_read_root(struct pcie_yaml_doc *doc, const struct pcie_yaml_field *fields, void *to);

/* Call @read for each entry of a list or mapping. Returns as pcie_yaml_read(). */
int pcie_yaml_each(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, pcie_yaml_read_fn *read, void *to);

#endif
