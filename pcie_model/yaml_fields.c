/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading mappings into structs. */
#include "yaml_fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "did_you_mean.h"

/* Whether the reading ends with @rc. */
static bool is_end(const struct pcie_yaml_doc *doc, int rc)
{
	return rc && (rc != -EINVAL || !doc->on_error);
}

/* ---- values ---- */

/* Store a pointer in the member at @offset. */
static void store(void *to, size_t offset, const void *pointer)
{
	memcpy((char *)to + offset, &pointer, sizeof(pointer));
}

static int expect_list(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, uint32_t max_entries)
{
	if (node->type != PCIE_YAML_LIST)
		return pcie_yaml_error(doc, node, "expected a list ([a, b] or \"- a\" lines)");
	if (max_entries && node->count > max_entries)
		return pcie_yaml_error(doc, node, "has more than %u entries", max_entries);
	return 0;
}

static int read_value(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, bool may_be_blank, void *to,
		      size_t offset)
{
	if (node->type != PCIE_YAML_SCALAR)
		return pcie_yaml_error(doc, node, "expected a single value");
	if (!may_be_blank && node->text[strspn(node->text, " \t\n")] == '\0')
		return pcie_yaml_error(doc, node, "expected a text");
	store(to, offset, node->text);
	return 0;
}

int pcie_yaml_each(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, pcie_yaml_read_fn *read, void *to)
{
	int rc = 0;

	for (const struct pcie_yaml_node *entry = node->first; entry && !is_end(doc, rc); entry = entry->next) {
		int entry_rc = read(doc, entry, to);

		rc = entry_rc ? entry_rc : rc;
	}
	return rc;
}

/* A list whose entries go into an array, one after the other. */
struct array {
	const struct pcie_yaml_field *field;
	char *next;
};

static int read_struct(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node,
		       const struct pcie_yaml_field *field, void *to)
{
	int rc = pcie_yaml_read(doc, node, field->fields, to);

	return rc || !field->read ? rc : field->read(doc, node, to);
}

static int read_array_entry(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	struct array *array = to;
	void *place = array->next;

	if (array->field->kind == PCIE_YAML_VALUES) {
		array->next += sizeof(char *);
		return read_value(doc, node, true, place, 0);
	}
	array->next += array->field->size;
	return read_struct(doc, node, array->field, place);
}

static int read_array(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, const struct pcie_yaml_field *field,
		      void *to)
{
	size_t size = field->kind == PCIE_YAML_VALUES ? sizeof(char *) : field->size;
	struct array array = { .field = field };
	int rc = expect_list(doc, node, field->max_entries);

	if (rc)
		return rc;
	array.next = pcie_yaml_alloc(doc, node->count, size);
	if (!array.next)
		return -ENOMEM;
	store(to, field->offset, array.next);
	memcpy((char *)to + field->count_offset, &node->count, sizeof(node->count));
	return pcie_yaml_each(doc, node, read_array_entry, &array);
}

static int read_new_struct(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node,
			   const struct pcie_yaml_field *field, void *to)
{
	void *made = pcie_yaml_alloc(doc, 1, field->size);

	if (!made)
		return -ENOMEM;
	store(to, field->offset, made);
	return read_struct(doc, node, field, made);
}

static int read_field(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, const struct pcie_yaml_field *field,
		      void *to)
{
	int rc;

	if (field->line_offset)
		memcpy((char *)to + field->line_offset, &node->line, sizeof(node->line));
	switch (field->kind) {
	case PCIE_YAML_VALUE:
	case PCIE_YAML_TEXT:
		return read_value(doc, node, field->kind == PCIE_YAML_VALUE, to, field->offset);
	case PCIE_YAML_VALUES:
	case PCIE_YAML_STRUCTS:
		return read_array(doc, node, field, to);
	case PCIE_YAML_STRUCT:
		return field->size ? read_new_struct(doc, node, field, to) : read_struct(doc, node, field, to);
	case PCIE_YAML_ENTRIES:
		rc = expect_list(doc, node, field->max_entries);
		return rc ? rc : pcie_yaml_each(doc, node, field->read, to);
	case PCIE_YAML_READ:
	default:
		return field->read(doc, node, to);
	}
}

/* ---- mappings ---- */

static const char *field_key(const void *arg, size_t i)
{
	const struct pcie_yaml_field *fields = arg;

	return fields[i].key;
}

static int report_unknown(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node,
			  const struct pcie_yaml_field *fields)
{
	size_t count = 0, used = 0;
	const char *closest;
	char list[2048];

	for (; fields[count].key && used < sizeof(list); count++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s %s", count > 0 ? "," : "",
					 fields[count].key);
	while (fields[count].key)
		count++;
	closest = pcie_did_you_mean(node->key, strlen(node->key), field_key, fields, count);
	if (closest)
		return pcie_yaml_error(doc, node, "unknown field; did you mean %s?", closest);
	return pcie_yaml_error(doc, node, "unknown field; the fields here are%s", list);
}

/* Fields that a mapping has: bits, by their places in the table. */
struct seen {
	uint64_t bits[PCIE_YAML_MAX_FIELDS / 64];
};

static bool has_seen(const struct seen *seen, size_t i)
{
	return seen->bits[i / 64] >> i % 64 & 1;
}

static int read_pair(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, const struct pcie_yaml_field *fields,
		     struct seen *seen, void *to)
{
	size_t i = 0;

	while (fields[i].key && strcmp(fields[i].key, node->key) != 0)
		i++;
	if (!fields[i].key)
		return report_unknown(doc, node, fields);
	if (has_seen(seen, i))
		return pcie_yaml_error(doc, node, "is given twice; remove one");
	seen->bits[i / 64] |= UINT64_C(1) << i % 64;
	return read_field(doc, node, &fields[i], to);
}

static int check_required(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node,
			  const struct pcie_yaml_field *fields, const struct seen *seen)
{
	for (size_t i = 0; fields[i].key; i++) {
		const struct pcie_yaml_node missing = { .key = (char *)fields[i].key,
							.line = node->line,
							.parent = (struct pcie_yaml_node *)node };

		if (fields[i].is_required && !has_seen(seen, i))
			return pcie_yaml_error(doc, &missing, "is missing; this field is required");
	}
	return 0;
}

int pcie_yaml_read(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, const struct pcie_yaml_field *fields,
		   void *to)
{
	struct seen seen = { 0 };
	int rc = 0;

	if (node->type != PCIE_YAML_MAPPING)
		return pcie_yaml_error(doc, node, "expected a mapping (\"key: value\" lines)");
	for (const struct pcie_yaml_node *entry = node->first; entry && !is_end(doc, rc); entry = entry->next) {
		int entry_rc = read_pair(doc, entry, fields, &seen, to);

		rc = entry_rc ? entry_rc : rc;
	}
	return rc ? rc : check_required(doc, node, fields, &seen);
}

int pcie_yaml_read_root(struct pcie_yaml_doc *doc, const struct pcie_yaml_field *fields, void *to)
{
	if (doc->root->type != PCIE_YAML_MAPPING)
		return pcie_yaml_error_at_line(doc, doc->root, 1, "expected %s", doc->needs);
	return pcie_yaml_read(doc, doc->root, fields, to);
}
