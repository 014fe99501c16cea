/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers: the data segment, references, lists; and handles that are none. Taking
 * buffers is in test_buf_inventory.c, data outside of its buffer in test_buf_move.c. */
#include "buf_util.h"

enum { NUM_BUFS = 5 };

/* For each test five buffers of 100 bytes, 800 bytes from one head to the next, all of them out. */
struct taken {
	struct doca_buf_inventory *inventory;
	struct doca_buf *bufs[NUM_BUFS];
};

static int setup(void **state)
{
	static struct taken taken;

	taken.inventory = api_inventory(NUM_BUFS);
	for (int i = 0; i < NUM_BUFS; i++)
		assert_ok(doca_buf_inventory_buf_get_by_addr(taken.inventory, map, memory + i * 800, 100,
							     &taken.bufs[i]));
	*state = &taken;
	return 0;
}

/* A test returns the buffers that it chained, or whose references it counted; the teardown returns the others. */
static int teardown(void **state)
{
	struct taken *taken = *state;

	for (int i = 0; i < NUM_BUFS; i++)
		if (taken->bufs[i])
			assert_ok(doca_buf_dec_refcount(taken->bufs[i], NULL));
	assert_ok(doca_buf_inventory_destroy(taken->inventory));
	return 0;
}

/* The members of the list that @head names, in order, as far as @bufs goes on. */
static void assert_list(struct doca_buf *head, struct doca_buf *const *bufs, uint32_t count)
{
	struct doca_buf *at = head, *last;
	uint8_t flag;
	uint32_t length;

	assert_ok(doca_buf_get_list_len(head, &length));
	assert_int_equal(length, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_ptr_equal(at, bufs[i]);
		assert_ok(doca_buf_get_last_in_list(at, &last)); /* from any member */
		assert_ptr_equal(last, bufs[count - 1]);
		assert_ok(doca_buf_is_first_in_list(at, &flag));
		assert_int_equal(flag, i == 0);
		assert_ok(doca_buf_is_last_in_list(at, &flag));
		assert_int_equal(flag, i == count - 1);
		assert_ok(doca_buf_is_in_list(at, &flag));
		assert_int_equal(flag, count > 1);
		assert_ok(doca_buf_get_next_in_list(at, &at));
	}
	assert_null(at);
}

static void assert_data(struct doca_buf *buf, void *data, size_t data_len)
{
	void *addr;
	size_t len;

	assert_ok(doca_buf_get_data(buf, &addr));
	assert_ptr_equal(addr, data);
	assert_ok(doca_buf_get_data_len(buf, &len));
	assert_int_equal(len, data_len);
}

static void assert_refcount(struct doca_buf *buf, uint16_t expected)
{
	uint16_t refcount;

	assert_ok(doca_buf_get_refcount(buf, &refcount));
	assert_int_equal(refcount, expected);
}

static void chain_all(struct taken *taken)
{
	for (int i = 1; i < NUM_BUFS; i++)
		assert_ok(doca_buf_chain_list(taken->bufs[0], taken->bufs[i]));
}

/* Give back a list; the teardown need not. */
static void give_back_list(struct taken *taken, int first, int count)
{
	assert_ok(doca_buf_dec_refcount(taken->bufs[first], NULL));
	for (int i = first; i < first + count; i++)
		taken->bufs[i] = NULL;
}

/* ---- the data segment ---- */

static void test_data_segment_moves_inside_the_buffer(void **state)
{
	struct doca_buf *buf = ((struct taken *)*state)->bufs[0];

	assert_ok(doca_buf_set_data(buf, memory + 20, 80));
	assert_data(buf, memory + 20, 80);
	assert_ok(doca_buf_set_data_len(buf, 30));
	assert_data(buf, memory + 20, 30);
	assert_ok(doca_buf_reset_data_len(buf));
	assert_data(buf, memory + 20, 0); /* it stays where it is */
	assert_ok(doca_buf_set_data(buf, memory, 100));
	assert_data(buf, memory, 100);
	assert_ok(doca_buf_set_data(buf, memory + 100, 0)); /* empty, at the end */
	assert_data(buf, memory + 100, 0);
}

/* ---- references ---- */

static void test_count_before_the_call_is_returned(void **state)
{
	struct doca_buf *buf = ((struct taken *)*state)->bufs[0];
	uint16_t before = 7;

	assert_ok(doca_buf_inc_refcount(buf, &before));
	assert_int_equal(before, 1);
	assert_ok(doca_buf_inc_refcount(buf, NULL));
	assert_refcount(buf, 3);
	assert_ok(doca_buf_dec_refcount(buf, &before));
	assert_int_equal(before, 3);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_refcount(buf, 1);
}

