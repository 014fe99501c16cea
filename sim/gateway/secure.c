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
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/log.h"

#define IDENTITY        "bfsim session"
#define KEY_BYTES       32
#define MIN_TOKEN_BYTES 32 /* of text */
#define MAX_TOKEN_BYTES 4096

struct secure_keys {
	SSL_CTX *ctx[2]; /* of a client, of a server */
	uint8_t key[KEY_BYTES];
};

struct secure {
	SSL *ssl;
	BIO *in, *out; /* the SSL's */
	char description[64];
};

static int keys_index(void)
{
	static int index = -1;

	if (index < 0)
		index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
	return index;
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

/* The key of a session is the token's, by HKDF. */
static int derive_key(const uint8_t *token, size_t len, uint8_t key[KEY_BYTES])
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	OSSL_PARAM params[] = { OSSL_PARAM_construct_utf8_string("digest", (char[]){ "SHA256" }, 0),
				OSSL_PARAM_construct_octet_string("key", (void *)(uintptr_t)token, len),
				OSSL_PARAM_construct_octet_string("info", (char[]){ IDENTITY }, sizeof(IDENTITY) - 1),
				OSSL_PARAM_construct_end() };
	bool is_done = ctx && EVP_KDF_derive(ctx, key, KEY_BYTES, params) == 1;

	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return is_done ? 0 : -ENOMEM;
}

/* ---- the pre-shared key ---- */

static SSL_SESSION *make_psk(SSL *ssl)
{
	static const unsigned char tls13_aes128gcmsha256[] = { 0x13, 0x01 };
	const struct secure_keys *keys = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), keys_index());
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, tls13_aes128gcmsha256);
	SSL_SESSION *session = SSL_SESSION_new();

	if (session && cipher && SSL_SESSION_set1_master_key(session, keys->key, KEY_BYTES) == 1 &&
	    SSL_SESSION_set_cipher(session, cipher) == 1 &&
	    SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

static int use_psk(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_len, SSL_SESSION **session)
{
	*session = NULL;
	if (md && EVP_MD_get_type(md) != NID_sha256) /* a retry asks for another hash: there is no such key */
		return 1;
	*id = (const unsigned char *)IDENTITY;
	*id_len = sizeof(IDENTITY) - 1;
	*session = make_psk(ssl);
	return *session != NULL;
}

static int find_psk(SSL *ssl, const unsigned char *id, size_t id_len, SSL_SESSION **session)
{
	bool is_ours = id_len == sizeof(IDENTITY) - 1 && memcmp(id, IDENTITY, id_len) == 0;

	*session = is_ours ? make_psk(ssl) : NULL;
	return !is_ours || *session != NULL;
}

static SSL_CTX *make_context(struct secure_keys *keys, bool is_server)
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
	SSL_CTX_set_ex_data(ctx, keys_index(), keys);
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
		rc = derive_key(token, len, keys->key);
	OPENSSL_cleanse(token, sizeof(token));
	for (int is_server = 0; rc == 0 && is_server < 2; is_server++) {
		keys->ctx[is_server] = make_context(keys, is_server);
		rc = keys->ctx[is_server] ? 0 : -ENOMEM;
	}
	if (rc < 0)
		secure_keys_free(keys);
	else
		*ret_keys = keys;
	return rc;
}

void secure_keys_free(struct secure_keys *keys)
{
	if (!keys)
		return;
	SSL_CTX_free(keys->ctx[0]);
	SSL_CTX_free(keys->ctx[1]);
	OPENSSL_cleanse(keys->key, sizeof(keys->key));
	free(keys);
}

/* ---- a connection ---- */

int secure_create(struct secure_keys *keys, bool is_server, struct secure **ret_secure)
{
	struct secure *secure = calloc(1, sizeof(*secure));

	if (!secure)
		return -ENOMEM;
	secure->ssl = SSL_new(keys->ctx[is_server]);
	secure->in = BIO_new(BIO_s_mem());
	secure->out = BIO_new(BIO_s_mem());
	if (!secure->ssl || !secure->in || !secure->out) {
		BIO_free(secure->in);
		BIO_free(secure->out);
		SSL_free(secure->ssl);
		free(secure);
		return -ENOMEM;
	}
	SSL_set_bio(secure->ssl, secure->in, secure->out);
	if (is_server)
		SSL_set_accept_state(secure->ssl);
	else
		SSL_set_connect_state(secure->ssl);
	*ret_secure = secure;
	return 0;
}

void secure_destroy(struct secure *secure)
{
	if (!secure)
		return;
	SSL_free(secure->ssl);
	free(secure);
}

int secure_feed(struct secure *secure, const void *bytes, size_t len)
{
	return BIO_write(secure->in, bytes, (int)len) == (int)len ? 0 : -ENOMEM;
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

	if (BIO_ctrl_pending(secure->in) == 0 && !SSL_has_pending(secure->ssl))
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

size_t secure_take(struct secure *secure, void *to, size_t room)
{
	int got = BIO_read(secure->out, to, (int)room);

	return got > 0 ? (size_t)got : 0;
}

const char *secure_describe(const struct secure *secure)
{
	snprintf(((struct secure *)(uintptr_t)secure)->description, sizeof(secure->description), "%s %s",
		 SSL_get_version(secure->ssl), SSL_get_cipher_name(secure->ssl));
	return secure->description;
}
