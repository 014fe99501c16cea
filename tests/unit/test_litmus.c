/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads at both ends of the structures without locks, at random paces: each looks for an order of accesses that the
 * protocol rules out. A machine with a weak memory model shows more of them than x86-64 does: run it there for longer,
 * BFSIM_LITMUS_SECONDS=600. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/engine/engine.h"
#include "sim/engine/queue.h"
#include "sim/shm/ring.h"
#include "sim/state/shared_ledger.h"

#define LOST_AFTER_NS (10 * SIM_NS_PER_S) /* a wake-up that has not come by then is lost */

static uint64_t end_ns;
static atomic_bool stop;

static int begin(void **state)
{
	const char *seconds = getenv("BFSIM_LITMUS_SECONDS");

	atomic_store(&stop, false);
	end_ns = sim_monotonic_ns() + (seconds ? strtoull(seconds, NULL, 10) * SIM_NS_PER_S : SIM_NS_PER_S / 4);
	return 0;
}

/* Whether the time is over, and enough was done: other programs may have had the CPUs. */
static bool is_over(uint64_t num_done)
{
	return num_done > 100 && sim_monotonic_ns() > end_ns;
}

/* Between two looks of a thread that waits for another one, which may wait for the CPU. */
static void idle(uint32_t *looks)
{
	if (++*looks % 256 == 0)
		sched_yield();
}

/* A short wait of random length, without a call that orders memory. */
static void stagger(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	for (volatile uint32_t i = *seed >> 25; i > 0; i--)
		;
}

/* ---- a ring: no record is lost or torn, and no wake-up for space is lost ---- */

struct record {
	uint64_t number, copy[5];
};

static const struct sim_ring_cfg ring_cfg = { .max_records = 2, .max_record_bytes = sizeof(struct record) };

struct ring_pair {
	void *memory;
	_Atomic uint32_t notified; /* as a packet on a socket */
	uint64_t num_read;
	bool is_torn;
};

static void *read_ring(void *arg)
{
	struct ring_pair *pair = arg;
	struct sim_ring ring;
	struct record record;
	uint32_t kind, seed = 7, looks = 0;
	size_t len;

	sim_ring_init(&ring, &ring_cfg, pair->memory);
	while (!atomic_load(&stop)) {
		stagger(&seed);
		if (sim_ring_read(&ring, &kind, &record, &len) < 0) {
			idle(&looks);
			continue;
		}
		for (size_t i = 0; i < 5; i++)
			pair->is_torn |= record.copy[i] != record.number;
		pair->is_torn |= record.number != pair->num_read++;
		if (sim_ring_needs_notify(&ring))
			atomic_store(&pair->notified, 1);
	}
	return NULL;
}

/* Returns false if the wake-up does not come. */
static bool wait_for_space(struct ring_pair *pair)
{
	uint64_t lost_ns = sim_monotonic_ns() + LOST_AFTER_NS;
	uint32_t looks = 0;

	while (!atomic_exchange(&pair->notified, 0)) {
		if (sim_monotonic_ns() > lost_ns)
			return false;
		idle(&looks);
	}
	return true;
}

static void test_a_full_ring_always_notifies_its_writer(void **state)
{
	struct ring_pair pair = { .memory = calloc(1, sim_ring_size(&ring_cfg)) };
	struct sim_ring ring;
	bool is_awake = true;
	pthread_t reader;
	uint32_t seed = 1;

	sim_ring_init(&ring, &ring_cfg, pair.memory);
	assert_int_equal(pthread_create(&reader, NULL, read_ring, &pair), 0);
	for (uint64_t number = 0; is_awake && !is_over(number); number++) {
		struct record record = { number, { number, number, number, number, number } };

		stagger(&seed);
		while (is_awake && sim_ring_write(&ring, 1, &record, sizeof(record)) < 0)
			if (!sim_ring_arm_space(&ring, sizeof(record)))
				is_awake = wait_for_space(&pair);
	}
	atomic_store(&stop, true);
	pthread_join(reader, NULL);
	free(pair.memory);
	assert_true(is_awake);
	assert_false(pair.is_torn);
}

/* ---- the ledger: a copy of a range is one that was added ---- */

static void *change_ranges(void *arg)
{
	struct sim_ledger_lane *lane = arg;
	uint32_t seed = 3;

	for (uint64_t number = 1; !atomic_load(&stop); number++) {
		struct sim_shared_range range = {
			.owner = 1, .begin = 0, .end = UINT64_MAX, .task = number, .is_write = 1, .pid_ns = number
		};
		uint32_t slot;

		memset(range.site, (int)('a' + number % 26), sizeof(range.site));
		slot = sim_ledger_lane_add(lane, &range);
		stagger(&seed);
		sim_ledger_lane_remove(lane, slot);
	}
	return NULL;
}

