/* SPDX-License-Identifier: BSD-3-Clause */
/* digest.h - SHA-256 of a file's bytes, added piece by piece. */
#ifndef DIGEST_H
#define DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#define DIGEST_BYTES     32
#define DIGEST_TEXT_SIZE (2 * DIGEST_BYTES + 1)

struct digest;

/* Begin; the caller destroys it. NULL is fine for destroy. */
doca_error_t digest_create(struct digest **ret_digest);
void digest_destroy(struct digest *digest);

/* The next bytes. */
doca_error_t digest_add(struct digest *digest, const void *bytes, size_t len);

/* The digest of all that was added. Once; nothing can be added afterwards. */
doca_error_t digest_end(struct digest *digest, uint8_t ret_value[DIGEST_BYTES]);

/* @value in hexadecimal. */
void digest_text(const uint8_t value[DIGEST_BYTES], char ret_text[DIGEST_TEXT_SIZE]);

#endif
