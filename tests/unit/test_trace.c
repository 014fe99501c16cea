/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace: what a process writes to its recording is what another reads there,
 * in bounded memory. */
#include "trace_rig.h"

#include <sys/wait.h>

#include "sim/base/log.h"
#include "sim/trace/export/merged_trace.h"

/* ---- what is recorded ---- */

static void test_a_context_and_its_states_are_read_as_they_were(void **state)
{
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_0");
	struct sim_trace_recording recording;

	sim_trace_state(context, 0, 2);
	sim_trace_state(context, 2, 3);
	recording = read_all();
	assert_int_equal(recording.num_objects, 1);
	assert_int_equal(recording.objects[0].kind, SIM_TRACE_CONTEXT);
	assert_string_equal(sim_trace_name_of(&recording, recording.objects[0].name), "dma");
	assert_string_equal(sim_trace_name_of(&recording, recording.objects[0].device), "mlx5_0");
	assert_int_equal(recording.objects[0].state, 3);
	assert_int_equal(recording.num_events, 2);
	assert_int_equal(recording.events[0].kind, SIM_TRACE_STATE);
	assert_int_equal(recording.events[0].data.state.to, 2);
	assert_int_equal(recording.events[1].data.state.from, 2);
	assert_true(recording.events[1].time_ns >= recording.events[0].time_ns);
	assert_int_equal(recording.events[0].thread, gettid());
	sim_trace_recording_free(&recording);
}

static void test_late_tasks_are_counted_with_the_worst(void **state)
{
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_0");
	struct sim_trace_recording recording;

	sim_trace_late(context, 2000);
	sim_trace_late(context, 3000);
	sim_trace_late(context, 1500);
	sim_trace_late(0, 4000); /* of no context */
	recording = read_all();
	assert_int_equal(recording.objects[0].num_late, 3);
	assert_int_equal(recording.objects[0].max_late_ns, 3000);
	sim_trace_recording_free(&recording);
}

static void test_a_task_has_its_times_bytes_and_reason(void **state)
{
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_0");
	struct sim_trace_recording recording;
	const struct sim_trace_event *task;
	struct sim_trace_task_stats stats;

	sim_trace_task_stats_init(&stats, context, "DMA memcpy");
	do_task(&stats, NULL);
	do_task(&stats, "DOCA_ERROR_IO_FAILED");
	recording = read_all();
	assert_int_equal(recording.num_events, 2);
	task = recording.events;
	assert_string_equal(sim_trace_name_of(&recording, sim_trace_op_of(&recording, task)->name), "DMA memcpy");
	assert_int_equal(sim_trace_object_of(&recording, task), context);
	assert_true(task->time_ns <= task->data.task.began_ns && task->data.task.began_ns <= task->data.task.ended_ns &&
		    task->data.task.ended_ns <= task->data.task.reaped_ns);
	assert_int_equal(task->data.task.bytes, 64);
	assert_int_equal(task->in_flight, 1);
	assert_int_equal(task->reason, 0);
	assert_string_equal(sim_trace_name_of(&recording, recording.events[1].reason), "DOCA_ERROR_IO_FAILED");
	sim_trace_recording_free(&recording);
}

static void test_a_log_line_keeps_its_text_up_to_256_bytes(void **state)
{
	char longest[400];
	struct sim_trace_recording recording;

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	log_line(30, "the queue is %s", "full: \"\x01\xff\" and \xc3\xa4");
	log_line(40, "%s", longest);
	log_line(40, "%s", "");
	recording = read_all();
	assert_int_equal(recording.num_events, 3);
	assert_int_equal(recording.events[0].log_level, 30);
	assert_string_equal(recording.events[0].text, "the queue is full: \"??\" and \xc3\xa4");
	assert_int_equal(strlen(recording.events[1].text), SIM_TRACE_MAX_TEXT_RECORDS * SIM_TRACE_TEXT_BYTES);
	assert_string_equal(recording.events[2].text, "");
	sim_trace_recording_free(&recording);
}

static void test_a_fault_event_has_its_rule_and_its_operation(void **state)
{
	struct sim_trace_recording recording;
	const struct sim_trace_fault_hit hit = {
		.rule = 7, .operation = "dma.memcpy", .match = 3, .bytes = 64, .delay_ns = 500
	};

	sim_trace_fault(0, &hit);
	recording = read_all();
	assert_int_equal(recording.num_events, 1);
	assert_string_equal(sim_trace_name_of(&recording, recording.events[0].reason), "dma.memcpy");
	assert_int_equal(recording.events[0].data.fault.rule, 7);
	assert_int_equal(recording.events[0].data.fault.match, 3);
	assert_int_equal(recording.events[0].data.fault.bytes, 64);
	assert_int_equal(recording.events[0].data.fault.delay_ns, 500);
	sim_trace_recording_free(&recording);
}

