/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests by libcrypto. */
#include "digest.h"

#include <errno.h>
#include <pthread.h>

#include "shim/common/accel/load.h"

/* What is used of <openssl/evp.h>, so that the build does not need OpenSSL's headers. */
typedef struct evp_md_st EVP_MD;
typedef struct evp_md_ctx_st EVP_MD_CTX;

static struct {
	EVP_MD *(*fetch)(void *libctx, const char *algorithm, const char *properties);
	EVP_MD_CTX *(*new)(void);
	void (*free)(EVP_MD_CTX *ctx);
	int (*init)(EVP_MD_CTX *ctx, const EVP_MD *type, void *engine);
	int (*update)(EVP_MD_CTX *ctx, const void *data, size_t len);
	int (*final)(EVP_MD_CTX *ctx, unsigned char *digest, unsigned int *ret_len);
	int (*copy)(EVP_MD_CTX *to, const EVP_MD_CTX *from);
} evp;

static const struct shim_import imports[] = {
	{ "EVP_MD_fetch", &evp.fetch },      { "EVP_MD_CTX_new", &evp.new },      { "EVP_MD_CTX_free", &evp.free },
	{ "EVP_DigestInit_ex", &evp.init },  { "EVP_DigestUpdate", &evp.update }, { "EVP_DigestFinal_ex", &evp.final },
	{ "EVP_MD_CTX_copy_ex", &evp.copy },
};

static struct shim_loaded_library libcrypto = {
	.file = "libcrypto.so.3",
	.package = "libssl3",
	.imports = imports,
	.num_imports = sizeof(imports) / sizeof(imports[0]),
};

/* By enum doca_sha_algorithm. */
static EVP_MD *algorithms[3];
static pthread_once_t fetched = PTHREAD_ONCE_INIT;

static void fetch_algorithms(void)
{
	algorithms[DOCA_SHA_ALGORITHM_SHA1] = evp.fetch(NULL, "SHA1", NULL);
	algorithms[DOCA_SHA_ALGORITHM_SHA256] = evp.fetch(NULL, "SHA256", NULL);
	algorithms[DOCA_SHA_ALGORITHM_SHA512] = evp.fetch(NULL, "SHA512", NULL);
}

const char *sha_digest_find_lack(void)
{
	const char *lack = shim_load(&libcrypto);

	if (lack)
		return lack;
	pthread_once(&fetched, fetch_algorithms);
	return algorithms[0] && algorithms[1] && algorithms[2] ?
		       NULL :
		       "OpenSSL's configuration of this machine does not offer SHA1, SHA256 and SHA512";
}

struct sha_digest *sha_digest_new(void)
{
	return (struct sha_digest *)evp.new();
}

void sha_digest_free(struct sha_digest *digest)
{
	if (digest)
		evp.free((EVP_MD_CTX *)digest);
}

int sha_digest_begin(struct sha_digest *digest, enum doca_sha_algorithm algorithm)
{
	return evp.init((EVP_MD_CTX *)digest, algorithms[algorithm], NULL) ? 0 : -EIO;
}

int sha_digest_copy(struct sha_digest *to, const struct sha_digest *from)
{
	return evp.copy((EVP_MD_CTX *)to, (const EVP_MD_CTX *)from) ? 0 : -EIO;
}

int sha_digest_update(struct sha_digest *digest, const void *data, size_t len)
{
	return evp.update((EVP_MD_CTX *)digest, data, len) ? 0 : -EIO;
}

int sha_digest_end(struct sha_digest *digest, uint8_t ret_bytes[SHA_MAX_DIGEST_BYTES])
{
	return evp.final((EVP_MD_CTX *)digest, ret_bytes, NULL) ? 0 : -EIO;
}