static void test_last_reference_gives_the_buffer_back(void **state)
{
	struct taken *taken = *state;
	uint32_t are_free;
	uint16_t before;

	assert_ok(doca_buf_inc_refcount(taken->bufs[0], NULL));
	assert_ok(doca_buf_dec_refcount(taken->bufs[0], NULL));
	assert_ok(doca_buf_inventory_get_num_free_elements(taken->inventory, &are_free));
	assert_int_equal(are_free, 0);
	assert_ok(doca_buf_dec_refcount(taken->bufs[0], &before));
	assert_int_equal(before, 1);
	assert_ok(doca_buf_inventory_get_num_free_elements(taken->inventory, &are_free));
	assert_int_equal(are_free, 1);
	taken->bufs[0] = NULL;
}

/* provokes: doca_buf_inc_refcount DOCA_ERROR_TOO_BIG */
static void test_count_stops_at_its_maximum(void **state)
{
	struct doca_buf *buf = ((struct taken *)*state)->bufs[0];
	uint16_t before = 7;

	for (int i = 1; i < UINT16_MAX; i++)
		assert_ok(doca_buf_inc_refcount(buf, NULL));
	assert_refcount(buf, UINT16_MAX);
	assert_doca(doca_buf_inc_refcount(buf, &before), DOCA_ERROR_TOO_BIG);
	assert_int_equal(before, 7);
	assert_refcount(buf, UINT16_MAX);
	for (int i = 1; i < UINT16_MAX; i++)
		assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_refcount(buf, 1);
}

/* provokes: doca_buf_dec_refcount DOCA_ERROR_BAD_STATE */
static void test_buffer_that_was_given_back_is_not_given_back_again(void **state)
{
	struct taken *taken = *state;
	struct doca_buf *buf = taken->bufs[0];
	uint32_t are_free;
	uint16_t before = 7;

	assert_ok(doca_buf_dec_refcount(buf, NULL));
	taken->bufs[0] = NULL;
	assert_doca(doca_buf_dec_refcount(buf, &before), DOCA_ERROR_BAD_STATE);
	assert_int_equal(before, 7);
	assert_ok(doca_buf_inventory_get_num_free_elements(taken->inventory, &are_free));
	assert_int_equal(are_free, 1); /* once */
}

/* ---- lists ---- */

static void test_single_buffer_is_a_list_of_one(void **state)
{
	struct taken *taken = *state;

	assert_list(taken->bufs[0], &taken->bufs[0], 1);
}

static void test_lists_are_appended(void **state)
{
	struct taken *taken = *state;

	assert_ok(doca_buf_chain_list(taken->bufs[0], taken->bufs[1])); /* two buffers */
	assert_list(taken->bufs[0], taken->bufs, 2);
	assert_ok(doca_buf_chain_list(taken->bufs[2], taken->bufs[3]));
	assert_ok(doca_buf_chain_list(taken->bufs[2], taken->bufs[4])); /* a list and a buffer */
	assert_list(taken->bufs[2], taken->bufs + 2, 3);
	assert_ok(doca_buf_chain_list(taken->bufs[0], taken->bufs[2])); /* two lists */
	assert_list(taken->bufs[0], taken->bufs, 5);
	give_back_list(taken, 0, 5);
}

static void test_list_is_appended_behind_a_given_tail(void **state)
{
	struct taken *taken = *state;
	struct doca_buf **bufs = taken->bufs;

	assert_ok(doca_buf_chain_list_tail(bufs[0], bufs[0], bufs[1])); /* a single buffer is its own tail */
	assert_ok(doca_buf_chain_list(bufs[2], bufs[3]));
	assert_ok(doca_buf_chain_list_tail(bufs[0], bufs[1], bufs[2]));
	assert_list(bufs[0], bufs, 4);
	assert_ok(doca_buf_chain_list_tail(bufs[0], bufs[3], bufs[4])); /* the tail is the appended list's */
	assert_list(bufs[0], bufs, 5);
	give_back_list(taken, 0, 5);
}

