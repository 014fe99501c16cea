/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/ring.c: both views in one process, over the same memory. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/shm/ring.h"

struct pair {
	void *memory;
	struct sim_ring writer, reader;
	struct sim_ring_cfg cfg;
};

static struct pair pair_of(const struct sim_ring_cfg *cfg)
{
	struct pair pair = { .cfg = *cfg };
	size_t size = (sim_ring_size(cfg) + 63) / 64 * 64;

	pair.memory = aligned_alloc(64, size);
	assert_non_null(pair.memory);
	memset(pair.memory, 0, size);
	sim_ring_init(&pair.writer, &pair.cfg, pair.memory);
	sim_ring_init(&pair.reader, &pair.cfg, pair.memory);
	return pair;
}

static struct pair pair_new(uint32_t max_records, uint32_t max_record_bytes)
{
	return pair_of(&(struct sim_ring_cfg){ .max_records = max_records, .max_record_bytes = max_record_bytes });
}

static void pair_free(struct pair *pair)
{
	free(pair->memory);
}

static void expect_record(struct pair *pair, uint32_t kind, const char *text)
{
	char buf[257] = "";
	uint32_t got_kind;
	size_t len;

	assert_int_equal(sim_ring_read(&pair->reader, &got_kind, buf, &len), 0);
	assert_int_equal(got_kind, kind);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(buf, text, len);
}

static void test_records_come_out_in_order_with_kind_and_bytes(void **state)
{
	struct pair pair = pair_new(4, 32);

	assert_int_equal(sim_ring_write(&pair.writer, 1, "first", 5), 0);
	assert_int_equal(sim_ring_write(&pair.writer, 2, NULL, 0), 0);
	assert_int_equal(sim_ring_write(&pair.writer, 3, "thirty-two bytes, as many as may", 32), 0);
	expect_record(&pair, 1, "first");
	expect_record(&pair, 2, "");
	expect_record(&pair, 3, "thirty-two bytes, as many as may");
	assert_false(sim_ring_has_record(&pair.reader));
	pair_free(&pair);
}

static void test_an_empty_ring_has_nothing(void **state)
{
	struct pair pair = pair_new(4, 32);
	uint32_t kind;
	char buf[32];
	size_t len;

	assert_int_equal(sim_ring_read(&pair.reader, &kind, buf, &len), -EAGAIN);
	pair_free(&pair);
}

static void test_peeked_record_stays_and_its_beginning_is_copied(void **state)
{
	struct pair pair = pair_new(4, 32);
	uint32_t kind = 0;
	char buf[4] = "";

	assert_int_equal(sim_ring_peek(&pair.reader, &kind, buf, 2), -EAGAIN);
	assert_int_equal(sim_ring_write(&pair.writer, 5, "record", 6), 0);
	assert_int_equal(sim_ring_peek(&pair.reader, &kind, buf, 2), 0);
	assert_int_equal(kind, 5);
	assert_string_equal(buf, "re");
	expect_record(&pair, 5, "record");
	pair_free(&pair);
}

/* A record that is shorter than what is asked for; and one behind the padding at the end of the memory. */
static void test_peek_finds_what_a_read_finds(void **state)
{
	struct pair pair = pair_new(2, 40);
	uint32_t kind;

	for (uint32_t i = 0; i < 50; i++) {
		char text[41], buf[41] = "";

		memset(text, 'a' + (int)(i % 26), sizeof(text));
		text[i % 40] = '\0';
		assert_int_equal(sim_ring_write(&pair.writer, i, text, strlen(text)), 0);
		assert_int_equal(sim_ring_peek(&pair.reader, &kind, buf, 40), 0);
		assert_int_equal(kind, i);
		assert_string_equal(buf, text);
		expect_record(&pair, i, text);
	}
	pair_free(&pair);
}

static void test_records_before_the_close_can_be_read(void **state)
{
	struct pair pair = pair_new(4, 32);

	assert_int_equal(sim_ring_write(&pair.writer, 1, "last", 4), 0);
	assert_false(sim_ring_is_closed(&pair.reader));
	sim_ring_close(&pair.writer);
	assert_true(sim_ring_is_closed(&pair.reader) && sim_ring_has_record(&pair.reader));
	expect_record(&pair, 1, "last");
	assert_false(sim_ring_has_record(&pair.reader));
	pair_free(&pair);
}

