/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 of a file's bytes. */
#include "digest.h"

#include <stdio.h>

#include <openssl/evp.h>

#include "failure.h"

/* struct digest is the library's own object under a name that others needn't include it for. */
static EVP_MD_CTX *inside(struct digest *digest)
{
	return (EVP_MD_CTX *)digest;
}

doca_error_t digest_create(struct digest **ret_digest)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();

	if (!md || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1) {
		EVP_MD_CTX_free(md);
		return failure_report(DOCA_ERROR_INITIALIZATION, "Cannot begin a SHA-256 digest");
	}
	*ret_digest = (struct digest *)md;
	return DOCA_SUCCESS;
}

void digest_destroy(struct digest *digest)
{
	EVP_MD_CTX_free(inside(digest));
}

doca_error_t digest_add(struct digest *digest, const void *bytes, size_t len)
{
	if (EVP_DigestUpdate(inside(digest), bytes, len) != 1)
		return failure_report(DOCA_ERROR_UNEXPECTED, "Cannot go on with the SHA-256 digest");
	return DOCA_SUCCESS;
}

doca_error_t digest_end(struct digest *digest, uint8_t ret_value[DIGEST_BYTES])
{
	if (EVP_DigestFinal_ex(inside(digest), ret_value, NULL) != 1)
		return failure_report(DOCA_ERROR_UNEXPECTED, "Cannot finish the SHA-256 digest");
	return DOCA_SUCCESS;
}

void digest_text(const uint8_t value[DIGEST_BYTES], char ret_text[DIGEST_TEXT_SIZE])
{
	for (size_t i = 0; i < DIGEST_BYTES; i++)
		snprintf(ret_text + 2 * i, 3, "%02x", value[i]);
}
