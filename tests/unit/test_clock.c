/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/clock.h and lock.h: modes, session time, and the time of jobs of several handles on one page. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/clock/clock.h"
#include "sim/clock/link_state.h"

/* Two functions of one card, and one of another. */
#define TOPOLOGY                                       \
	"cards:\n"                                     \
	"- profile: bluefield-3\n"                     \
	"  functions:\n"                               \
	"  - {side: dpu, type: pf, pci: '03:00.0'}\n"  \
	"  - {side: host, type: pf, pci: 'b1:00.0'}\n" \
	"- profile: bluefield-3\n"                     \
	"  link: {generation: 1, lanes: 1}\n"          \
	"  functions: [{side: host, type: pf, pci: 'b2:00.0'}]\n"

enum { DPU, HOST, OTHER_CARD };

struct fixture {
	struct sim_clock_page *page;
	struct pcie_topology *topology;
	struct sim_clock *clock, *other; /* as two processes have them */
};

static void open_clocks(struct fixture *fixture, enum sim_clock_mode mode)
{
	sim_clock_page_init(fixture->page, mode);
	assert_int_equal(sim_clock_create(fixture->page, fixture->topology, &fixture->clock), 0);
	assert_int_equal(sim_clock_create(fixture->page, fixture->topology, &fixture->other), 0);
}

