/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/recvq.c and segment.c: a consumer's and its producers' view of one segment. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "first_fd.h"
#include "sim/shm/recvq.h"
#include "sim/shm/segment.h"
#include "under_valgrind.h"

#define IMM 16

struct pair {
	struct sim_segment ours, theirs;
	struct sim_recvq consumer, producer;
	struct sim_recvq_desc descs[4];
};

static const struct sim_recvq_cfg cfg = { .num_slots = 4, .max_imm_bytes = IMM };

static int setup(void **state)
{
	static struct pair pair;
	int fd;

	memset(&pair, 0, sizeof(pair));
	assert_int_equal(sim_segment_create(sim_recvq_size(&cfg), &pair.ours, &fd), 0);
	assert_int_equal(sim_segment_map(fd, sim_recvq_size(&cfg), &pair.theirs), 0);
	close(fd);
	sim_recvq_init(&pair.consumer, &cfg, pair.ours.base);
	sim_recvq_init(&pair.producer, &cfg, pair.theirs.base);
	*state = &pair;
	return 0;
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	sim_segment_unmap(&pair->ours);
	sim_segment_unmap(&pair->theirs);
	return 0;
}

static void post(struct pair *pair, uint64_t addr, uint32_t len)
{
	struct sim_recvq_desc desc = { .addr = addr, .len_bytes = len };

	pair->descs[pair->consumer.posted % 4] = desc;
	sim_recvq_post(&pair->consumer, &desc);
}

static uint64_t claim(struct pair *pair, uint64_t expected_addr)
{
	struct sim_recvq_desc desc;
	uint64_t slot;

	sim_recvq_claim(&pair->producer, &slot, &desc);
	assert_int_equal(desc.addr, expected_addr);
	return slot;
}

static int poll_one(struct pair *pair, uint8_t *bytes, struct sim_recvq_message *message)
{
	return sim_recvq_poll(&pair->consumer, &pair->descs[pair->consumer.polled % 4], bytes, message);
}

static void test_without_a_posted_receive_nothing_can_be_sent(void **state)
{
	struct pair *pair = *state;

	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), -EAGAIN);
	assert_int_equal(sim_recvq_next_room(&pair->producer), UINT32_MAX);
	post(pair, 0x1000, 8);
	assert_int_equal(sim_recvq_next_room(&pair->producer), 8);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 8), 0);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 8), -EAGAIN);
	sim_recvq_unreserve(&pair->producer);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 9), -EMSGSIZE);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 8), 0);
}

static void test_a_message_brings_its_bytes_and_immediate_data(void **state)
{
	struct sim_recvq_message sent = { .producer = 5,
					  .len_bytes = 3,
					  .inlined = (const uint8_t *)"abc",
					  .imm = (const uint8_t *)"now",
					  .imm_bytes = 3 },
				 got;
	struct pair *pair = *state;
	uint8_t bytes[IMM + SIM_RECVQ_INLINE_BYTES];
	uint64_t slot;

	post(pair, 0x1000, 8);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 3), 0);
	slot = claim(pair, 0x1000);
	assert_int_equal(poll_one(pair, bytes, &got), -EAGAIN);
	assert_false(sim_recvq_fill(&pair->producer, slot, &sent));
	assert_int_equal(poll_one(pair, bytes, &got), 0);
	assert_int_equal(got.producer, 5);
	assert_int_equal(got.len_bytes, 3);
	assert_memory_equal(got.inlined, "abc", 3);
	assert_int_equal(got.imm_bytes, 3);
	assert_memory_equal(got.imm, "now", 3);
	assert_int_equal(poll_one(pair, bytes, &got), -EAGAIN);
}

/* The second message is ready first; the first receive still ends first. */
static void test_receives_end_in_the_order_they_were_posted(void **state)
{
	struct sim_recvq_message first = { .producer = 1 }, second = { .producer = 2 }, got;
	struct pair *pair = *state;
	uint8_t bytes[IMM + SIM_RECVQ_INLINE_BYTES];
	uint64_t slot1, slot2;

	post(pair, 0x1000, 8);
	post(pair, 0x2000, 8);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), 0);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), 0);
	slot1 = claim(pair, 0x1000);
	slot2 = claim(pair, 0x2000);
	sim_recvq_fill(&pair->producer, slot2, &second);
	assert_int_equal(poll_one(pair, bytes, &got), -EAGAIN);
	sim_recvq_fill(&pair->producer, slot1, &first);
	assert_int_equal(poll_one(pair, bytes, &got), 0);
	assert_int_equal(got.producer, 1);
	assert_int_equal(poll_one(pair, bytes, &got), 0);
	assert_int_equal(got.producer, 2);
}

static void test_slots_are_used_again_and_again(void **state)
{
	struct pair *pair = *state;
	uint8_t bytes[IMM + SIM_RECVQ_INLINE_BYTES];
	struct sim_recvq_message message = { 0 }, got;

	for (uint32_t i = 0; i < 1000; i++) {
		post(pair, i, 8);
		assert_int_equal(sim_recvq_reserve(&pair->producer, 0), 0);
		message.producer = i;
		sim_recvq_fill(&pair->producer, claim(pair, i), &message);
		assert_int_equal(poll_one(pair, bytes, &got), 0);
		assert_int_equal(got.producer, i);
	}
}

static void test_a_sleeping_consumer_is_woken_once(void **state)
{
	struct sim_recvq_message message = { 0 };
	struct pair *pair = *state;

	post(pair, 1, 0);
	post(pair, 2, 0);
	sim_recvq_arm(&pair->consumer);
	assert_false(sim_recvq_has_message(&pair->consumer));
	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), 0);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), 0);
	assert_true(sim_recvq_fill(&pair->producer, claim(pair, 1), &message));
	assert_false(sim_recvq_fill(&pair->producer, claim(pair, 2), &message));
	assert_true(sim_recvq_has_message(&pair->consumer));
}

