/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/sha/digest.h - digests by OpenSSL's libcrypto, which is loaded on first use.
 *
 *   new --> begin --> update ... --> end --> begin ...
 */
#ifndef SHIM_SHA_DIGEST_H
#define SHIM_SHA_DIGEST_H

#include <doca_sha.h>
#include <stddef.h>

#define SHA_MAX_DIGEST_BYTES 64

struct sha_digest;

/* Return why no digest can be computed on this machine, as a sentence, or NULL. The functions below need that. */
const char *sha_digest_find_lack(void);

/* NULL without memory. */
struct sha_digest *sha_digest_new(void);
void sha_digest_free(struct sha_digest *digest); /* NULL is fine */

/* 0 or -EIO, which has no known cause. */
int sha_digest_begin(struct sha_digest *digest, enum doca_sha_algorithm algorithm);
int sha_digest_copy(struct sha_digest *to, const struct sha_digest *from);
int sha_digest_update(struct sha_digest *digest, const void *data, size_t len);
int sha_digest_end(struct sha_digest *digest, uint8_t ret_bytes[SHA_MAX_DIGEST_BYTES]);

#endif
