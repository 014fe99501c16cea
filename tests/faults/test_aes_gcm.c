/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at tasks of AES-GCM.
 *
 * Three equal tasks are submitted, and a fault hits the second one, or the third, if its end never comes. A failed task
 * leaves the part of its output that the rule says, and adds no data. A flip shows in the output, and so does a bad tag
 * of a message that is encrypted; one that is decrypted fails for it. */
#include <bfsim.h>
#include <doca_aes_gcm.h>

#include "cell.h"
#include "tasks.h"
#include "tests/api/comch_fast.h"
#include "doca_check.h"

#define TEXT_BYTES 100
#define TAG_BYTES  12
#define ROOM       128 /* of a source, and of a destination */
#define MOVED      80  /* bytes that a failed task has written */
#define NUM        3

static bool is_encryption(void)
{
	return strcmp(cell->op, "aes_gcm.encrypt") == 0;
}

static void on_encrypt(struct doca_aes_gcm_task_encrypt *task, union doca_data number, union doca_data data)
{
	tasks_note(doca_aes_gcm_task_encrypt_as_task(task), "task", number);
}

static void on_decrypt(struct doca_aes_gcm_task_decrypt *task, union doca_data number, union doca_data data)
{
	tasks_note(doca_aes_gcm_task_decrypt_as_task(task), "task", number);
}

/* The AAD of each message are its first 8 bytes. */
static struct doca_task *make(struct doca_aes_gcm *gcm, struct doca_aes_gcm_key *key, const struct doca_buf *src,
			      struct doca_buf *dst, int number)
{
	static const uint8_t iv[12] = { 1 };
	const union doca_data user_data = { .u64 = (uint64_t)number };
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;

	if (is_encryption()) {
		MUST(doca_aes_gcm_task_encrypt_alloc_init(gcm, src, dst, key, iv, sizeof(iv), TAG_BYTES, 8, user_data,
							  &encrypt));
		return doca_aes_gcm_task_encrypt_as_task(encrypt);
	}
	MUST(doca_aes_gcm_task_decrypt_alloc_init(gcm, src, dst, key, iv, sizeof(iv), TAG_BYTES, 8, user_data,
						  &decrypt));
	return doca_aes_gcm_task_decrypt_as_task(decrypt);
}

/* "The text" of bytes 0 to 99, as AES-128 with the key of zeros and the IV above makes it: AAD, ciphertext, tag (by a program
 * on OpenSSL's library). */
static const uint8_t sealed[TEXT_BYTES + TAG_BYTES] = {
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x02, 0x24, 0xd6, 0xed, 0x47, 0x30, 0x62, 0x02,
	0xea, 0x24, 0x2c, 0x50, 0x32, 0x22, 0x77, 0x4f, 0x2e, 0x33, 0x39, 0xaa, 0x2b, 0xfd, 0x20, 0x75,
	0x88, 0xea, 0x73, 0x07, 0x4e, 0x0b, 0xab, 0x0c, 0xe4, 0xb7, 0xa4, 0x5e, 0x82, 0xd6, 0xe6, 0x65,
	0x69, 0x88, 0x54, 0x35, 0x94, 0xd1, 0x81, 0x90, 0x4b, 0x9d, 0x9c, 0xa1, 0xac, 0x1f, 0x2b, 0xa7,
	0xf8, 0xa1, 0xd6, 0x06, 0xe0, 0x1a, 0x91, 0xe9, 0x3a, 0x8c, 0xaf, 0x1a, 0xda, 0x21, 0x9a, 0x44,
	0xbd, 0x2f, 0xc8, 0x43, 0x2a, 0x2d, 0xdf, 0xae, 0xb2, 0xa7, 0x60, 0x9d, 0x0a, 0xd6, 0x85, 0x1a,
	0x6f, 0x45, 0x28, 0xc7, 0x7e, 0x59, 0x74, 0x7d, 0xd8, 0x61, 0x0b, 0x55, 0xeb, 0x9c, 0x43, 0x24,
};

static size_t src_bytes(void)
{
	return is_encryption() ? TEXT_BYTES : TEXT_BYTES + TAG_BYTES;
}

static size_t dst_bytes(void)
{
	return is_encryption() ? TEXT_BYTES + TAG_BYTES : TEXT_BYTES;
}

static void put_message(uint8_t *to, bool as_sealed)
{
	for (size_t i = 0; i < TEXT_BYTES + TAG_BYTES; i++)
		to[i] = as_sealed ? sealed[i] : i < TEXT_BYTES ? (uint8_t)i : 0;
}

static bool has_succeeded(int number)
{
	if (cell_is("fail") || (cell_is("bad_tag") && !is_encryption()))
		return number < 2;
	return !(cell_is("refuse") && number == 2) && !(cell_is("hang") && number == 3);
}

static size_t data_len(const struct doca_buf *buf)
{
	size_t len;

	MUST(doca_buf_get_data_len(buf, &len));
	return len;
}

static unsigned int wrong_bits(const uint8_t *output, const uint8_t *expected, size_t begin, size_t end)
{
	unsigned int wrong = 0;

	for (size_t i = begin; i < end; i++)
		wrong += (unsigned int)__builtin_popcount(output[i] ^ expected[i]);
	return wrong;
}

