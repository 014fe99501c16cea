/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS 1.3 with the token as pre-shared key. */
#include "secure.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "sim/base/log.h"

#define IDENTITY        "bfsim session"
#define PAIR_IDENTITY   "bfsim direct link"
#define MAX_IDENTITY    64
#define KEY_BYTES       32
#define MIN_TOKEN_BYTES 32 /* of text */
#define MAX_TOKEN_BYTES 4096

/* A key, and the name by which the client asks for it. */
struct named_key {
	uint64_t number;
	bool is_server; /* of a pair's: this end is the server */
	char identity[MAX_IDENTITY];
	uint8_t key[KEY_BYTES];
	LIST_ENTRY(named_key) entry;
};

struct secure_keys {
	SSL_CTX *ctx[2];     /* of a client, of a server */
	BIO_METHOD *carrier; /* how TLS gets and gives bytes */
	struct named_key session;
	LIST_HEAD(, named_key) pairs;
};

struct secure {
	SSL *ssl;
	struct secure_keys *keys;
	uint64_t number;   /* of the key */
	BIO *left;         /* bytes for the peer that had no room */
	const uint8_t *in; /* the peer's bytes, of which TLS has not read @in_len */
	size_t in_len;
	uint8_t *out; /* room for bytes for the peer */
	size_t out_room, out_len;
	char description[64];
};

/* ---- TLS's way to the bytes ---- */

static int carry_in(BIO *bio, char *to, int room)
{
	struct secure *secure = BIO_get_data(bio);
	size_t len = min_u64((size_t)room, secure->in_len);

	BIO_clear_retry_flags(bio);
	if (len == 0) {
		BIO_set_retry_read(bio);
		return -1;
	}
	memcpy(to, secure->in, len);
	secure->in += len;
	secure->in_len -= len;
	return (int)len;
}

/* Once bytes had no room, all behind them wait as well. */
static int carry_out(BIO *bio, const char *bytes, int len)
{
	struct secure *secure = BIO_get_data(bio);
	size_t fits = BIO_ctrl_pending(secure->left) > 0 ? 0 : min_u64((size_t)len, secure->out_room - secure->out_len);

	if (fits > 0)
		memcpy(secure->out + secure->out_len, bytes, fits);
	secure->out_len += fits;
	if (fits < (size_t)len && BIO_write(secure->left, bytes + fits, len - (int)fits) != len - (int)fits)
		return -1;
	return len;
}

static long control(BIO *bio, int command, long number, void *arg)
{
	(void)bio, (void)number, (void)arg;
	return command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP;
}

static BIO_METHOD *make_carrier(void)
{
	BIO_METHOD *carrier = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "messages of a gateway");

	if (carrier && BIO_meth_set_read(carrier, carry_in) == 1 && BIO_meth_set_write(carrier, carry_out) == 1 &&
	    BIO_meth_set_ctrl(carrier, control) == 1)
		return carrier;
	BIO_meth_free(carrier);
	return NULL;
}

/* ---- the token ---- */

static int read_token(const char *path, uint8_t *token, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* of a fifo without a writer, open() would wait */
	struct stat st;
	ssize_t len;

	if (fd < 0 || fstat(fd, &st) < 0) {
		sim_err("token file %s: %s; make one with bfsim token", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -EACCES;
	}
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & (S_IRWXG | S_IRWXO)) {
		sim_err("token file %s must be a file of this user that nobody else can read: chmod 600", path);
		close(fd);
		return -EACCES;
	}
	len = read(fd, token, MAX_TOKEN_BYTES);
	close(fd);
	while (len > 0 && strchr(" \t\r\n", token[len - 1]))
		len--;
	if (len < MIN_TOKEN_BYTES || len == MAX_TOKEN_BYTES) {
		sim_err("token file %s: a token has %d to %d characters; make one with bfsim token", path,
			MIN_TOKEN_BYTES, MAX_TOKEN_BYTES - 1);
		return -EINVAL;
	}
	*ret_len = (size_t)len;
	return 0;
}

/* A key of a secret, by HKDF. @salt: NULL = none. */
static int derive_key(const uint8_t *secret, size_t len, const char *purpose, const uint8_t *salt,
		      uint8_t key[KEY_BYTES])
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	OSSL_PARAM params[] = { OSSL_PARAM_construct_utf8_string("digest", (char[]){ "SHA256" }, 0),
				OSSL_PARAM_construct_octet_string("key", (void *)(uintptr_t)secret, len),
				OSSL_PARAM_construct_octet_string("info", (void *)(uintptr_t)purpose, strlen(purpose)),
				salt ? OSSL_PARAM_construct_octet_string("salt", (void *)(uintptr_t)salt,
									 SECURE_NONCE_BYTES) :
				       OSSL_PARAM_construct_end(),
				OSSL_PARAM_construct_end() };
	bool is_done = ctx && EVP_KDF_derive(ctx, key, KEY_BYTES, params) == 1;

	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return is_done ? 0 : -ENOMEM;
}