static int setup(void **state)
{
	static struct fixture fixture;
	char error[PCIE_ERROR_SIZE];

	memset(&fixture, 0, sizeof(fixture));
	fixture.page = mmap(NULL, sizeof(*fixture.page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fixture.page == MAP_FAILED ||
	    pcie_topology_parse("test", TOPOLOGY, strlen(TOPOLOGY), &fixture.topology, error) < 0)
		return -1;
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	sim_clock_destroy(fixture->clock);
	sim_clock_destroy(fixture->other);
	pcie_topology_destroy(fixture->topology);
	return munmap(fixture->page, sizeof(*fixture->page));
}

static const struct pcie_job read_64k = { .direction = PCIE_READ, .bytes = 65536, .segments = 1 };

static uint64_t alone_ps(const struct fixture *fixture, uint32_t card)
{
	const struct pcie_card *its = &fixture->topology->cards[card];

	return pcie_engine_unloaded_ps(&its->profile->engine, &its->link, &read_64k);
}

static uint64_t end_of_job_ps(const struct sim_clock *clock, uint32_t function, struct pcie_queue_state *queue)
{
	uint64_t arrival_ps = sim_clock_arrival_ps(clock, function, &read_64k, queue);

	return sim_clock_end_ps(clock, function, &read_64k, arrival_ps);
}

static void test_modes_have_names(void **state)
{
	enum sim_clock_mode mode;

	for (unsigned int i = 0; i < SIM_CLOCK_NUM_MODES; i++) {
		assert_int_equal(sim_clock_mode_parse(sim_clock_mode_name((enum sim_clock_mode)i), &mode), 0);
		assert_int_equal(mode, i);
	}
	assert_int_equal(sim_clock_mode_parse("real", &mode), -EINVAL);
	assert_int_equal(sim_clock_mode_parse("", &mode), -EINVAL);
}

static void test_real_time_passes_and_is_the_same_for_all(void **state)
{
	struct fixture *fixture = *state;
	uint64_t first, second, third;

	open_clocks(fixture, SIM_CLOCK_TIMED);
	first = sim_clock_now_ns(fixture->clock);
	second = sim_clock_now_ns(fixture->other);
	third = sim_clock_page_now_ns(fixture->page);
	assert_true(first <= second && second <= third);
	assert_true(sim_clock_real_ns(fixture->clock, 0) > 0);
	assert_int_equal(sim_clock_real_ns(fixture->clock, first) - sim_clock_real_ns(fixture->clock, 0), first);
	assert_int_equal(sim_clock_real_ns(fixture->clock, SIM_CLOCK_NEVER_NS), SIM_CLOCK_NEVER_NS);
}

static void test_virtual_time_begins_at_zero_and_stands_still(void **state)
{
	struct fixture *fixture = *state;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	assert_int_equal(sim_clock_now_ns(fixture->clock), 0);
	assert_int_equal(sim_clock_now_ns(fixture->other), 0);
	assert_int_equal(sim_clock_page_now_ns(fixture->page), 0);
}

static void test_job_alone_takes_what_the_model_says(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = { 0 };

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	assert_int_equal(end_of_job_ps(fixture->clock, DPU, &queue), alone_ps(fixture, 0));
}

static void test_job_waits_for_those_of_other_processes_on_the_same_card(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state mine = { 0 }, others = { 0 }, on_other_card = { 0 };

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	assert_int_equal(end_of_job_ps(fixture->clock, DPU, &mine), alone_ps(fixture, 0));
	assert_true(end_of_job_ps(fixture->other, HOST, &others) > alone_ps(fixture, 0));
	assert_int_equal(end_of_job_ps(fixture->other, OTHER_CARD, &on_other_card), alone_ps(fixture, 1));
}

static void test_slower_link_is_slower(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = { 0 };

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	/* 64 KiB at 250 MB/s take more than 262 us; a Gen5 x16 link carries them in some us. */
	assert_true(end_of_job_ps(fixture->clock, OTHER_CARD, &queue) > 262 * UINT64_C(1000000));
	assert_true(alone_ps(fixture, 0) < 20 * UINT64_C(1000000));
}

/* ---- links that are down or degraded; virtual time stands still at 0 ---- */

static void worsen(struct sim_clock_card *card, uint32_t rule, const struct sim_clock_degrade *worse)
{
	assert_int_equal(sim_clock_link_degrade(card, rule, worse, 0), 0);
}

static void expect_link(const struct fixture *fixture, uint64_t at_ns, uint32_t generation, uint32_t lanes,
			uint32_t replay_ppb)
{
	const struct sim_clock_card *card = sim_clock_card(fixture->clock, HOST);
	struct pcie_link link = sim_clock_link_at(&fixture->topology->cards[0].link, &card->degradation, at_ns * 1000);

	assert_int_equal(link.generation, generation);
	assert_int_equal(link.lanes, lanes);
	assert_int_equal(link.replay_ppb, replay_ppb);
}

static void test_degraded_link_is_as_slow_as_one_that_was_trained_so(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = { 0 }, later = { .submit_ps = 5000000 };
	struct sim_clock_card *card;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	card = sim_clock_card(fixture->clock, HOST);
	worsen(card, 1, &(struct sim_clock_degrade){ .until_ns = 3000, .generation = 1, .lanes = 1 });
	assert_int_equal(end_of_job_ps(fixture->other, DPU, &queue), alone_ps(fixture, 1));
	memset(&card->engine, 0, sizeof(card->engine));
	memset(&card->link, 0, sizeof(card->link));
	assert_int_equal(end_of_job_ps(fixture->other, DPU, &later), 5000000 + alone_ps(fixture, 0));
}

/* The combination of three rules on a Gen5 x16 link, by the nanosecond. */
static void test_each_window_ends_at_its_own_time(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_card *card;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	card = sim_clock_card(fixture->clock, HOST);
	worsen(card, 7, &(struct sim_clock_degrade){ .until_ns = 300, .generation = 2, .lanes = 16 });
	worsen(card, 8,
	       &(struct sim_clock_degrade){ .until_ns = 200, .generation = 3, .lanes = 1, .replay_ppb = 250000000 });
	worsen(card, 9, &(struct sim_clock_degrade){ .until_ns = 400, .replay_ppb = 500000000 });
	expect_link(fixture, 199, 2, 1, 750000000);
	expect_link(fixture, 200, 2, 16, 500000000);
	expect_link(fixture, 300, 5, 16, 500000000);
	expect_link(fixture, 400, 5, 16, 0);
	worsen(card, 8,
	       &(struct sim_clock_degrade){ .until_ns = 900, .replay_ppb = 900000000 }); /* said again: one rule */
	expect_link(fixture, 350, 5, 16, 999999999);
	expect_link(fixture, 500, 5, 16, 900000000);
}

static bool is_the_second(const void *arg, uint32_t rule)
{
	return rule == 2;
}

static void test_windows_of_rules_that_are_gone_are_closed_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_card *card;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	card = sim_clock_card(fixture->clock, HOST);
	worsen(card, 1,
	       &(struct sim_clock_degrade){ .until_ns = UINT64_MAX, .generation = 1, .lanes = 1, .up_ns = 500 });
	worsen(card, 2,
	       &(struct sim_clock_degrade){ .until_ns = UINT64_MAX, .generation = 4, .lanes = 8, .up_ns = 300 });
	worsen(card, 3, &(struct sim_clock_degrade){ .until_ns = UINT64_MAX, .replay_ppb = 1 });
	sim_clock_link_restore(card, is_the_second, NULL);
	expect_link(fixture, 0, 4, 8, 0);
	assert_int_equal(sim_clock_link_up_ns(card), 300);
}

