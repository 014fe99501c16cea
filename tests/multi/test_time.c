/* SPDX-License-Identifier: BSD-3-Clause */
/* Time for several processes on one card: processes on one engine and link share its rate, and virtual times do not
 * depend on the speed of the processes. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/api/bfsim.h"
#include "comch_endpoint.h"
#include "copier.h"
#include "pcie_model/topology/topology.h"

/* ---- timed: streams that share a link ---- */

#define IN_FLIGHT     64
#define WINDOW_NS     UINT64_C(200000000)
#define HEAD_START_NS UINT64_C(30000000)
#define TRIES         10 /* windows: where the machine is busy otherwise, not all possible jobs end in one */
#define BUSY_NS       (WINDOW_NS / 20) /* a stream that was off its CPU for longer says little about the model */

struct window {
	uint64_t begin_ns, end_ns;
};

struct stream {
	struct window window;
	uint64_t counted; /* ended in the window */
	bool over;
};

struct tally {
	uint64_t counted, waited_ns;
};

/* How long threads of this process were ready to run, and did not run. */
static uint64_t waited_ns(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	uint64_t sum = 0;

	CHECK(tasks);
	while ((task = readdir(tasks)) != NULL) {
		unsigned long long ran, waited;
		char path[300];
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", task->d_name);
		file = fopen(path, "r");
		if (file && fscanf(file, "%llu %llu", &ran, &waited) == 2)
			sum += waited;
		if (file)
			fclose(file);
	}
	closedir(tasks);
	return sum;
}

static void go_on(struct copier *copier)
{
	struct stream *stream = copier->owner;
	uint64_t now_ns = copier_now_ns(copier);

	stream->counted += now_ns >= stream->window.begin_ns && now_ns < stream->window.end_ns;
	stream->over = now_ns >= stream->window.end_ns;
	if (!stream->over)
		copier_submit(copier, COPIER_BYTES);
}

/* Send the current time, read the window, stream, send the tally. */
static void run_stream(int ctl)
{
	struct stream stream = { 0 };
	struct tally tally;
	struct copier copier;
	struct loop loop;
	struct doca_dev *dev;
	uint64_t now_ns;
	bool sleeps;

	proc_recv(ctl, &sleeps, sizeof(sleeps));
	dev = device_open(NULL);
	loop_open(&loop, sleeps);
	copier_open(&copier, &loop, dev, IN_FLIGHT);
	copier.owner = &stream;
	copier.on_done = go_on;
	now_ns = copier_now_ns(&copier);
	proc_send(ctl, &now_ns, sizeof(now_ns));
	proc_recv(ctl, &stream.window, sizeof(stream.window));
	tally.waited_ns = waited_ns();
	for (int i = 0; i < IN_FLIGHT; i++)
		copier_submit(&copier, COPIER_BYTES);
	LOOP_UNTIL(&loop, stream.over);
	tally = (struct tally){ .counted = stream.counted, .waited_ns = waited_ns() - tally.waited_ns };
	copier.on_done = NULL;
	for (size_t in_flight = 1; in_flight > 0;) {
		doca_pe_progress(loop.pe);
		MUST(doca_pe_get_num_inflight_tasks(loop.pe, &in_flight));
	}
	proc_send(ctl, &tally, sizeof(tally));
	copier_close(&copier);
	loop_close(&loop);
	MUST(doca_dev_close(dev));
}

static const struct peer_role stream_role = { "stream", run_stream };

/* Jobs of a stream that fit into the window by the model: copies of 64 KiB, one after the other. */
static double capacity(void)
{
	const struct pcie_profile *profile = pcie_profile_find("bluefield-3");
	const struct pcie_link link = {
		.generation = 1, .lanes = 1, .mps_bytes = 128, .mrrs_bytes = 128, .rcb_bytes = 64
	};
	const struct pcie_job job = { .direction = PCIE_HOST, .bytes = COPIER_BYTES, .segments = 1 };
	struct pcie_engine_state engine_state = { 0 };
	struct pcie_link_state link_state = { 0 };
	struct pcie_times first, last;
	const int count = 100;

	pcie_engine_run(&profile->engine, &link, &job, 0, &engine_state, &link_state, &first);
	for (int i = 0; i < count; i++)
		pcie_engine_run(&profile->engine, &link, &job, 0, &engine_state, &link_state, &last);
	return (double)WINDOW_NS * 1000 * count / (double)(last.done_ps - first.done_ps);
}

/* How many jobs of each of @count streams ended in one window. Returns whether the streams had the CPU. */
static bool run_streams(size_t count, bool sleeps, uint64_t *ret_counts)
{
	struct proc procs[2];
	struct window window = { 0 };
	struct tally tally;
	bool free = true;

	card_start_with(getenv("SLOW_LINK"), "timed");
	for (size_t i = 0; i < count; i++) {
		uint64_t now_ns;

		peer_start(&procs[i], "host", &stream_role, &sleeps, sizeof(sleeps));
		proc_recv(procs[i].ctl, &now_ns, sizeof(now_ns));
		window.begin_ns = now_ns + HEAD_START_NS;
	}
	window.end_ns = window.begin_ns + WINDOW_NS;
	for (size_t i = 0; i < count; i++)
		proc_send(procs[i].ctl, &window, sizeof(window));
	for (size_t i = 0; i < count; i++) {
		proc_recv(procs[i].ctl, &tally, sizeof(tally));
		ret_counts[i] = tally.counted;
		free &= tally.waited_ns < BUSY_NS;
		proc_end(&procs[i]);
	}
	card_end();
	return free;
}

