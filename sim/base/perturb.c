/* SPDX-License-Identifier: BSD-3-Clause */
/* Yields and sleeps by chance. A thread is quick, slow or very slow at all its points: where all are as slow as each other,
 * few orders change. */
#include "perturb.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "monotonic.h"

/* A sleep takes MIN_NS, or twice, four times and so on: up to 2 ms, less than the patience with a thread that sleeps. */
#define MIN_NS     UINT64_C(16000)
#define NUM_SLEEPS 8

enum { QUICK, SLOW, VERY_SLOW, NUM_SPEEDS };

/* Of 64 passages so many sleep, and the next so many yield. */
static const uint32_t sleeps[NUM_SPEEDS] = { 0, 4, 24 }, yields[NUM_SPEEDS] = { 2, 16, 16 };

bool sim_perturb_enabled;

static uint64_t seed;
static _Thread_local uint64_t state;
static _Thread_local unsigned int speed;

static void __attribute__((constructor)) read_seed(void)
{
	const char *text = getenv("BFSIM_TEST_PERTURB");

	sim_perturb_enabled = text && *text;
	seed = sim_perturb_enabled ? strtoull(text, NULL, 10) : 0;
}

/* xorshift64*: the state is never zero. */
static uint32_t next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)(state * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

static void start_thread(void)
{
	state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)gettid() << 20 ^ 1;
	next_random();
	speed = next_random() % NUM_SPEEDS;
}

static void sleep_briefly(void)
{
	const struct timespec interval = sim_timespec_from_ns(MIN_NS << next_random() % NUM_SLEEPS);

	nanosleep(&interval, NULL);
}

void sim_perturb_now(void)
{
	int saved_errno = errno;
	uint32_t number;

	if (state == 0)
		start_thread();
	number = next_random() % 64;
	if (number < sleeps[speed])
		sleep_briefly();
	else if (number < sleeps[speed] + yields[speed])
		sched_yield();
	errno = saved_errno;
}
