/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages between gateways: what is written is read, and what another machine makes up is refused. */
#include <errno.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/fabric/served/served.h"
#include "sim/gateway/frame.h"
#include "sim/gateway/link.h"
#include "sim/rdma/inbox.h"

static uint8_t bytes[GATEWAY_MAX_FRAME + 8];

static const struct gateway_frame example = { .kind = GATEWAY_WRITE,
					      .from = 0x1234,
					      .to = 0xfffe,
					      .id = UINT64_C(0x0102030405060708),
					      .a = UINT64_MAX,
					      .b = 7,
					      .body = (const uint8_t *)"five!",
					      .len_bytes = 5 };

static void test_a_frame_is_read_as_it_was_written(void **state)
{
	struct gateway_frame got;
	size_t len = gateway_frame_write(&example, bytes);

	assert_int_equal(len, GATEWAY_HEAD_BYTES + 5);
	assert_int_equal(gateway_frame_parse(bytes, len + 3, &got), len);
	assert_int_equal(got.kind, example.kind);
	assert_int_equal(got.from, example.from);
	assert_int_equal(got.to, example.to);
	assert_int_equal(got.status, 0);
	assert_true(got.id == example.id && got.a == example.a && got.b == example.b);
	assert_int_equal(got.len_bytes, 5);
	assert_memory_equal(got.body, "five!", 5);
}

/* The same bytes on each machine: the least significant first. */
static void test_the_bytes_of_a_head(void **state)
{
	static const uint8_t expected[GATEWAY_HEAD_BYTES] = { GATEWAY_DONE,
							      0,
							      2,
							      1,
							      4,
							      3,
							      0,
							      0,
							      0,
							      0,
							      0,
							      0,
							      5,
							      0,
							      0,
							      0,
							      8,
							      7,
							      6,
							      5,
							      4,
							      3,
							      2,
							      1,
							      9,
							      0,
							      0,
							      0,
							      0,
							      0,
							      0,
							      0,
							      10,
							      0,
							      0,
							      0,
							      0,
							      0,
							      0,
							      0 };
	const struct gateway_frame frame = { .kind = GATEWAY_DONE,
					     .from = 0x0102,
					     .to = 0x0304,
					     .status = -5,
					     .id = UINT64_C(0x0102030405060708),
					     .a = 9,
					     .b = 10 };

	assert_int_equal(gateway_frame_write(&frame, bytes), GATEWAY_HEAD_BYTES);
	assert_memory_equal(bytes, expected, sizeof(expected));
}

static void test_a_part_of_a_frame_is_no_frame_yet(void **state)
{
	struct gateway_frame got;
	size_t len = gateway_frame_write(&example, bytes);

	for (size_t part = 0; part < len; part++)
		assert_int_equal(gateway_frame_parse(bytes, part, &got), 0);
}

static void expect_refused(size_t at, uint8_t value)
{
	struct gateway_frame got;
	size_t len = gateway_frame_write(&example, bytes);

	bytes[at] = value;
	assert_int_equal(gateway_frame_parse(bytes, len, &got), -EPROTO);
}

static void test_frames_that_make_no_sense_are_refused(void **state)
{
	expect_refused(0, 0);
	expect_refused(0, GATEWAY_NUM_KINDS);
	expect_refused(0, 255);
	expect_refused(1, 1);
	expect_refused(6, 1);
	expect_refused(7, 1);
	expect_refused(10, 2); /* longer than a body may be: refused before it has arrived */
	expect_refused(11, 255);
	expect_refused(12, 5);                /* an error of a kind without one */
	expect_refused(0, GATEWAY_HEARTBEAT); /* has no body */
	expect_refused(0, GATEWAY_READ);      /* has one of four bytes */
	expect_refused(0, GATEWAY_ANSWERS);
	expect_refused(0, GATEWAY_IMPORT);
	expect_refused(0, GATEWAY_IMPORTED);
	expect_refused(0, GATEWAY_OPERATE);
}

static void test_an_error_has_no_body_and_is_an_errno(void **state)
{
	struct gateway_frame frame = { .kind = GATEWAY_DONE, .status = -4095 }, got;
	size_t len = gateway_frame_write(&frame, bytes);

	assert_int_equal(gateway_frame_parse(bytes, len, &got), len);
	assert_int_equal(got.status, -4095);
	frame.status = -4096;
	gateway_frame_write(&frame, bytes);
	assert_int_equal(gateway_frame_parse(bytes, len, &got), -EPROTO);
	frame = (struct gateway_frame){ .kind = GATEWAY_DONE, .status = -5, .body = bytes, .len_bytes = 1 };
	len = gateway_frame_write(&frame, bytes + 64);
	assert_int_equal(gateway_frame_parse(bytes + 64, len, &got), -EPROTO);
}

