/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at tasks of SHA. */
#include <doca_sha.h>

#include "engine.h"

#define BYTES        64 /* of a message */
#define DIGEST_BYTES 32

static struct doca_sha *sha;

/* SHA-256 of 64 bytes that are 1, 2 and 3 (by sha256sum). */
static const uint8_t digests[ENGINE_TASKS + 1][DIGEST_BYTES] = {
	{ 0 },
	{ 0x7c, 0x89, 0x75, 0xe1, 0xe6, 0x0a, 0x5c, 0x83, 0x37, 0xf2, 0x8e, 0xdf, 0x8c, 0x33, 0xc3, 0xb1,
	  0x80, 0x36, 0x0b, 0x72, 0x79, 0x64, 0x4a, 0x9b, 0xc1, 0xaf, 0x3c, 0x51, 0xe6, 0x22, 0x0b, 0xf5 },
	{ 0xf8, 0x3b, 0x33, 0x2b, 0xe4, 0xe6, 0xa5, 0xa4, 0xb1, 0xc5, 0x6a, 0xaf, 0x6d, 0xb5, 0x26, 0x57,
	  0xda, 0x49, 0x5e, 0x14, 0x98, 0x70, 0x05, 0x7d, 0x85, 0x90, 0xab, 0x9d, 0x7a, 0x61, 0x67, 0xad },
	{ 0x6a, 0xa5, 0x6c, 0x4b, 0xcd, 0x20, 0x89, 0x11, 0x79, 0x2a, 0xd2, 0x4c, 0x76, 0x81, 0xfe, 0xfb,
	  0x93, 0xbe, 0xd5, 0x19, 0x03, 0xaf, 0xc5, 0x48, 0x60, 0xc9, 0xbd, 0x37, 0xe4, 0x1e, 0x5a, 0x31 },
};

static const uint8_t *digest_of(int number)
{
	return digests[number];
}

static size_t digest_len(void)
{
	return DIGEST_BYTES;
}

static void on_hash(struct doca_sha_task_hash *task, union doca_data number, union doca_data data)
{
	tasks_note(doca_sha_task_hash_as_task(task), "task", number);
}

static void on_partial(struct doca_sha_task_partial_hash *task, union doca_data number, union doca_data data)
{
	if (doca_task_get_status(doca_sha_task_partial_hash_as_task(task)) == DOCA_SUCCESS)
		CHECK(doca_sha_task_partial_hash_get_has_result(task));
	else
		CHECK(!doca_sha_task_partial_hash_get_has_result(task));
	tasks_note(doca_sha_task_partial_hash_as_task(task), "task", number);
}

static struct doca_ctx *open_sha(struct doca_dev *dev)
{
	MUST(doca_sha_create(dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, on_hash, on_hash, 2));
	MUST(doca_sha_task_partial_hash_set_conf(sha, on_partial, on_partial, 2));
	return doca_sha_as_ctx(sha);
}

static void close_sha(void)
{
	MUST(doca_sha_destroy(sha));
}

/* Message @number is 64 times its number. */
static size_t put_message(uint8_t *src, int number)
{
	memset(src, number, BYTES);
	return BYTES;
}

static struct doca_task *make_hash(const struct doca_buf *src, struct doca_buf *dst, union doca_data number)
{
	struct doca_sha_task_partial_hash *partial;
	struct doca_sha_task_hash *hash;

	if (strcmp(cell->op, "sha.hash") == 0) {
		MUST(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, number, &hash));
		return doca_sha_task_hash_as_task(hash);
	}
	MUST(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, number, &partial));
	MUST(doca_sha_task_partial_hash_set_is_final_buf(partial));
	return doca_sha_task_partial_hash_as_task(partial);
}

const struct engine engine = {
	.room = BYTES,
	.moved = BYTES / 4,
	.open = open_sha,
	.fill = put_message,
	.make = make_hash,
	.expected = digest_of,
	.len = digest_len,
	.close = close_sha,
};

static const struct cell cells[] = { ENGINE_CELLS("sha.hash", "25%"), ENGINE_CELLS("sha.partial_hash", "25%") };

int main(void)
{
	return cell_run("sha", cells, sizeof(cells) / sizeof(cells[0]));
}
