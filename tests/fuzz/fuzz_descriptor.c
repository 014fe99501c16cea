/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as an export descriptor: only the encoding of a key decodes to a key. The first byte selects whether
 * the checksum is corrected before, as a forger would; the rest is the descriptor. Seeds are in corpus/descriptor. */
#include <errno.h>
#include <zlib.h>

#include "fuzz_input.h"
#include "sim/protocol/descriptor.h"

#define CHECKSUM_OFFSET (SIM_DESCRIPTOR_BYTES - 4)

static const uint8_t session[SIM_SESSION_ID_SIZE] = "this session...";

static void sign(uint8_t *bytes, size_t len)
{
	uint32_t sum;

	if (len != SIM_DESCRIPTOR_BYTES)
		return;
	sum = (uint32_t)crc32(0, bytes, CHECKSUM_OFFSET);
	memcpy(bytes + CHECKSUM_OFFSET, &sum, sizeof(sum));
}

static void check(const uint8_t *bytes, size_t len)
{
	struct sim_key key = { .id = 7, .secret = "untouched" }, before = key;
	uint8_t again[SIM_DESCRIPTOR_BYTES];
	int rc = sim_descriptor_decode(session, bytes, len, &key);

	if (rc < 0) {
		promise(rc == -EINVAL || rc == -ESTALE);
		promise(memcmp(&key, &before, sizeof(key)) == 0);
		return;
	}
	promise(rc == 0 && len == SIM_DESCRIPTOR_BYTES);
	sim_descriptor_encode(session, &key, again);
	promise(memcmp(again, bytes, len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes;

	if (size == 0)
		return 0;
	bytes = malloc(size); /* of the exact size, so that a read beyond it shows */
	if (!bytes)
		return 0;
	memcpy(bytes, data + 1, size - 1);
	if (data[0] & 1)
		sign(bytes, size - 1);
	check(bytes, size - 1);
	free(bytes);
	return 0;
}