/* A killed process leaves its segment in shared memory, with all that it recorded. */
static void test_what_a_killed_process_recorded_is_still_there(void **state)
{
	struct sim_trace_recording recording;
	int status;
	pid_t pid;

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

/* A ring holds 4096: of 5000 lines the first 904 are overwritten, and counted as lost. */
static void test_a_full_ring_loses_the_oldest_and_says_how_many(void **state)
{
	struct sim_trace_recording recording;

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

	sim_trace_state(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 0, 2);
	for (int i = 0; i < 5000; i++)
		log_line(40, "line %d", i);
	recording = read_all();
	assert_int_equal(recording.events[0].kind, SIM_TRACE_STATE);
	sim_trace_recording_free(&recording);
}

/* Tasks without pauses: the first 512 take all credits, then the distance doubles up to 1024. All are counted. */
static void test_of_a_flood_of_tasks_some_are_recorded_and_all_counted(void **state)
{
	uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL);
	struct sim_trace_recording recording;
	struct sim_trace_task_stats stats;

	sim_trace_task_stats_init(&stats, context, "DMA memcpy");
	for (int i = 0; i < 100000; i++)
		do_task(&stats, NULL);
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
	struct sim_trace_task_stats stats;

	end(NULL);
	assert_int_equal(sim_trace_begin(SIM_TRACE_FULL, &session, &fd), 0);
	sim_trace_task_stats_init(&stats, sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), "DMA memcpy");
	for (int i = 0; i < 30000; i++)
		do_task(&stats, NULL);
	recording = read_all();
	assert_int_equal(recording.level, SIM_TRACE_FULL);
	assert_int_equal(recording.num_events, 30000);
	assert_int_equal(recording.num_lost, 0);
	sim_trace_recording_free(&recording);
}

static void test_failed_tasks_are_recorded_whatever_the_pace(void **state)
{
	struct sim_trace_recording recording;
	struct sim_trace_task_stats stats;
	size_t failed = 0;

	sim_trace_task_stats_init(&stats, sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), "DMA memcpy");
	for (int i = 0; i < 3000; i++)
		do_task(&stats, i >= 2000 ? "DOCA_ERROR_IO_FAILED" : NULL);
	recording = read_all();
	for (size_t i = 0; i < recording.num_events; i++)
		failed += recording.events[i].reason != 0;
	assert_int_equal(failed, 1000);
	assert_int_equal(recording.ops[0].failed, 1000);
	sim_trace_recording_free(&recording);
}

/* 1024 entries: a further context shares the entry of a similar one, and all is counted. */
static void test_more_contexts_than_entries_share_them(void **state)
{
	struct sim_trace_recording recording;
	uint64_t submitted = 0, lives = 0;

	for (int i = 0; i < 3000; i++) {
		uint32_t context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, i % 2 ? "dma" : "comch_client", "mlx5_0");
		struct sim_trace_task_stats stats;

		assert_true(context >= 1 && context <= 1024);
		sim_trace_task_stats_init(&stats, context, "task");
		do_task(&stats, NULL);
		sim_trace_object_end(context);
	}
	recording = read_all();
	for (uint32_t i = 0; i < recording.num_ops; i++)
		submitted += recording.ops[i].submitted;
	for (uint32_t i = 0; i < recording.num_objects; i++)
		lives += recording.objects[i].num_uses;
	assert_int_equal(submitted, 3000);
	assert_int_equal(lives, 3000);
	sim_trace_recording_free(&recording);
}

/* ---- virtual time ---- */

static _Atomic uint64_t virtual_ns;

/* Record anew, by virtual time. */
static void begin_virtual(enum sim_trace_level level)
{
	end(NULL);
	virtual_ns = 0;
	session.virtual_ns = &virtual_ns;
	assert_int_equal(sim_trace_begin(level, &session, &fd), 0);
}

