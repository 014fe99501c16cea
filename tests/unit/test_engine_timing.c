/* SPDX-License-Identifier: BSD-3-Clause */
/* The timing of an engine (pcie_model/engine.c): single jobs, queues, contention. */
#include <string.h>

#include "cmocka_test.h"
#include "pcie_model/engine.h"
#include "pcie_model/profile.h"

#define NS UINT64_C(1000)
#define US UINT64_C(1000000)

/* Of one lane of generation 1 without overheads, a byte takes 4 ns; the tests that are
 * not about the link use 32 lanes of generation 5, where 4 KiB take some 36 ns. */
static const struct pcie_link slow_link = {
	.generation = 1,
	.lanes = 1,
	.mps_bytes = 4096,
	.mrrs_bytes = 4096,
	.rcb_bytes = 64,
	.no_ack = true,
	.no_flow_control = true,
	.no_skip = true,
};
static const struct pcie_link fast_link = {
	.generation = 5,
	.lanes = 32,
	.mps_bytes = 4096,
	.mrrs_bytes = 4096,
	.rcb_bytes = 64,
};

/* Round numbers: 100 ns to submit, 50 to report, 20 between jobs, 300 to set up, 400 to complete; a
 * byte takes a channel 1 ns, reads 0.1, writes 0.2, local copies 0.05. */
static const struct pcie_engine round = {
	.issuers = {
		[PCIE_ISSUER_CPU] = { .submit_ps = 100 * NS, .report_ps = 50 * NS },
		[PCIE_ISSUER_DPA] = { .submit_ps = 500 * NS, .accept_ps = 200 * NS },
	},
	.accept_ps = 20 * NS,
	.setup_ps = 300 * NS,
	.segment_ps = 10 * NS,
	.complete_ps = 400 * NS,
	.channel_fs_per_byte = 1000000,
	.channels = 4,
	.read = { .fs_per_byte = 100000 },
	.write = { .fs_per_byte = 200000 },
	.local = { .fs_per_byte = 50000 },
};

struct bench {
	struct pcie_engine engine;
	struct pcie_link link;
	struct pcie_engine_state engine_state;
	struct pcie_link_state link_state;
	struct pcie_queue_state queues[2];
};

static struct bench bench_of(const struct pcie_link *link)
{
	struct bench bench = { .engine = round, .link = *link };

	assert_null(pcie_engine_config_error(&bench.engine));
	return bench;
}

static struct pcie_times arrive(struct bench *bench, enum pcie_direction direction, uint64_t bytes, uint64_t arrival_ps)
{
	struct pcie_job job = { .direction = direction, .bytes = bytes };
	struct pcie_times times;

	pcie_engine_run(&bench->engine, &bench->link, &job, arrival_ps, &bench->engine_state, &bench->link_state,
			&times);
	return times;
}

/* The time per job of one queue that has @window in flight, in the steady state; a queue's jobs are of one size,
 * so they complete in order. */
static uint64_t steady_ps(struct bench *bench, const struct pcie_job *job, unsigned int window)
{
	uint64_t done_ps[64] = { 0 }, last_ps = 0, half_ps = 0;

	for (unsigned int i = 0; i < 400; i++) {
		uint64_t arrival_ps = pcie_queue_submit(&bench->engine, job, done_ps[i % window], &bench->queues[0]);
		struct pcie_times times;

		pcie_engine_run(&bench->engine, &bench->link, job, arrival_ps, &bench->engine_state, &bench->link_state,
				&times);
		done_ps[i % window] = last_ps = times.done_ps;
		if (i == 199)
			half_ps = last_ps;
	}
	return (last_ps - half_ps) / 200;
}

/* 100 to submit, 300 to set up, 1000 bytes at the channel's 1 ns, 400 to complete. */
static void test_a_job_alone_takes_the_sum_of_its_stages(void **state)
{
	struct pcie_job job = { .direction = PCIE_READ, .bytes = 1000 };

	assert_int_equal(pcie_engine_unloaded_ps(&round, &fast_link, &job), (100 + 300 + 1000 + 400) * NS);
	job.bytes = 0;
	assert_int_equal(pcie_engine_unloaded_ps(&round, &fast_link, &job), (100 + 300 + 400) * NS);
}

