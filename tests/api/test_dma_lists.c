/* SPDX-License-Identifier: BSD-3-Clause */
/* Memcpy between lists of buffers: the source's segments, one behind the other,
 * fill the rooms behind the destination's, one after the other. */
#include "cmocka_test.h"
#include "dma_util.h"

static struct doca_buf *chain(struct doca_buf *list, struct doca_buf *buf)
{
	MUST(doca_buf_chain_list(list, buf));
	return list;
}

static void copy(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	MUST(doca_task_submit(rig_task(rig, 0, src, dst)));
	rig_drain(rig);
	assert_trace(rig, "task 0 done\n");
}

/* ---- by hand ---- */

/* 3 + 5 + 2 bytes into rooms of 3 (behind one byte), 1 and 10: 3, 1 and 6 of them. */
static void test_segments_are_cut_where_rooms_end(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_src(rig, 0, 3);
	struct doca_buf *dst[] = { rig_buf(rig, rig->mmap, rig->arena + 1000, 4, 0, 1), rig_dst(rig, 2000, 1),
				   rig_dst(rig, 3000, 10) };
	uint8_t expected[10];

	chain(chain(src, rig_src(rig, 100, 5)), rig_src(rig, 200, 2));
	memcpy(expected, rig->arena, 3);
	memcpy(expected + 3, rig->arena + 100, 5);
	memcpy(expected + 8, rig->arena + 200, 2);
	copy(rig, src, chain(chain(dst[0], dst[1]), dst[2]));
	assert_memory_equal(rig->arena + 1001, expected, 3);
	assert_memory_equal(rig->arena + 2000, expected + 3, 1);
	assert_memory_equal(rig->arena + 3000, expected + 4, 6);
	assert_int_equal(rig_data_len(dst[0]), 4);
	assert_int_equal(rig_data_len(dst[1]), 1);
	assert_int_equal(rig_data_len(dst[2]), 6);
	assert_true(rig_is_untouched(rig, 0, 1001));
	assert_true(rig_is_untouched(rig, 1004, 2000 - 1004));
	assert_true(rig_is_untouched(rig, 2001, 3000 - 2001));
	assert_true(rig_is_untouched(rig, 3006, rig->arena_bytes - 3006));
}

static void test_list_goes_to_one_buffer(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = chain(rig_src(rig, 0, 10), rig_src(rig, 10, 20)), *dst = rig_dst(rig, 1000, 30);

	copy(rig, src, dst);
	assert_true(rig_was_copied(rig, 1000, 0, 30));
	assert_int_equal(rig_data_len(dst), 30);
}

static void test_one_buffer_goes_to_a_list(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *last = rig_dst(rig, 1010, 50), *dst = chain(rig_dst(rig, 1000, 10), last);

	copy(rig, rig_src(rig, 0, 30), dst);
	assert_true(rig_was_copied(rig, 1000, 0, 30));
	assert_int_equal(rig_data_len(dst), 10);
	assert_int_equal(rig_data_len(last), 20);
}

/* Segments without data and buffers without room are passed over. */
static void test_empty_segments_and_full_buffers_are_passed_over(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = chain(chain(rig_dst(rig, 500, 8), rig_src(rig, 0, 8)), rig_dst(rig, 600, 8));
	struct doca_buf *dst = chain(chain(rig_src(rig, 2000, 8), rig_dst(rig, 3000, 8)), rig_src(rig, 4000, 8));

	copy(rig, src, dst);
	assert_true(rig_was_copied(rig, 3000, 0, 8));
	assert_true(rig_is_untouched(rig, 0, 3000));
	assert_true(rig_is_untouched(rig, 3008, rig->arena_bytes - 3008));
}

/* A list of a full buffer (4 of 4) and one with much room (4 of 16), as both: the
 * eight bytes go behind the second's four; what is written is not read again. */
static void test_list_can_be_appended_to_itself(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *second = rig_buf(rig, rig->mmap, rig->arena + 1000, 16, 0, 4);
	struct doca_buf *list = chain(rig_src(rig, 0, 4), second);

	copy(rig, list, list);
	assert_int_equal(rig_data_len(list), 4);
	assert_int_equal(rig_data_len(second), 12);
	assert_true(rig_was_copied(rig, 1004, 0, 4));
	assert_true(rig_was_copied(rig, 1008, 1000, 4));
	assert_true(rig_is_untouched(rig, 1012, 100));
}

/* Any member's map counts, not the head's alone: the last one's is read-only. */
static void test_each_member_of_a_list_is_checked(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *read_only =
		rig_make_mmap(rig->dev, rig->arena + 4096, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *dst = chain(rig_dst(rig, 1000, 8), rig_buf(rig, read_only, rig->arena + 4096, 8, 0, 0));

	MUST(doca_task_submit(rig_task(rig, 0, rig_src(rig, 0, 8), dst)));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 0 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_mmap_destroy(read_only));
}

/* ---- at random: some hundred pairs of lists against a model ---- */

#define PAIRS        300
#define MAX_SEGMENTS 12

/* A buffer of the list, as the model sees it. */
struct segment {
	size_t offset, len;           /* in the arena */
	size_t data_offset, data_len; /* in the buffer */
	struct doca_buf *buf;
};

struct list {
	struct segment segments[MAX_SEGMENTS];
	size_t count;
};

