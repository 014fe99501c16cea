/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/doorbell.c */
#include <pthread.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/shm/doorbell.h"

static struct sim_doorbell_shared shared;
static struct sim_doorbells doorbells;

static int setup(void **state)
{
	memset(&shared, 0, sizeof(shared));
	doorbells = (struct sim_doorbells){ .shared = &shared };
	return 0;
}

static void expect_slot(uint32_t slot)
{
	uint32_t got;

	assert_true(sim_doorbell_next(&doorbells, &got));
	assert_int_equal(got, slot);
}

static void expect_none(void)
{
	uint32_t got;

	assert_false(sim_doorbell_next(&doorbells, &got));
}

static void test_ringing_peer_is_found_once(void **state)
{
	expect_none();
	sim_doorbell_ring(&shared, 7);
	sim_doorbell_ring(&shared, 7);
	expect_slot(7);
	expect_none();
	sim_doorbell_ring(&shared, 7);
	expect_slot(7);
}

static void test_every_slot_can_ring(void **state)
{
	for (uint32_t slot = 0; slot < SIM_DOORBELL_SLOTS; slot++)
		sim_doorbell_ring(&shared, slot);
	for (uint32_t slot = 0; slot < SIM_DOORBELL_SLOTS; slot++)
		expect_slot(slot);
	expect_none();
}

/* Slot 5 rings whenever it was read; the others are found all the same. */
static void test_a_peer_that_rings_all_the_time_starves_no_other(void **state)
{
	sim_doorbell_ring(&shared, 5);
	expect_slot(5);
	sim_doorbell_ring(&shared, 3);
	sim_doorbell_ring(&shared, 5);
	sim_doorbell_ring(&shared, 900);
	expect_slot(900);
	sim_doorbell_ring(&shared, 5);
	expect_slot(3);
	expect_slot(5);
	expect_none();
}

static void test_again_comes_after_the_others(void **state)
{
	sim_doorbell_ring(&shared, 1);
	sim_doorbell_ring(&shared, 2);
	expect_slot(1);
	sim_doorbell_requeue(&doorbells, 1);
	expect_slot(2);
	expect_slot(1);
	expect_none();
}

static void test_only_a_sleeper_is_woken_and_once(void **state)
{
	assert_false(sim_doorbell_ring_own(&doorbells, 1));
	expect_slot(1);
	assert_false(sim_doorbell_arm(&doorbells));
	assert_true(sim_doorbell_ring_own(&doorbells, 1));
	assert_false(sim_doorbell_ring_own(&doorbells, 2));
}

/* A hostile peer writes zeros: a thread of the owner's process reaches the owner all the same. */
static void test_own_rings_and_the_sleep_mark_are_private(void **state)
{
	assert_false(sim_doorbell_arm(&doorbells));
	memset(&shared, 0, sizeof(shared));
	assert_true(sim_doorbell_ring_own(&doorbells, 9));
	memset(&shared, 0, sizeof(shared));
	assert_true(sim_doorbell_arm(&doorbells));
	expect_slot(9);
}

static void test_a_reader_with_a_pending_ring_does_not_sleep(void **state)
{
	sim_doorbell_ring(&shared, 1);
	assert_true(sim_doorbell_arm(&doorbells));
	expect_slot(1);
	sim_doorbell_requeue(&doorbells, 1);
	assert_true(sim_doorbell_arm(&doorbells));
}

/* ---- several peers at once: no ring is lost ---- */

#define NUM_PEERS 3
#define NUM_RINGS 50000

static atomic_uint posted[NUM_PEERS];

static void *ring_many(void *arg)
{
	uint32_t peer = (uint32_t)(uintptr_t)arg;

	for (int i = 0; i < NUM_RINGS; i++) {
		atomic_fetch_add(&posted[peer], 1);
		sim_doorbell_ring(&shared, peer * 70);
	}
	return NULL;
}

static void test_the_last_ring_of_each_peer_is_seen(void **state)
{
	pthread_t threads[NUM_PEERS];
	uint32_t seen[NUM_PEERS] = { 0 };
	uint32_t slot, done = 0;

	for (uintptr_t i = 0; i < NUM_PEERS; i++) {
		atomic_store(&posted[i], 0);
		assert_int_equal(pthread_create(&threads[i], NULL, ring_many, (void *)i), 0);
	}
	while (done < NUM_PEERS) {
		if (!sim_doorbell_next(&doorbells, &slot))
			continue;
		if (seen[slot / 70] < NUM_RINGS) {
			seen[slot / 70] = atomic_load(&posted[slot / 70]);
			done += seen[slot / 70] == NUM_RINGS;
		}
	}
	for (int i = 0; i < NUM_PEERS; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ringing_peer_is_found_once, setup),
		cmocka_unit_test_setup(test_every_slot_can_ring, setup),
		cmocka_unit_test_setup(test_a_peer_that_rings_all_the_time_starves_no_other, setup),
		cmocka_unit_test_setup(test_again_comes_after_the_others, setup),
		cmocka_unit_test_setup(test_only_a_sleeper_is_woken_and_once, setup),
		cmocka_unit_test_setup(test_own_rings_and_the_sleep_mark_are_private, setup),
		cmocka_unit_test_setup(test_a_reader_with_a_pending_ring_does_not_sleep, setup),
		cmocka_unit_test_setup(test_the_last_ring_of_each_peer_is_seen, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