static void expect_output(const uint8_t *output, const struct doca_buf *dst, int number)
{
	static const uint8_t nothing[ROOM];
	uint8_t expected[ROOM];
	bool is_hit = number == 2;

	put_message(expected, is_encryption());
	CHECK(data_len(dst) == (has_succeeded(number) ? dst_bytes() : 0));
	if (is_hit && cell_is("fail")) {
		CHECK(memcmp(output, expected, MOVED) == 0);
		CHECK(memcmp(output + MOVED, nothing, ROOM - MOVED) == 0);
	} else if (has_succeeded(number)) {
		CHECK(wrong_bits(output, expected, 0, TEXT_BYTES) <= (is_hit && cell_is("flip")));
		CHECK(wrong_bits(output, expected, 0, dst_bytes()) ==
		      (is_hit && (cell_is("flip") || cell_is("bad_tag"))));
		CHECK(memcmp(output + dst_bytes(), nothing, ROOM - dst_bytes()) == 0);
	} else if (!cell_is("hang") && !(is_hit && cell_is("bad_tag"))) {
		CHECK(memcmp(output, nothing, ROOM) == 0);
	}
}

static void gcm_dpu(struct side *side)
{
	static const uint8_t raw[16];
	struct arena *arena = arena_open(side->dev);
	struct doca_buf *src[NUM + 1], *dst[NUM + 1];
	uint64_t begin_ns = bfsim_now_ns();
	struct doca_aes_gcm_key *key;
	struct comch_actor *actor;
	struct doca_aes_gcm *gcm;

	MUST(doca_aes_gcm_create(side->dev, &gcm));
	MUST(doca_aes_gcm_task_encrypt_set_conf(gcm, on_encrypt, on_encrypt, NUM));
	MUST(doca_aes_gcm_task_decrypt_set_conf(gcm, on_decrypt, on_decrypt, NUM));
	actor = comch_actor(side, "gcm", doca_aes_gcm_as_ctx(gcm));
	MUST(doca_ctx_start(actor->ctx));
	MUST(doca_aes_gcm_key_create(gcm, raw, DOCA_AES_GCM_KEY_128, &key));
	comch_forget(side);
	cell_arm();
	for (int i = 1; i <= NUM; i++) {
		src[i] = arena_empty(arena, (size_t)i * ROOM, ROOM);
		dst[i] = arena_empty(arena, (size_t)(NUM + i) * ROOM, ROOM);
		put_message(arena->bytes + i * ROOM, !is_encryption());
		MUST(doca_buf_set_data(src[i], arena->bytes + i * ROOM, src_bytes()));
		tasks_submit(make(gcm, key, src[i], dst[i], i), i);
	}
	tasks_expect_all(side, begin_ns);
	if (cell->on_host)
		tasks_stop(actor, cell->on_host);
	for (int i = 1; i <= NUM; i++)
		expect_output(arena->bytes + (NUM + i) * ROOM, dst[i], i);
	MUST(doca_aes_gcm_key_destroy(key));
	MUST(doca_aes_gcm_destroy(gcm));
	free(actor);
	for (int i = 1; i <= NUM; i++) {
		MUST(doca_buf_dec_refcount(src[i], NULL));
		MUST(doca_buf_dec_refcount(dst[i], NULL));
	}
	arena_close(arena);
}

#define STOPS     "gcm: running -> stopping\n"
#define IDLE      "gcm: stopping -> idle\n"
#define IO_FAILED " failed: DOCA_ERROR_IO_FAILED\n"
#define ALL       "task 1\ntask 2\ntask 3\n"

#define CELL(op, act, rest, on_dpu, on_host)                           \
	{                                                              \
		op, act, rest, gcm_dpu, comch_nothing, on_dpu, on_host \
	}

/* The host's field of the cell holds the trace of stopping the context. */
#define CELLS(op)                                                                                         \
	CELL(op, "refuse", "nth=2 refuse", "task 1\ntask 3\n", STOPS IDLE),                               \
		CELL(op, "fail", "nth=2 fail=TIME_OUT moved=80",                                          \
		     "task 1\n" STOPS "task 2 failed: DOCA_ERROR_TIME_OUT\ntask 3" IO_FAILED IDLE, NULL), \
		CELL(op, "hang", "nth=3 hang", "task 1\ntask 2\n", STOPS "task 3" IO_FAILED IDLE),        \
		CELL(op, "delay", "nth=2 delay=500ms", ALL, STOPS IDLE),                                  \
		CELL(op, "flip", "nth=2 flip=1", ALL, STOPS IDLE)

static const struct cell cells[] = {
	CELLS("aes_gcm.encrypt"),
	CELL("aes_gcm.encrypt", "bad_tag", "nth=2 bad_tag", ALL, STOPS IDLE),
	CELLS("aes_gcm.decrypt"),
	CELL("aes_gcm.decrypt", "bad_tag", "nth=2 bad_tag", "task 1\n" STOPS "task 2" IO_FAILED "task 3" IO_FAILED IDLE,
	     NULL),
};

int main(void)
{
	return cell_run("AES-GCM", cells, sizeof(cells) / sizeof(cells[0]));
}