/* Expired windows free their slots, and a rule without a free slot is refused. */
static void test_link_has_a_number_of_windows_at_a_time(void **state)
{
	const struct sim_clock_degrade worse = { .until_ns = 100, .replay_ppb = 1 };
	struct fixture *fixture = *state;
	struct sim_clock_card *card;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	card = sim_clock_card(fixture->clock, HOST);
	for (uint32_t rule = 1; rule <= SIM_CLOCK_MAX_WINDOWS; rule++)
		worsen(card, rule, &worse);
	expect_link(fixture, 99, 5, 16, SIM_CLOCK_MAX_WINDOWS);
	assert_int_equal(sim_clock_link_degrade(card, 1000, &worse, 99), -ENOSPC);
	assert_int_equal(sim_clock_link_degrade(card, 5, &worse, 99), 0); /* has a window */
	assert_int_equal(sim_clock_link_degrade(card, 1000,
						&(struct sim_clock_degrade){ .until_ns = 200, .replay_ppb = 3 }, 100),
			 0);
	expect_link(fixture, 100, 5, 16, 3);
}

/* All processes write to the page: corrupt contents must not cause accesses outside of it. */
static void test_corrupt_link_state_is_the_trained_link(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_card *card;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	card = sim_clock_card(fixture->clock, HOST);
	memset(&card->degradation, 0xff, sizeof(card->degradation));
	expect_link(fixture, 0, 5, 16, 999999999);
	sim_clock_link_restore(card, is_the_second, NULL);
	expect_link(fixture, 0, 5, 16, 0);
	worsen(card, 1, &(struct sim_clock_degrade){ .until_ns = 100, .generation = 77, .lanes = 3 });
	expect_link(fixture, 0, 5, 16, 0);
}

static void test_link_is_never_faster_than_trained(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = { 0 };

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	worsen(sim_clock_card(fixture->clock, OTHER_CARD), 1,
	       &(struct sim_clock_degrade){ .until_ns = UINT64_MAX, .generation = 6, .lanes = 32 });
	assert_int_equal(end_of_job_ps(fixture->clock, OTHER_CARD, &queue), alone_ps(fixture, 1));
}

/* 64 KiB take 262 us at 250 MB/s and, when half of the packets are damaged, 524 us. */
static void test_repeated_packets_take_time(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = { 0 };
	uint64_t end_ps;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	worsen(sim_clock_card(fixture->clock, OTHER_CARD), 1,
	       &(struct sim_clock_degrade){ .until_ns = UINT64_MAX, .replay_ppb = 500000000 });
	end_ps = end_of_job_ps(fixture->clock, OTHER_CARD, &queue);
	assert_in_range(end_ps, 524 * UINT64_C(1000000), 2 * alone_ps(fixture, 1));
}

static void test_what_has_to_cross_a_link_that_is_down_waits(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = { 0 }, other = { 0 };
	uint64_t end_ps;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	worsen(sim_clock_card(fixture->clock, HOST), 1, &(struct sim_clock_degrade){ .up_ns = 1000000 });
	worsen(sim_clock_card(fixture->clock, HOST), 2, &(struct sim_clock_degrade){ .up_ns = 10 });
	end_ps = end_of_job_ps(fixture->other, DPU, &queue);
	assert_in_range(end_ps, 1000000 * UINT64_C(1000), 1000000 * UINT64_C(1000) + alone_ps(fixture, 0));
	assert_int_equal(end_of_job_ps(fixture->clock, OTHER_CARD, &other), alone_ps(fixture, 1));
	assert_int_equal(sim_clock_link_up_ns(sim_clock_card(fixture->clock, DPU)), 1000000);
}

