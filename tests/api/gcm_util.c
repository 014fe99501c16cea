/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig for AES-GCM, and the model: slow, and of nothing but the definitions. */
#include "gcm_util.h"

#include <string.h>

#include "doca_check.h"

static void on_encrypt(struct doca_aes_gcm_task_encrypt *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_decrypt(struct doca_aes_gcm_task_decrypt *task, union doca_data user_data, union doca_data ctx_data)
{
}

doca_error_t gcm_set_conf(struct doca_aes_gcm *gcm, enum gcm_kind kind, uint32_t num_tasks)
{
	return kind == GCM_ENCRYPT ? doca_aes_gcm_task_encrypt_set_conf(gcm, on_encrypt, on_encrypt, num_tasks) :
				     doca_aes_gcm_task_decrypt_set_conf(gcm, on_decrypt, on_decrypt, num_tasks);
}

doca_error_t gcm_alloc(struct gcm_rig *rig, enum gcm_kind kind, const struct gcm_params *params,
		       const struct doca_buf *src, struct doca_buf *dst, struct doca_task **ret_task)
{
	const union doca_data no_data = { 0 };
	struct doca_aes_gcm_task_encrypt *encrypt = NULL;
	struct doca_aes_gcm_task_decrypt *decrypt = NULL;
	doca_error_t result;

	if (kind == GCM_ENCRYPT)
		result = doca_aes_gcm_task_encrypt_alloc_init(rig->gcm, src, dst, params->key, params->iv,
							      params->iv_bytes, params->tag_bytes, params->aad_bytes,
							      no_data, &encrypt);
	else
		result = doca_aes_gcm_task_decrypt_alloc_init(rig->gcm, src, dst, params->key, params->iv,
							      params->iv_bytes, params->tag_bytes, params->aad_bytes,
							      no_data, &decrypt);
	if (result == DOCA_SUCCESS)
		*ret_task = kind == GCM_ENCRYPT ? doca_aes_gcm_task_encrypt_as_task(encrypt) :
						  doca_aes_gcm_task_decrypt_as_task(decrypt);
	return result;
}

doca_error_t gcm_run(struct gcm_rig *rig, enum gcm_kind kind, const struct gcm_params *params,
		     const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task;
	doca_error_t result;

	MUST(gcm_alloc(rig, kind, params, src, dst, &task));
	result = accel_run(rig->accel, task);
	doca_task_free(task);
	return result;
}

struct gcm_rig gcm_open_idle(void)
{
	struct gcm_rig rig = { .accel = accel_open() };

	MUST(doca_aes_gcm_create(rig.accel->dev, &rig.gcm));
	rig.ctx = doca_aes_gcm_as_ctx(rig.gcm);
	return rig;
}

struct gcm_rig gcm_open(void)
{
	struct gcm_rig rig = gcm_open_idle();

	MUST(gcm_set_conf(rig.gcm, GCM_ENCRYPT, GCM_TASKS));
	MUST(gcm_set_conf(rig.gcm, GCM_DECRYPT, GCM_TASKS));
	accel_start(rig.accel, rig.ctx);
	return rig;
}

void gcm_restart(struct gcm_rig *rig)
{
	accel_stop(rig->accel);
	MUST(doca_ctx_start(rig->ctx));
}

void gcm_close(struct gcm_rig *rig)
{
	if (rig->accel->ctx)
		accel_stop(rig->accel);
	MUST(doca_aes_gcm_destroy(rig->gcm));
	accel_close(rig->accel);
}

struct doca_aes_gcm_key *gcm_key(struct gcm_rig *rig, const uint8_t *bytes, size_t len)
{
	struct doca_aes_gcm_key *key;

	MUST(doca_aes_gcm_key_create(rig->gcm, bytes, len == 16 ? DOCA_AES_GCM_KEY_128 : DOCA_AES_GCM_KEY_256, &key));
	return key;
}

/* ---- AES: bytes are polynomials over bits, modulo x^8 + x^4 + x^3 + x + 1 ---- */

static uint8_t twice(uint8_t a)
{
	return (uint8_t)(a << 1 ^ (a >> 7) * 0x1b);
}

static uint8_t times(uint8_t a, uint8_t b)
{
	uint8_t product = 0;

	for (; b; b >>= 1, a = twice(a))
		if (b & 1)
			product ^= a;
	return product;
}

/* The inverse, and an affine map over bits. */
static uint8_t substitute(uint8_t a)
{
	static uint8_t box[256];
	static bool is_made;

	for (unsigned int i = 0; i < 256 && !is_made; i++) {
		unsigned int inverse = 0, rotated;

		for (unsigned int j = 1; j < 256 && i > 0 && !inverse; j++)
			inverse = times((uint8_t)i, (uint8_t)j) == 1 ? j : 0;
		rotated = inverse | inverse << 8;
		box[i] = (uint8_t)(rotated ^ rotated >> 4 ^ rotated >> 5 ^ rotated >> 6 ^ rotated >> 7 ^ 0x63);
	}
	is_made = true;
	return box[a];
}

/* The keys of all rounds: a column of four bytes is that of a key's length before, changed by the one before. */
static size_t expand_key(const uint8_t *key, size_t key_bytes, uint8_t columns[60][4])
{
	size_t num_key = key_bytes / 4, rounds = num_key + 6;
	uint8_t power = 1;

	memcpy(columns, key, key_bytes);
	for (size_t i = num_key; i < 4 * (rounds + 1); i++) {
		uint8_t column[4];

		for (size_t j = 0; j < 4; j++)
			column[j] = i % num_key == 0                 ? substitute(columns[i - 1][(j + 1) % 4]) :
				    i % num_key == 4 && num_key == 8 ? substitute(columns[i - 1][j]) :
								       columns[i - 1][j];
		if (i % num_key == 0) {
			column[0] ^= power;
			power = twice(power);
		}
		for (size_t j = 0; j < 4; j++)
			columns[i][j] = columns[i - num_key][j] ^ column[j];
	}
	return rounds;
}

static void encrypt_block(const uint8_t *key, size_t key_bytes, const uint8_t *in, uint8_t *out)
{
	uint8_t columns[60][4], state[16], moved[16];
	size_t rounds = expand_key(key, key_bytes, columns);

	for (size_t i = 0; i < 16; i++)
		state[i] = in[i] ^ columns[i / 4][i % 4];
	for (size_t round = 1; round <= rounds; round++) {
		for (size_t i = 0; i < 16; i++)
			moved[i] = substitute(state[(i + i % 4 * 4) % 16]);
		for (size_t i = 0; i < 16; i++) {
			const uint8_t *column = moved + i / 4 * 4;

			state[i] = round == rounds ?
					   moved[i] :
					   twice(column[i % 4]) ^ twice(column[(i + 1) % 4]) ^ column[(i + 1) % 4] ^
						   column[(i + 2) % 4] ^ column[(i + 3) % 4];
			state[i] ^= columns[4 * round + i / 4][i % 4];
		}
	}
	memcpy(out, state, 16);
}

/* ---- GHASH: blocks are polynomials over bits, the first bit the lowest power, modulo x^128 + x^7 + x^2 + x + 1 ---- */

static void multiply(uint8_t *hash, const uint8_t *by)
{
	uint8_t product[16] = { 0 }, shifted[16];

	memcpy(shifted, by, 16);
	for (size_t bit = 0; bit < 128; bit++) {
		uint8_t carry = shifted[15] & 1;

		for (size_t i = 0; i < 16 && hash[bit / 8] >> (7 - bit % 8) & 1; i++)
			product[i] ^= shifted[i];
		for (size_t i = 15; i > 0; i--)
			shifted[i] = (uint8_t)(shifted[i] >> 1 | shifted[i - 1] << 7);
		shifted[0] = (uint8_t)(shifted[0] >> 1 ^ carry * 0xe1);
	}
	memcpy(hash, product, 16);
}

static void hash_bytes(uint8_t *hash, const uint8_t *by, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		hash[i % 16] ^= bytes[i];
		if (i % 16 == 15 || i == len - 1)
			multiply(hash, by);
	}
}

