/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace: arrows of the trace follow tasks and messages, and never lead back, also when several events have one
 * time. */
#include "trace_rig.h"

#include "sim/trace/export/flows.h"
#include "sim/trace/export/timeline.h"

static _Atomic uint64_t virtual_ns;
static uint32_t context;
static struct sim_trace_task_stats stats;

static int begin_virtual(void **state)
{
	int rc = begin(state);

	sim_trace_end();
	close(fd);
	virtual_ns = 0;
	session.virtual_ns = &virtual_ns;
	rc |= sim_trace_begin(SIM_TRACE_FULL, &session, &fd);
	context = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "dma", "mlx5_0");
	stats = (struct sim_trace_task_stats){ 0 };
	sim_trace_task_stats_init(&stats, context, "DMA memcpy");
	return rc;
}

#define VIRTUAL_TEST(name) cmocka_unit_test_setup_teardown(name, begin_virtual, end)

static struct sim_trace_task_times submit(void)
{
	struct sim_trace_task_times times;

	sim_trace_task_submitted(&stats, &times);
	sim_trace_counter_add(&stats.op->submitted, 1);
	return times;
}

static void run(struct sim_trace_task_times *times, uint64_t ns)
{
	times->began_ns = sim_trace_now_ns();
	virtual_ns += ns;
	times->ended_ns = sim_trace_now_ns();
}

static struct sim_merged_trace read_merged(void)
{
	struct sim_merged_trace merged = { .zero_ns = session.zero_ns };
	struct sim_trace_recording recording = read_all();

	assert_int_equal(sim_merged_trace_add(&merged, &recording), 0);
	assert_int_equal(sim_merged_trace_sort(&merged), 0);
	return merged;
}

/* Of each event of the trace: its phase, time and, of slices and flows, name and number; one line each. */
static void shorten(char *line, FILE *out)
{
	char phase = line[7], *ts = strstr(line, "\"ts\":"), *name = strstr(line, "\"name\":\""),
	     *id = strstr(line, "\"id\":");

	if (!strchr("Xstf", phase) || strstr(line, "\"cat\":\"state\""))
		return;
	fprintf(out, "%c %.*s %.*s", phase, (int)strcspn(ts + 5, ","), ts + 5, (int)strcspn(name + 8, "\""), name + 8);
	if (phase == 'X')
		fputc('\n', out);
	else
		fprintf(out, " %d\n", atoi(id + 5));
}

static char *export_brief(const struct sim_merged_trace *merged)
{
	char *text = NULL, *brief = NULL, *rest = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(sim_trace_export_perfetto(merged, out), 0);
	fclose(out);
	out = open_memstream(&brief, &len);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, "{\"ph\":", 6) == 0)
			shorten(line, out);
	fclose(out);
	free(text);
	return brief;
}

static void expect_told(const char *expected)
{
	struct sim_merged_trace merged = read_merged();
	char *brief = export_brief(&merged);

	assert_string_equal(brief, expected);
	free(brief);
	sim_merged_trace_free(&merged);
}

/* Submitted at 0, run from 100 ns until 3.1 us, reported at 3.5 us. */
static void test_a_tasks_flow_leads_by_its_job_to_its_end(void **state)
{
	struct sim_trace_task_times times = submit();

	virtual_ns += 100;
	run(&times, 3000);
	virtual_ns += 400;
	sim_trace_task_done(&stats, &times, 64, NULL);
	expect_told("X 0.000 submit DMA memcpy\ns 0.000 task 1\n"
		    "X 0.100 DMA memcpy\nt 0.100 task 1\n"
		    "X 3.500 done DMA memcpy\nf 3.500 task 1\n");
}

