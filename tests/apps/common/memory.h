/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - memory of this process that stands for a file's contents.
 *
 * A heap block, a private mapping or a shared mapping look alike to a program.
 * They differ in where writes go: into a file that is mapped shared, else into
 * this process only.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

enum memory_kind {
	MEMORY_HEAP,    /* malloc(3), read from the file */
	MEMORY_PRIVATE, /* mmap(2), MAP_PRIVATE */
	MEMORY_SHARED,  /* mmap(2), MAP_SHARED */
};

struct memory {
	uint8_t *addr; /* NULL = none */
	size_t len_bytes;
	enum memory_kind kind;
};

/* A kind by its name: heap, private, shared. DOCA_ERROR_INVALID_VALUE. */
doca_error_t memory_kind_parse(const char *name, enum memory_kind *ret_kind);

/* A file's contents; an empty file is an error. @writable matters to a shared
 * mapping: without it, the file is opened for reading only. The caller releases it. */
doca_error_t memory_of_file(const char *path, enum memory_kind kind, bool writable, struct memory *ret_memory);

/* @len_bytes of zeros on the heap, in pages that are there already, as a driver
 * would pin them. The caller releases it. */
doca_error_t memory_of_zeros(size_t len_bytes, struct memory *ret_memory);

/* Write all of it to a new file, or over an old one. */
doca_error_t memory_to_file(const struct memory *memory, const char *path);

/* Free or unmap; no effect if it is all zero. */
void memory_release(struct memory *memory);

#endif
