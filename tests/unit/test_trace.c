/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace: what a process writes to its recording is what another reads there,
 * in bounded memory, and what is written there with intent does no harm. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/shm/segment.h"
#include "sim/trace/recording.h"
#include "sim/trace/trace.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static int fd = -1;
static uint64_t zero_ns;

static int begin(void **state)
{
	(void)state;
	unsetenv("BFSIM_TRACE");
	zero_ns = sim_trace_now_ns();
	return sim_trace_begin(SIM_TRACE_UNSET, &fd);
}

static int end(void **state)
{
	(void)state;
	sim_trace_end();
	close(fd);
	fd = -1;
	return 0;
}

static struct sim_trace_recording read_all(void)
{
	struct sim_trace_recording recording;

	assert_int_equal(sim_trace_recording_read_fd(fd, zero_ns, &recording), 0);
	assert_int_equal(recording.num_bad, 0);
	return recording;
}

/* The shared memory itself, as somebody else has it. */
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

static void log_line(int level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sim_trace_log(level, format, args);
	va_end(args);
}

/* One task that moves 64 bytes; timed if it is its turn. */
static void do_task(struct sim_trace_pen *pen, const char *why)
{
	struct sim_trace_task_times times = {0};
	bool timed = sim_trace_pen_turn(pen);

	if (timed) {
		sim_trace_task_begin(pen, &times);
		times.began_ns = times.ended_ns = sim_trace_now_ns();
	}
	sim_trace_add(&pen->op->submitted, 1);
	sim_trace_add(why ? &pen->op->failed : &pen->op->completed, 1);
	if (timed || why)
		sim_trace_task(pen, &times, 64, why);
}

/* ---- what is recorded ---- */

static void test_a_context_and_its_states_are_read_as_they_were(void **state)
{
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_0");
	struct sim_trace_recording recording;

	(void)state;
	sim_trace_state(context, 0, 2);
	sim_trace_state(context, 2, 3);
	recording = read_all();
	assert_int_equal(recording.num_objects, 1);
	assert_int_equal(recording.objects[0].kind, SIM_TRACE_CONTEXT);
	assert_string_equal(sim_trace_name_of(&recording, recording.objects[0].name), "dma");
	assert_string_equal(sim_trace_name_of(&recording, recording.objects[0].place), "mlx5_0");
	assert_int_equal(recording.objects[0].state, 3);
	assert_int_equal(recording.num_events, 2);
	assert_int_equal(recording.events[0].kind, SIM_TRACE_STATE);
	assert_int_equal(recording.events[0].args[1], 2);
	assert_int_equal(recording.events[1].args[0], 2);
	assert_true(recording.events[1].time_ns >= recording.events[0].time_ns);
	assert_int_equal(recording.events[0].thread, gettid());
	sim_trace_recording_free(&recording);
}

static void test_a_task_has_its_times_bytes_and_reason(void **state)
{
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_0");
	struct sim_trace_recording recording;
	const struct sim_trace_event *task;
	struct sim_trace_pen pen;

	(void)state;
	sim_trace_pen_init(&pen, context, "DMA memcpy");
	do_task(&pen, NULL);
	do_task(&pen, "DOCA_ERROR_IO_FAILED");
	recording = read_all();
	assert_int_equal(recording.num_events, 2);
	task = recording.events;
	assert_string_equal(sim_trace_name_of(&recording, sim_trace_op_of(&recording, task)->name), "DMA memcpy");
	assert_int_equal(sim_trace_object_of(&recording, task), context);
	assert_true(task->time_ns <= task->args[0] && task->args[0] <= task->args[1] && task->args[1] <= task->args[2]);
	assert_int_equal(task->args[3], 64);
	assert_int_equal(task->detail, 1);
	assert_int_equal(task->why, 0);
	assert_string_equal(sim_trace_name_of(&recording, recording.events[1].why), "DOCA_ERROR_IO_FAILED");
	sim_trace_recording_free(&recording);
}