static void test_as_many_records_wait_as_the_reader_said(void **state)
{
	struct pair pair = pair_new(3, 32);

	for (int i = 0; i < 3; i++)
		assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), 0);
	assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), -EAGAIN);
	expect_record(&pair, 1, "x");
	assert_int_equal(sim_ring_write(&pair.writer, 1, "y", 1), 0);
	pair_free(&pair);
}

/* A ring for one record takes the largest one at every position in its memory. */
static void test_a_ring_for_one_takes_any_length_at_any_place(void **state)
{
	static const char text[] = "0123456789012345678901234567890123456789";
	struct pair pair = pair_new(1, 40);

	for (size_t i = 0; i < 2000; i++) {
		size_t len = i * 7 % 41;
		char buf[40];
		uint32_t kind;
		size_t got;

		assert_int_equal(sim_ring_write(&pair.writer, 9, text, len), 0);
		assert_int_equal(sim_ring_write(&pair.writer, 9, text, 1), -EAGAIN);
		assert_int_equal(sim_ring_read(&pair.reader, &kind, buf, &got), 0);
		assert_int_equal(got, len);
		assert_memory_equal(buf, text, len);
	}
	pair_free(&pair);
}

/* 10,000 records of 64 bytes would pass 70 times through 32 * 256 bytes; an empty ring restarts at its start, so
 * the memory behind the restart position (2048) is never written to. */
static void test_a_ring_that_is_read_at_once_uses_its_first_page_only(void **state)
{
	static const uint8_t zeroes[4096];
	struct pair pair = pair_new(32, 256);
	char text[65];

	for (int i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "%064d", i);
		assert_int_equal(sim_ring_write(&pair.writer, 1, text, 64), 0);
		expect_record(&pair, 1, text);
	}
	assert_memory_equal((uint8_t *)pair.memory + 4096, zeroes, sizeof(zeroes));
	pair_free(&pair);
}

/* At every position when it is empty, and also right after a restart. */
static void test_as_many_of_the_largest_records_wait_at_any_place(void **state)
{
	struct pair pair = pair_new(8, 256);
	char text[257];

	for (int i = 0; i < 400; i++) {
		snprintf(text, sizeof(text), "%0*d", 1 + i % 256, i);
		assert_int_equal(sim_ring_write(&pair.writer, 1, text, strlen(text)), 0);
		expect_record(&pair, 1, text);
		for (int k = 0; k < 8; k++) {
			snprintf(text, sizeof(text), "%0256d", k);
			assert_int_equal(sim_ring_write(&pair.writer, 2, text, 256), 0);
		}
		for (int k = 0; k < 8; k++) {
			snprintf(text, sizeof(text), "%0256d", k);
			expect_record(&pair, 2, text);
		}
	}
	pair_free(&pair);
}

/* 4 of 8 records must be read before a waiting writer is notified, and then once. */
static void test_a_waiting_writer_is_notified_when_half_is_free(void **state)
{
	struct pair pair = pair_new(8, 32);

	for (int i = 0; i < 8; i++)
		assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), 0);
	assert_false(sim_ring_wants_space(&pair.writer));
	assert_false(sim_ring_arm_space(&pair.writer, 1));
	assert_true(sim_ring_wants_space(&pair.writer));
	for (int left = 7; left > 4; left--) {
		expect_record(&pair, 1, "x");
		assert_false(sim_ring_needs_notify(&pair.reader));
		assert_false(sim_ring_is_half_free(&pair.writer));
	}
	expect_record(&pair, 1, "x");
	assert_true(sim_ring_is_half_free(&pair.writer));
	assert_true(sim_ring_needs_notify(&pair.reader));
	assert_false(sim_ring_wants_space(&pair.writer));
	expect_record(&pair, 1, "x");
	assert_false(sim_ring_needs_notify(&pair.reader));
	pair_free(&pair);
}

static void test_a_writer_that_has_room_meanwhile_need_not_wait(void **state)
{
	struct pair pair = pair_new(2, 32);

	assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), 0);
	assert_true(sim_ring_arm_space(&pair.writer, 1));
	pair_free(&pair);
}

