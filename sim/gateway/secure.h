/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/secure.h - TLS 1.3 between two gateways that have the session's token.
 *
 *   bytes of the peer --feed--> [ TLS ] --read--> what the peer wrote
 *   what is to be said --write--> [ TLS ] --room, or take--> bytes for the peer
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

/* A further key, for one connection of a pair of machines that have the token and the same nonce; @number, not 0, is its name, which
 * anybody may see. An end has it as a server or as a client, so that nobody can connect it to itself. Returns 0 or -ENOMEM. */
#define SECURE_NONCE_BYTES 32
int secure_keys_add(struct secure_keys *keys, bool is_server, uint64_t number, const uint8_t nonce[SECURE_NONCE_BYTES]);
void secure_keys_remove(struct secure_keys *keys, uint64_t number);

/* Returns 0 or -errno. */
int secure_make_nonce(uint8_t nonce[SECURE_NONCE_BYTES]);

#define SECURE_SESSION  0          /* the session's key */
#define SECURE_ANY_PAIR UINT64_MAX /* of a server: of those that were added the one that the client names */

/* Begin, with the key of that number. @keys are borrowed. Returns 0 or -ENOMEM. */
int secure_create(struct secure_keys *keys, bool is_server, uint64_t number, struct secure **ret_secure);

/* After the handshake: the number of the key that both have. */
uint64_t secure_number(const struct secure *secure);

/* NULL is fine. */
void secure_destroy(struct secure *secure);

/* Bytes of the peer, which stay until secure_shake_hands() or secure_read() returns -EAGAIN. Returns 0, or -EPROTO: it has not yet. */
int secure_feed(struct secure *secure, const void *bytes, size_t len);

/* Go on with the handshake. Returns 0 (it is done), -EAGAIN, -EACCES (the peer has not this token) or -EPROTO. */
int secure_shake_hands(struct secure *secure);

/* After the handshake: what the peer wrote. Returns the number of bytes, -EAGAIN or -EPROTO. */
int secure_read(struct secure *secure, void *to, size_t room);

/* After the handshake. Returns 0 or -EPROTO. */
int secure_write(struct secure *secure, const void *bytes, size_t len);

/* Bytes for the peer go to @to from now on, and what does not fit to secure_take(). */
void secure_set_room(struct secure *secure, void *to, size_t room);

/* The number of bytes there, which is no longer used. */
size_t secure_end_room(struct secure *secure);

/* Bytes for the peer that had no room; 0 = none. */
size_t secure_take(struct secure *secure, void *to, size_t room);

/* What is used, as "TLSv1.3 TLS_AES_128_GCM_SHA256". */
const char *secure_describe(const struct secure *secure);

#endif