/* ---- the pre-shared key ---- */

static SSL_SESSION *make_psk(SSL *ssl, const struct named_key *key)
{
	static const unsigned char tls13_aes128gcmsha256[] = { 0x13, 0x01 };
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, tls13_aes128gcmsha256);
	SSL_SESSION *session = SSL_SESSION_new();

	if (session && cipher && SSL_SESSION_set1_master_key(session, key->key, KEY_BYTES) == 1 &&
	    SSL_SESSION_set_cipher(session, cipher) == 1 &&
	    SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

/* NULL = there is none. */
static const struct named_key *find_key(const struct secure_keys *keys, uint64_t number)
{
	const struct named_key *key;

	if (number == SECURE_SESSION)
		return &keys->session;
	LIST_FOREACH(key, &keys->pairs, entry)
		if (key->number == number)
			return key;
	return NULL;
}

static bool is_named(const struct named_key *key, const unsigned char *id, size_t id_len)
{
	return strlen(key->identity) == id_len && memcmp(id, key->identity, id_len) == 0;
}

/* The key that a client names, if this end takes it. */
static const struct named_key *find_named(const struct secure *secure, const unsigned char *id, size_t id_len)
{
	const struct named_key *key;

	if (secure->number != SECURE_ANY_PAIR) {
		key = find_key(secure->keys, secure->number);
		return key && is_named(key, id, id_len) ? key : NULL;
	}
	LIST_FOREACH(key, &secure->keys->pairs, entry)
		if (key->is_server && is_named(key, id, id_len))
			return key;
	return NULL;
}

static int use_psk(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_len, SSL_SESSION **session)
{
	const struct secure *secure = SSL_get_app_data(ssl);
	const struct named_key *key = find_key(secure->keys, secure->number);

	*session = NULL;
	if (!key || (md && EVP_MD_get_type(md) != NID_sha256)) /* a retry asks for another hash: there is no such key */
		return 1;
	*id = (const unsigned char *)key->identity;
	*id_len = strlen(key->identity);
	*session = make_psk(ssl, key);
	return *session != NULL;
}

static int find_psk(SSL *ssl, const unsigned char *id, size_t id_len, SSL_SESSION **session)
{
	struct secure *secure = SSL_get_app_data(ssl);
	const struct named_key *key = find_named(secure, id, id_len);

	*session = key ? make_psk(ssl, key) : NULL;
	if (*session)
		secure->number = key->number; /* from here on no other one */
	return !key || *session != NULL;
}

static SSL_CTX *make_context(bool is_server)
{
	SSL_CTX *ctx = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());

	if (!ctx)
		return NULL;
	SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
	SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256");
	SSL_CTX_set_num_tickets(ctx, 0);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	if (!is_server)
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL); /* a certificate in place of the key is no proof */
	if (is_server)
		SSL_CTX_set_psk_find_session_callback(ctx, find_psk);
	else
		SSL_CTX_set_psk_use_session_callback(ctx, use_psk);
	return ctx;
}

int secure_keys_read(const char *path, struct secure_keys **ret_keys)
{
	struct secure_keys *keys = calloc(1, sizeof(*keys));
	uint8_t token[MAX_TOKEN_BYTES];
	size_t len;
	int rc = keys ? read_token(path, token, &len) : -ENOMEM;

	if (rc == 0)
		rc = derive_key(token, len, IDENTITY, NULL, keys->session.key);
	OPENSSL_cleanse(token, sizeof(token));
	if (rc == 0) {
		LIST_INIT(&keys->pairs);
		strcpy(keys->session.identity, IDENTITY);
		keys->carrier = make_carrier();
		rc = keys->carrier ? 0 : -ENOMEM;
	}
	for (int is_server = 0; rc == 0 && is_server < 2; is_server++) {
		keys->ctx[is_server] = make_context(is_server);
		rc = keys->ctx[is_server] ? 0 : -ENOMEM;
	}
	if (rc < 0)
		secure_keys_free(keys);
	else
		*ret_keys = keys;
	return rc;
}

static void free_key(struct named_key *key)
{
	LIST_REMOVE(key, entry);
	OPENSSL_cleanse(key->key, sizeof(key->key));
	free(key);
}

void secure_keys_remove(struct secure_keys *keys, uint64_t number)
{
	struct named_key *key;

	LIST_FOREACH(key, &keys->pairs, entry)
		if (key->number == number) {
			free_key(key);
			return;
		}
}

