/* SPDX-License-Identifier: BSD-3-Clause */
/* What the rail puts before messages without a connection: who they are of, their order, how many there may be. */
#include <errno.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/gateway/rdm_message.h"

static const uint8_t nonce[RDM_NONCE_BYTES] = "0123456789abcde";

static void test_a_head_is_read_as_it_was_written(void **state)
{
	const struct rdm_head head = { .sequence = UINT64_MAX - 1, .granted = 5, .after = 1u << 20, .has_heard = true };
	uint8_t bytes[RDM_HEAD_BYTES];
	struct rdm_head read;

	rdm_head_write(&head, nonce, bytes);
	assert_true(rdm_head_read(bytes, sizeof(bytes), nonce, &read));
	assert_int_equal(read.sequence, head.sequence);
	assert_int_equal(read.granted, head.granted);
	assert_int_equal(read.after, head.after);
	assert_true(read.has_heard);
	rdm_head_write(&(struct rdm_head){ .sequence = 1 }, nonce, bytes);
	assert_true(rdm_head_read(bytes, sizeof(bytes), nonce, &read));
	assert_false(read.has_heard);
}

/* Each bit of the nonce counts, and so does the length. */
static void test_a_message_with_another_nonce_is_of_a_stranger(void **state)
{
	uint8_t bytes[RDM_HEAD_BYTES], other[RDM_NONCE_BYTES];
	struct rdm_head read;

	rdm_head_write(&(struct rdm_head){ .sequence = 1 }, nonce, bytes);
	for (size_t bit = 0; bit < 8 * sizeof(other); bit++) {
		memcpy(other, nonce, sizeof(other));
		other[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(rdm_head_read(bytes, sizeof(bytes), other, &read));
	}
	assert_false(rdm_head_read(bytes, sizeof(bytes) - 1, nonce, &read));
}

/* The window has 16 places: messages 3, 1, 2 are taken as 1, 2, 3. */
static void test_messages_are_taken_in_their_order(void **state)
{
	struct rdm_window window;
	int messages[4];

	rdm_window_init(&window);
	assert_null(rdm_window_next(&window));
	assert_true(rdm_window_keep(&window, 3, &messages[3]));
	assert_null(rdm_window_next(&window));
	assert_true(rdm_window_keep(&window, 1, &messages[1]));
	assert_true(rdm_window_keep(&window, 2, &messages[2]));
	for (int i = 1; i <= 3; i++) {
		assert_ptr_equal(rdm_window_next(&window), &messages[i]);
		rdm_window_take(&window);
	}
	assert_null(rdm_window_next(&window));
}

static void test_a_repeat_and_what_was_not_granted_are_refused(void **state)
{
	struct rdm_window window;
	int message;

	rdm_window_init(&window);
	assert_false(rdm_window_keep(&window, 0, &message));
	assert_false(rdm_window_keep(&window, RDM_WINDOW + 1, &message));
	assert_true(rdm_window_keep(&window, RDM_WINDOW, &message));
	assert_false(rdm_window_keep(&window, RDM_WINDOW, &message)); /* it waits */
	assert_true(rdm_window_keep(&window, 1, &message));
	rdm_window_take(&window);
	assert_false(rdm_window_keep(&window, 1, &message)); /* it was taken */
	assert_true(rdm_window_keep(&window, RDM_WINDOW + 1, &message));
	assert_false(rdm_window_keep(&window, UINT64_MAX, &message));
}

/* 16 messages, then none without a grant. Half of the window is owed at once; a smaller grant than before takes nothing back. */
static void test_a_sender_has_as_many_under_way_as_were_granted(void **state)
{
	struct rdm_window sender, receiver;
	int message;

	rdm_window_init(&sender);
	rdm_window_init(&receiver);
	for (uint64_t i = 1; i <= RDM_WINDOW; i++) {
		assert_true(rdm_window_may_send(&sender));
		sender.num_sent++;
		assert_true(rdm_window_keep(&receiver, i, &message));
	}
	assert_false(rdm_window_may_send(&sender));
	for (uint64_t i = 1; i <= RDM_WINDOW / 2; i++) {
		assert_false(rdm_window_owes(&receiver));
		rdm_window_take(&receiver);
	}
	assert_true(rdm_window_owes(&receiver));
	rdm_window_grant(&sender, rdm_window_grants(&receiver));
	assert_true(rdm_window_may_send(&sender));
	rdm_window_grant(&sender, 1);
	assert_int_equal(sender.granted, RDM_WINDOW + RDM_WINDOW / 2);
}

static void test_an_offer_is_read_as_it_was_written(void **state)
{
	struct rdm_offer offer = { .provider = "tcp;ofi_rxm", .address = { 1, 2, 3 }, .address_len = 3 }, read;
	uint8_t bytes[RDM_OFFER_BYTES];
	size_t len;

	memcpy(offer.nonce, nonce, sizeof(nonce));
	len = rdm_offer_write(&offer, bytes);
	assert_int_equal(rdm_offer_read(bytes, len, &read), 0);
	assert_memory_equal(&read, &offer, sizeof(offer));
	offer.address_len = RDM_ADDRESS_BYTES;
	memset(offer.provider, 'x', RDM_PROVIDER_SIZE - 1);
	assert_true(rdm_offer_write(&offer, bytes) <= RDM_OFFER_BYTES);
}

static void test_a_wrong_offer_is_refused(void **state)
{
	const struct rdm_offer offer = { .provider = "tcp", .address = { 1 }, .address_len = 1 };
	uint8_t bytes[RDM_OFFER_BYTES + 1];
	size_t len = rdm_offer_write(&offer, bytes);
	struct rdm_offer read;

	for (size_t shorter = 0; shorter < len; shorter++)
		assert_int_equal(rdm_offer_read(bytes, shorter, &read), -EPROTO);
	bytes[RDM_NONCE_BYTES] = 0; /* the length of the name */
	assert_int_equal(rdm_offer_read(bytes, len, &read), -EPROTO);
	bytes[RDM_NONCE_BYTES] = RDM_PROVIDER_SIZE;
	assert_int_equal(rdm_offer_read(bytes, sizeof(bytes), &read), -EPROTO);
	bytes[RDM_NONCE_BYTES] = 3;
	bytes[RDM_NONCE_BYTES + 1] = 0; /* in the name */
	assert_int_equal(rdm_offer_read(bytes, len, &read), -EPROTO);
	rdm_offer_write(&offer, bytes);
	assert_int_equal(rdm_offer_read(bytes, RDM_NONCE_BYTES + 1 + 3 + RDM_ADDRESS_BYTES + 1, &read), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_head_is_read_as_it_was_written),
		cmocka_unit_test(test_a_message_with_another_nonce_is_of_a_stranger),
		cmocka_unit_test(test_messages_are_taken_in_their_order),
		cmocka_unit_test(test_a_repeat_and_what_was_not_granted_are_refused),
		cmocka_unit_test(test_a_sender_has_as_many_under_way_as_were_granted),
		cmocka_unit_test(test_an_offer_is_read_as_it_was_written),
		cmocka_unit_test(test_a_wrong_offer_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