/* Both of the context's jobs start once both are there, and the one that was second completes first. */
static void test_flows_of_tasks_that_overtake_are_told_in_order_of_time(void **state)
{
	struct sim_trace_task_times first = submit(), second;

	virtual_ns += 10;
	second = submit();
	run(&second, 500);
	run(&first, 500);
	sim_trace_task_done(&stats, &second, 64, NULL);
	virtual_ns += 1;
	sim_trace_task_done(&stats, &first, 64, "DOCA_ERROR_IO_FAILED");
	expect_told("X 0.000 submit DMA memcpy\ns 0.000 task 1\n"
		    "X 0.010 submit DMA memcpy\ns 0.010 task 2\n"
		    "X 0.010 DMA memcpy\nt 0.010 task 2\n"
		    "X 0.510 DMA memcpy\nt 0.510 task 1\n"
		    "X 1.010 done DMA memcpy\nf 1.010 task 2\n"
		    "X 1.011 failed DMA memcpy\nf 1.011 task 1\n");
}

/* Two processes that come in the wrong order, with the numbers of a machine. */
static void test_numbers_are_those_of_the_order(void **state)
{
	struct sim_merged_trace merged = { .zero_ns = session.zero_ns };

	sim_trace_message(SIM_TRACE_SENT, context, 0xdddddddd, 1, 1, sim_trace_now_ns(), 0);
	virtual_ns += 1;
	sim_trace_message(SIM_TRACE_SENT, context, 0xaaaaaaaa, 1, 1, sim_trace_now_ns(), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct sim_trace_recording recording = read_all();

		recording.owner.pid = 100 + (int32_t)i;
		recording.command = 2 - i;
		assert_int_equal(sim_merged_trace_add(&merged, &recording), 0);
	}
	assert_int_equal(sim_merged_trace_renumber(&merged), 0);
	assert_int_equal(merged.recordings[0].command, 1);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(merged.recordings[i].owner.pid, i + 1);
		assert_int_equal(merged.recordings[i].threads[0].id, i + 1);
	}
	assert_int_equal(merged.num_events, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(merged.events[i].process, i % 2);
		assert_int_equal(merged.events[i].thread, i % 2 + 1);
		assert_int_equal(merged.events[i].data.message.stream, i / 2 + 1);
	}
	sim_merged_trace_free(&merged);
}

/* Two tasks, one after the other, in zero time: each part of a flow is behind its slice, submissions before
 * completions. */
static void test_flows_of_one_moment_do_not_lead_back(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct sim_trace_task_times times = submit();

		run(&times, 0);
		sim_trace_task_done(&stats, &times, 64, NULL);
	}
	expect_told("X 0.000 submit DMA memcpy\ns 0.000 task 1\n"
		    "X 0.000 submit DMA memcpy\ns 0.000 task 2\n"
		    "X 0.000 DMA memcpy\nt 0.000 task 1\n"
		    "X 0.000 DMA memcpy\nt 0.000 task 2\n"
		    "X 0.000 done DMA memcpy\nf 0.000 task 1\n"
		    "X 0.000 done DMA memcpy\nf 0.000 task 2\n");
}

/* A task that only waits, as for a message, has none. */
static void test_a_task_without_a_job_flows_from_submission_to_end(void **state)
{
	struct sim_trace_task_times times = submit();

	virtual_ns += 20;
	sim_trace_task_done(&stats, &times, 64, NULL);
	expect_told("X 0.000 submit DMA memcpy\ns 0.000 task 1\nX 0.020 done DMA memcpy\nf 0.020 task 1\n");
}

static void test_a_task_whose_submission_is_not_known_has_no_flow(void **state)
{
	static const struct sim_trace_task_times unknown;

	sim_trace_task_done(&stats, &unknown, 0, "DOCA_ERROR_IO_FAILED");
	expect_told("");
}

