/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop: drives the engine, sleeps when there is no work. */
#include "loop.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "failure.h"

#define SHORTEST_REST_NS 10000L
#define LONGEST_REST_NS  1000000L

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

static void handle_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction before;

		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

doca_error_t loop_init(struct loop *loop)
{
	*loop = (struct loop){ .rest_ns = SHORTEST_REST_NS };
	handle_signals();
	return engine_create(&loop->engine);
}

void loop_fini(struct loop *loop)
{
	engine_destroy(loop->engine);
	loop->engine = NULL;
}

static void rest(struct loop *loop)
{
	struct timespec duration = { .tv_nsec = loop->rest_ns };

	nanosleep(&duration, NULL);
	if (loop->rest_ns < LONGEST_REST_NS)
		loop->rest_ns *= 2;
}

static void turn(struct loop *loop, bool busy)
{
	if (engine_turn(loop->engine) || busy)
		loop->rest_ns = SHORTEST_REST_NS;
	else
		rest(loop);
}

doca_error_t loop_turn(struct loop *loop, bool busy)
{
	if (caught)
		return failure_report(DOCA_ERROR_SHUTDOWN, "Ended by a signal: %s", strsignal(caught));
	turn(loop, busy);
	return DOCA_SUCCESS;
}

bool loop_settle(struct loop *loop, double seconds, bool (*condition)(void *arg), void *arg)
{
	double end_s = now_s() + seconds;

	while (!condition(arg)) {
		if (now_s() > end_s)
			return false;
		turn(loop, false);
	}
	return true;
}

double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