int secure_keys_add(struct secure_keys *keys, bool is_server, uint64_t number, const uint8_t nonce[SECURE_NONCE_BYTES])
{
	struct named_key *key = calloc(1, sizeof(*key));

	if (!key || derive_key(keys->session.key, KEY_BYTES, PAIR_IDENTITY, nonce, key->key) < 0) {
		free(key);
		return -ENOMEM;
	}
	secure_keys_remove(keys, number);
	key->number = number;
	key->is_server = is_server;
	snprintf(key->identity, sizeof(key->identity), PAIR_IDENTITY " %016llx", (unsigned long long)number);
	LIST_INSERT_HEAD(&keys->pairs, key, entry);
	return 0;
}

int secure_make_nonce(uint8_t nonce[SECURE_NONCE_BYTES])
{
	return RAND_bytes(nonce, SECURE_NONCE_BYTES) == 1 ? 0 : -EIO;
}

void secure_keys_free(struct secure_keys *keys)
{
	if (!keys)
		return;
	while (!LIST_EMPTY(&keys->pairs))
		free_key(LIST_FIRST(&keys->pairs));
	SSL_CTX_free(keys->ctx[0]);
	SSL_CTX_free(keys->ctx[1]);
	BIO_meth_free(keys->carrier);
	OPENSSL_cleanse(keys->session.key, sizeof(keys->session.key));
	free(keys);
}

/* ---- a connection ---- */

int secure_create(struct secure_keys *keys, bool is_server, uint64_t number, struct secure **ret_secure)
{
	struct secure *secure = calloc(1, sizeof(*secure));
	BIO *carrier = secure ? BIO_new(keys->carrier) : NULL;

	if (!carrier) {
		free(secure);
		return -ENOMEM;
	}
	BIO_set_data(carrier, secure);
	BIO_set_init(carrier, 1);
	secure->ssl = SSL_new(keys->ctx[is_server]);
	secure->left = BIO_new(BIO_s_mem());
	if (!secure->ssl || !secure->left) {
		BIO_free(carrier);
		secure_destroy(secure);
		return -ENOMEM;
	}
	secure->keys = keys;
	secure->number = number;
	SSL_set_app_data(secure->ssl, secure);
	SSL_set_bio(secure->ssl, carrier, carrier);
	if (is_server)
		SSL_set_accept_state(secure->ssl);
	else
		SSL_set_connect_state(secure->ssl);
	*ret_secure = secure;
	return 0;
}

uint64_t secure_number(const struct secure *secure)
{
	return secure->number;
}

void secure_destroy(struct secure *secure)
{
	if (!secure)
		return;
	SSL_free(secure->ssl);
	BIO_free(secure->left);
	free(secure);
}

int secure_feed(struct secure *secure, const void *bytes, size_t len)
{
	if (secure->in_len > 0)
		return -EPROTO;
	secure->in = bytes;
	secure->in_len = len;
	return 0;
}

int secure_shake_hands(struct secure *secure)
{
	int rc, error;

	ERR_clear_error();
	rc = SSL_do_handshake(secure->ssl);
	if (rc == 1) /* without the key, the two would need certificates, which there are none of */
		return SSL_session_reused(secure->ssl) ? 0 : -EACCES;
	error = SSL_get_error(secure->ssl, rc);
	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? -EAGAIN : -EACCES;
}

int secure_read(struct secure *secure, void *to, size_t room)
{
	int rc;

	if (secure->in_len == 0 && !SSL_has_pending(secure->ssl))
		return -EAGAIN; /* which SSL_read() takes a microsecond to find out */
	ERR_clear_error();
	rc = SSL_read(secure->ssl, to, (int)room);
	if (rc > 0)
		return rc;
	return SSL_get_error(secure->ssl, rc) == SSL_ERROR_WANT_READ ? -EAGAIN : -EPROTO;
}

int secure_write(struct secure *secure, const void *bytes, size_t len)
{
	ERR_clear_error();
	return SSL_write(secure->ssl, bytes, (int)len) == (int)len ? 0 : -EPROTO;
}

void secure_set_room(struct secure *secure, void *to, size_t room)
{
	secure->out = to;
	secure->out_room = room;
	secure->out_len = 0;
}

size_t secure_end_room(struct secure *secure)
{
	size_t len = secure->out_len;

	secure_set_room(secure, NULL, 0);
	return len;
}

size_t secure_take(struct secure *secure, void *to, size_t room)
{
	int got = BIO_read(secure->left, to, (int)room);

	return got > 0 ? (size_t)got : 0;
}

const char *secure_describe(const struct secure *secure)
{
	snprintf(((struct secure *)(uintptr_t)secure)->description, sizeof(secure->description), "%s %s",
		 SSL_get_version(secure->ssl), SSL_get_cipher_name(secure->ssl));
	return secure->description;
}
