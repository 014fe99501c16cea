/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace: a recording with corrupt contents can be read and written to without harm. */
#include "trace_rig.h"

#include "sim/shm/segment.h"

/* The shared memory itself, as another process maps it. */
static struct sim_segment look_inside(void)
{
	struct sim_segment segment;

	assert_int_equal(sim_segment_map(fd, sizeof(struct sim_trace_head), &segment), 0);
	return segment;
}

static struct sim_trace_layout layout_of(const struct sim_segment *segment)
{
	return sim_trace_layout_of(segment->base);
}

static struct sim_trace_ring *ring_of(const struct sim_segment *segment, uint32_t number)
{
	struct sim_trace_layout layout = layout_of(segment);

	return (void *)((uint8_t *)segment->base + layout.rings + number * layout.ring_bytes);
}

static void expect_bad(uint64_t num_bad, size_t num_events)
{
	struct sim_trace_recording recording;

	assert_int_equal(sim_trace_recording_read_fd(fd, &session, &recording), 0);
	assert_int_equal(recording.num_bad, num_bad);
	assert_int_equal(recording.num_events, num_events);
	sim_trace_recording_free(&recording);
}

static void test_a_head_that_does_not_fit_its_segment_is_refused(void **state)
{
	struct sim_segment inside = look_inside();
	struct sim_trace_head *head = inside.base;
	const struct sim_trace_head good = *head;
	struct sim_trace_recording recording;

	head->num_records *= 2;
	assert_int_equal(sim_trace_recording_read_fd(fd, &session, &recording), -EPROTO);
	*head = good;
	head->num_records = 0;
	assert_int_equal(sim_trace_recording_read_fd(fd, &session, &recording), -EPROTO);
	*head = good;
	head->num_rings = UINT32_MAX;
	assert_int_equal(sim_trace_recording_read_fd(fd, &session, &recording), -EPROTO);
	*head = good;
	head->num_objects = UINT32_MAX;
	assert_int_equal(sim_trace_recording_read_fd(fd, &session, &recording), -EPROTO);
	*head = good;
	head->magic++;
	assert_int_equal(sim_trace_recording_read_fd(fd, &session, &recording), -EPROTO);
	*head = good;
	expect_bad(0, 0);
	sim_segment_unmap(&inside);
}

static void test_records_of_unknown_kinds_things_and_times_are_left_out(void **state)
{
	struct sim_segment inside = look_inside();
	struct sim_trace_record *record = ring_of(&inside, SIM_TRACE_RING_LIFECYCLE)->records;
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL);
	uint64_t good_ns;

	sim_trace_state(context, 0, 2);
	good_ns = record->time_ns;
	expect_bad(0, 1);
	record->kind = SIM_TRACE_NUM_KINDS;
	expect_bad(1, 0);
	record->kind = 0;
	expect_bad(1, 0);
	record->kind = SIM_TRACE_TASK; /* there is no operation, and no time of reaping */
	expect_bad(1, 0);
	record->kind = SIM_TRACE_STATE;
	record->subject = 2;
	expect_bad(1, 0);
	record->subject = 0;
	expect_bad(1, 0);
	record->subject = context;
	record->time_ns = session.zero_ns - 1;
	expect_bad(1, 0);
	record->time_ns = UINT64_MAX;
	expect_bad(1, 0);
	record->time_ns = good_ns;
	expect_bad(0, 1);
	sim_segment_unmap(&inside);
}

static void test_a_record_that_is_not_whole_counts_as_lost(void **state)
{
	struct sim_segment inside = look_inside();
	struct sim_trace_record *record = ring_of(&inside, SIM_TRACE_RING_LIFECYCLE)->records;
	struct sim_trace_recording recording;

	sim_trace_state(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 0, 2);
	record->number = 0;
	recording = read_all();
	assert_int_equal(recording.num_events, 0);
	assert_int_equal(recording.num_lost, 1);
	sim_trace_recording_free(&recording);
	sim_segment_unmap(&inside);
}

