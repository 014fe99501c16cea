/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.h - files that programs of any generation pass each other. What fails ends the program with status 1. */
#ifndef WORKQ_BYTES_H
#define WORKQ_BYTES_H

#include <stddef.h>

/* Memory for a file, or with its contents. */
struct bytes {
	char *addr;
	size_t len;
};

struct bytes bytes_of_file(const char *path);
struct bytes bytes_of_zeros(size_t len);
void bytes_to_file(struct bytes bytes, const char *path);

/* Write the file under a temporary name, and rename it when it is complete. */
void bytes_publish(struct bytes bytes, const char *path);

/* Wait until there is such a file, half a minute at most, and read it. */
struct bytes bytes_await(const char *path);

#endif