/* provokes: doca_buf_chain_list DOCA_ERROR_NOT_PERMITTED */
static void test_list_to_append_has_one_reference_and_both_are_heads(void **state)
{
	struct taken *taken = *state;
	struct doca_buf **bufs = taken->bufs;

	assert_ok(doca_buf_inc_refcount(bufs[1], NULL));
	assert_doca(doca_buf_chain_list(bufs[0], bufs[1]), DOCA_ERROR_NOT_PERMITTED);
	assert_list(bufs[0], bufs, 1);
	assert_ok(doca_buf_chain_list(bufs[1], bufs[2])); /* the other way round the count is of no matter */
	assert_ok(doca_buf_dec_refcount(bufs[1], NULL));
	assert_doca(doca_buf_chain_list(bufs[0], bufs[2]), DOCA_ERROR_NOT_PERMITTED); /* a member */
	assert_doca(doca_buf_chain_list(bufs[2], bufs[0]), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_buf_chain_list(bufs[1], bufs[1]), DOCA_ERROR_NOT_PERMITTED); /* itself */
	assert_doca(doca_buf_chain_list(bufs[1], bufs[2]), DOCA_ERROR_NOT_PERMITTED); /* its own member */
	assert_list(bufs[1], bufs + 1, 2);
	give_back_list(taken, 1, 2);
}

/* provokes: doca_buf_chain_list_tail DOCA_ERROR_NOT_PERMITTED */
static void test_tail_must_be_the_lists(void **state)
{
	struct taken *taken = *state;
	struct doca_buf **bufs = taken->bufs;

	assert_ok(doca_buf_chain_list(bufs[0], bufs[1]));
	assert_doca(doca_buf_chain_list_tail(bufs[0], bufs[0], bufs[2]), DOCA_ERROR_NOT_PERMITTED); /* not the last */
	assert_doca(doca_buf_chain_list_tail(bufs[0], bufs[3], bufs[2]), DOCA_ERROR_NOT_PERMITTED); /* another's */
	assert_doca(doca_buf_chain_list_tail(bufs[1], bufs[1], bufs[2]), DOCA_ERROR_NOT_PERMITTED); /* not the head */
	assert_doca(doca_buf_chain_list_tail(bufs[0], bufs[1], bufs[0]), DOCA_ERROR_NOT_PERMITTED); /* itself */
	assert_ok(doca_buf_inc_refcount(bufs[2], NULL));
	assert_doca(doca_buf_chain_list_tail(bufs[0], bufs[1], bufs[2]), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_buf_dec_refcount(bufs[2], NULL));
	assert_list(bufs[0], bufs, 2);
	give_back_list(taken, 0, 2);
}

/* provokes: doca_buf_inc_refcount DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_buf_dec_refcount DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_buf_get_list_len DOCA_ERROR_NOT_PERMITTED */
static void test_head_alone_is_counted_and_asked_for_the_length(void **state)
{
	struct taken *taken = *state;
	struct doca_buf **bufs = taken->bufs;
	uint32_t length = 7;
	uint16_t before = 7;

	chain_all(taken);
	for (int i = 1; i < NUM_BUFS; i++) {
		assert_doca(doca_buf_inc_refcount(bufs[i], &before), DOCA_ERROR_NOT_PERMITTED);
		assert_doca(doca_buf_dec_refcount(bufs[i], &before), DOCA_ERROR_NOT_PERMITTED);
		assert_doca(doca_buf_get_list_len(bufs[i], &length), DOCA_ERROR_NOT_PERMITTED);
		assert_refcount(bufs[i], 1);
	}
	assert_int_equal(before, 7);
	assert_int_equal(length, 7);
	assert_ok(doca_buf_inc_refcount(bufs[0], NULL));
	assert_refcount(bufs[0], 2);
	assert_ok(doca_buf_dec_refcount(bufs[0], NULL));
	assert_list(bufs[0], bufs, NUM_BUFS);
	give_back_list(taken, 0, NUM_BUFS);
}

static void test_returning_the_head_returns_the_list_to_each_ones_inventory(void **state)
{
	struct doca_buf_inventory *other = api_inventory(1);
	struct taken *taken = *state;
	struct doca_buf *stranger, *member = taken->bufs[2];
	uint32_t are_free;

	assert_ok(doca_buf_inventory_buf_get_by_addr(other, map, memory, 1, &stranger));
	assert_ok(doca_buf_chain_list(taken->bufs[0], stranger));
	chain_all(taken);
	give_back_list(taken, 0, NUM_BUFS);
	assert_ok(doca_buf_inventory_get_num_free_elements(taken->inventory, &are_free));
	assert_int_equal(are_free, NUM_BUFS);
	assert_ok(doca_buf_inventory_get_num_free_elements(other, &are_free));
	assert_int_equal(are_free, 1);
	assert_doca(doca_buf_dec_refcount(member, NULL), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_inventory_destroy(other));
}

