/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/yaml_source.h - a YAML text of a user: its limits, and errors with its lines.
 *
 * A path, "cards[0].functions[2].pci", names a place in the text. Lines are not stored: for an error, which
 * happens at most once for a load, the text is walked again.
 */
#ifndef PCIE_YAML_SOURCE_H
#define PCIE_YAML_SOURCE_H

#include <stddef.h>

#define PCIE_YAML_MAX_BYTES (1u << 20) /* a larger text is refused */
#define PCIE_YAML_MAX_KEY   64         /* of a key with its terminating zero */
#define PCIE_YAML_MAX_DEPTH 8          /* lists and mappings inside each other */
#define PCIE_YAML_PATH_SIZE (PCIE_YAML_MAX_DEPTH * PCIE_YAML_MAX_KEY)

struct pcie_yaml_source {
	const char *name; /* the file's name in messages */
	const char *text; /* @len bytes, not terminated */
	size_t len;
	char *error; /* @error_size bytes, borrowed */
	size_t error_size;
	const char *needs; /* what a file has at least, for the message about an empty one: "a list named \"cards\"" */
};

/* Reject oversized or malformed text, several documents, anchors and aliases, deep nesting, keys that are not plain
 * text, and text with a zero byte. Returns 0, -EINVAL with the error text set, or -ENOMEM. */
int pcie_yaml_source_check(const struct pcie_yaml_source *source);

/* Called for each key's value and each list entry, outer before inner. */
typedef void pcie_yaml_visit(void *arg, const char *path, size_t line);

/* Walk a text that passed the check. Returns 0 or -ENOMEM. */
int pcie_yaml_source_walk(const struct pcie_yaml_source *source, pcie_yaml_visit *visit, void *arg);

/* Set the error text to "file:line: @path: reason" and return -EINVAL. The line
 * is that of @path's last occurrence, or of the nearest enclosing place that
 * exists; an empty path means the document. */
int pcie_yaml_source_error(const struct pcie_yaml_source *source, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with a known line. */
int pcie_yaml_source_error_at(const struct pcie_yaml_source *source, size_t line, const char *path, const char *format,
			      ...) __attribute__((format(printf, 4, 5)));

#endif