static void test_kinds_with_secrets_are_named(void **state)
{
	assert_true(gateway_kind_is_secret(GATEWAY_JOIN));
	assert_true(gateway_kind_is_secret(GATEWAY_WELCOME));
	assert_true(gateway_kind_is_secret(GATEWAY_IMPORT));
	assert_true(gateway_kind_is_secret(GATEWAY_CONNECT));
	assert_true(gateway_kind_is_secret(GATEWAY_MESSAGE));
	assert_true(gateway_kind_is_secret(GATEWAY_DIRECT_OFFER));
	for (int kind = GATEWAY_READY; kind <= GATEWAY_BREAK; kind++)
		assert_true(gateway_kind_is_secret((enum gateway_kind)kind) &&
			    gateway_kind_is_about_direct((enum gateway_kind)kind));
	assert_false(gateway_kind_is_about_direct(GATEWAY_END));
	assert_false(gateway_kind_is_secret(GATEWAY_WRITE));
	assert_false(gateway_kind_is_secret(GATEWAY_RECORDS));
}

static void test_a_hello_of_another_version_is_refused(void **state)
{
	uint8_t hello[GATEWAY_HELLO_BYTES];
	char version[GATEWAY_HELLO_BYTES];

	gateway_hello_write(hello);
	assert_int_equal(gateway_hello_check(hello, sizeof(hello), version), 0);
	assert_int_equal(gateway_hello_check(hello, sizeof(hello) - 1, version), -EPROTO);
	hello[20] ^= 1;
	assert_int_equal(gateway_hello_check(hello, sizeof(hello), version), -EPROTONOSUPPORT);
	hello[21] = '\n';
	memset(hello + 22, 'x', sizeof(hello) - 22); /* without an end */
	assert_int_equal(gateway_hello_check(hello, sizeof(hello), version), -EPROTONOSUPPORT);
	assert_int_equal(version[5], '?');
	assert_true(strlen(version) < sizeof(version));
	hello[0] ^= 1;
	assert_int_equal(gateway_hello_check(hello, sizeof(hello), version), -EPROTO);
}

/* ---- bodies ---- */

static struct gateway_imported memory(void)
{
	return (struct gateway_imported){ .region = { .addr = UINT64_C(0x7f0000001000),
						      .len_bytes = 4096,
						      .access = SIM_ACCESS_NET | SIM_ACCESS_READ | SIM_ACCESS_WRITE,
						      .function = 5 },
					  .pid = 4711,
					  .program = "target" };
}

static int pass(const struct gateway_imported *imported, struct gateway_imported *ret_imported)
{
	uint8_t body[GATEWAY_IMPORTED_BYTES];
	const struct gateway_frame frame = { .kind = GATEWAY_IMPORTED, .body = body, .len_bytes = sizeof(body) };

	gateway_imported_write(imported, body);
	return gateway_imported_read(&frame, ret_imported);
}

static void test_an_import_is_read_as_it_was_written(void **state)
{
	struct gateway_imported sent = memory(), got;

	assert_int_equal(pass(&sent, &got), 0);
	assert_true(got.region.addr == sent.region.addr && got.region.len_bytes == 4096 && got.region.function == 5);
	assert_int_equal(got.region.access, sent.region.access);
	assert_int_equal(got.pid, 4711);
	assert_string_equal(got.program, "target");
}

static void test_an_import_that_is_none_is_refused(void **state)
{
	struct gateway_imported wrong = memory(), got;

	wrong.region.len_bytes = 0;
	assert_int_equal(pass(&wrong, &got), -EPROTO);
	wrong.region.len_bytes = UINT64_MAX;
	assert_int_equal(pass(&wrong, &got), -EPROTO);
	wrong = memory();
	wrong.region.access = SIM_ACCESS_READ; /* not of the network */
	assert_int_equal(pass(&wrong, &got), -EPROTO);
	wrong.region.access = SIM_ACCESS_NET | SIM_ACCESS_CHANNEL;
	assert_int_equal(pass(&wrong, &got), -EPROTO);
	wrong.region.access = SIM_ACCESS_NET | SIM_ACCESS_FAR;
	assert_int_equal(pass(&wrong, &got), -EPROTO);
	wrong.region.access = SIM_ACCESS_NET | SIM_ACCESS_INBOX; /* of another size than an inbox */
	assert_int_equal(pass(&wrong, &got), -EPROTO);
	wrong = memory();
	memset(wrong.program, 'x', sizeof(wrong.program)); /* without an end */
	assert_int_equal(pass(&wrong, &got), 0);
	assert_int_equal(strlen(got.program), sizeof(got.program) - 1);
}