static void test_times_come_in_order(void **state)
{
	struct bench bench = bench_of(&fast_link);
	struct pcie_times times = arrive(&bench, PCIE_WRITE, 1000, 5 * US);

	assert_int_equal(times.accepted_ps, 5 * US);
	assert_int_equal(times.data_ps, 5 * US + 300 * NS);
	assert_int_equal(times.moved_ps, 5 * US + 1300 * NS);
	assert_int_equal(times.done_ps, 5 * US + 1700 * NS);
}

/* Five segments are four more than one: 40 ns. None counts as one. */
static void test_each_further_segment_costs_set_up(void **state)
{
	struct pcie_job job = { .direction = PCIE_READ, .bytes = 1000, .segments = 1 };
	uint64_t one_ps = pcie_engine_unloaded_ps(&round, &fast_link, &job);

	job.segments = 0;
	assert_int_equal(pcie_engine_unloaded_ps(&round, &fast_link, &job), one_ps);
	job.segments = 5;
	assert_int_equal(pcie_engine_unloaded_ps(&round, &fast_link, &job), one_ps + 40 * NS);
}

/* A queue's issuer spends 150 ns on a job, and 100 if its end is not reported by itself. */
static void test_a_queue_alone_is_limited_by_its_issuer(void **state)
{
	struct bench bench = bench_of(&fast_link), quiet = bench;
	struct pcie_job job = { .direction = PCIE_READ, .bytes = 64 };

	assert_int_equal(steady_ps(&bench, &job, 64), 150 * NS);
	job.unsignaled = true;
	assert_int_equal(steady_ps(&quiet, &job, 64), 100 * NS);
}

/* One job at a time has the full 864 ns each. */
static void test_a_window_of_one_waits_for_each_job(void **state)
{
	struct bench bench = bench_of(&fast_link);
	struct pcie_job job = { .direction = PCIE_READ, .bytes = 64 };

	assert_int_equal(steady_ps(&bench, &job, 1), (100 + 300 + 64 + 400) * NS);
}

/* Alone, 10000 bytes take a channel 10 us; four channels have one such job each 2.5 us; but a write takes
 * the path 2 us, a read 1 us: the channels decide. With 16 of them, the path does. */
static void test_large_jobs_fill_channels_or_the_path(void **state)
{
	struct bench few = bench_of(&fast_link), many = few;
	struct pcie_job job = { .direction = PCIE_WRITE, .bytes = 10000 };

	assert_int_equal(steady_ps(&few, &job, 64), (10000 + 300) * NS / 4);
	many.engine.channels = 16;
	assert_int_equal(steady_ps(&many, &job, 64), 2000 * NS);
}

static void test_reads_writes_and_local_copies_have_ceilings_of_their_own(void **state)
{
	static const struct {
		enum pcie_direction direction;
		uint64_t ps;
	} want[] = {
		{ PCIE_READ, 1000 * NS }, { PCIE_WRITE, 2000 * NS }, { PCIE_LOCAL, 500 * NS }, { PCIE_HOST, 2000 * NS }
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct bench bench = bench_of(&fast_link);
		struct pcie_job job = { .direction = want[i].direction, .bytes = 10000 };

		bench.engine.channels = PCIE_MAX_CHANNELS;
		assert_int_equal(steady_ps(&bench, &job, 64), want[i].ps);
	}
}

/* A path that needs 70 ns per job in addition takes 70 ns more for each. */
static void test_a_gap_comes_on_top_of_the_bytes(void **state)
{
	struct bench bench = bench_of(&fast_link);
	struct pcie_job job = { .direction = PCIE_READ, .bytes = 10000 };

	bench.engine.channels = PCIE_MAX_CHANNELS;
	bench.engine.read.gap_ps = 70 * NS;
	assert_int_equal(steady_ps(&bench, &job, 64), 1070 * NS);
}

/* A write of 1000 bytes is 1024 on the wire, at 4 ns each; a local copy does not see the link. */
static void test_a_slow_link_limits_all_but_local_copies(void **state)
{
	struct bench bench = bench_of(&slow_link), local = bench;
	struct pcie_job job = { .direction = PCIE_WRITE, .bytes = 1000 };

	assert_int_equal(steady_ps(&bench, &job, 64), 4096 * NS);
	job.direction = PCIE_LOCAL;
	assert_true(steady_ps(&local, &job, 64) < 1000 * NS);
}

/* Reads and writes at once: each direction of the link has its own. A read's requests are 24 bytes in the
 * writes' way: 96 ns of 4096. */
