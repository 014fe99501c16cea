/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/processes.h - the soak's two processes: started, one of them killed and started again, ended.
 *
 *   crew_start --> crew_turn ... --> crew_end
 *
 *   mortal:    [runs] --SIGKILL, at any point--> [dead] --after a while--> [runs], another process
 *   survivor:  plays rounds with the current other process for the whole run: its memory and descriptors are checked
 *
 * The seed selects the mortal side; without faults there is none. Sometimes the next process is
 * killed as soon as it has started. The soak checks that the session has forgotten a killed process
 * before the next one starts.
 */
#ifndef TESTS_SOAK_PROCESSES_H
#define TESTS_SOAK_PROCESSES_H

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

/* The side that is killed. */
int crew_mortal(uint64_t seed);

/* Start both. @shared names the mortal side. Returns 0, or -1 after a message; crew_end() is due in any case. */
int crew_start(struct crew *crew, struct bfsim_session *session, struct shared *shared);

/* Check both, and kill one when it is time. Returns 0, or -1 after a message about the violated expectation. */
int crew_turn(struct crew *crew);

/* Let both play their round to its end, and end; or kill them, if @failed. Returns 0 or -1. */
int crew_end(struct crew *crew, bool failed);

#endif