static void test_answers_are_read_as_they_were_written(void **state)
{
	const struct gateway_answers sent = { .num_read = 1,
					      .executed = 2,
					      .not_ready = 3,
					      .looks = 4,
					      .claim = 5,
					      .state = 1,
					      .failure = 90,
					      .has_left = 1 };
	struct gateway_answers got = { 0 };
	uint8_t body[GATEWAY_ANSWERS_BYTES];
	const struct gateway_frame frame = { .kind = GATEWAY_ANSWERS, .body = body, .len_bytes = sizeof(body) };

	gateway_answers_write(&sent, body);
	assert_int_equal(gateway_answers_read(&frame, &got), 0);
	assert_memory_equal(&got, &sent, sizeof(sent));
	gateway_put(body + 40, 3, 4); /* no state of a queue pair */
	assert_int_equal(gateway_answers_read(&frame, &got), -EPROTO);
	gateway_answers_write(&sent, body);
	gateway_put(body + 44, 4096, 4); /* no errno */
	assert_int_equal(gateway_answers_read(&frame, &got), -EPROTO);
	gateway_answers_write(&sent, body);
	gateway_put(body + 48, 2, 4);
	assert_int_equal(gateway_answers_read(&frame, &got), -EPROTO);
}

static void test_operands_have_an_operation(void **state)
{
	const struct sim_far_operands sent = { .op = SIM_FAR_SWAP, .compare = 1, .operand = UINT64_MAX };
	struct sim_far_operands got;
	uint8_t body[GATEWAY_OPERANDS_BYTES];
	const struct gateway_frame frame = { .kind = GATEWAY_OPERATE, .body = body, .len_bytes = sizeof(body) };

	gateway_operands_write(&sent, body);
	assert_int_equal(gateway_operands_read(&frame, &got), 0);
	assert_true(got.op == SIM_FAR_SWAP && got.compare == 1 && got.operand == UINT64_MAX);
	gateway_put(body, 0, 4);
	assert_int_equal(gateway_operands_read(&frame, &got), -EPROTO);
	gateway_put(body, SIM_NUM_FAR_OPS, 4);
	assert_int_equal(gateway_operands_read(&frame, &got), -EPROTO);
}

static void test_a_key_is_read_as_it_was_written(void **state)
{
	const struct sim_key sent = { .id = UINT64_C(0xfffe000000000001), .secret = "fifteen letters" };
	struct sim_key got;
	uint8_t body[GATEWAY_KEY_BYTES];

	gateway_key_write(&sent, body);
	gateway_key_read(body, &got);
	assert_true(got.id == sent.id);
	assert_memory_equal(got.secret, sent.secret, sizeof(sent.secret));
}

/* ---- direct links ---- */

static int read_offer(const struct gateway_offer *offer, uint64_t id, uint64_t port, struct gateway_offer *ret_offer)
{
	static uint8_t body[GATEWAY_OFFER_MAX_BYTES];
	struct gateway_frame frame = { .kind = GATEWAY_DIRECT_OFFER, .id = id, .b = port, .body = body };

	frame.len_bytes = (uint32_t)gateway_offer_write(offer, body);
	return gateway_offer_read(&frame, ret_offer);
}

static void test_an_offer_is_read_as_it_was_written(void **state)
{
	static const char *const hosts[] = { "192.0.2.1", "2001:db8::1" };
	struct gateway_offer offer = { .nonce = "a nonce" }, got;

	assert_int_equal(read_offer(&offer, 1, 0, &got), 0);
	assert_memory_equal(&got, &offer, sizeof(offer));
	for (size_t i = 0; i < 2; i++) {
		strcpy(offer.host, hosts[i]);
		assert_int_equal(read_offer(&offer, UINT64_MAX, UINT16_MAX, &got), 0);
		assert_memory_equal(&got, &offer, sizeof(offer));
	}
}

/* A name would have to be looked up, which may take long, and by others' word. */
static void test_an_offer_without_an_address_in_numbers_is_refused(void **state)
{
	static const char *const hosts[] = { "localhost", "192.0.2", "192.0.2.1 ", "fe80::1%lo", "" };
	struct gateway_offer offer = { 0 }, got;
	char host[GATEWAY_HOST_SIZE];

	for (size_t i = 0; i < 5; i++) {
		strcpy(offer.host, hosts[i]);
		assert_int_equal(read_offer(&offer, 1, 7450, &got), -EPROTO);
	}
	strcpy(offer.host, "192.0.2.1");
	assert_int_equal(read_offer(&offer, 0, 7450, &got), -EPROTO);
	assert_int_equal(read_offer(&offer, 1, 0, &got), -EPROTO);
	assert_int_equal(read_offer(&offer, 1, 65536, &got), -EPROTO);
	assert_int_equal(gateway_host_read((const uint8_t *)"192.0.2.1\0x", 11, host), -EPROTO);
}

