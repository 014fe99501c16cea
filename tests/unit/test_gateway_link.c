/* SPDX-License-Identifier: BSD-3-Clause */
/* Links over a rail of this test: what they say of their ends, and when. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/gateway/link.h"
#include "sim/gateway/secure.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

/* ---- the rail ---- */

struct message {
	size_t len;
	STAILQ_ENTRY(message) entry;
	uint8_t bytes[];
};

struct rail_conn {
	bool fails, is_full;
	uint8_t buffer[RAIL_MESSAGE_BYTES];
	STAILQ_HEAD(, message) sent;
};

uint8_t *rail_buffer(struct rail_conn *conn)
{
	return conn->is_full ? NULL : conn->buffer;
}

int rail_send(struct rail_conn *conn, size_t len)
{
	struct message *message;

	if (conn->fails)
		return -EIO;
	message = malloc(sizeof(*message) + len);
	assert_non_null(message);
	message->len = len;
	memcpy(message->bytes, conn->buffer, len);
	STAILQ_INSERT_TAIL(&conn->sent, message, entry);
	return 0;
}

int rail_send_with(struct rail_conn *conn, size_t len, const void *body, size_t body_len)
{
	return -EOPNOTSUPP;
}

size_t rail_offer(struct rail_conn *conn, uint8_t to[RAIL_OFFER_BYTES])
{
	return 0;
}

void rail_take_offer(struct rail_conn *conn, const uint8_t *bytes, size_t len)
{
}

bool rail_is_idle(const struct rail_conn *conn)
{
	return STAILQ_EMPTY(&conn->sent);
}

static struct message *take_sent(struct rail_conn *conn)
{
	struct message *message = STAILQ_FIRST(&conn->sent);

	if (message)
		STAILQ_REMOVE_HEAD(&conn->sent, entry);
	return message;
}

void rail_destroy(struct rail *rail)
{
	assert_null(rail);
}

void rail_close(struct rail_conn *conn)
{
	struct message *message;

	if (!conn)
		return;
	while ((message = take_sent(conn)))
		free(message);
	free(conn);
}

/* ---- two ends ---- */

struct end {
	struct link *link;
	uint32_t num_frames, num_lost;
	char words[LINK_WORDS_SIZE]; /* of its end */
};

struct pair {
	struct secure_keys *keys;
	struct end ends[2]; /* client, server */
};

static void on_frame(void *arg, struct link *link, const struct gateway_frame *frame)
{
	((struct end *)arg)->num_frames++;
}

static void on_proved(void *arg, struct link *link)
{
}

static void on_lost(void *arg, struct link *link, const char *words)
{
	struct end *end = arg;

	end->num_lost++;
	snprintf(end->words, sizeof(end->words), "%s", words);
}

static const struct link_ops ops = { .on_frame = on_frame, .on_proved = on_proved, .on_lost = on_lost };

static bool carry(struct end *from, struct end *to)
{
	struct message *message;

	link_flush(from->link);
	message = take_sent(from->link->conn);

	if (message)
		link_on_message(to->link, message->bytes, message->len);
	free(message);
	return message != NULL;
}

static void carry_all(struct pair *pair)
{
	while (carry(&pair->ends[0], &pair->ends[1]) || carry(&pair->ends[1], &pair->ends[0]))
		;
}

static struct secure_keys *read_keys(void)
{
	char path[] = "/tmp/bfsim-token-XXXXXX";
	int fd = mkstemp(path); /* mode 0600 */
	struct secure_keys *keys;

	assert_int_equal(write(fd, TOKEN, strlen(TOKEN)), strlen(TOKEN));
	close(fd);
	assert_int_equal(secure_keys_read(path, &keys), 0);
	unlink(path);
	return keys;
}

static int open_pair(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	pair->keys = read_keys();
	for (int i = 0; i < 2; i++) {
		struct end *end = &pair->ends[i];

		end->link = link_create(
			&(struct link_cfg){ .ops = &ops, .arg = end, .keys = pair->keys, .is_server = i == 1 });
		assert_non_null(end->link);
		end->link->conn = calloc(1, sizeof(struct rail_conn));
		assert_non_null(end->link->conn);
		STAILQ_INIT(&end->link->conn->sent);
	}
	link_on_connected(pair->ends[0].link);
	link_on_connected(pair->ends[1].link);
	carry_all(pair);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pair->ends[i].link->state, LINK_JOINING);
		link_set_up(pair->ends[i].link, (uint32_t)i);
	}
	*state = pair;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *pair = *state;

	for (int i = 0; i < 2; i++)
		link_destroy(pair->ends[i].link);
	secure_keys_free(pair->keys);
	free(pair);
	return 0;
}