static void test_a_log_line_keeps_its_text_up_to_256_bytes(void **state)
{
	char longest[400];
	struct sim_trace_recording recording;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	log_line(30, "the queue is %s", "full: \"\x01\xff\" and \xc3\xa4");
	log_line(40, "%s", longest);
	log_line(40, "%s", "");
	recording = read_all();
	assert_int_equal(recording.num_events, 3);
	assert_int_equal(recording.events[0].detail, 30);
	assert_string_equal(recording.events[0].text, "the queue is full: \"??\" and \xc3\xa4");
	assert_int_equal(strlen(recording.events[1].text), SIM_TRACE_MAX_TEXT_RECORDS * SIM_TRACE_TEXT_BYTES);
	assert_string_equal(recording.events[2].text, "");
	sim_trace_recording_free(&recording);
}

static void test_a_fault_says_its_rule(void **state)
{
	struct sim_trace_recording recording;

	(void)state;
	sim_trace_fault(0, 7);
	recording = read_all();
	assert_int_equal(recording.num_events, 1);
	assert_int_equal(recording.events[0].args[0], 7);
	sim_trace_recording_free(&recording);
}

/* A process that is killed leaves what it had written: its segment is ours, too. */
static void test_what_a_killed_process_recorded_is_still_there(void **state)
{
	struct sim_trace_recording recording;
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0) {
		log_line(40, "my last words");
		abort();
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	recording = read_all();
	assert_int_equal(recording.num_events, 1);
	assert_int_equal(recording.events[0].thread, pid);
	assert_string_equal(recording.events[0].text, "my last words");
	sim_trace_recording_free(&recording);
}

/* ---- how much ---- */

/* A ring holds 4096: of 5000 lines the first 904 are gone, and it is known. */
static void test_a_full_ring_loses_the_oldest_and_says_how_many(void **state)
{
	struct sim_trace_recording recording;

	(void)state;
	for (int i = 0; i < 5000; i++)
		log_line(40, "line %d", i);
	recording = read_all();
	assert_int_equal(recording.num_events, 4096);
	assert_int_equal(recording.num_lost, 904);
	assert_string_equal(recording.events[0].text, "line 904");
	assert_string_equal(recording.events[4095].text, "line 4999");
	sim_trace_recording_free(&recording);
}

static void test_a_flood_of_log_lines_leaves_contexts_and_tasks_alone(void **state)
{
	struct sim_trace_recording recording;

	(void)state;
	sim_trace_state(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 0, 2);
	for (int i = 0; i < 5000; i++)
		log_line(40, "line %d", i);
	recording = read_all();
	assert_int_equal(recording.events[0].kind, SIM_TRACE_STATE);
	sim_trace_recording_free(&recording);
}

/* Tasks in no time: the first 512 take all credits, then the distance doubles up to 1024. All are counted. */
static void test_of_a_flood_of_tasks_some_are_recorded_and_all_counted(void **state)
{
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL);
	struct sim_trace_recording recording;
	struct sim_trace_pen pen;

	(void)state;
	sim_trace_pen_init(&pen, context, "DMA memcpy");
	for (int i = 0; i < 100000; i++)
		do_task(&pen, NULL);
	recording = read_all();
	assert_int_equal(recording.ops[0].submitted, 100000);
	assert_int_equal(recording.ops[0].completed, 100000);
	assert_true(recording.num_events >= SIM_TRACE_BURST + 90);
	/* a credit comes each 80 us: even on a slow machine that is fewer than all */
	assert_true(recording.num_events + recording.num_lost < 100000);
	sim_trace_recording_free(&recording);
}

static void test_at_level_full_each_task_is_recorded(void **state)
{
	struct sim_trace_recording recording;
	struct sim_trace_pen pen;

	(void)state;
	end(NULL);
	assert_int_equal(sim_trace_begin(SIM_TRACE_FULL, &fd), 0);
	sim_trace_pen_init(&pen, sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), "DMA memcpy");
	for (int i = 0; i < 30000; i++)
		do_task(&pen, NULL);
	recording = read_all();
	assert_int_equal(recording.level, SIM_TRACE_FULL);
	assert_int_equal(recording.num_events, 30000);
	assert_int_equal(recording.num_lost, 0);
	sim_trace_recording_free(&recording);
}