/* A producer that reports a wrong length or slot. */
static void test_more_than_the_room_or_the_slot_holds_is_no_message(void **state)
{
	struct sim_recvq_message lies[] = {
		{ .len_bytes = 9 },
		{ .len_bytes = 8, .imm = (const uint8_t *)"a longer one than is agreed", .imm_bytes = IMM + 1 },
	};
	struct pair *pair = *state;
	uint8_t bytes[IMM + SIM_RECVQ_INLINE_BYTES];
	struct sim_recvq_message got;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		post(pair, 1, 8);
		assert_int_equal(sim_recvq_reserve(&pair->producer, 0), 0);
		sim_recvq_fill(&pair->producer, claim(pair, 1), &lies[i]);
		assert_int_equal(poll_one(pair, bytes, &got), -EPROTO);
	}
}

/* A hostile producer changes the length of a short message in its slot, whose length is the word behind the buffer's length. */
static void test_a_message_in_a_slot_is_no_longer_than_the_slot(void **state)
{
	const uint32_t room = 0x12345, len = SIM_RECVQ_INLINE_BYTES + 1;
	struct sim_recvq_message message = { .len_bytes = 3, .inlined = (const uint8_t *)"abc" }, got;
	struct pair *pair = *state;
	uint8_t bytes[IMM + SIM_RECVQ_INLINE_BYTES + 1] = { 0 };
	uint8_t *place;

	post(pair, 1, room);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 3), 0);
	sim_recvq_fill(&pair->producer, claim(pair, 1), &message);
	place = memmem(pair->producer.shared, sim_recvq_size(&cfg), &room, sizeof(room));
	assert_non_null(place);
	memcpy(place + sizeof(room), &len, sizeof(len));
	assert_int_equal(poll_one(pair, bytes, &got), -EPROTO);
}

/* A hostile consumer lowers its counter, which is the queue's first word, below what producers have reserved. */
static void test_a_consumer_that_takes_posted_receives_back_is_refused(void **state)
{
	struct pair *pair = *state;
	uint64_t posted = 1;

	for (int i = 0; i < 3; i++)
		post(pair, 1, 8);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), 0);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), 0);
	memcpy(pair->producer.shared, &posted, sizeof(posted));
	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), -EPROTO);
}

/* It raises the counter: more receives than there are slots, though no more than slots behind what is reserved. */
static void test_a_consumer_that_posts_more_than_it_has_is_refused(void **state)
{
	struct pair *pair = *state;
	uint64_t posted = 5;

	post(pair, 1, 8);
	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), 0);
	memcpy(pair->producer.shared, &posted, sizeof(posted));
	assert_int_equal(sim_recvq_reserve(&pair->producer, 0), -EPROTO);
}

static void test_a_message_without_a_posted_receive_is_none(void **state)
{
	struct pair *pair = *state;
	struct sim_recvq_message message = { .len_bytes = 8 };
	uint8_t bytes[IMM];

	sim_recvq_fill(&pair->producer, 0, &message);
	assert_false(sim_recvq_has_message(&pair->consumer));
	assert_int_equal(poll_one(pair, bytes, &message), -EAGAIN);
}

static void test_memory_that_could_shrink_is_no_segment(void **state)
{
	struct sim_segment segment = { 0 };
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC); /* of a file system without seals */
	void *base;

	assert_true(fd >= 0 && file >= 0);
	assert_int_equal(sim_segment_map(file, 4096, &segment), -EPROTO);
	close(file);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(sim_segment_map(fd, 4096, &segment), -EPROTO);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(sim_segment_map(fd, 4097, &segment), -EPROTO);
	assert_int_equal(sim_segment_map(fd, 4096, &segment), 0);
	base = segment.base;
	sim_segment_unmap(&segment);
	if (!RUNNING_ON_VALGRIND)                                  /* it reports the address */
		assert_int_equal(msync(base, 4096, MS_ASYNC), -1); /* it is not mapped any more */
	close(fd);
	assert_int_equal(sim_segment_map(fd, 4096, &segment), -EPROTO);
}

static void test_segment_that_is_not_made_leaves_no_descriptor(void **state)
{
	struct sim_segment segment;
	int before = lowest_free_fd(), fd;

	assert_true(sim_segment_create(SIZE_MAX, &segment, &fd) < 0);
	assert_int_equal(lowest_free_fd(), before);
}

static void test_segment_may_have_the_first_descriptor(void **state)
{
	struct sim_segment segment;
	int input = close_input(), fd = -1, rc;

	rc = sim_segment_create(4096, &segment, &fd);
	restore_input(input);
	assert_int_equal(rc, 0);
	assert_int_equal(fd, 0);
	sim_segment_unmap(&segment);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_without_a_posted_receive_nothing_can_be_sent),
		TEST(test_a_message_brings_its_bytes_and_immediate_data),
		TEST(test_receives_end_in_the_order_they_were_posted),
		TEST(test_slots_are_used_again_and_again),
		TEST(test_a_sleeping_consumer_is_woken_once),
		TEST(test_more_than_the_room_or_the_slot_holds_is_no_message),
		TEST(test_a_message_in_a_slot_is_no_longer_than_the_slot),
		TEST(test_a_consumer_that_takes_posted_receives_back_is_refused),
		TEST(test_a_consumer_that_posts_more_than_it_has_is_refused),
		TEST(test_a_message_without_a_posted_receive_is_none),
		cmocka_unit_test(test_memory_that_could_shrink_is_no_segment),
		cmocka_unit_test(test_segment_that_is_not_made_leaves_no_descriptor),
		cmocka_unit_test(test_segment_may_have_the_first_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