/* A producer's job sends at 10 ns; a consumer's task, there since 0, takes it at 30 ns. The message's flow has number 1. */
static void test_a_message_is_on_the_way_of_both_its_tasks(void **state)
{
	struct sim_trace_task_times recv = submit(), send;

	virtual_ns += 5;
	send = submit();
	virtual_ns += 5;
	send.began_ns = sim_trace_now_ns();
	sim_trace_message(SIM_TRACE_SENT, context, 2, 1, 8, sim_trace_now_ns(), send.submitted_ns);
	send.ended_ns = sim_trace_now_ns();
	virtual_ns += 10;
	sim_trace_task_done(&stats, &send, 8, NULL);
	virtual_ns += 10;
	sim_trace_message(SIM_TRACE_RECEIVED, context, 2, 1, 8, sim_trace_now_ns(), recv.submitted_ns);
	sim_trace_task_done(&stats, &recv, 8, NULL);
	expect_told("X 0.000 submit DMA memcpy\ns 0.000 task 2\n"
		    "X 0.005 submit DMA memcpy\ns 0.005 task 3\n"
		    "X 0.010 DMA memcpy\nt 0.010 task 3\n"
		    "X 0.010 send\ns 0.010 message 1\nt 0.010 task 3\n"
		    "X 0.020 done DMA memcpy\nf 0.020 task 3\n"
		    "X 0.030 receive\nf 0.030 message 1\nt 0.030 task 2\n"
		    "X 0.030 done DMA memcpy\nf 0.030 task 2\n");
}

/* A connection's message, by a task of its context; and one sent by another task, which was not timed. */
static void test_a_message_of_a_connection_is_on_the_way_of_its_contexts_task(void **state)
{
	struct sim_trace_conn_stats stream;
	struct sim_trace_task_times send;

	sim_trace_conn_stats_open(&stream, context, "name", "mlx5_0", 2, 4);
	send = submit();
	virtual_ns += 5;
	stream.task_ns = send.submitted_ns;
	sim_trace_conn_stats_sent(&stream, 1, 8, sim_trace_conn_stats_sample_ns(&stream));
	virtual_ns += 5;
	stream.task_ns = 0;
	sim_trace_conn_stats_sent(&stream, 2, 8, sim_trace_conn_stats_sample_ns(&stream));
	virtual_ns += 10;
	sim_trace_task_done(&stats, &send, 8, NULL);
	virtual_ns += 10;
	sim_trace_message(SIM_TRACE_RECEIVED, context, 2, 1, 8, sim_trace_now_ns(), 0);
	expect_told("X 0.000 submit DMA memcpy\ns 0.000 task 3\n"
		    "X 0.005 send\ns 0.005 message 1\nt 0.005 task 3\n"
		    "X 0.010 send\n"
		    "X 0.020 done DMA memcpy\nf 0.020 task 3\n"
		    "X 0.030 receive\nf 0.030 message 1\n");
}

/* Three sends at one time, of which the first moved no bytes: the messages belong to the others. */
static void test_messages_of_one_moment_are_of_tasks_that_moved_as_much(void **state)
{
	struct sim_merged_trace merged;
	uint32_t *tasks;

	for (uint64_t i = 0; i < 3; i++) {
		struct sim_trace_task_times times = submit();

		run(&times, 0);
		if (i > 0)
			sim_trace_message(SIM_TRACE_SENT, context, 2, i, i, sim_trace_now_ns(), times.submitted_ns);
		sim_trace_task_done(&stats, &times, i, i == 0 ? "DOCA_ERROR_IO_FAILED" : NULL);
	}
	sim_trace_message(SIM_TRACE_SENT, context, 2, 3, 7, sim_trace_now_ns(),
			  sim_trace_now_ns()); /* its task is lost */
	merged = read_merged();
	tasks = sim_flows_match_tasks(&merged);
	assert_int_equal(merged.num_events, 6);
	assert_int_equal(merged.events[3].kind, SIM_TRACE_SENT);
	assert_int_equal(tasks[3], 2);
	assert_int_equal(tasks[4], 3);
	assert_int_equal(tasks[5], 0);
	free(tasks);
	sim_merged_trace_free(&merged);
}

