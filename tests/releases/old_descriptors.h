/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs with RDMA of all releases agree on: the descriptors that they exchange, and what they send. */
#ifndef OLD_DESCRIPTORS_H
#define OLD_DESCRIPTORS_H

#include <stddef.h>

#define ROOM       4096 /* of memory that is lent: at its begin; a message goes to its second half */
#define LENT       "bytes that were written"
#define MESSAGE    "a message"
#define IMMEDIATE  0xABCD
#define DESCRIPTOR 1024

struct descriptor {
	size_t len;
	char bytes[DESCRIPTOR];
};

struct descriptor descriptor_of(const void *bytes, size_t len);

/* Through files, which may be FIFOs. */
void put_descriptors(const char *to, const struct descriptor *descriptors, size_t num);
void get_descriptors(const char *from, struct descriptor *descriptors, size_t num);

#endif