struct model {
	uint64_t random;
	uint8_t *memory; /* the expected contents of the arena */
};

/* Below @limit; Marsaglia's xorshift. */
static size_t random_below(struct model *model, size_t limit)
{
	model->random ^= model->random << 13;
	model->random ^= model->random >> 7;
	model->random ^= model->random << 17;
	return model->random % limit;
}

static void swap_segments(struct segment *a, struct segment *b)
{
	struct segment kept = *a;

	*a = *b;
	*b = kept;
}

/* Cut buffers with gaps between them out of half the arena, and shuffle them. */
static void make_list(struct model *model, struct list *list, size_t offset, size_t max_len)
{
	list->count = 1 + random_below(model, MAX_SEGMENTS);
	for (size_t i = 0; i < list->count; i++) {
		struct segment *segment = &list->segments[i];

		segment->offset = offset + random_below(model, 50);
		segment->len = 1 + random_below(model, max_len);
		segment->data_offset = random_below(model, segment->len + 1);
		segment->data_len = random_below(model, segment->len - segment->data_offset + 1);
		offset = segment->offset + segment->len;
	}
	for (size_t i = 1; i < list->count; i++)
		swap_segments(&list->segments[i], &list->segments[random_below(model, i + 1)]);
}

static struct doca_buf *take_list(struct rig *rig, struct list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct segment *segment = &list->segments[i];
		uint8_t *addr = rig->arena + segment->offset;

		MUST(doca_buf_inventory_buf_get_by_args(rig->inventory, rig->mmap, addr, segment->len,
							addr + segment->data_offset, segment->data_len, &segment->buf));
		if (i > 0)
			chain(list->segments[0].buf, segment->buf);
	}
	return list->segments[0].buf;
}

static size_t room_in(const struct segment *segment)
{
	return segment->len - segment->data_offset - segment->data_len;
}

static size_t data_of(const struct list *list)
{
	size_t sum = 0;

	for (size_t i = 0; i < list->count; i++)
		sum += list->segments[i].data_len;
	return sum;
}

static size_t room_of(const struct list *list)
{
	size_t sum = 0;

	for (size_t i = 0; i < list->count; i++)
		sum += room_in(&list->segments[i]);
	return sum;
}

/* The definition, byte by byte. */
static void model_copy(struct model *model, const struct list *src, struct list *dst)
{
	struct segment *to = dst->segments;

	for (size_t i = 0; i < src->count; i++) {
		const struct segment *from = &src->segments[i];

		for (size_t j = 0; j < from->data_len; j++) {
			while (room_in(to) == 0)
				to++;
			model->memory[to->offset + to->data_offset + to->data_len] =
				model->memory[from->offset + from->data_offset + j];
			to->data_len++;
		}
	}
}

/* Copy one pair; returns whether it was expected to succeed. */
static bool copy_a_pair(struct rig *rig, struct model *model)
{
	struct list src, dst;
	struct doca_task *task;
	bool fits;

	make_list(model, &src, 0, 200);
	make_list(model, &dst, rig->arena_bytes / 2, 400);
	fits = data_of(&src) > 0 && data_of(&src) <= room_of(&dst);
	task = rig_task(rig, 0, take_list(rig, &src), take_list(rig, &dst));
	if (fits)
		model_copy(model, &src, &dst);
	MUST(doca_task_submit(task));
	rig_drain(rig);
	assert_string_equal(rig->trace->text,
			    fits ? "task 0 done\n" : "running -> stopping\ntask 0 failed: DOCA_ERROR_IO_FAILED\n");
	rig->trace->text[0] = '\0';
	assert_memory_equal(rig->arena, model->memory, rig->arena_bytes);
	for (size_t i = 0; i < dst.count; i++)
		assert_int_equal(rig_data_len(dst.segments[i].buf), dst.segments[i].data_len);
	for (size_t i = 0; i < src.count; i++)
		assert_int_equal(rig_data_len(src.segments[i].buf), src.segments[i].data_len);
	MUST(doca_buf_dec_refcount(src.segments[0].buf, NULL));
	MUST(doca_buf_dec_refcount(dst.segments[0].buf, NULL));
	return fits;
}

/* Both outcomes must occur often, or the constants above are badly chosen. */
static void test_random_lists_are_copied_as_the_model_says(void **state)
{
	struct rig *rig = *state;
	struct model model = { .random = 20250813, .memory = malloc(rig->arena_bytes) };
	int fitting = 0;

	assert_non_null(model.memory);
	memcpy(model.memory, rig->arena, rig->arena_bytes);
	for (int i = 0; i < PAIRS; i++) {
		if (copy_a_pair(rig, &model)) {
			fitting++;
			continue;
		}
		rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
		rig_start(rig);
	}
	assert_in_range(fitting, PAIRS / 4, PAIRS * 9 / 10);
	free(model.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_segments_are_cut_where_rooms_end),
		RIG_RUNNING(test_list_goes_to_one_buffer),
		RIG_RUNNING(test_one_buffer_goes_to_a_list),
		RIG_RUNNING(test_empty_segments_and_full_buffers_are_passed_over),
		RIG_RUNNING(test_list_can_be_appended_to_itself),
		RIG_RUNNING(test_each_member_of_a_list_is_checked),
		RIG_RUNNING(test_random_lists_are_copied_as_the_model_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