static void test_tables_that_lead_nowhere_lead_to_none(void **state)
{
	struct sim_segment inside = look_inside();
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_0");
	struct sim_trace_object *object = (void *)((uint8_t *)inside.base + layout_of(&inside).objects);
	struct sim_trace_op *op = (void *)((uint8_t *)inside.base + layout_of(&inside).ops);
	struct sim_trace_recording recording;
	struct sim_trace_task_stats stats;

	sim_trace_task_stats_init(&stats, context, "DMA memcpy");
	do_task(&stats, NULL);
	memset((uint8_t *)inside.base + layout_of(&inside).names, 'n', SIM_TRACE_NAME_SIZE); /* no end */
	object->parent = 1;
	object->device = 1000;
	op->object = op->name = UINT32_MAX;
	((struct sim_trace_head *)inside.base)->used_objects = UINT32_MAX;
	recording = read_all();
	assert_int_equal(strlen(sim_trace_name_of(&recording, recording.objects[0].name)), SIM_TRACE_NAME_SIZE - 1);
	assert_int_equal(recording.objects[0].parent, 0);
	assert_int_equal(recording.objects[0].device, 0);
	assert_int_equal(recording.num_objects, 1024);
	assert_int_equal(sim_trace_object_of(&recording, recording.events), 0);
	assert_string_equal(sim_trace_name_of(&recording, recording.ops[0].name), "");
	sim_trace_recording_free(&recording);
	sim_segment_unmap(&inside);
}

/* Numbers go up to the largest one, and the text of the last line continues beyond it. */
static void test_a_text_that_continues_behind_the_last_number_ends(void **state)
{
	struct sim_segment inside = look_inside();
	struct sim_trace_ring *ring = ring_of(&inside, SIM_TRACE_RING_LOG);
	const uint32_t num_records = ((const struct sim_trace_head *)inside.base)->num_records;
	struct sim_trace_recording recording;

	log_line(30, "begins");
	ring->num_written = UINT64_MAX;
	ring->records[(UINT64_MAX - 1) % num_records] = ring->records[0];
	for (uint64_t i = 0; i < SIM_TRACE_MAX_TEXT_RECORDS; i++) {
		struct sim_trace_record *record = &ring->records[(UINT64_MAX - 1 + i) % num_records];

		record->number = UINT64_MAX + i;
		record->kind = i == 0 ? SIM_TRACE_LOG : SIM_TRACE_TEXT;
		record->time_ns = ring->records[0].time_ns;
	}
	recording = read_all();
	assert_int_equal(recording.num_events, 1);
	assert_int_equal(recording.num_lost, UINT64_MAX - 1);
	sim_trace_recording_free(&recording);
	sim_segment_unmap(&inside);
}

/* The process writes on as before: the position is in its own memory. */
static void test_a_recorder_trusts_nothing_in_its_memory(void **state)
{
	struct sim_segment inside = look_inside();
	struct sim_trace_recording recording;

	sim_trace_state(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 0, 2);
	ring_of(&inside, SIM_TRACE_RING_LIFECYCLE)->num_written = UINT64_MAX - 1;
	memset(inside.base, 0xff, layout_of(&inside).rings);
	for (int i = 0; i < 5000; i++) {
		uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_1");

		sim_trace_state(context, 0, 2);
		log_line(30, "again");
		sim_trace_object_end(context);
	}
	assert_int_equal(sim_trace_recording_read_fd(fd, &session, &recording), -EPROTO);
	sim_segment_unmap(&inside);
}

static void test_what_is_no_segment_is_refused(void **state)
{
	struct sim_trace_recording recording;
	int other = open("/dev/zero", O_RDWR);

	assert_int_equal(sim_trace_recording_read_fd(other, &session, &recording), -EPROTO);
	assert_int_equal(sim_trace_recording_read_fd(-1, &session, &recording), -EPROTO);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_head_that_does_not_fit_its_segment_is_refused),
		TEST(test_records_of_unknown_kinds_things_and_times_are_left_out),
		TEST(test_a_record_that_is_not_whole_counts_as_lost),
		TEST(test_tables_that_lead_nowhere_lead_to_none),
		TEST(test_a_text_that_continues_behind_the_last_number_ends),
		TEST(test_a_recorder_trusts_nothing_in_its_memory),
		TEST(test_what_is_no_segment_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
