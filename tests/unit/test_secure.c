/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS with the token: two ends that have it speak, others do not; and what is on the network is not what was said. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/log.h"
#include "sim/gateway/secure.h"

#define TOKEN_A "0123456789abcdef0123456789abcdef\n"
#define TOKEN_B "0123456789abcdef0123456789abcdeg\n"

static char path[] = "/tmp/bfsim-token-XXXXXX";

static void quiet(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
}

static int read_keys(const char *token, mode_t mode, struct secure_keys **ret_keys)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(token, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
	return secure_keys_read(path, ret_keys);
}

struct pair {
	struct secure_keys *keys[2];
	struct secure *end[2]; /* client, server */
	uint8_t wire[65536];   /* what was last carried */
	size_t wire_len;
};

static void open_pair(struct pair *pair, const char *client, const char *server)
{
	*pair = (struct pair){ .wire_len = 0 };
	assert_int_equal(read_keys(client, 0600, &pair->keys[0]), 0);
	assert_int_equal(read_keys(server, 0600, &pair->keys[1]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(secure_create(pair->keys[i], i == 1, SECURE_SESSION, &pair->end[i]), 0);
}

static void close_pair(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		secure_destroy(pair->end[i]);
		secure_keys_free(pair->keys[i]);
	}
}

/* Carry what the end has to say to the other one. */
static void carry(struct pair *pair, int from)
{
	pair->wire_len = secure_take(pair->end[from], pair->wire, sizeof(pair->wire));
	if (pair->wire_len > 0)
		assert_int_equal(secure_feed(pair->end[!from], pair->wire, pair->wire_len), 0);
}

/* Let them shake hands. *ret_rcs are the results of the client and of the server. */
static void shake_hands(struct pair *pair, int ret_rcs[2])
{
	ret_rcs[0] = ret_rcs[1] = -EAGAIN;
	for (int turn = 0; turn < 6; turn++) {
		int who = turn % 2;

		if (ret_rcs[who] == -EAGAIN)
			ret_rcs[who] = secure_shake_hands(pair->end[who]);
		carry(pair, who);
	}
}

static void test_two_ends_with_the_token_speak(void **state)
{
	struct pair pair;
	char got[32];
	int rcs[2];

	open_pair(&pair, TOKEN_A, TOKEN_A);
	shake_hands(&pair, rcs);
	assert_int_equal(rcs[0], 0);
	assert_int_equal(rcs[1], 0);
	assert_non_null(strstr(secure_describe(pair.end[0]), "TLSv1.3"));
	assert_int_equal(secure_write(pair.end[0], "a secret of twenty-eight", 24), 0);
	carry(&pair, 0);
	assert_true(pair.wire_len > 24);
	assert_null(memmem(pair.wire, pair.wire_len, "secret", 6));
	assert_int_equal(secure_read(pair.end[1], got, sizeof(got)), 24);
	assert_memory_equal(got, "a secret of twenty-eight", 24);
	assert_int_equal(secure_read(pair.end[1], got, sizeof(got)), -EAGAIN);
	close_pair(&pair);
}

static void test_another_token_is_refused_at_both_ends(void **state)
{
	struct pair pair;
	int rcs[2];

	open_pair(&pair, TOKEN_A, TOKEN_B);
	shake_hands(&pair, rcs);
	assert_int_equal(rcs[0], -EACCES);
	assert_int_equal(rcs[1], -EACCES);
	close_pair(&pair);
}

static const uint8_t nonce[SECURE_NONCE_BYTES] = "known to two machines and home!!";
static const uint8_t other_nonce[SECURE_NONCE_BYTES] = "known to two machines and home??";

/* The client has key @number, of @client_nonce; the server takes @taken, and has key 7 of @nonce. */
static void open_named(struct pair *pair, uint64_t number, const uint8_t *client_nonce, uint64_t taken)
{
	*pair = (struct pair){ .wire_len = 0 };
	for (int i = 0; i < 2; i++)
		assert_int_equal(read_keys(TOKEN_A, 0600, &pair->keys[i]), 0);
	if (number != SECURE_SESSION)
		assert_int_equal(secure_keys_add(pair->keys[0], false, number, client_nonce), 0);
	assert_int_equal(secure_keys_add(pair->keys[1], true, 7, nonce), 0);
	assert_int_equal(secure_create(pair->keys[0], false, number, &pair->end[0]), 0);
	assert_int_equal(secure_create(pair->keys[1], true, taken, &pair->end[1]), 0);
}

static void test_a_nonce_makes_a_key_for_one_pair(void **state)
{
	struct pair pair;
	int rcs[2];

	open_named(&pair, 7, nonce, SECURE_ANY_PAIR);
	assert_int_equal(secure_keys_add(pair.keys[1], true, 8, other_nonce), 0);
	shake_hands(&pair, rcs);
	assert_int_equal(rcs[0], 0);
	assert_int_equal(rcs[1], 0);
	assert_int_equal(secure_number(pair.end[1]), 7);
	close_pair(&pair);
}

/* With the token, but not with what home has given to both. */
static void test_a_machine_without_the_nonce_is_refused(void **state)
{
	const struct {
		uint64_t number, taken;
		const uint8_t *nonce;
	} cases[] = {
		{ 7, SECURE_ANY_PAIR, other_nonce },       /* another pair's nonce */
		{ 6, SECURE_ANY_PAIR, nonce },             /* by a name that is not known */
		{ SECURE_SESSION, SECURE_ANY_PAIR, NULL }, /* the token alone */
		{ 7, SECURE_SESSION, nonce },              /* home takes the token alone */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair pair;
		int rcs[2];

		open_named(&pair, cases[i].number, cases[i].nonce, cases[i].taken);
		shake_hands(&pair, rcs);
		assert_int_equal(rcs[0], -EACCES);
		assert_int_equal(rcs[1], -EACCES);
		close_pair(&pair);
	}
}

static void test_a_key_that_was_removed_is_refused(void **state)
{
	struct pair pair;
	int rcs[2];

	open_named(&pair, 7, nonce, SECURE_ANY_PAIR);
	secure_keys_remove(pair.keys[1], 7);
	shake_hands(&pair, rcs);
	assert_int_equal(rcs[0], -EACCES);
	assert_int_equal(rcs[1], -EACCES);
	close_pair(&pair);
}

/* A network that turns a connection round, to where it comes from, finds no server that has the key. */
static void test_an_end_does_not_speak_with_itself(void **state)
{
	struct pair pair;
	int rcs[2];

	open_named(&pair, 7, nonce, SECURE_ANY_PAIR);
	assert_int_equal(secure_keys_add(pair.keys[1], false, 7, nonce), 0); /* as a client, instead */
	shake_hands(&pair, rcs);
	assert_int_equal(rcs[0], -EACCES);
	assert_int_equal(rcs[1], -EACCES);
	close_pair(&pair);
}

static void test_a_nonce_is_another_one_each_time(void **state)
{
	uint8_t first[SECURE_NONCE_BYTES], second[SECURE_NONCE_BYTES];

	assert_int_equal(secure_make_nonce(first), 0);
	assert_int_equal(secure_make_nonce(second), 0);
	assert_memory_not_equal(first, second, sizeof(first));
}

static void test_bytes_that_were_changed_or_repeated_end_the_connection(void **state)
{
	for (int kind = 0; kind < 2; kind++) {
		struct pair pair;
		char got[32];
		int rcs[2];

		open_pair(&pair, TOKEN_A, TOKEN_A);
		shake_hands(&pair, rcs);
		secure_write(pair.end[0], "one", 3);
		pair.wire_len = secure_take(pair.end[0], pair.wire, sizeof(pair.wire));
		if (kind == 0)
			pair.wire[pair.wire_len - 1] ^= 1;
		assert_int_equal(secure_feed(pair.end[1], pair.wire, pair.wire_len), 0);
		if (kind == 1) {
			assert_int_equal(secure_read(pair.end[1], got, sizeof(got)), 3);
			assert_int_equal(secure_feed(pair.end[1], pair.wire, pair.wire_len), 0);
		}
		assert_int_equal(secure_read(pair.end[1], got, sizeof(got)), -EPROTO);
		close_pair(&pair);
	}
}

static void test_what_is_no_tls_is_refused(void **state)
{
	struct pair pair;

	open_pair(&pair, TOKEN_A, TOKEN_A);
	assert_int_equal(secure_feed(pair.end[1], "GET / HTTP/1.0\r\n\r\n", 18), 0);
	assert_int_equal(secure_shake_hands(pair.end[1]), -EACCES);
	close_pair(&pair);
}

static void test_a_token_that_others_can_read_is_none(void **state)
{
	struct secure_keys *keys;

	assert_int_equal(read_keys(TOKEN_A, 0640, &keys), -EACCES);
	assert_int_equal(read_keys(TOKEN_A, 0604, &keys), -EACCES);
	assert_int_equal(read_keys("too short\n", 0600, &keys), -EINVAL);
	assert_int_equal(secure_keys_read("/nowhere/token", &keys), -EACCES);
	assert_int_equal(secure_keys_read("/tmp", &keys), -EACCES);
}

/* Three records, and room for one and a half: the rest follows, in order, and so does what is written behind it. */
static void test_records_fill_the_room_and_the_rest_follows(void **state)
{
	static uint8_t said[40000], got[40000], wire[3 * sizeof(said)];
	const size_t room = 25000;
	struct pair pair;
	int rcs[2], len;
	size_t at = room, read = 0;

	open_pair(&pair, TOKEN_A, TOKEN_A);
	shake_hands(&pair, rcs);
	assert_int_equal(rcs[0] | rcs[1], 0);
	for (size_t i = 0; i < sizeof(said); i++)
		said[i] = (uint8_t)(i * 7 + i / 256);
	secure_set_room(pair.end[0], wire, room);
	assert_int_equal(secure_write(pair.end[0], said, 39000), 0);
	assert_int_equal(secure_end_room(pair.end[0]), room);
	secure_set_room(pair.end[0], wire + sizeof(wire) - 100, 100);
	assert_int_equal(secure_write(pair.end[0], said + 39000, 1000), 0);
	assert_int_equal(secure_end_room(pair.end[0]), 0); /* the rest is before it */
	at += secure_take(pair.end[0], wire + at, sizeof(wire) - at);
	assert_true(at > sizeof(said));
	assert_int_equal(secure_feed(pair.end[1], wire, at), 0);
	while ((len = secure_read(pair.end[1], got + read, sizeof(got) - read)) > 0)
		read += (size_t)len;
	assert_int_equal(len, -EAGAIN);
	assert_int_equal(read, sizeof(said));
	assert_memory_equal(got, said, sizeof(said));
	close_pair(&pair);
}

/* The bytes are borrowed: others may not take their place before TLS has read them. */
static void test_bytes_that_are_not_read_are_not_replaced(void **state)
{
	struct pair pair;
	int rcs[2];
	char got[8];

	open_pair(&pair, TOKEN_A, TOKEN_A);
	shake_hands(&pair, rcs);
	secure_write(pair.end[0], "one", 3);
	pair.wire_len = secure_take(pair.end[0], pair.wire, sizeof(pair.wire));
	assert_int_equal(secure_feed(pair.end[1], pair.wire, pair.wire_len), 0);
	assert_int_equal(secure_feed(pair.end[1], pair.wire, pair.wire_len), -EPROTO);
	assert_int_equal(secure_read(pair.end[1], got, sizeof(got)), 3);
	close_pair(&pair);
}

/* Nobody writes to it: a gateway that opened it would wait. */
static void test_a_fifo_is_no_token(void **state)
{
	char fifo[64];
	struct secure_keys *keys;

	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(secure_keys_read(fifo, &keys), -EACCES);
	unlink(fifo);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	sim_log_set_sink(quiet);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_ends_with_the_token_speak),
		cmocka_unit_test(test_another_token_is_refused_at_both_ends),
		cmocka_unit_test(test_a_nonce_makes_a_key_for_one_pair),
		cmocka_unit_test(test_a_machine_without_the_nonce_is_refused),
		cmocka_unit_test(test_a_key_that_was_removed_is_refused),
		cmocka_unit_test(test_an_end_does_not_speak_with_itself),
		cmocka_unit_test(test_a_nonce_is_another_one_each_time),
		cmocka_unit_test(test_bytes_that_were_changed_or_repeated_end_the_connection),
		cmocka_unit_test(test_what_is_no_tls_is_refused),
		cmocka_unit_test(test_a_token_that_others_can_read_is_none),
		cmocka_unit_test(test_a_fifo_is_no_token),
		cmocka_unit_test(test_records_fill_the_room_and_the_rest_follows),
		cmocka_unit_test(test_bytes_that_are_not_read_are_not_replaced),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
