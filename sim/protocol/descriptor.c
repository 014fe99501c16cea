/* SPDX-License-Identifier: BSD-3-Clause */
/* The encoding of an export descriptor, and its checks. */
#include "descriptor.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#define DESCRIPTOR_MAGIC   "BFSIMEXP"
#define DESCRIPTOR_VERSION 1

struct descriptor {
	char magic[8];
	uint32_t version;
	uint32_t len_bytes;
	uint8_t session[SIM_SESSION_ID_SIZE];
	uint64_t key_id;
	uint8_t secret[SIM_SECRET_SIZE];
	uint32_t reserved;
	uint32_t checksum; /* CRC-32 of all bytes before this member */
};

static_assert(sizeof(struct descriptor) == SIM_DESCRIPTOR_BYTES, "a descriptor has no padding");

static uint32_t checksum(const struct descriptor *descriptor)
{
	return (uint32_t)crc32(0, (const Bytef *)descriptor, offsetof(struct descriptor, checksum));
}

void sim_descriptor_encode(const uint8_t session[SIM_SESSION_ID_SIZE], const struct sim_key *key,
			   uint8_t bytes[SIM_DESCRIPTOR_BYTES])
{
	struct descriptor descriptor = {
		.magic = DESCRIPTOR_MAGIC,
		.version = DESCRIPTOR_VERSION,
		.len_bytes = sizeof(descriptor),
		.key_id = key->id,
	};

	memcpy(descriptor.session, session, SIM_SESSION_ID_SIZE);
	memcpy(descriptor.secret, key->secret, SIM_SECRET_SIZE);
	descriptor.checksum = checksum(&descriptor);
	memcpy(bytes, &descriptor, sizeof(descriptor));
}

int sim_descriptor_decode(const uint8_t session[SIM_SESSION_ID_SIZE], const void *bytes, size_t len,
			  struct sim_key *ret_key)
{
	struct descriptor descriptor;

	if (len != sizeof(descriptor))
		return -EINVAL;
	memcpy(&descriptor, bytes, sizeof(descriptor));
	if (memcmp(descriptor.magic, DESCRIPTOR_MAGIC, sizeof(descriptor.magic)) != 0 ||
	    descriptor.version != DESCRIPTOR_VERSION || descriptor.len_bytes != sizeof(descriptor) ||
	    descriptor.reserved != 0 || descriptor.checksum != checksum(&descriptor))
		return -EINVAL;
	if (memcmp(descriptor.session, session, SIM_SESSION_ID_SIZE) != 0)
		return -ESTALE;
	ret_key->id = descriptor.key_id;
	memcpy(ret_key->secret, descriptor.secret, SIM_SECRET_SIZE);
	return 0;
}