/* More jobs than the model allows is wrong on any machine; jobs in flight at the window's start may be counted late
 * by a process that was off its CPU. */
static bool reaches_the_model(double sum, double streams)
{
	assert_true(sum <= capacity() + streams * IN_FLIGHT);
	return sum >= capacity() / 2;
}

static bool is_fair(const uint64_t *counts, size_t count)
{
	return count == 1 || (counts[0] > counts[1] / 3 && counts[1] > counts[0] / 3);
}

/* Fewer jobs than the model's share is wrong where the streams could run; where they cannot run, the test is
 * inconclusive. */
static void expect_the_rate(size_t count, bool sleep)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t counts[2] = { 0, 0 };
		bool free = run_streams(count, sleep, counts);
		bool well = reaches_the_model((double)(counts[0] + counts[1]), (double)count) && is_fair(counts, count);

		assert_true(well || !free);
		if (well)
			return;
	}
	skip();
}

static void test_stream_has_the_rate_of_the_model(void **state)
{
	expect_the_rate(1, false);
}

/* Were each alone, the sum would be twice as much. */
static void test_two_polling_streams_share_the_rate(void **state)
{
	expect_the_rate(2, false);
}

static void test_two_sleeping_streams_share_the_rate(void **state)
{
	expect_the_rate(2, true);
}

/* ---- virtual: requests and replies ---- */

#define ROUNDS 30
#define NAME   "time"

/* The times at one end. */
struct diary {
	uint64_t ended_ns[ROUNDS];    /* of its own copies ... */
	uint64_t received_ns[ROUNDS]; /* ... and of the other's messages */
};

struct end {
	struct endpoint endpoint;
	struct copier copier;
	struct loop loop;
	struct diary diary;
	unsigned int received;
};

static void on_message(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		       uint32_t len)
{
	struct end *end = endpoint->cfg.owner;

	CHECK(len == 1 && bytes[0] == end->received && end->received < ROUNDS);
	end->diary.received_ns[end->received++] = copier_now_ns(&end->copier);
}

static void end_open(struct end *end, int ctl, bool is_server)
{
	const struct endpoint_cfg cfg = { .name = NAME, .owner = end, .message = on_message };
	struct doca_dev *dev;
	bool sleeps;

	memset(end, 0, sizeof(*end));
	proc_recv(ctl, &sleeps, sizeof(sleeps));
	dev = device_open(NULL);
	loop_open(&end->loop, sleeps);
	copier_open(&end->copier, &end->loop, dev, 1);
	if (is_server)
		endpoint_open_server(&end->endpoint, &cfg, &end->loop, dev);
	else
		endpoint_open_client(&end->endpoint, &cfg, &end->loop, dev);
	endpoint_start(&end->endpoint);
}

static void end_close(struct end *end, int ctl)
{
	struct doca_dev *dev = end->endpoint.dev;

	endpoint_close(&end->endpoint);
	copier_close(&end->copier);
	loop_close(&end->loop);
	MUST(doca_dev_close(dev));
	proc_send(ctl, &end->diary, sizeof(end->diary));
}

static void copy(struct end *end, unsigned int round, size_t len)
{
	copier_submit(&end->copier, len);
	LOOP_UNTIL(&end->loop, end->copier.done == round + 1);
	end->diary.ended_ns[round] = copier_now_ns(&end->copier);
}

static void say(struct end *end, unsigned int round)
{
	uint8_t byte = (uint8_t)round;

	CHECK(endpoint_send(&end->endpoint, end->endpoint.connection, &byte, 1));
}

/* Copies, then sends a request, then waits for the reply. */
static void run_asking(int ctl)
{
	static struct end end;

	end_open(&end, ctl, false);
	LOOP_UNTIL(&end.loop, end.endpoint.state == DOCA_CTX_STATE_RUNNING);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		copy(&end, round, 64 + round * 1000);
		say(&end, round);
		LOOP_UNTIL(&end.loop, end.received == round + 1);
	}
	endpoint_stop(&end.endpoint);
	end_close(&end, ctl);
}

/* Waits for a request, copies, then replies. */
static void run_answering(int ctl)
{
	static struct end end;

	end_open(&end, ctl, true);
	proc_send(ctl, "l", 1);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		LOOP_UNTIL(&end.loop, end.received == round + 1);
		copy(&end, round, COPIER_BYTES - round * 1000);
		say(&end, round);
	}
	LOOP_UNTIL(&end.loop, end.endpoint.num_disconnected == 1);
	endpoint_stop(&end.endpoint);
	end_close(&end, ctl);
}

static const struct peer_role asking_role = { "asking", run_asking };
static const struct peer_role answering_role = { "answering", run_answering };