static void test_corrupt_page_gives_wrong_times_only(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = { 0 };

	memset(fixture->page, 0xff, sizeof(*fixture->page));
	assert_int_equal(sim_clock_create(fixture->page, fixture->topology, &fixture->clock), 0);
	assert_int_equal(sim_clock_mode(fixture->clock), SIM_CLOCK_FUNCTIONAL);
	assert_int_equal(sim_clock_now_ns(fixture->clock), 0); /* the session begins in the far future */
	assert_int_equal(end_of_job_ps(fixture->clock, DPU, &queue), UINT64_MAX);
}

/* ---- the lock ---- */

static void test_lock_is_free_again_when_it_is_given_back(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_lock *lock = &fixture->page->lock;
	uint64_t mine = sim_clock_lock(lock);

	assert_int_not_equal(mine, 0);
	sim_clock_unlock(lock, mine);
	assert_int_equal(atomic_load(&lock->holder), 0);
}

static void test_lock_of_a_dead_process_is_taken_over(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_lock *lock = &fixture->page->lock;
	uint64_t theirs, mine;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		sim_clock_lock(lock);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	theirs = atomic_load(&lock->holder);
	assert_int_equal(theirs >> 32, pid);
	mine = sim_clock_lock(lock);
	assert_int_equal(mine >> 32, getpid());
	sim_clock_unlock(lock, theirs); /* as a holder does that was only slow */
	assert_int_equal(atomic_load(&lock->holder), mine);
	sim_clock_unlock(lock, mine);
}

static void test_lock_with_an_impossible_holder_is_taken_over(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_lock *lock = &fixture->page->lock;

	atomic_store(&lock->holder, UINT64_MAX);
	sim_clock_unlock(lock, sim_clock_lock(lock));
	assert_int_equal(atomic_load(&lock->holder), 0);
}

static atomic_bool is_over;

/* A process that writes another holder all the time; each looks alive. */
static void *write_holders(void *arg)
{
	struct sim_clock_lock *lock = arg;

	for (uint32_t number = 1; !atomic_load(&is_over); number++)
		atomic_store(&lock->holder, (uint64_t)getpid() << 32 | number);
	return NULL;
}

static void test_lock_whose_holder_changes_all_the_time_is_taken(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_lock *lock = &fixture->page->lock;
	pthread_t thread;

	atomic_store(&is_over, false);
	atomic_store(&lock->holder, (uint64_t)getpid() << 32 | 1);
	assert_int_equal(pthread_create(&thread, NULL, write_holders, lock), 0);
	alarm(30);
	sim_clock_unlock(lock, sim_clock_lock(lock));
	alarm(0);
	atomic_store(&is_over, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(modes_have_names),
		TEST(real_time_passes_and_is_the_same_for_all),
		TEST(virtual_time_begins_at_zero_and_stands_still),
		TEST(job_alone_takes_what_the_model_says),
		TEST(job_waits_for_those_of_other_processes_on_the_same_card),
		TEST(slower_link_is_slower),
		TEST(degraded_link_is_as_slow_as_one_that_was_trained_so),
		TEST(each_window_ends_at_its_own_time),
		TEST(windows_of_rules_that_are_gone_are_closed_at_once),
		TEST(link_has_a_number_of_windows_at_a_time),
		TEST(corrupt_link_state_is_the_trained_link),
		TEST(link_is_never_faster_than_trained),
		TEST(repeated_packets_take_time),
		TEST(what_has_to_cross_a_link_that_is_down_waits),
		TEST(corrupt_page_gives_wrong_times_only),
		TEST(lock_is_free_again_when_it_is_given_back),
		TEST(lock_of_a_dead_process_is_taken_over),
		TEST(lock_with_an_impossible_holder_is_taken_over),
		TEST(lock_whose_holder_changes_all_the_time_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