static void test_failed_tasks_are_recorded_whatever_the_pace(void **state)
{
	struct sim_trace_recording recording;
	struct sim_trace_pen pen;
	size_t failed = 0;

	(void)state;
	sim_trace_pen_init(&pen, sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), "DMA memcpy");
	for (int i = 0; i < 3000; i++)
		do_task(&pen, i >= 2000 ? "DOCA_ERROR_IO_FAILED" : NULL);
	recording = read_all();
	for (size_t i = 0; i < recording.num_events; i++)
		failed += recording.events[i].why != 0;
	assert_int_equal(failed, 1000);
	assert_int_equal(recording.ops[0].failed, 1000);
	sim_trace_recording_free(&recording);
}

/* 1024 entries: contexts beyond go where one like them has been, and all is counted. */
static void test_more_contexts_than_entries_share_them(void **state)
{
	struct sim_trace_recording recording;
	uint64_t submitted = 0, lives = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, i % 2 ? "dma" : "comch_client", "mlx5_0");
		struct sim_trace_pen pen;

		assert_true(context >= 1 && context <= 1024);
		sim_trace_pen_init(&pen, context, "task");
		do_task(&pen, NULL);
		sim_trace_object_end(context);
	}
	recording = read_all();
	for (uint32_t i = 0; i < recording.num_ops; i++)
		submitted += recording.ops[i].submitted;
	for (uint32_t i = 0; i < recording.num_objects; i++)
		lives += recording.objects[i].lives;
	assert_int_equal(submitted, 3000);
	assert_int_equal(lives, 3000);
	sim_trace_recording_free(&recording);
}

/* ---- off, and over ---- */

static void test_the_environment_chooses_the_level(void **state)
{
	int other = -1;

	(void)state;
	assert_int_equal(sim_trace_begin(SIM_TRACE_FULL, &other), -EBUSY);
	end(NULL);
	setenv("BFSIM_TRACE", "off", 1);
	assert_int_equal(sim_trace_begin(SIM_TRACE_FULL, &fd), -ENOENT);
	setenv("BFSIM_TRACE", "everything", 1);
	assert_int_equal(sim_trace_begin(SIM_TRACE_FULL, &fd), -EINVAL);
	unsetenv("BFSIM_TRACE");
	assert_int_equal(sim_trace_begin(SIM_TRACE_OFF, &fd), -ENOENT);
	assert_int_equal(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 0);
	log_line(30, "nobody hears this");
	assert_int_equal(sim_trace_begin(SIM_TRACE_SAMPLED, &fd), 0);
	assert_int_equal(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 1);
}

/* A pen that outlives its recording writes to nowhere. */
static void test_a_pen_that_is_left_over_does_no_harm(void **state)
{
	struct sim_trace_recording recording;
	struct sim_trace_pen pen;

	(void)state;
	sim_trace_pen_init(&pen, sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), "DMA memcpy");
	do_task(&pen, NULL);
	sim_trace_end();
	for (int i = 0; i < 10; i++)
		do_task(&pen, NULL);
	recording = read_all();
	assert_int_equal(recording.num_events, 1);
	assert_int_equal(recording.ops[0].submitted, 1);
	sim_trace_recording_free(&recording);
}

