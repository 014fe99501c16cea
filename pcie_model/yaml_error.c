/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of a YAML text: the path and the line of the place, and a reason. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "yaml_doc.h"

#define MAX_NAME_SHOWN 80 /* characters at the end of the file's name in a message */
#define TEXT_SIZE      3072

/* Quoted input may hold control characters; a message is one line of text. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

static int report(const struct pcie_yaml_doc *doc, size_t line, const char *path, const char *format, va_list args)
{
	size_t name_len = strlen(doc->name), used;
	char text[TEXT_SIZE];

	used = (size_t)snprintf(text, sizeof(text), "%s%s", path, *path ? ": " : "");
	if (used < sizeof(text))
		vsnprintf(text + used, sizeof(text) - used, format, args);
	make_printable(text);
	if (doc->on_error) {
		doc->on_error(doc->arg, line, text);
		return -EINVAL;
	}
	snprintf(doc->error, doc->error_size, "%s:%zu: %s",
		 doc->name + (name_len > MAX_NAME_SHOWN ? name_len - MAX_NAME_SHOWN : 0), line, text);
	make_printable(doc->error);
	return -EINVAL;
}

/* Write the path of @node; returns its length. */
static size_t write_path(const struct pcie_yaml_node *node, char path[PCIE_YAML_PATH_SIZE])
{
	size_t used;

	path[0] = '\0';
	if (!node || !node->parent)
		return 0;
	used = write_path(node->parent, path);
	if (node->key)
		snprintf(path + used, PCIE_YAML_PATH_SIZE - used, "%s%s", used ? "." : "", node->key);
	else
		snprintf(path + used, PCIE_YAML_PATH_SIZE - used, "[%u]", node->index);
	return strlen(path);
}

int pcie_yaml_error_at_line(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, size_t line,
			    const char *format, ...)
{
	char path[PCIE_YAML_PATH_SIZE];
	va_list args;

	write_path(node, path);
	va_start(args, format);
	report(doc, line, path, format, args);
	va_end(args);
	return -EINVAL;
}

/* What follows the place of @node, which is an entry, in @path; NULL = the path leads elsewhere. */
static const char *path_behind(const struct pcie_yaml_node *node, const char *path)
{
	char part[PCIE_YAML_MAX_KEY + 16];
	size_t len;

	if (node->key)
		len = (size_t)snprintf(part, sizeof(part), "%s", node->key);
	else
		len = (size_t)snprintf(part, sizeof(part), "[%u]", node->index);
	if (strncmp(part, path, len) != 0 || (path[len] && path[len] != '.' && path[len] != '['))
		return NULL;
	return path + len + (path[len] == '.');
}

/* The line of the place in @node that @path leads to, or of the nearest one that encloses it. */
static size_t line_of(const struct pcie_yaml_node *node, const char *path)
{
	for (const struct pcie_yaml_node *entry = node->first; entry; entry = entry->next) {
		const char *rest = path_behind(entry, path);

		if (rest)
			return line_of(entry, rest);
	}
	return node->line;
}

int pcie_yaml_error_at(const struct pcie_yaml_doc *doc, const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(doc, line_of(doc->root, path), path, format, args);
	va_end(args);
	return -EINVAL;
}
