/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/clock.h and lock.h: modes, session time, and what jobs of several handles on one page cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/clock/clock.h"
#include "sim/clock/trouble.h"

/* Two functions of one card, and one of another. */
#define TOPOLOGY                                                       \
	"cards:\n"                                                     \
	"- profile: bluefield-3\n"                                     \
	"  functions:\n"                                               \
	"  - {side: dpu, type: pf, pci: '03:00.0'}\n"                  \
	"  - {side: host, type: pf, pci: 'b1:00.0'}\n"                 \
	"- profile: bluefield-3\n"                                     \
	"  link: {generation: 1, lanes: 1}\n"                          \
	"  functions: [{side: host, type: pf, pci: 'b2:00.0'}]\n"

enum { DPU, HOST, OTHER_CARD };

struct fixture {
	struct sim_clock_page *page;
	struct pcie_topology *topology;
	struct sim_clock *clock, *other; /* as two processes have it */
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

static const struct pcie_job read_64k = {.direction = PCIE_READ, .bytes = 65536, .segments = 1};

static uint64_t alone_ps(const struct fixture *fixture, uint32_t card)
{
	const struct pcie_card *its = &fixture->topology->cards[card];

	return pcie_engine_alone_ps(&its->profile->engine, &its->link, &read_64k);
}

static uint64_t end_of_job_ps(const struct sim_clock *clock, uint32_t function, struct pcie_queue_state *queue)
{
	uint64_t arrival_ps = sim_clock_arrival_ps(clock, function, &read_64k, queue);

	return sim_clock_end_ps(clock, function, &read_64k, arrival_ps);
}

static void test_modes_have_names(void **state)
{
	enum sim_clock_mode mode;

	(void)state;
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
	struct pcie_queue_state queue = {0};

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	assert_int_equal(end_of_job_ps(fixture->clock, DPU, &queue), alone_ps(fixture, 0));
}

static void test_job_waits_for_those_of_other_processes_on_the_same_card(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state mine = {0}, others = {0}, on_other_card = {0};

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	assert_int_equal(end_of_job_ps(fixture->clock, DPU, &mine), alone_ps(fixture, 0));
	assert_true(end_of_job_ps(fixture->other, HOST, &others) > alone_ps(fixture, 0));
	assert_int_equal(end_of_job_ps(fixture->other, OTHER_CARD, &on_other_card), alone_ps(fixture, 1));
}

static void test_slower_link_is_slower(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = {0};

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	/* 64 KiB at 250 MB/s take more than 262 us; a Gen5 x16 link carries them in some us. */
	assert_true(end_of_job_ps(fixture->clock, OTHER_CARD, &queue) > 262 * UINT64_C(1000000));
	assert_true(alone_ps(fixture, 0) < 20 * UINT64_C(1000000));
}

/* ---- links in trouble; virtual time stands still at 0 ---- */

static void test_degraded_link_is_as_slow_as_one_that_was_trained_so(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = {0}, later = {.submit_ps = 5000000};
	struct sim_clock_card *card;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	card = sim_clock_card(fixture->clock, HOST);
	sim_clock_link_degrade(card, 2, 16, 0, 3000);
	sim_clock_link_degrade(card, 1, 1, 0, 2000); /* the worse of both ... */
	assert_int_equal(end_of_job_ps(fixture->other, DPU, &queue), alone_ps(fixture, 1));
	memset(&card->engine, 0, sizeof(card->engine));
	memset(&card->link, 0, sizeof(card->link));
	assert_int_equal(end_of_job_ps(fixture->other, DPU, &later), 5000000 + alone_ps(fixture, 0)); /* ... until 3 us */
}

static void test_link_is_never_faster_than_trained(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = {0};

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	sim_clock_link_degrade(sim_clock_card(fixture->clock, OTHER_CARD), 6, 32, 0, UINT64_MAX);
	assert_int_equal(end_of_job_ps(fixture->clock, OTHER_CARD, &queue), alone_ps(fixture, 1));
}

/* 64 KiB take 262 us at 250 MB/s and, when half of the packets are damaged, 524 us. */
static void test_repeated_packets_take_time(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = {0};
	uint64_t end_ps;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	sim_clock_link_repeat(sim_clock_card(fixture->clock, OTHER_CARD), 500000000, 0, UINT64_MAX);
	sim_clock_link_repeat(sim_clock_card(fixture->clock, OTHER_CARD), 400000000, 0, 1); /* makes nothing better */
	end_ps = end_of_job_ps(fixture->clock, OTHER_CARD, &queue);
	assert_in_range(end_ps, 524 * UINT64_C(1000000), 2 * alone_ps(fixture, 1));
}

static void test_what_has_to_cross_a_link_that_is_down_waits(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = {0}, other = {0};
	uint64_t end_ps;

	open_clocks(fixture, SIM_CLOCK_VIRTUAL);
	sim_clock_link_down(sim_clock_card(fixture->clock, HOST), 1000000);
	sim_clock_link_down(sim_clock_card(fixture->clock, HOST), 10);
	end_ps = end_of_job_ps(fixture->other, DPU, &queue);
	assert_in_range(end_ps, 1000000 * UINT64_C(1000), 1000000 * UINT64_C(1000) + alone_ps(fixture, 0));
	assert_int_equal(end_of_job_ps(fixture->clock, OTHER_CARD, &other), alone_ps(fixture, 1));
	assert_int_equal(sim_clock_link_up_ns(sim_clock_card(fixture->clock, DPU)), 1000000);
}

static void test_nonsense_in_the_page_makes_times_wrong_and_no_more(void **state)
{
	struct fixture *fixture = *state;
	struct pcie_queue_state queue = {0};

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
	sim_clock_unlock(lock, theirs); /* as one does that was only slow */
	assert_int_equal(atomic_load(&lock->holder), mine);
	sim_clock_unlock(lock, mine);
}

static void test_lock_that_nobody_can_hold_is_taken_over(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_lock *lock = &fixture->page->lock;

	atomic_store(&lock->holder, UINT64_MAX);
	sim_clock_unlock(lock, sim_clock_lock(lock));
	assert_int_equal(atomic_load(&lock->holder), 0);
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
		TEST(link_is_never_faster_than_trained),
		TEST(repeated_packets_take_time),
		TEST(what_has_to_cross_a_link_that_is_down_waits),
		TEST(nonsense_in_the_page_makes_times_wrong_and_no_more),
		TEST(lock_is_free_again_when_it_is_given_back),
		TEST(lock_of_a_dead_process_is_taken_over),
		TEST(lock_that_nobody_can_hold_is_taken_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
