/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/processes.h - the soak's two processes: started, one of them killed and started again, ended.
 *
 *   processes_start --> processes_turn ... --> processes_end
 *
 *   victim:    [runs] --SIGKILL, at any point--> [dead] --after a while--> [runs], another process
 *   survivor:  plays rounds with the current other process for the whole run: its memory and descriptors are checked
 *
 * The seed selects the victim's side; without faults there is none. Sometimes the next process is
 * killed as soon as it has started. The soak checks that the session has forgotten a killed process
 * before the next one starts.
 */
#ifndef TESTS_SOAK_PROCESSES_H
#define TESTS_SOAK_PROCESSES_H

#include <sys/types.h>

#include <bfsim.h>

#include "side.h"

struct processes {
	struct shared *shared;
	struct bfsim_session *session; /* borrowed */
	struct random random;
	struct side start;         /* the address of the survivor's socket, and listen_fd */
	char *programs[NUM_SIDES]; /* a command that is run as the side's process; NULL = a fork of this one */
	int shared_fd;             /* of @shared, for those */
	pid_t pids[NUM_SIDES];     /* 0 = does not run */
	uint64_t turns;            /* until the victim is killed, or started again */
	uint64_t num_killed;
};

extern const char *const side_names[NUM_SIDES];

/* The side that is killed. */
int processes_victim_of(uint64_t seed);

/* Start both. Of @processes, the programs and shared_fd are set. @shared->victim is the side to kill. Returns 0, or -1 after
 * a message; processes_end() is due in any case. */
int processes_start(struct processes *processes, struct bfsim_session *session, struct shared *shared);

/* In such a program: be a side until the soak ends. @side, @listen_fd and @address are the texts of its options; @shared_fd is
 * that of the soak. Returns the exit status. */
int processes_be_side(const char *side, int shared_fd, int listen_fd, const char *address);

/* Check both, and kill one when it is time. Returns 0, or -1 after a message about the violated expectation. */
int processes_turn(struct processes *processes);

/* Let both finish their round and end; or kill them, if @failed. Returns 0 or -1. */
int processes_end(struct processes *processes, bool failed);

#endif