/* Two sends at one time, of 8 and of 16 bytes: the second's message is first in the recording. */
static void test_messages_of_one_moment_find_their_tasks_in_any_order(void **state)
{
	struct sim_trace_task_times first = submit(), second = submit();
	struct sim_merged_trace merged;
	uint32_t *tasks;

	sim_trace_message(SIM_TRACE_SENT, context, 2, 1, 16, sim_trace_now_ns(), second.submitted_ns);
	sim_trace_message(SIM_TRACE_SENT, context, 2, 2, 8, sim_trace_now_ns(), first.submitted_ns);
	sim_trace_task_done(&stats, &first, 8, NULL);
	sim_trace_task_done(&stats, &second, 16, NULL);
	merged = read_merged();
	tasks = sim_flows_match_tasks(&merged);
	assert_int_equal(merged.num_events, 4);
	assert_int_equal(merged.events[2].data.message.bytes, 16);
	assert_int_equal(tasks[2], 2);
	assert_int_equal(tasks[3], 1);
	free(tasks);
	sim_merged_trace_free(&merged);
}

/* Two sends at one time, of 8 bytes each: one ended at 10 ns, before the only message, the other at 30 ns. */
static void test_a_message_is_not_of_a_task_that_ended_before(void **state)
{
	struct sim_trace_task_times early = submit(), late = submit();
	struct sim_merged_trace merged;
	uint32_t *tasks;

	virtual_ns += 10;
	sim_trace_task_done(&stats, &early, 8, NULL);
	virtual_ns += 10;
	sim_trace_message(SIM_TRACE_SENT, context, 2, 1, 8, sim_trace_now_ns(), late.submitted_ns);
	virtual_ns += 10;
	sim_trace_task_done(&stats, &late, 8, NULL);
	merged = read_merged();
	tasks = sim_flows_match_tasks(&merged);
	assert_int_equal(merged.num_events, 3);
	assert_int_equal(tasks[2], 2);
	free(tasks);
	sim_merged_trace_free(&merged);
}

/* Slices have room until the next one on their track, and 1 us at most. */
static void test_short_slices_do_not_overlap(void **state)
{
	static const uint64_t gaps_ns[] = { 400, 5000, 0, 0 };
	static const uint16_t lengths_ns[] = { 400, 1000, 0, 0 };
	struct sim_timeline_entry *entries;
	struct sim_merged_trace merged;
	size_t count, number = 0;

	for (size_t i = 0; i < 4; i++) {
		struct sim_trace_task_times times = submit();

		sim_trace_task_done(&stats, &times, 64, NULL);
		virtual_ns += gaps_ns[i];
	}
	merged = read_merged();
	entries = sim_timeline_build(&merged, &count);
	assert_int_equal(count, 8);
	for (size_t i = 0; i < count; i++)
		if (entries[i].kind == SIM_TIMELINE_DONE)
			assert_int_equal(entries[i].slice_ns, lengths_ns[number++]);
	assert_int_equal(number, 4);
	free(entries);
	sim_merged_trace_free(&merged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		VIRTUAL_TEST(test_a_tasks_flow_leads_by_its_job_to_its_end),
		VIRTUAL_TEST(test_flows_of_tasks_that_overtake_are_told_in_order_of_time),
		VIRTUAL_TEST(test_numbers_are_those_of_the_order),
		VIRTUAL_TEST(test_flows_of_one_moment_do_not_lead_back),
		VIRTUAL_TEST(test_a_task_without_a_job_flows_from_submission_to_end),
		VIRTUAL_TEST(test_a_task_whose_submission_is_not_known_has_no_flow),
		VIRTUAL_TEST(test_a_message_is_on_the_way_of_both_its_tasks),
		VIRTUAL_TEST(test_a_message_of_a_connection_is_on_the_way_of_its_contexts_task),
		VIRTUAL_TEST(test_messages_of_one_moment_are_of_tasks_that_moved_as_much),
		VIRTUAL_TEST(test_messages_of_one_moment_find_their_tasks_in_any_order),
		VIRTUAL_TEST(test_a_message_is_not_of_a_task_that_ended_before),
		VIRTUAL_TEST(test_short_slices_do_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