static void send_write(struct link *link)
{
	static const uint8_t body[GATEWAY_MAX_DATA];

	link_send(link, &(struct gateway_frame){ .kind = GATEWAY_WRITE, .body = body, .len_bytes = sizeof(body) });
}

/* ---- tests ---- */

static void test_frames_arrive(void **state)
{
	struct pair *pair = *state;

	send_write(pair->ends[0].link);
	send_write(pair->ends[0].link);
	carry_all(pair);
	assert_int_equal(pair->ends[1].num_frames, 2);
	assert_int_equal(pair->ends[0].num_frames, 0);
}

/* The owner frees what belongs to the other machine when it hears of the end, so it must not hear of it from link_send(). */
static void expect_told_by_settle_alone(struct end *end, const char *words)
{
	assert_int_equal(end->link->state, LINK_CLOSED);
	assert_int_equal(end->num_lost, 0);
	assert_true(link_tick(end->link, 1) == 1); /* it is in a hurry */
	assert_int_equal(end->num_lost, 0);
	assert_true(link_settle(end->link));
	assert_int_equal(end->num_lost, 1);
	assert_string_equal(end->words, words);
	assert_false(link_settle(end->link));
	assert_int_equal(end->num_lost, 1);
}

static void test_a_send_that_fails_tells_nobody_yet(void **state)
{
	struct end *end = &((struct pair *)*state)->ends[0];

	end->link->conn->fails = true;
	send_write(end->link);
	expect_told_by_settle_alone(end, "libfabric does not take a message");
}

static void test_a_full_queue_tells_nobody_yet(void **state)
{
	struct end *end = &((struct pair *)*state)->ends[1];

	end->link->conn->is_full = true;
	while (end->link->state == LINK_UP)
		send_write(end->link);
	assert_true(end->link->num_queued >= LINK_MAX_QUEUED);
	expect_told_by_settle_alone(end, "it does not take what is sent to it, and the queue is full");
}

static void test_what_is_not_encrypted_tells_nobody_yet(void **state)
{
	static const uint8_t wrong[64] = { 2, 0xff, 0xff, 0xff };
	struct end *end = &((struct pair *)*state)->ends[1];

	link_on_message(end->link, wrong, sizeof(wrong));
	assert_int_equal(end->link->state, LINK_CLOSING);
	assert_int_equal(end->num_lost, 0);
	assert_true(link_settle(end->link));
	assert_string_equal(end->words, "it has sent what is not encrypted with the token");
}

/* What is to be sent fails to be encrypted then: that is no reason of its own. */
static void test_the_first_reason_is_told(void **state)
{
	static const uint8_t wrong[64] = { 2, 0xff, 0xff, 0xff };
	struct end *end = &((struct pair *)*state)->ends[1];

	link_send(end->link, &(struct gateway_frame){ .kind = GATEWAY_HEARTBEAT, .id = 5 });
	link_on_message(end->link, wrong, sizeof(wrong));
	assert_true(link_settle(end->link));
	assert_string_equal(end->words, "it has sent what is not encrypted with the token");
}

static void test_a_silent_end_is_lost(void **state)
{
	struct end *end = &((struct pair *)*state)->ends[0];
	uint64_t begin_ns = sim_monotonic_ns(), now_ns = begin_ns;

	for (; now_ns < begin_ns + LINK_TIMEOUT_NS; now_ns += SIM_NS_PER_S) {
		link_tick(end->link, now_ns);
		assert_false(link_settle(end->link));
	}
	assert_true(link_tick(end->link, now_ns) == now_ns);
	assert_true(link_settle(end->link));
	assert_string_equal(end->words, "it has not answered for eight seconds");
}

/* It was stopped, or waited for a CPU, and has not looked whether the other side has said something. */
static void test_an_end_that_has_rested_loses_nobody(void **state)
{
	struct end *end = &((struct pair *)*state)->ends[0];
	uint64_t begin_ns = sim_monotonic_ns();

	link_tick(end->link, begin_ns);
	for (uint64_t i = 1; i < 20; i++) {
		link_tick(end->link, begin_ns + i * 60 * SIM_NS_PER_S);
		assert_false(link_settle(end->link));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frames_arrive),
		TEST(test_a_send_that_fails_tells_nobody_yet),
		TEST(test_a_full_queue_tells_nobody_yet),
		TEST(test_what_is_not_encrypted_tells_nobody_yet),
		TEST(test_the_first_reason_is_told),
		TEST(test_a_silent_end_is_lost),
		TEST(test_an_end_that_has_rested_loses_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