static void test_reads_and_writes_share_the_link_by_direction(void **state)
{
	struct bench bench = bench_of(&slow_link);
	uint64_t last_read_ps = 0, last_write_ps = 0;

	bench.engine.channels = PCIE_MAX_CHANNELS;
	for (int i = 0; i < 10; i++) {
		last_read_ps = arrive(&bench, PCIE_READ, 1000, 0).moved_ps;
		last_write_ps = arrive(&bench, PCIE_WRITE, 1000, 0).moved_ps;
	}
	assert_in_range(last_read_ps, 40 * US, 42 * US);
	assert_in_range(last_write_ps, 41 * US, 43 * US);
}

/* 8 requests of 4096 bytes, two at a time, each 1 us out: 4 us for 32 KiB. */
static void test_outstanding_reads_limit_what_comes_in(void **state)
{
	struct bench bench = bench_of(&fast_link);
	struct pcie_job job = { .direction = PCIE_READ, .bytes = 32768 };

	bench.engine.channels = PCIE_MAX_CHANNELS;
	bench.engine.channel_fs_per_byte = 0;
	bench.engine.max_reads = 2;
	bench.engine.read_request_ps = 1 * US;
	assert_int_equal(steady_ps(&bench, &job, 64), 4 * US);
	job.direction = PCIE_WRITE;
	bench = bench_of(&fast_link);
	bench.engine.max_reads = 2;
	bench.engine.read_request_ps = 1 * US;
	bench.engine.channel_fs_per_byte = 0;
	assert_in_range(steady_ps(&bench, &job, 64), 6553600, 6553600); /* 32768 at 0.2 ns */
}

/* Two queues of 150 ns a job each: together the engine gets one each 75 ns; its limit is made 90. */
static void test_two_queues_share_the_engines_rate(void **state)
{
	struct bench bench = bench_of(&fast_link);
	struct pcie_job job = { .direction = PCIE_READ, .bytes = 8 };
	struct pcie_times times[2];
	uint64_t arrival_ps[2];

	bench.engine.accept_ps = 90 * NS;
	for (int i = 0; i < 1000; i++) {
		for (int queue = 0; queue < 2; queue++)
			arrival_ps[queue] = pcie_queue_submit(&bench.engine, &job, 0, &bench.queues[queue]);
		for (int queue = 0; queue < 2; queue++)
			pcie_engine_run(&bench.engine, &bench.link, &job, arrival_ps[queue], &bench.engine_state,
					&bench.link_state, &times[queue]);
	}
	/* 2000 jobs: the last is accepted 1999 times 90 ns behind the first one's arrival. */
	assert_int_equal(times[1].accepted_ps, 100 * NS + 1999 * 90 * NS);
	assert_int_equal(times[0].accepted_ps, times[1].accepted_ps - 90 * NS);
}

/* DPA units need 500 ns each, but all of them together do at most one job in 200 ns; cores do not wait for them. */
static void test_issuers_of_a_kind_have_a_limit_together(void **state)
{
	struct bench bench = bench_of(&fast_link);
	struct pcie_job dpa = { .direction = PCIE_READ, .bytes = 8, .issuer = PCIE_ISSUER_DPA };
	struct pcie_times times;

	for (int i = 0; i < 10; i++)
		pcie_engine_run(&bench.engine, &bench.link, &dpa, 0, &bench.engine_state, &bench.link_state, &times);
	assert_int_equal(times.accepted_ps, 9 * 200 * NS);
	bench = bench_of(&fast_link);
	pcie_engine_run(&bench.engine, &bench.link, &dpa, 0, &bench.engine_state, &bench.link_state, &times);
	assert_int_equal(arrive(&bench, PCIE_READ, 8, 0).accepted_ps, 20 * NS);
}

/* A job that is submitted when the engine is idle again takes as long as the first one. */
static void test_an_idle_engine_has_no_memory(void **state)
{
	struct bench bench = bench_of(&fast_link);
	uint64_t first_ps = arrive(&bench, PCIE_WRITE, 5000, 0).done_ps;

	assert_int_equal(arrive(&bench, PCIE_WRITE, 5000, 1000 * US).done_ps, 1000 * US + first_ps);
	memset(&bench.engine_state, 0, sizeof(bench.engine_state));
	memset(&bench.link_state, 0, sizeof(bench.link_state));
	assert_int_equal(arrive(&bench, PCIE_WRITE, 5000, 0).done_ps, first_ps);
}

