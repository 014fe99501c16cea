/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/secure.h - TLS 1.3 between two gateways that have the session's token.
 *
 *   bytes of the peer --feed--> [ TLS ] --read--> what the peer wrote
 *   what is to be said --write--> [ TLS ] --take--> bytes for the peer
 *
 * The token is the pre-shared key, with an ephemeral Diffie-Hellman exchange; there is no certificate. OpenSSL does all of it; the
 * bytes go through memory, as libfabric carries them.
 */
#ifndef SIM_GATEWAY_SECURE_H
#define SIM_GATEWAY_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct secure;
struct secure_keys;

/* Read a token's file, which must be the user's own and readable by nobody else. Returns 0, or -errno with a log line. */
int secure_keys_read(const char *path, struct secure_keys **ret_keys);
void secure_keys_free(struct secure_keys *keys);

/* Begin. @keys are borrowed. Returns 0 or -ENOMEM. */
int secure_create(struct secure_keys *keys, bool is_server, struct secure **ret_secure);

/* NULL is fine. */
void secure_destroy(struct secure *secure);

/* Bytes of the peer. Returns 0 or -ENOMEM. */
int secure_feed(struct secure *secure, const void *bytes, size_t len);

/* Go on with the handshake. Returns 0 (it is done), -EAGAIN, -EACCES (the peer has not this token) or -EPROTO. */
int secure_shake_hands(struct secure *secure);

/* After the handshake: what the peer wrote. Returns the number of bytes, -EAGAIN or -EPROTO. */
int secure_read(struct secure *secure, void *to, size_t room);

/* After the handshake. Returns 0 or -EPROTO. */
int secure_write(struct secure *secure, const void *bytes, size_t len);

/* Bytes for the peer; 0 = none. */
size_t secure_take(struct secure *secure, void *to, size_t room);

/* What is used, as "TLSv1.3 TLS_AES_128_GCM_SHA256". */
const char *secure_describe(const struct secure *secure);

#endif