struct conversation {
	struct diary host, dpu;
};

/* @fault: a rule of the session's plan, or NULL. */
static void converse_with(const char *fault, bool host_sleeps, bool dpu_sleeps, struct conversation *ret)
{
	struct proc host, dpu;
	char byte;

	card_start_with(NULL, "virtual");
	if (fault)
		assert_int_equal(bfsim_fault_add(fault, NULL), 0);
	peer_start(&dpu, "dpu", &answering_role, &dpu_sleeps, sizeof(dpu_sleeps));
	proc_recv(dpu.ctl, &byte, 1); /* the server listens: a client waits for it for some seconds only */
	peer_start(&host, "host", &asking_role, &host_sleeps, sizeof(host_sleeps));
	proc_recv(host.ctl, &ret->host, sizeof(ret->host));
	proc_recv(dpu.ctl, &ret->dpu, sizeof(ret->dpu));
	proc_end(&host);
	proc_end(&dpu);
	card_end();
}

static void converse(bool host_sleeps, bool dpu_sleeps, struct conversation *ret)
{
	converse_with(NULL, host_sleeps, dpu_sleeps, ret);
}

/* The latency of a message, in whole ns. */
static uint64_t one_way_ns(void)
{
	return pcie_profile_find("bluefield-3")->comch_timing.one_way_ps / 1000;
}

/* Request, reply and copies take their model times, one after the other. */
static void test_what_happens_in_virtual_time_is_exact(void **state)
{
	struct conversation seen;
	uint64_t last_ns = 0;

	converse(false, false, &seen);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		assert_true(seen.host.ended_ns[round] > last_ns);
		assert_int_equal(seen.dpu.received_ns[round], seen.host.ended_ns[round] + one_way_ns());
		assert_true(seen.dpu.ended_ns[round] > seen.dpu.received_ns[round]);
		assert_int_equal(seen.host.received_ns[round], seen.dpu.ended_ns[round] + one_way_ns());
		last_ns = seen.host.received_ns[round];
	}
}

static void test_what_happens_in_virtual_time_is_the_same_each_time(void **state)
{
	struct conversation first, again;

	converse(false, false, &first);
	for (int i = 0; i < 3; i++) {
		converse(false, false, &again);
		assert_memory_equal(&again, &first, sizeof(first));
	}
}

static void test_virtual_time_does_not_depend_on_how_the_two_wait(void **state)
{
	struct conversation first, again;

	converse(false, false, &first);
	for (int i = 1; i < 4; i++) {
		converse(i & 1, i & 2, &again);
		assert_memory_equal(&again, &first, sizeof(first));
	}
}

static void test_delays_of_faults_are_exact_too(void **state)
{
	struct conversation seen, plain;

	converse(false, false, &plain);
	for (int i = 0; i < 4; i++) {
		converse_with("comch.send delay=7us", i & 1, i & 2, &seen);
		for (unsigned int round = 0; round < ROUNDS; round++) {
			assert_int_equal(seen.dpu.received_ns[round], seen.host.ended_ns[round] + one_way_ns() + 7000);
			assert_int_equal(seen.host.received_ns[round], seen.dpu.ended_ns[round] + one_way_ns() + 7000);
		}
	}
	for (int i = 0; i < 4; i++) {
		converse_with("dma.memcpy delay=100us", i & 1, i & 2, &seen);
		assert_int_equal(seen.host.ended_ns[0], plain.host.ended_ns[0] + 100000);
	}
}

/* One of the two processes is killed meanwhile: virtual time advances for the other. */
static void test_death_of_a_process_does_not_stop_virtual_time(void **state)
{
	struct proc dpu, host;
	bool sleeps = false;
	struct tally tally;
	struct window window;
	uint64_t now_ns;

	card_start_with(NULL, "virtual");
	peer_start(&dpu, "dpu", &stream_role, &sleeps, sizeof(sleeps));
	proc_recv(dpu.ctl, &now_ns, sizeof(now_ns)); /* the process has a running context: time waits for it */
	peer_start(&host, "host", &stream_role, &sleeps, sizeof(sleeps));
	proc_recv(host.ctl, &now_ns, sizeof(now_ns));
	proc_signal(&dpu, 9);
	proc_wait(&dpu);
	window = (struct window){ .begin_ns = 0, .end_ns = 1000000 };
	proc_send(host.ctl, &window, sizeof(window));
	proc_recv(host.ctl, &tally, sizeof(tally));
	assert_true(tally.counted > 0);
	proc_end(&host);
	card_end();
}

#define TEST(test) cmocka_unit_test_teardown(test, card_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stream_has_the_rate_of_the_model),
		TEST(test_two_polling_streams_share_the_rate),
		TEST(test_two_sleeping_streams_share_the_rate),
		TEST(test_what_happens_in_virtual_time_is_exact),
		TEST(test_what_happens_in_virtual_time_is_the_same_each_time),
		TEST(test_virtual_time_does_not_depend_on_how_the_two_wait),
		TEST(test_delays_of_faults_are_exact_too),
		TEST(test_death_of_a_process_does_not_stop_virtual_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