static void test_list_is_cut_before_a_member_and_can_be_chained_again(void **state)
{
	struct taken *taken = *state;
	struct doca_buf **bufs = taken->bufs;

	for (int cut = 1; cut < NUM_BUFS; cut++) { /* after each member but the last */
		if (cut == 1)
			chain_all(taken);
		assert_ok(doca_buf_unchain_list(bufs[0], bufs[cut]));
		assert_list(bufs[0], bufs, (uint32_t)cut);
		assert_list(bufs[cut], bufs + cut, (uint32_t)(NUM_BUFS - cut));
		assert_refcount(bufs[cut], 1);
		assert_ok(doca_buf_chain_list(bufs[0], bufs[cut])); /* both know their tails */
		assert_list(bufs[0], bufs, NUM_BUFS);
	}
	assert_ok(doca_buf_unchain_list(bufs[0], bufs[2]));
	assert_ok(doca_buf_inc_refcount(bufs[2], NULL)); /* a head now */
	assert_ok(doca_buf_dec_refcount(bufs[2], NULL));
	give_back_list(taken, 0, 2);
	give_back_list(taken, 2, 3);
}

static void test_cut_leaves_the_heads_references(void **state)
{
	struct taken *taken = *state;

	assert_ok(doca_buf_chain_list(taken->bufs[0], taken->bufs[1]));
	assert_ok(doca_buf_inc_refcount(taken->bufs[0], NULL));
	assert_ok(doca_buf_unchain_list(taken->bufs[0], taken->bufs[1]));
	assert_refcount(taken->bufs[0], 2);
	assert_refcount(taken->bufs[1], 1);
	assert_ok(doca_buf_dec_refcount(taken->bufs[0], NULL));
}

/* provokes: doca_buf_unchain_list DOCA_ERROR_INVALID_VALUE */
static void test_cut_needs_a_head_and_a_later_member(void **state)
{
	struct taken *taken = *state;
	struct doca_buf **bufs = taken->bufs;

	for (int i = 1; i < 3; i++)
		assert_ok(doca_buf_chain_list(bufs[0], bufs[i]));
	assert_ok(doca_buf_chain_list(bufs[3], bufs[4]));
	assert_invalid(doca_buf_unchain_list(bufs[0], bufs[0])); /* itself */
	assert_invalid(doca_buf_unchain_list(bufs[0], bufs[3])); /* another list */
	assert_invalid(doca_buf_unchain_list(bufs[0], bufs[4])); /* a member of another list */
	assert_invalid(doca_buf_unchain_list(bufs[1], bufs[2])); /* not from the head */
	assert_list(bufs[0], bufs, 3);
	assert_list(bufs[3], bufs + 3, 2);
	give_back_list(taken, 0, 3);
	give_back_list(taken, 3, 2);
}

/* A former member of a list that is taken again is no member of it. */
static void test_returned_member_is_single_when_it_is_taken_again(void **state)
{
	struct taken *taken = *state;

	chain_all(taken);
	give_back_list(taken, 0, NUM_BUFS);
	for (int i = 0; i < NUM_BUFS; i++) {
		assert_ok(doca_buf_inventory_buf_get_by_data(taken->inventory, map, memory, 10, &taken->bufs[i]));
		assert_list(taken->bufs[i], &taken->bufs[i], 1);
		assert_refcount(taken->bufs[i], 1);
	}
}

/* ---- arguments: for most of them the reference only says that they must be right; bfsim refuses wrong ones ---- */

