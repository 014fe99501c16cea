/* SPDX-License-Identifier: BSD-3-Clause */
/* AES-GCM by libcrypto. */
#include "cipher.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "shim/common/accel/load.h"
#include "shim/common/base/alloc.h"

/* What is used of <openssl/evp.h>, so that the build does not need OpenSSL's headers. */
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
enum { EVP_CTRL_AEAD_SET_IVLEN = 0x9, EVP_CTRL_AEAD_GET_TAG = 0x10, EVP_CTRL_AEAD_SET_TAG = 0x11 };

static struct {
	EVP_CIPHER *(*fetch)(void *libctx, const char *algorithm, const char *properties);
	EVP_CIPHER_CTX *(*new)(void);
	void (*free)(EVP_CIPHER_CTX *ctx);
	int (*init)(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *type, void *engine, const unsigned char *key,
		    const unsigned char *iv, int is_encryption);
	int (*ctrl)(EVP_CIPHER_CTX *ctx, int type, int arg, void *ptr);
	int (*update)(EVP_CIPHER_CTX *ctx, unsigned char *out, int *ret_len, const unsigned char *in, int len);
	int (*final)(EVP_CIPHER_CTX *ctx, unsigned char *out, int *ret_len);
} evp;

static const struct shim_import imports[] = {
	{ "EVP_CIPHER_fetch", &evp.fetch },   { "EVP_CIPHER_CTX_new", &evp.new },
	{ "EVP_CIPHER_CTX_free", &evp.free }, { "EVP_CipherInit_ex", &evp.init },
	{ "EVP_CIPHER_CTX_ctrl", &evp.ctrl }, { "EVP_CipherUpdate", &evp.update },
	{ "EVP_CipherFinal_ex", &evp.final },
};

static struct shim_loaded_library libcrypto = {
	.file = "libcrypto.so.3",
	.package = "libssl3",
	.imports = imports,
	.num_imports = sizeof(imports) / sizeof(imports[0]),
};

static EVP_CIPHER *aes_128_gcm, *aes_256_gcm;
static pthread_once_t fetched = PTHREAD_ONCE_INIT;

/* A call of libcrypto takes an int. */
#define MAX_BYTES_AT_ONCE ((size_t)1 << 30)

struct gcm_cipher {
	_Atomic uint32_t references;
	EVP_CIPHER_CTX *ctx[2]; /* decryption, encryption */
	uint32_t iv_bytes[2];   /* that it was set to */
	bool is_encryption;     /* the message that was begun */
};

static void fetch_ciphers(void)
{
	aes_128_gcm = evp.fetch(NULL, "AES-128-GCM", NULL);
	aes_256_gcm = evp.fetch(NULL, "AES-256-GCM", NULL);
}

const char *gcm_cipher_find_lack(void)
{
	const char *lack = shim_load(&libcrypto);

	if (lack)
		return lack;
	pthread_once(&fetched, fetch_ciphers);
	return aes_128_gcm && aes_256_gcm ?
		       NULL :
		       "OpenSSL's configuration of this machine does not offer AES-128-GCM and AES-256-GCM";
}

/* ---- life ---- */

static void cipher_free(struct gcm_cipher *cipher)
{
	for (int i = 0; i < 2; i++)
		if (cipher->ctx[i])
			evp.free(cipher->ctx[i]); /* which also wipes the key */
	free(cipher);
}

struct gcm_cipher *gcm_cipher_new(const uint8_t *key, size_t key_bytes)
{
	struct gcm_cipher *cipher = shim_calloc(1, sizeof(*cipher));
	bool is_ready = cipher != NULL;

	for (int i = 0; i < 2 && is_ready; i++) {
		cipher->ctx[i] = evp.new();
		cipher->iv_bytes[i] = GCM_MAX_IV_BYTES; /* libcrypto's default */
		is_ready = cipher->ctx[i] &&
			   evp.init(cipher->ctx[i], key_bytes == 16 ? aes_128_gcm : aes_256_gcm, NULL, key, NULL, i);
	}
	if (!is_ready) {
		if (cipher)
			cipher_free(cipher);
		return NULL;
	}
	atomic_init(&cipher->references, 1);
	return cipher;
}

struct gcm_cipher *gcm_cipher_ref(struct gcm_cipher *cipher)
{
	atomic_fetch_add_explicit(&cipher->references, 1, memory_order_relaxed);
	return cipher;
}

void gcm_cipher_unref(struct gcm_cipher *cipher)
{
	if (cipher && atomic_fetch_sub_explicit(&cipher->references, 1, memory_order_acq_rel) == 1)
		cipher_free(cipher);
}

/* ---- a message ---- */

int gcm_begin(struct gcm_cipher *cipher, bool is_encryption, const uint8_t *iv, uint32_t iv_bytes)
{
	EVP_CIPHER_CTX *ctx = cipher->ctx[is_encryption];

	cipher->is_encryption = is_encryption;
	if (cipher->iv_bytes[is_encryption] != iv_bytes) {
		if (evp.ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, (int)iv_bytes, NULL) <= 0)
			return -EIO;
		cipher->iv_bytes[is_encryption] = iv_bytes;
	}
	return evp.init(ctx, NULL, NULL, NULL, iv, is_encryption) > 0 ? 0 : -EIO;
}

static int update(struct gcm_cipher *cipher, uint8_t *out, const uint8_t *in, size_t len)
{
	int part, written;

	for (; len > 0; in += part, len -= (size_t)part) {
		part = (int)(len < MAX_BYTES_AT_ONCE ? len : MAX_BYTES_AT_ONCE);
		if (evp.update(cipher->ctx[cipher->is_encryption], out, &written, in, part) <= 0)
			return -EIO;
		if (out)
			out += part;
	}
	return 0;
}

int gcm_add_aad(struct gcm_cipher *cipher, const uint8_t *aad, size_t len)
{
	return update(cipher, NULL, aad, len);
}

int gcm_crypt(struct gcm_cipher *cipher, uint8_t *out, const uint8_t *in, size_t len)
{
	return update(cipher, out, in, len);
}

int gcm_end_encrypt(struct gcm_cipher *cipher, uint8_t *ret_tag, uint32_t tag_bytes)
{
	uint8_t none[GCM_MAX_TAG_BYTES];
	int len;

	if (evp.final(cipher->ctx[true], none, &len) <= 0)
		return -EIO;
	return evp.ctrl(cipher->ctx[true], EVP_CTRL_AEAD_GET_TAG, (int)tag_bytes, ret_tag) > 0 ? 0 : -EIO;
}

int gcm_end_decrypt(struct gcm_cipher *cipher, const uint8_t *tag, uint32_t tag_bytes)
{
	uint8_t none[GCM_MAX_TAG_BYTES];
	int len;

	if (evp.ctrl(cipher->ctx[false], EVP_CTRL_AEAD_SET_TAG, (int)tag_bytes, (void *)(uintptr_t)tag) <= 0)
		return -EIO;
	return evp.final(cipher->ctx[false], none, &len) > 0 ? 0 : -EKEYREJECTED;
}