/* Whenever a writer is notified of room, the longest record fits: for every size and fill. */
static void test_when_notified_of_room_the_longest_record_fits(void **state)
{
	for (uint32_t max = 1; max <= 9; max++) {
		struct pair pair = pair_new(max, 24);
		char buf[24] = "";
		uint32_t kind;
		size_t len;

		for (unsigned int i = 0; i < 5000; i++) {
			if (sim_ring_write(&pair.writer, 1, buf, i * i % 25) == 0)
				continue;
			if (sim_ring_arm_space(&pair.writer, 24))
				continue;
			do
				assert_int_equal(sim_ring_read(&pair.reader, &kind, buf, &len), 0);
			while (!sim_ring_needs_notify(&pair.reader));
			assert_int_equal(sim_ring_write(&pair.writer, 1, buf, 24), 0);
		}
		pair_free(&pair);
	}
}

/* A ring with room for four of the longest records, or for a hundred small ones. */
static struct pair small_pair_new(void)
{
	return pair_of(&(struct sim_ring_cfg){ .max_records = 100, .max_record_bytes = 248, .data_bytes = 1024 });
}

/* 1,024 bytes hold 64 records of 16 bytes, and four of 256. */
static void test_a_ring_of_a_given_size_holds_what_its_bytes_hold(void **state)
{
	struct pair pair = small_pair_new();
	char buf[248] = "";
	uint32_t kind;
	size_t len;

	for (int i = 0; i < 64; i++)
		assert_int_equal(sim_ring_write(&pair.writer, 1, buf, 8), 0);
	assert_int_equal(sim_ring_write(&pair.writer, 1, buf, 8), -EAGAIN);
	while (sim_ring_has_record(&pair.reader))
		assert_int_equal(sim_ring_read(&pair.reader, &kind, buf, &len), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(sim_ring_write(&pair.writer, 1, buf, 248), 0);
	assert_int_equal(sim_ring_write(&pair.writer, 1, buf, 0), -EAGAIN);
	pair_free(&pair);
}

/* As above, with records of all lengths, and many more small ones than long ones. */
static void test_when_notified_of_room_in_a_given_size_the_longest_record_fits(void **state)
{
	struct pair pair = small_pair_new();
	unsigned int num_notified = 0;
	char buf[248] = "";
	uint32_t kind;
	size_t len;

	for (unsigned int i = 0; i < 50000; i++) {
		if (sim_ring_write(&pair.writer, 1, buf, i * i % 7 ? i % 20 : i * i % 249) == 0)
			continue;
		if (sim_ring_arm_space(&pair.writer, 248))
			continue;
		do
			assert_int_equal(sim_ring_read(&pair.reader, &kind, buf, &len), 0);
		while (!sim_ring_needs_notify(&pair.reader));
		assert_int_equal(sim_ring_write(&pair.writer, 1, buf, 248), 0);
		num_notified++;
	}
	assert_true(num_notified > 100);
	pair_free(&pair);
}

static void test_a_record_that_is_read_in_place_is_left_behind_at_the_end(void **state)
{
	struct pair pair = pair_new(4, 32);
	const void *data;
	uint32_t kind;
	size_t len;

	assert_int_equal(sim_ring_begin_read(&pair.reader, &kind, &data, &len), -EAGAIN);
	assert_int_equal(sim_ring_write(&pair.writer, 1, "first", 5), 0);
	assert_int_equal(sim_ring_write(&pair.writer, 2, "second", 6), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sim_ring_begin_read(&pair.reader, &kind, &data, &len), 0);
		assert_int_equal(kind, 1);
		assert_int_equal(len, 5);
		assert_memory_equal(data, "first", 5);
	}
	sim_ring_end_read(&pair.reader, len);
	expect_record(&pair, 2, "second");
	pair_free(&pair);
}

/* The writer finds room that it has seen, and looks again when that is used up. */
static void test_a_writer_that_remembers_space_uses_all_of_it(void **state)
{
	struct pair pair = pair_new(4, 32);

	pair.writer.remembers_space = true;
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 4; i++)
			assert_int_equal(sim_ring_write(&pair.writer, 1, "thirty-two bytes, as many as may", 32), 0);
		assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), -EAGAIN);
		for (int i = 0; i < 4; i++)
			expect_record(&pair, 1, "thirty-two bytes, as many as may");
	}
	pair_free(&pair);
}

/* ---- corrupt contents, written by the other side ---- */

static int read_any(struct pair *pair)
{
	char buf[256];
	uint32_t kind;
	size_t len;

	return sim_ring_read(&pair->reader, &kind, buf, &len);
}

static void test_a_head_too_far_ahead_ends_the_ring(void **state)
{
	struct pair pair = pair_new(4, 32);

	pair.reader.shared->head = 5;
	assert_int_equal(read_any(&pair), -EPROTO);
	pair.reader.shared->head = UINT64_MAX;
	assert_int_equal(read_any(&pair), -EPROTO);
	pair_free(&pair);
}

