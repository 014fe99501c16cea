/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/crew.h - the soak's two processes: started, one of them killed and started again, ended.
 *
 *   crew_start --> crew_turn ... --> crew_end
 *
 *   mortal:    [lives] --SIGKILL, wherever it is--> [dead] --after a while--> [lives], another process
 *   survivor:  plays with whoever is there, from beginning to end: its memory and descriptors can be watched
 *
 * Which of the two is mortal follows from the seed; without faults none is. Sometimes the next
 * one is killed as soon as it has begun. What a process leaves behind is gone from the session before
 * another one is started: that is one of the things that must hold.
 */
#ifndef TESTS_SOAK_CREW_H
#define TESTS_SOAK_CREW_H

#include <sys/types.h>

#include <bfsim.h>

#include "side.h"

struct crew {
	struct shared *shared;
	struct bfsim_session *session; /* borrowed */
	struct random random;
	struct side start;     /* how processes find each other */
	pid_t pids[NUM_SIDES]; /* 0 = does not run */
	uint64_t turns;        /* until the mortal is killed, or started again */
	uint64_t num_killed;
};

extern const char *const crew_names[NUM_SIDES];

/* Which side it is that dies. */
int crew_mortal(uint64_t seed);

/* Start both. @shared says who is mortal. Returns 0 or -1, having said why; crew_end() is due in any case. */
int crew_start(struct crew *crew, struct bfsim_session *session, struct shared *shared);

/* Look after them, and kill one when it is time. Returns 0, or -1, having said what is not as it must be. */
int crew_turn(struct crew *crew);

/* Let both play their round to its end, and end; or kill them, if @failed. Returns 0 or -1. */
int crew_end(struct crew *crew, bool failed);

#endif