static void test_virtual_times_are_exact(void **state)
{
	uint32_t context;
	struct sim_trace_recording recording;
	struct sim_trace_task_times times;
	struct sim_trace_task_stats stats;

	begin_virtual(SIM_TRACE_SAMPLED);
	context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_0");
	sim_trace_task_stats_init(&stats, context, "DMA memcpy");
	sim_trace_state(context, 0, 2);
	virtual_ns = 100;
	sim_trace_task_submitted(&stats, &times);
	times.began_ns = times.ended_ns = sim_trace_now_ns();
	virtual_ns = UINT64_C(3600000000000); /* an hour later, at once */
	sim_trace_task_done(&stats, &times, 64, NULL);
	recording = read_all();
	assert_int_equal(recording.num_events, 2);
	assert_int_equal(recording.events[0].time_ns, session.zero_ns);
	assert_int_equal(recording.events[1].time_ns, session.zero_ns + 100);
	assert_int_equal(recording.events[1].data.task.ended_ns, session.zero_ns + 100);
	assert_int_equal(recording.events[1].data.task.reaped_ns, session.zero_ns + virtual_ns);
	sim_trace_recording_free(&recording);
}

static void test_a_record_of_virtual_time_to_come_is_left_out(void **state)
{
	struct sim_trace_recording recording;

	begin_virtual(SIM_TRACE_SAMPLED);
	virtual_ns = 1000;
	sim_trace_state(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 0, 2);
	virtual_ns = 999; /* for the reader */
	assert_int_equal(sim_trace_recording_read_fd(fd, &session, &recording), 0);
	assert_int_equal(recording.num_events, 0);
	assert_int_equal(recording.num_bad, 1);
	sim_trace_recording_free(&recording);
}

/* The selection of recorded tasks must not depend on the machine's speed. */
static void test_the_pace_is_that_of_virtual_time(void **state)
{
	struct sim_trace_recording recording;
	struct sim_trace_task_stats stats;

	begin_virtual(SIM_TRACE_SAMPLED);
	sim_trace_task_stats_init(&stats, sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), "DMA memcpy");
	for (int i = 0; i < SIM_TRACE_BURST; i++)
		do_task(&stats, NULL);
	usleep(2 * SIM_TRACE_CREDIT_NS / 1000); /* this brings no credit */
	for (int i = 0; i < 100; i++)
		do_task(&stats, NULL);
	for (int i = 0; i < 2000; i++, virtual_ns += SIM_TRACE_CREDIT_NS)
		do_task(&stats, NULL);
	recording = read_all();
	/* the burst; one in 2, 4, 8, ... of the hundred; and nearly all that were no faster than credits */
	assert_true(recording.num_events > SIM_TRACE_BURST + 1000);
	assert_true(recording.events[SIM_TRACE_BURST + 6].time_ns > session.zero_ns);
	sim_trace_recording_free(&recording);
}

/* In order of time, and a message is sent before it is received. */
static void test_what_happens_at_one_moment_is_told_in_order(void **state)
{
	struct sim_merged_trace merged = { 0 };
	struct sim_trace_recording recording;
	uint32_t context;

	begin_virtual(SIM_TRACE_SAMPLED);
	context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL);
	log_line(SIM_LOG_WARNING, "a line");
	for (uint64_t i = 0; i < 100; i++)
		sim_trace_message(SIM_TRACE_RECEIVED, context, 1, i, 1, sim_trace_now_ns(), 0);
	for (uint64_t i = 0; i < 100; i++)
		sim_trace_message(SIM_TRACE_SENT, context, 2, i, 1, sim_trace_now_ns(), 0);
	sim_trace_state(context, 0, 2);
	sim_trace_state(context, 2, 0);
	recording = read_all();
	assert_int_equal(sim_merged_trace_add(&merged, &recording), 0);
	assert_int_equal(sim_merged_trace_sort(&merged), 0);
	assert_int_equal(merged.num_events, 203);
	assert_int_equal(merged.events[0].data.state.to, 2);
	assert_int_equal(merged.events[1].data.state.to, 0);
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(merged.events[2 + i].kind, SIM_TRACE_SENT);
		assert_int_equal(merged.events[2 + i].data.message.number, i);
		assert_int_equal(merged.events[102 + i].kind, SIM_TRACE_RECEIVED);
		assert_int_equal(merged.events[102 + i].data.message.number, i);
	}
	assert_int_equal(merged.events[202].kind, SIM_TRACE_LOG);
	sim_merged_trace_free(&merged);
}

static size_t count_of(const char *text, const char *what)
{
	size_t count = 0;

	while ((text = strstr(text, what))) {
		text++;
		count++;
	}
	return count;
}

