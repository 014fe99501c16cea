/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange of descriptors. */
#include "old_descriptors.h"

#include <stdio.h>
#include <string.h>

#include "old_card.h"

struct descriptor descriptor_of(const void *bytes, size_t len)
{
	struct descriptor copy = { .len = len };

	must(len <= sizeof(copy.bytes) ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "keep a descriptor");
	memcpy(copy.bytes, bytes, len);
	return copy;
}

void put_descriptors(const char *to, const struct descriptor *descriptors, size_t num)
{
	FILE *file = fopen(to, "w");

	must(file && fwrite(descriptors, sizeof(*descriptors), num, file) == num && fclose(file) == 0 ?
		     DOCA_SUCCESS :
		     DOCA_ERROR_IO_FAILED,
	     "write the descriptors");
}

void get_descriptors(const char *from, struct descriptor *descriptors, size_t num)
{
	FILE *file = fopen(from, "r");

	must(file && fread(descriptors, sizeof(*descriptors), num, file) == num && fclose(file) == 0 ?
		     DOCA_SUCCESS :
		     DOCA_ERROR_IO_FAILED,
	     "read the peer's descriptors");
}