static void test_a_record_longer_than_agreed_ends_the_ring(void **state)
{
	struct pair pair = pair_new(4, 32);
	uint32_t len = 33;

	assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), 0);
	memcpy(pair.reader.shared->data, &len, sizeof(len));
	assert_int_equal(read_any(&pair), -EPROTO);
	pair_free(&pair);
}

static void test_a_tail_that_cannot_be_ends_the_ring_for_the_writer(void **state)
{
	struct pair pair = pair_new(4, 32);

	pair.writer.shared->tail = 1;
	assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), -EPROTO);
	pair.writer.shared->tail = 0;
	pair.writer.shared->bytes_read = 8;
	assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), -EPROTO);
	pair_free(&pair);
}

/* It writes no more than there was room for when it looked last. */
static void test_a_writer_that_remembers_space_finds_a_corrupt_tail_later(void **state)
{
	struct pair pair = pair_new(4, 32);

	pair.writer.remembers_space = true;
	assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), 0);
	pair.writer.shared->tail = 100;
	for (int i = 1; i < 4; i++)
		assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), 0);
	assert_int_equal(sim_ring_write(&pair.writer, 1, "x", 1), -EPROTO);
	pair_free(&pair);
}

/* ---- two threads ---- */

#define NUM_RECORDS 200000

static void *write_many(void *arg)
{
	struct pair *pair = arg;
	uint32_t record[8];

	for (uint32_t i = 0; i < NUM_RECORDS; i++) {
		size_t words = 1 + i % 8;

		for (size_t w = 0; w < words; w++)
			record[w] = i + (uint32_t)w;
		while (sim_ring_write(&pair->writer, i, record, words * sizeof(*record)) == -EAGAIN)
			sched_yield();
	}
	return NULL;
}

static void test_two_threads_lose_and_reorder_nothing(void **state)
{
	struct pair pair = pair_new(16, 32);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, write_many, &pair), 0);
	for (uint32_t i = 0; i < NUM_RECORDS; i++) {
		uint32_t record[8], kind;
		size_t len;

		while (sim_ring_read(&pair.reader, &kind, record, &len) == -EAGAIN)
			sched_yield();
		assert_int_equal(kind, i);
		assert_int_equal(len, (1 + i % 8) * sizeof(*record));
		assert_int_equal(record[i % 8], i + i % 8);
	}
	pthread_join(thread, NULL);
	pair_free(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_come_out_in_order_with_kind_and_bytes),
		cmocka_unit_test(test_an_empty_ring_has_nothing),
		cmocka_unit_test(test_peeked_record_stays_and_its_beginning_is_copied),
		cmocka_unit_test(test_peek_finds_what_a_read_finds),
		cmocka_unit_test(test_records_before_the_close_can_be_read),
		cmocka_unit_test(test_as_many_records_wait_as_the_reader_said),
		cmocka_unit_test(test_a_ring_for_one_takes_any_length_at_any_place),
		cmocka_unit_test(test_a_ring_that_is_read_at_once_uses_its_first_page_only),
		cmocka_unit_test(test_as_many_of_the_largest_records_wait_at_any_place),
		cmocka_unit_test(test_a_waiting_writer_is_notified_when_half_is_free),
		cmocka_unit_test(test_a_writer_that_has_room_meanwhile_need_not_wait),
		cmocka_unit_test(test_when_notified_of_room_the_longest_record_fits),
		cmocka_unit_test(test_a_ring_of_a_given_size_holds_what_its_bytes_hold),
		cmocka_unit_test(test_when_notified_of_room_in_a_given_size_the_longest_record_fits),
		cmocka_unit_test(test_a_record_that_is_read_in_place_is_left_behind_at_the_end),
		cmocka_unit_test(test_a_head_too_far_ahead_ends_the_ring),
		cmocka_unit_test(test_a_record_longer_than_agreed_ends_the_ring),
		cmocka_unit_test(test_a_tail_that_cannot_be_ends_the_ring_for_the_writer),
		cmocka_unit_test(test_a_writer_that_remembers_space_uses_all_of_it),
		cmocka_unit_test(test_a_writer_that_remembers_space_finds_a_corrupt_tail_later),
		cmocka_unit_test(test_two_threads_lose_and_reorder_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