static void test_words_of_others_are_printable(void **state)
{
	char words[GATEWAY_WORDS_SIZE];
	uint8_t body[GATEWAY_WORDS_SIZE - 1];
	struct gateway_frame frame = { .kind = GATEWAY_NO_DIRECT, .body = body, .len_bytes = 5 };

	memcpy(body, "a\033\0\377z", 5);
	gateway_words_read(&frame, words);
	assert_string_equal(words, "a???z");
	memset(body, 'w', sizeof(body));
	frame.len_bytes = sizeof(body);
	gateway_words_read(&frame, words);
	assert_int_equal(strlen(words), sizeof(body));
}

/* ---- records ---- */

static void test_records_are_read_one_after_the_other(void **state)
{
	struct gateway_frame frame = { .kind = GATEWAY_RECORDS, .body = bytes };
	const uint8_t *record;
	bool is_wrong = false;
	size_t at = 0, len;
	uint32_t kind;

	frame.len_bytes = (uint32_t)gateway_record_write(SIM_INBOX_SEND, "first", 5, bytes);
	frame.len_bytes += (uint32_t)gateway_record_write(SIM_INBOX_MORE, "", 0, bytes + frame.len_bytes);
	assert_true(gateway_record_next(&frame, &at, &kind, &record, &len, &is_wrong));
	assert_int_equal(kind, SIM_INBOX_SEND);
	assert_int_equal(len, 5);
	assert_memory_equal(record, "first", 5);
	assert_true(gateway_record_next(&frame, &at, &kind, &record, &len, &is_wrong));
	assert_int_equal(kind, SIM_INBOX_MORE);
	assert_int_equal(len, 0);
	assert_false(gateway_record_next(&frame, &at, &kind, &record, &len, &is_wrong));
	assert_false(is_wrong);
}

static void expect_wrong_record(uint32_t len_bytes, uint32_t said)
{
	const struct gateway_frame frame = { .kind = GATEWAY_RECORDS, .body = bytes, .len_bytes = len_bytes };
	const uint8_t *record;
	bool is_wrong = false;
	size_t at = 0, len;
	uint32_t kind;

	gateway_put(bytes + 4, said, 4);
	assert_false(gateway_record_next(&frame, &at, &kind, &record, &len, &is_wrong));
	assert_true(is_wrong);
}

static void test_records_beyond_their_frame_or_their_limit_are_refused(void **state)
{
	expect_wrong_record(1, 0);
	expect_wrong_record(GATEWAY_RECORD_HEAD_BYTES - 1, 0);
	expect_wrong_record(GATEWAY_RECORD_HEAD_BYTES, 1);
	expect_wrong_record(GATEWAY_RECORD_HEAD_BYTES + 4, 5);
	expect_wrong_record(GATEWAY_RECORD_HEAD_BYTES + 4, UINT32_MAX);
	expect_wrong_record(20000, SIM_INBOX_RECORD_BYTES + sizeof(struct sim_inbox_head) + 1);
}

/* ---- links ---- */

static void test_each_edge_of_a_links_states(void **state)
{
	static const char *const edges[LINK_NUM_STATES] = {
		[LINK_CONNECTING] = ".x...xx", [LINK_HELLO] = "..x..xx", [LINK_HANDSHAKE] = "...x.xx",
		[LINK_JOINING] = "....xxx",    [LINK_UP] = ".....xx",    [LINK_CLOSING] = "......x",
		[LINK_CLOSED] = ".......",
	};

	for (int from = 0; from < LINK_NUM_STATES; from++)
		for (int to = 0; to < LINK_NUM_STATES; to++)
			assert_int_equal(link_state_can_become(from, to), edges[from][to] == 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_frame_is_read_as_it_was_written),
		cmocka_unit_test(test_the_bytes_of_a_head),
		cmocka_unit_test(test_a_part_of_a_frame_is_no_frame_yet),
		cmocka_unit_test(test_frames_that_make_no_sense_are_refused),
		cmocka_unit_test(test_an_error_has_no_body_and_is_an_errno),
		cmocka_unit_test(test_kinds_with_secrets_are_named),
		cmocka_unit_test(test_a_hello_of_another_version_is_refused),
		cmocka_unit_test(test_an_import_is_read_as_it_was_written),
		cmocka_unit_test(test_an_import_that_is_none_is_refused),
		cmocka_unit_test(test_answers_are_read_as_they_were_written),
		cmocka_unit_test(test_operands_have_an_operation),
		cmocka_unit_test(test_a_key_is_read_as_it_was_written),
		cmocka_unit_test(test_an_offer_is_read_as_it_was_written),
		cmocka_unit_test(test_an_offer_without_an_address_in_numbers_is_refused),
		cmocka_unit_test(test_words_of_others_are_printable),
		cmocka_unit_test(test_records_are_read_one_after_the_other),
		cmocka_unit_test(test_records_beyond_their_frame_or_their_limit_are_refused),
		cmocka_unit_test(test_each_edge_of_a_links_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
