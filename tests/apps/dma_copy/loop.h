/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.h - the program's event loop: it drives the engine, and sleeps when there is no work.
 *
 *   while (what I wait for is not there yet)
 *           if ((result = loop_turn(loop, false)) != DOCA_SUCCESS)
 *                   return result;
 *
 * All callbacks run inside a turn. The loop sleeps longer and longer, up to a
 * millisecond: on cards, Comch's control messages bring no notification that a
 * program could sleep on.
 *
 * SIGINT, SIGTERM and SIGHUP end the program in good order: the next turn is an
 * error. A second one ends it at once. A signal that the parent process ignores (nohup) stays ignored.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>

#include <doca_error.h>

#include "engine.h"

struct loop {
	struct engine *engine;
	long rest_ns; /* how long the next rest is */
};

/* An engine, and handlers for the signals. fini destroys the engine, when its users are gone; it accepts a loop
 * that is all zero. */
doca_error_t loop_init(struct loop *loop);
void loop_fini(struct loop *loop);

/* Make progress on the engine. If there is none, and the caller is not @busy otherwise, sleep. DOCA_ERROR_SHUTDOWN
 * after a signal. */
doca_error_t loop_turn(struct loop *loop, bool busy);

/* Turn until @condition(@arg) is true, or for @seconds at most; signals or
 * not, for use in cleaning up. Returns the condition's last answer. */
bool loop_settle(struct loop *loop, double seconds, bool (*condition)(void *arg), void *arg);

/* Seconds on a clock that only goes forward. */
double now_s(void);

#endif