/* provokes: doca_buf_get_last_in_list DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_get_list_len DOCA_ERROR_INVALID_VALUE */
static void refuses_every_call(struct doca_buf *no_buf, struct doca_buf *buf)
{
	struct doca_buf *other;
	uint16_t refcount;
	uint32_t length;
	uint8_t flag;
	void *addr;
	size_t len;

	assert_invalid(doca_buf_inc_refcount(no_buf, &refcount));
	assert_invalid(doca_buf_get_refcount(no_buf, &refcount));
	assert_invalid(doca_buf_get_head(no_buf, &addr));
	assert_invalid(doca_buf_get_len(no_buf, &len));
	assert_invalid(doca_buf_get_data(no_buf, &addr));
	assert_invalid(doca_buf_get_data_len(no_buf, &len));
	assert_invalid(doca_buf_set_data(no_buf, memory, 1));
	assert_invalid(doca_buf_set_data_len(no_buf, 1));
	assert_invalid(doca_buf_reset_data_len(no_buf));
	assert_invalid(doca_buf_get_next_in_list(no_buf, &other));
	assert_invalid(doca_buf_get_last_in_list(no_buf, &other));
	assert_invalid(doca_buf_get_list_len(no_buf, &length));
	assert_invalid(doca_buf_is_first_in_list(no_buf, &flag));
	assert_invalid(doca_buf_is_last_in_list(no_buf, &flag));
	assert_invalid(doca_buf_is_in_list(no_buf, &flag));
	assert_invalid(doca_buf_chain_list(no_buf, buf));
	assert_invalid(doca_buf_chain_list(buf, no_buf));
	assert_invalid(doca_buf_chain_list_tail(no_buf, no_buf, buf));
	assert_invalid(doca_buf_chain_list_tail(buf, no_buf, buf));
	assert_invalid(doca_buf_chain_list_tail(buf, buf, no_buf));
	assert_invalid(doca_buf_unchain_list(no_buf, buf));
	assert_invalid(doca_buf_unchain_list(buf, no_buf));
}

static void test_call_on_no_buffer_or_another_handle_is_refused(void **state)
{
	struct taken *taken = *state;
	struct doca_buf *returned = taken->bufs[0];

	refuses_every_call(NULL, taken->bufs[1]);
	assert_invalid(doca_buf_dec_refcount(NULL, NULL));
	refuses_every_call((struct doca_buf *)map, taken->bufs[1]);
	assert_doca(doca_buf_dec_refcount((struct doca_buf *)map, NULL), DOCA_ERROR_BAD_STATE);
	refuses_every_call((struct doca_buf *)taken->inventory, taken->bufs[1]);
	give_back_list(taken, 0, 1);
	refuses_every_call(returned, taken->bufs[1]);
}

static void test_getter_without_a_place_for_the_answer_is_refused(void **state)
{
	struct doca_buf *buf = ((struct taken *)*state)->bufs[0];

	assert_invalid(doca_buf_get_refcount(buf, NULL));
	assert_invalid(doca_buf_get_head(buf, NULL));
	assert_invalid(doca_buf_get_len(buf, NULL));
	assert_invalid(doca_buf_get_data(buf, NULL));
	assert_invalid(doca_buf_get_data_len(buf, NULL));
	assert_invalid(doca_buf_get_next_in_list(buf, NULL));
	assert_invalid(doca_buf_get_last_in_list(buf, NULL));
	assert_invalid(doca_buf_get_list_len(buf, NULL));
	assert_invalid(doca_buf_is_first_in_list(buf, NULL));
	assert_invalid(doca_buf_is_last_in_list(buf, NULL));
	assert_invalid(doca_buf_is_in_list(buf, NULL));
}

#define WITH_BUFS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	WITH_BUFS(test_data_segment_moves_inside_the_buffer),
	WITH_BUFS(test_count_before_the_call_is_returned),
	WITH_BUFS(test_last_reference_gives_the_buffer_back),
	WITH_BUFS(test_count_stops_at_its_maximum),
	WITH_BUFS(test_buffer_that_was_given_back_is_not_given_back_again),
	WITH_BUFS(test_single_buffer_is_a_list_of_one),
	WITH_BUFS(test_lists_are_appended),
	WITH_BUFS(test_list_is_appended_behind_a_given_tail),
	WITH_BUFS(test_list_to_append_has_one_reference_and_both_are_heads),
	WITH_BUFS(test_tail_must_be_the_lists),
	WITH_BUFS(test_head_alone_is_counted_and_asked_for_the_length),
	WITH_BUFS(test_returning_the_head_returns_the_list_to_each_ones_inventory),
	WITH_BUFS(test_list_is_cut_before_a_member_and_can_be_chained_again),
	WITH_BUFS(test_cut_leaves_the_heads_references),
	WITH_BUFS(test_cut_needs_a_head_and_a_later_member),
	WITH_BUFS(test_returned_member_is_single_when_it_is_taken_again),
	WITH_BUFS(test_call_on_no_buffer_or_another_handle_is_refused),
	WITH_BUFS(test_getter_without_a_place_for_the_answer_is_refused),
};

int main(void)
{
	return API_RUN(BUF_WORLD("buffers", tests));
}
