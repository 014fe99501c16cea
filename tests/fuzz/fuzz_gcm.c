/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a message of AES-GCM, in lists of any pieces: nothing is written outside of the destination; what was encrypted is
 * decrypted to the same bytes, whatever the pieces; a message with a changed bit, or one that nobody sealed, is rejected. The
 * first bytes select what happens (struct choice), the rest is the message. Seeds are in corpus/gcm. */
#include <errno.h>

#include "fuzz_input.h"
#include "shim/aes_gcm/gcm_priv.h"

#define MAX_PIECES 8

struct choice {
	uint8_t has_large_key, has_large_tag, iv_bytes, aad_bytes;
	uint8_t src_pieces, dst_pieces; /* how lists are cut */
	uint8_t lack;                   /* of room: so many bytes */
	uint8_t changed;                /* bit of the message, modulo its length; 0 = none */
};

/* A task with its lists; each segment is memory of its exact size, so that an access beyond it shows. */
struct message {
	struct doca_mmap mmap;
	struct doca_buf bufs[2 * MAX_PIECES];
	struct shim_accel accel;
	struct shim_accel_hold hold;
	struct gcm_task task;
	struct shim_lists *lists;
};

static struct gcm_cipher *ciphers[2];

/* Cut @len bytes into 1 to MAX_PIECES segments, which have a copy of @data if there is one. */
static uint32_t add_segments(struct message *message, uint8_t pieces, const uint8_t *data, size_t len)
{
	struct shim_lists *lists = message->lists;
	uint32_t count = 1 + pieces % MAX_PIECES, first = lists->num_src;

	for (uint32_t i = 0; i < count; i++) {
		size_t part = i + 1 == count ? len : len * (1 + (pieces >> 3) % 4) / 5;
		struct shim_segment *segment = &lists->segments[first + i];
		uint8_t *bytes = malloc(part);

		if (data && part > 0) {
			memcpy(bytes, data, part);
			data += part;
		}
		message->bufs[first + i].mmap = &message->mmap;
		*segment = (struct shim_segment){ &message->bufs[first + i], bytes, part };
		len -= part;
	}
	return count;
}

static struct message *message_new(const struct choice *choice, const uint8_t *src, size_t len, size_t room)
{
	struct message *message = calloc(1, sizeof(*message));

	message->lists = calloc(1, sizeof(*message->lists) + 2 * MAX_PIECES * sizeof(message->lists->segments[0]));
	message->lists->num_src = add_segments(message, choice->src_pieces, src, len);
	message->lists->num_dst = add_segments(message, choice->dst_pieces, NULL, room);
	message->hold.held = ciphers[choice->has_large_key & 1];
	message->task = (struct gcm_task){
		.hold = &message->hold,
		.iv = { choice->iv_bytes },
		.iv_bytes = 1 + choice->iv_bytes % GCM_MAX_IV_BYTES,
		.tag_bytes = choice->has_large_tag & 1 ? 16 : 12,
		.aad_bytes = choice->aad_bytes,
	};
	message->task.base.base.task.ctx = &message->accel.ctx;
	message->task.base.base.snapshot.bytes = len;
	message->task.base.base.snapshot.lists = message->lists;
	return message;
}

static void message_free(struct message *message)
{
	for (uint32_t i = 0; i < message->lists->num_src + message->lists->num_dst; i++)
		free((void *)(uintptr_t)message->lists->segments[i].addr);
	free(message->lists);
	free(message);
}

/* Encrypt or decrypt @src; of a success, the output is in @ret, which has the room of the destination. */
static int run(const struct choice *choice, int (*crypt)(struct shim_work *work), const uint8_t *src, size_t len,
	       uint8_t *ret, size_t room)
{
	struct message *message = message_new(choice, src, len, room);
	const struct shim_segment *dst = message->lists->segments + message->lists->num_src;
	struct shim_work work;
	int rc;

	shim_work_init(&work, &message->task.base, UINT64_MAX);
	rc = crypt(&work);
	promise(work.written <= room);
	promise(rc < 0 || work.written == room);
	for (uint32_t i = 0; i < message->lists->num_dst && rc == 0; i++) {
		if (dst[i].bytes > 0)
			memcpy(ret, dst[i].addr, dst[i].bytes);
		ret += dst[i].bytes;
	}
	message_free(message);
	return rc;
}

static void encrypt_and_decrypt(const struct choice *choice, const uint8_t *text, size_t len, size_t tag_bytes)
{
	struct choice whole = *choice, crossed = *choice;
	uint8_t *sealed = malloc(len + tag_bytes), *other = malloc(len + tag_bytes), *again = malloc(len + 1);
	size_t bit = choice->changed % ((len + tag_bytes) * 8);

	whole.src_pieces = whole.dst_pieces = 0;
	crossed.src_pieces = choice->dst_pieces;
	crossed.dst_pieces = choice->src_pieces;
	promise(run(choice, gcm_encrypt, text, len, sealed, len + tag_bytes) == 0);
	promise(run(&whole, gcm_encrypt, text, len, other, len + tag_bytes) == 0);
	promise(memcmp(sealed, other, len + tag_bytes) == 0);
	sealed[bit / 8] ^= (uint8_t)((choice->changed != 0) << bit % 8);
	if (choice->changed) {
		promise(run(&crossed, gcm_decrypt, sealed, len + tag_bytes, again, len) == -EKEYREJECTED);
	} else {
		promise(run(&crossed, gcm_decrypt, sealed, len + tag_bytes, again, len) == 0);
		promise(memcmp(again, text, len) == 0);
	}
	free(sealed);
	free(other);
	free(again);
}

/* A submission checks the room; it is checked again at work, as what is behind a source may be another process's. */
static void encrypt_with_less_room(const struct choice *choice, const uint8_t *text, size_t len, size_t tag_bytes)
{
	size_t lack = 1 + choice->lack % tag_bytes, room = len + tag_bytes - lack;
	uint8_t *unused = malloc(room + 1);

	promise(run(choice, gcm_encrypt, text, len, unused, room) == -ENOSPC);
	free(unused);
}

static void decrypt_anything(const struct choice *choice, const uint8_t *sealed, size_t len, size_t tag_bytes)
{
	uint8_t *unused = malloc(len);

	promise(run(choice, gcm_decrypt, sealed, len, unused, len - tag_bytes) == -EKEYREJECTED);
	free(unused);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t keys[2][32] = { { 1 }, { 2 } };
	struct choice choice;
	size_t tag_bytes;

	if (size < sizeof(choice) || gcm_cipher_find_lack())
		return 0;
	for (size_t i = 0; i < 2 && !ciphers[i]; i++)
		ciphers[i] = gcm_cipher_new(keys[i], i ? 32 : 16);
	memcpy(&choice, data, sizeof(choice));
	data += sizeof(choice);
	size -= sizeof(choice);
	tag_bytes = choice.has_large_tag & 1 ? 16 : 12;
	if (size < choice.aad_bytes) /* refused at the submission */
		choice.aad_bytes = (uint8_t)size;
	encrypt_and_decrypt(&choice, data, size, tag_bytes);
	encrypt_with_less_room(&choice, data, size, tag_bytes);
	if (size >= choice.aad_bytes + tag_bytes)
		decrypt_anything(&choice, data, size, tag_bytes);
	return 0;
}