static void test_the_same_jobs_have_the_same_times(void **state)
{
	struct bench one = bench_of(&fast_link), other = one;

	for (uint64_t i = 0; i < 1000; i++) {
		enum pcie_direction direction = (enum pcie_direction)(i % 4);
		struct pcie_times a = arrive(&one, direction, i * 37 % 9000, i * 100 * NS);
		struct pcie_times b = arrive(&other, direction, i * 37 % 9000, i * 100 * NS);

		assert_memory_equal(&a, &b, sizeof(a));
	}
	assert_memory_equal(&one.engine_state, &other.engine_state, sizeof(one.engine_state));
}

/* Corrupt state gives late times, and nothing worse. */
static void test_any_state_is_a_state(void **state)
{
	struct bench bench = bench_of(&fast_link);
	struct pcie_job job = { .direction = PCIE_HOST, .bytes = PCIE_LINK_MAX_BYTES, .segments = UINT32_MAX };
	struct pcie_times times;

	memset(&bench.engine_state, 0xff, sizeof(bench.engine_state));
	memset(&bench.link_state, 0xff, sizeof(bench.link_state));
	memset(bench.queues, 0xff, sizeof(bench.queues));
	assert_int_equal(pcie_queue_submit(&bench.engine, &job, 0, &bench.queues[0]), UINT64_MAX);
	pcie_engine_run(&bench.engine, &bench.link, &job, UINT64_MAX, &bench.engine_state, &bench.link_state, &times);
	assert_int_equal(times.done_ps, UINT64_MAX);
	assert_int_equal(bench.engine_state.accept_ps, UINT64_MAX);
}

static void test_engines_that_cannot_be_are_named(void **state)
{
	struct pcie_engine engine = round;

	engine.channels = 0;
	assert_non_null(strstr(pcie_engine_config_error(&engine), "channels"));
	engine.channels = PCIE_MAX_CHANNELS + 1;
	assert_non_null(strstr(pcie_engine_config_error(&engine), "channels"));
	engine.channels = 1;
	engine.max_reads = 1;
	assert_non_null(strstr(pcie_engine_config_error(&engine), "read requests"));
}

/* 65536 bytes at the published rates: BlueField-3 reads 37 GB/s and writes 31.7, BlueField-2 25.6 and 15.3. */
static void test_profiles_move_large_jobs_as_was_measured(void **state)
{
	static const struct {
		const char *profile;
		enum pcie_direction direction;
		uint64_t mega_bytes_per_s;
	} want[] = {
		{ "bluefield-3", PCIE_READ, 37000 },  { "bluefield-3", PCIE_WRITE, 31700 },
		{ "bluefield-3", PCIE_LOCAL, 53900 }, { "bluefield-2", PCIE_READ, 25600 },
		{ "bluefield-2", PCIE_WRITE, 15300 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct pcie_profile *profile = pcie_profile_find(want[i].profile);
		struct bench bench = { .engine = profile->engine, .link = profile->link };
		struct pcie_job job = { .direction = want[i].direction, .bytes = 65536 };
		uint64_t rate = 65536 * US / steady_ps(&bench, &job, 32);

		assert_in_range(rate, want[i].mega_bytes_per_s * 95 / 100, want[i].mega_bytes_per_s * 105 / 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_job_alone_takes_the_sum_of_its_stages),
		cmocka_unit_test(test_times_come_in_order),
		cmocka_unit_test(test_each_further_segment_costs_set_up),
		cmocka_unit_test(test_a_queue_alone_is_limited_by_its_issuer),
		cmocka_unit_test(test_a_window_of_one_waits_for_each_job),
		cmocka_unit_test(test_large_jobs_fill_channels_or_the_path),
		cmocka_unit_test(test_reads_writes_and_local_copies_have_ceilings_of_their_own),
		cmocka_unit_test(test_a_gap_comes_on_top_of_the_bytes),
		cmocka_unit_test(test_a_slow_link_limits_all_but_local_copies),
		cmocka_unit_test(test_reads_and_writes_share_the_link_by_direction),
		cmocka_unit_test(test_outstanding_reads_limit_what_comes_in),
		cmocka_unit_test(test_two_queues_share_the_engines_rate),
		cmocka_unit_test(test_issuers_of_a_kind_have_a_limit_together),
		cmocka_unit_test(test_an_idle_engine_has_no_memory),
		cmocka_unit_test(test_the_same_jobs_have_the_same_times),
		cmocka_unit_test(test_any_state_is_a_state),
		cmocka_unit_test(test_engines_that_cannot_be_are_named),
		cmocka_unit_test(test_profiles_move_large_jobs_as_was_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