static void test_a_forked_child_writes_nothing_into_its_parents(void **state)
{
	struct sim_trace_recording recording;
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0) {
		sim_trace_forked();
		log_line(30, "of the child");
		_exit(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	recording = read_all();
	assert_int_equal(recording.num_events, 0);
	sim_trace_recording_free(&recording);
}

/* ---- recordings that lie ---- */

static void expect_bad(uint64_t num_bad, size_t num_events)
{
	struct sim_trace_recording recording;

	assert_int_equal(sim_trace_recording_read_fd(fd, zero_ns, &recording), 0);
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

	(void)state;
	head->num_records *= 2;
	assert_int_equal(sim_trace_recording_read_fd(fd, zero_ns, &recording), -EPROTO);
	*head = good;
	head->num_records = 0;
	assert_int_equal(sim_trace_recording_read_fd(fd, zero_ns, &recording), -EPROTO);
	*head = good;
	head->num_rings = UINT32_MAX;
	assert_int_equal(sim_trace_recording_read_fd(fd, zero_ns, &recording), -EPROTO);
	*head = good;
	head->num_objects = UINT32_MAX;
	assert_int_equal(sim_trace_recording_read_fd(fd, zero_ns, &recording), -EPROTO);
	*head = good;
	head->magic++;
	assert_int_equal(sim_trace_recording_read_fd(fd, zero_ns, &recording), -EPROTO);
	*head = good;
	expect_bad(0, 0);
	sim_segment_unmap(&inside);
}

static void test_records_of_unknown_kinds_things_and_times_are_left_out(void **state)
{
	struct sim_segment inside = look_inside();
	struct sim_trace_record *record = ring_of(&inside, SIM_TRACE_RING_LIFE)->records;
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL);
	uint64_t good_ns;

	(void)state;
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
	record->time_ns = zero_ns - 1;
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
	struct sim_trace_record *record = ring_of(&inside, SIM_TRACE_RING_LIFE)->records;
	struct sim_trace_recording recording;

	(void)state;
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
	struct sim_trace_pen pen;

	(void)state;
	sim_trace_pen_init(&pen, context, "DMA memcpy");
	do_task(&pen, NULL);
	memset((uint8_t *)inside.base + layout_of(&inside).names, 'n', SIM_TRACE_NAME_SIZE); /* no end */
	object->parent = 1;
	object->place = 1000;
	op->object = op->name = UINT32_MAX;
	((struct sim_trace_head *)inside.base)->used_objects = UINT32_MAX;
	recording = read_all();
	assert_int_equal(strlen(sim_trace_name_of(&recording, recording.objects[0].name)), SIM_TRACE_NAME_SIZE - 1);
	assert_int_equal(recording.objects[0].parent, 0);
	assert_int_equal(recording.objects[0].place, 0);
	assert_int_equal(recording.num_objects, 1024);
	assert_int_equal(sim_trace_object_of(&recording, recording.events), 0);
	assert_string_equal(sim_trace_name_of(&recording, recording.ops[0].name), "");
	sim_trace_recording_free(&recording);
	sim_segment_unmap(&inside);
}

/* It may write on as if nothing had happened: its own memory says where. */
static void test_a_recorder_believes_nothing_of_its_memory(void **state)
{
	struct sim_segment inside = look_inside();
	struct sim_trace_recording recording;

	(void)state;
	sim_trace_state(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 0, 2);
	ring_of(&inside, SIM_TRACE_RING_LIFE)->num_written = UINT64_MAX - 1;
	memset(inside.base, 0xff, layout_of(&inside).rings);
	for (int i = 0; i < 5000; i++) {
		uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_1");

		sim_trace_state(context, 0, 2);
		log_line(30, "again");
		sim_trace_object_end(context);
	}
	assert_int_equal(sim_trace_recording_read_fd(fd, zero_ns, &recording), -EPROTO);
	sim_segment_unmap(&inside);
}

static void test_what_is_no_segment_is_refused(void **state)
{
	struct sim_trace_recording recording;
	int other = open("/dev/zero", O_RDWR);

	(void)state;
	assert_int_equal(sim_trace_recording_read_fd(other, zero_ns, &recording), -EPROTO);
	assert_int_equal(sim_trace_recording_read_fd(-1, zero_ns, &recording), -EPROTO);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_context_and_its_states_are_read_as_they_were),
		TEST(test_a_task_has_its_times_bytes_and_reason),
		TEST(test_a_log_line_keeps_its_text_up_to_256_bytes),
		TEST(test_a_fault_says_its_rule),
		TEST(test_what_a_killed_process_recorded_is_still_there),
		TEST(test_a_full_ring_loses_the_oldest_and_says_how_many),
		TEST(test_a_flood_of_log_lines_leaves_contexts_and_tasks_alone),
		TEST(test_of_a_flood_of_tasks_some_are_recorded_and_all_counted),
		TEST(test_at_level_full_each_task_is_recorded),
		TEST(test_failed_tasks_are_recorded_whatever_the_pace),
		TEST(test_more_contexts_than_entries_share_them),
		TEST(test_the_environment_chooses_the_level),
		TEST(test_a_pen_that_is_left_over_does_no_harm),
		TEST(test_a_forked_child_writes_nothing_into_its_parents),
		TEST(test_a_head_that_does_not_fit_its_segment_is_refused),
		TEST(test_records_of_unknown_kinds_things_and_times_are_left_out),
		TEST(test_a_record_that_is_not_whole_counts_as_lost),
		TEST(test_tables_that_lead_nowhere_lead_to_none),
		TEST(test_a_recorder_believes_nothing_of_its_memory),
		TEST(test_what_is_no_segment_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