/* Slices without length, and each has its end of an arrow right behind it. */
static void test_messages_of_one_moment_keep_their_arrows(void **state)
{
	struct sim_merged_trace merged = { .zero_ns = session.zero_ns };
	struct sim_trace_recording recording;
	char *text = NULL;
	uint32_t context;
	size_t len;
	FILE *out;

	begin_virtual(SIM_TRACE_FULL);
	context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "comch", NULL);
	for (uint64_t i = 0; i < 3; i++)
		sim_trace_message(SIM_TRACE_SENT, context, 1, i, 1, sim_trace_now_ns(), 0);
	for (uint64_t i = 0; i < 3; i++)
		sim_trace_message(SIM_TRACE_RECEIVED, context, 1, i, 1, sim_trace_now_ns(), 0);
	recording = read_all();
	assert_int_equal(sim_merged_trace_add(&merged, &recording), 0);
	assert_int_equal(sim_merged_trace_sort(&merged), 0);
	out = open_memstream(&text, &len);
	assert_non_null(out);
	assert_int_equal(sim_trace_export_perfetto(&merged, out), 0);
	fclose(out);
	assert_int_equal(count_of(text, "\"dur\":0.000"), 6);
	assert_int_equal(count_of(text, "\"number\":0}},\n{\"ph\":\"s\""), 1);
	assert_int_equal(count_of(text, "},\n{\"ph\":\"s\""), 3);
	assert_int_equal(count_of(text, "},\n{\"ph\":\"f\""), 3);
	free(text);
	sim_merged_trace_free(&merged);
}

/* The recording's memory is freed then. */
static void test_virtual_time_is_not_read_after_the_end(void **state)
{
	struct sim_trace_task_stats stats;

	begin_virtual(SIM_TRACE_FULL);
	sim_trace_task_stats_init(&stats, sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), "DMA memcpy");
	do_task(&stats, NULL);
	assert_int_equal(sim_trace_now_ns(), session.zero_ns);
	sim_trace_end();
	assert_true(sim_trace_now_ns() > session.zero_ns);
	do_task(&stats, NULL);
}

/* ---- off, and over ---- */

static void test_the_environment_chooses_the_level(void **state)
{
	int other = -1;

	assert_int_equal(sim_trace_begin(SIM_TRACE_FULL, &session, &other), -EBUSY);
	end(NULL);
	setenv("BFSIM_TRACE", "off", 1);
	assert_int_equal(sim_trace_begin(SIM_TRACE_FULL, &session, &fd), -ENOENT);
	setenv("BFSIM_TRACE", "everything", 1);
	assert_int_equal(sim_trace_begin(SIM_TRACE_FULL, &session, &fd), -EINVAL);
	unsetenv("BFSIM_TRACE");
	assert_int_equal(sim_trace_begin(SIM_TRACE_OFF, &session, &fd), -ENOENT);
	assert_int_equal(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 0);
	log_line(30, "not recorded");
	assert_int_equal(sim_trace_begin(SIM_TRACE_SAMPLED, &session, &fd), 0);
	assert_int_equal(sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), 1);
}

/* Counters that outlive their recording count into a dummy. */
static void test_counters_that_outlive_their_recording_do_no_harm(void **state)
{
	struct sim_trace_recording recording;
	struct sim_trace_task_stats stats;

	sim_trace_task_stats_init(&stats, sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", NULL), "DMA memcpy");
	do_task(&stats, NULL);
	sim_trace_end();
	for (int i = 0; i < 10; i++)
		do_task(&stats, NULL);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_context_and_its_states_are_read_as_they_were),
		TEST(test_late_tasks_are_counted_with_the_worst),
		TEST(test_a_task_has_its_times_bytes_and_reason),
		TEST(test_a_log_line_keeps_its_text_up_to_256_bytes),
		TEST(test_a_fault_event_has_its_rule_and_its_operation),
		TEST(test_what_a_killed_process_recorded_is_still_there),
		TEST(test_a_full_ring_loses_the_oldest_and_says_how_many),
		TEST(test_a_flood_of_log_lines_leaves_contexts_and_tasks_alone),
		TEST(test_of_a_flood_of_tasks_some_are_recorded_and_all_counted),
		TEST(test_at_level_full_each_task_is_recorded),
		TEST(test_failed_tasks_are_recorded_whatever_the_pace),
		TEST(test_more_contexts_than_entries_share_them),
		TEST(test_virtual_times_are_exact),
		TEST(test_a_record_of_virtual_time_to_come_is_left_out),
		TEST(test_the_pace_is_that_of_virtual_time),
		TEST(test_what_happens_at_one_moment_is_told_in_order),
		TEST(test_messages_of_one_moment_keep_their_arrows),
		TEST(test_virtual_time_is_not_read_after_the_end),
		TEST(test_the_environment_chooses_the_level),
		TEST(test_counters_that_outlive_their_recording_do_no_harm),
		TEST(test_a_forked_child_writes_nothing_into_its_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