static void test_a_range_is_never_copied_in_parts(void **state)
{
	struct sim_shared_ledger *ledger = calloc(1, sizeof(*ledger));
	struct sim_ledger_lane *lane = sim_shared_ledger_join(ledger, 1), *own = sim_shared_ledger_join(ledger, 2);
	const struct sim_shared_range wanted = { .owner = 1, .begin = 0, .end = UINT64_MAX, .is_write = 1 };
	uint64_t num_found = 0, num_torn = 0;
	uint32_t looks = 0;
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, change_ranges, lane), 0);
	while (!is_over(num_found)) {
		struct sim_shared_range other;

		if (!sim_shared_ledger_find_conflict(ledger, own, &wanted, &other)) {
			idle(&looks);
			continue;
		}
		num_found++;
		num_torn += other.task != other.pid_ns;
		for (size_t i = 0; i + 1 < sizeof(other.site); i++)
			num_torn += other.site[i] != (char)('a' + other.task % 26);
	}
	atomic_store(&stop, true);
	pthread_join(writer, NULL);
	free(ledger);
	assert_int_equal(num_torn, 0);
}

/* ---- a queue: the engine's thread finds each job, and counts fit together ---- */

struct counted_job {
	struct sim_job job;
	uint64_t number, result;
};

static int run_counted(struct sim_job *job)
{
	struct counted_job *counted = (struct counted_job *)job;

	counted->result = counted->number * 3;
	return 0;
}

static void *count_jobs(void *arg)
{
	static uint64_t num_wrong;
	uint32_t submitted, returned, looks = 0;

	num_wrong = 0;
	while (!atomic_load(&stop)) {
		sim_queue_count(arg, &submitted, &returned);
		num_wrong += (int32_t)(submitted - returned) < 0;
		idle(&looks);
	}
	return &num_wrong;
}

static void notify_nobody(void *arg)
{
}

/* The engine's thread runs what the owner does not poll. Returns false if it does not. */
static bool wait_for_engine(const struct sim_queue *queue)
{
	uint64_t lost_ns = sim_monotonic_ns() + LOST_AFTER_NS;
	uint32_t looks = 0;

	while (!sim_queue_has_done(queue)) {
		if (sim_monotonic_ns() > lost_ns)
			return false;
		idle(&looks);
	}
	return true;
}

static void test_each_job_runs_once_and_counts_fit_together(void **state)
{
	enum { NUM = 4 };
	struct counted_job jobs[NUM] = { 0 };
	uint64_t number = 0, num_wrong = 0;
	struct sim_engine *engine;
	struct sim_queue *queue;
	bool has_engine = true;
	pthread_t counter;
	void *miscounts;
	uint32_t seed = 5;

	assert_int_equal(sim_engine_create(&engine), 0);
	assert_int_equal(sim_queue_create(engine, NUM, notify_nobody, NULL, &queue), 0);
	assert_int_equal(pthread_create(&counter, NULL, count_jobs, queue), 0);
	while (has_engine && !is_over(number)) {
		for (size_t i = 0; i < NUM; i++) {
			jobs[i] = (struct counted_job){ .job.run = run_counted, .number = ++number };
			num_wrong += sim_queue_submit(queue, &jobs[i].job) != 0;
		}
		sim_queue_doorbell(queue);
		stagger(&seed);
		if (number % 64 == 0) /* seldom, as the engine's thread waits for a tick */
			has_engine = wait_for_engine(queue);
		for (size_t i = 0; i < NUM && has_engine;) {
			const struct counted_job *done = (struct counted_job *)sim_queue_poll(queue);

			if (done)
				num_wrong += done != &jobs[i++] || done->result != done->number * 3;
		}
	}
	atomic_store(&stop, true);
	pthread_join(counter, &miscounts);
	sim_queue_destroy(queue);
	sim_engine_destroy(engine);
	assert_true(has_engine);
	assert_int_equal(num_wrong, 0);
	assert_int_equal(*(uint64_t *)miscounts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_full_ring_always_notifies_its_writer, begin),
		cmocka_unit_test_setup(test_a_range_is_never_copied_in_parts, begin),
		cmocka_unit_test_setup(test_each_job_runs_once_and_counts_fit_together, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
