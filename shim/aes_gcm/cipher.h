/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/aes_gcm/cipher.h - AES-GCM by OpenSSL's libcrypto, which is loaded on first use.
 *
 *   begin --> add_aad ... --> crypt ... --> end_encrypt or end_decrypt --> begin ...
 *
 * A cipher is a key that is ready for use: what depends on the key alone is computed once. One thread at a time uses it;
 * references may be taken and given back in any thread.
 */
#ifndef SHIM_AES_GCM_CIPHER_H
#define SHIM_AES_GCM_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie_model/profile.h"

#define GCM_MAX_IV_BYTES  PCIE_AES_GCM_MAX_IV_BYTES
#define GCM_MAX_TAG_BYTES 16

struct gcm_cipher;

/* Return why nothing can be encrypted on this machine, as a sentence, or NULL. The functions below need that. */
const char *gcm_cipher_find_lack(void);

/* Prepare a key of 16 or 32 bytes, with one reference. NULL without memory. */
struct gcm_cipher *gcm_cipher_new(const uint8_t *key, size_t key_bytes);
struct gcm_cipher *gcm_cipher_ref(struct gcm_cipher *cipher);
void gcm_cipher_unref(struct gcm_cipher *cipher); /* NULL is fine */

/* Begin a message. The IV has 1 to GCM_MAX_IV_BYTES bytes. 0, or -EIO, which has no known cause; so do the others. */
int gcm_begin(struct gcm_cipher *cipher, bool is_encryption, const uint8_t *iv, uint32_t iv_bytes);
int gcm_add_aad(struct gcm_cipher *cipher, const uint8_t *aad, size_t len);

/* Encrypt or decrypt bytes. @out is @in, or another place. */
int gcm_crypt(struct gcm_cipher *cipher, uint8_t *out, const uint8_t *in, size_t len);

/* Get the tag. */
int gcm_end_encrypt(struct gcm_cipher *cipher, uint8_t *ret_tag, uint32_t tag_bytes);

/* Compare the tag. -EKEYREJECTED: it is another one. */
int gcm_end_decrypt(struct gcm_cipher *cipher, const uint8_t *tag, uint32_t tag_bytes);

#endif