static void put_bits(uint8_t *to, uint64_t bytes)
{
	for (size_t i = 0; i < 8; i++)
		to[i] = (uint8_t)(bytes * 8 >> (56 - 8 * i));
}

static void hash_lengths(uint8_t *hash, const uint8_t *by, uint64_t first, uint64_t second)
{
	uint8_t lengths[16];

	put_bits(lengths, first);
	put_bits(lengths + 8, second);
	hash_bytes(hash, by, lengths, 16);
}

static void count(uint8_t *counter)
{
	for (size_t i = 15; i >= 12 && ++counter[i] == 0; i--)
		;
}

void gcm_model(const uint8_t *key, size_t key_bytes, const uint8_t *iv, size_t iv_bytes, const uint8_t *src,
	       size_t aad_bytes, size_t src_bytes, uint8_t *ret)
{
	uint8_t by[16] = { 0 }, counter[16] = { 0 }, first[16], stream[16], hash[16] = { 0 };

	encrypt_block(key, key_bytes, by, by);
	if (iv_bytes == 12) {
		memcpy(counter, iv, 12);
		counter[15] = 1;
	} else {
		hash_bytes(counter, by, iv, iv_bytes);
		hash_lengths(counter, by, 0, iv_bytes);
	}
	encrypt_block(key, key_bytes, counter, first);
	memcpy(ret, src, src_bytes);
	for (size_t i = 0; i < src_bytes - aad_bytes; i++) {
		if (i % 16 == 0) {
			count(counter);
			encrypt_block(key, key_bytes, counter, stream);
		}
		ret[aad_bytes + i] ^= stream[i % 16];
	}
	hash_bytes(hash, by, ret, aad_bytes);
	hash_bytes(hash, by, ret + aad_bytes, src_bytes - aad_bytes);
	hash_lengths(hash, by, aad_bytes, src_bytes - aad_bytes);
	for (size_t i = 0; i < 16; i++)
		ret[src_bytes + i] = hash[i] ^ first[i];
}
