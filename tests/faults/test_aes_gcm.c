/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at tasks of AES-GCM. A bad tag of a message that is encrypted shows in the output; one that is decrypted fails
 * for it. */
#include <doca_aes_gcm.h>

#include "engine.h"

#define TEXT_BYTES 100
#define TAG_BYTES  12

static struct doca_aes_gcm *gcm;
static struct doca_aes_gcm_key *key;

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
static struct doca_task *make(const struct doca_buf *src, struct doca_buf *dst, union doca_data number)
{
	static const uint8_t iv[12] = { 1 };
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;

	if (is_encryption()) {
		MUST(doca_aes_gcm_task_encrypt_alloc_init(gcm, src, dst, key, iv, sizeof(iv), TAG_BYTES, 8, number,
							  &encrypt));
		return doca_aes_gcm_task_encrypt_as_task(encrypt);
	}
	MUST(doca_aes_gcm_task_decrypt_alloc_init(gcm, src, dst, key, iv, sizeof(iv), TAG_BYTES, 8, number, &decrypt));
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

static size_t message_len(bool is_sealed)
{
	return is_sealed ? TEXT_BYTES + TAG_BYTES : TEXT_BYTES;
}

static const uint8_t *message(bool is_sealed)
{
	static uint8_t text[TEXT_BYTES];

	for (size_t i = 0; i < TEXT_BYTES; i++)
		text[i] = (uint8_t)i;
	return is_sealed ? sealed : text;
}

static size_t put_message(uint8_t *src, int number)
{
	memcpy(src, message(!is_encryption()), message_len(!is_encryption()));
	return message_len(!is_encryption());
}

static const uint8_t *expected(int number)
{
	return message(is_encryption());
}

static size_t len(void)
{
	return message_len(is_encryption());
}

/* A bad tag leaves the text as it is. */
static void check_text(const uint8_t *output, int number)
{
	if (engine_task_succeeds(number))
		CHECK(engine_wrong_bits(output, expected(number), TEXT_BYTES) <= (number == 2 && cell_is("flip")));
}

static struct doca_ctx *open_gcm(struct doca_dev *dev)
{
	MUST(doca_aes_gcm_create(dev, &gcm));
	MUST(doca_aes_gcm_task_encrypt_set_conf(gcm, on_encrypt, on_encrypt, ENGINE_TASKS));
	MUST(doca_aes_gcm_task_decrypt_set_conf(gcm, on_decrypt, on_decrypt, ENGINE_TASKS));
	return doca_aes_gcm_as_ctx(gcm);
}

static void make_key(void)
{
	static const uint8_t raw[16];

	MUST(doca_aes_gcm_key_create(gcm, raw, DOCA_AES_GCM_KEY_128, &key));
}

static void close_gcm(void)
{
	MUST(doca_aes_gcm_key_destroy(key));
	MUST(doca_aes_gcm_destroy(gcm));
}

const struct engine engine = {
	.room = 128,
	.moved = 80,
	.open = open_gcm,
	.prepare = make_key,
	.fill = put_message,
	.make = make,
	.expected = expected,
	.len = len,
	.check = check_text,
	.close = close_gcm,
};

static const struct cell cells[] = {
	ENGINE_CELLS("aes_gcm.encrypt", "80"),
	ENGINE_CELL("aes_gcm.encrypt", "bad_tag", "nth=2 bad_tag", ENGINE_ALL, ENGINE_STOPS ENGINE_IDLE),
	ENGINE_CELLS("aes_gcm.decrypt", "80"),
	ENGINE_CELL("aes_gcm.decrypt", "bad_tag", "nth=2 bad_tag",
		    "task 1\n" ENGINE_STOPS "task 2" ENGINE_IO_FAILED "task 3" ENGINE_IO_FAILED ENGINE_IDLE, NULL),
};

int main(void)
{
	return cell_run("AES-GCM", cells, sizeof(cells) / sizeof(cells[0]));
}
