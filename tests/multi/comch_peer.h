/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/comch_peer.h - processes that use Comch, for tests of several of them.
 *
 *   test:  card_start() --> peer_start(role) ... --> card_end()
 *   role:  a process (proc.h) with its device and a loop, through the public headers alone
 *
 * A loop drives a progress engine in either of two ways: it polls without a
 * pause, or sleeps on the notification handle until an event. A loop without an
 * event for PROC_DEADLINE_MS ends its process, so that a lost wake-up is found.
 */
#ifndef TESTS_MULTI_COMCH_PEER_H
#define TESTS_MULTI_COMCH_PEER_H

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#include "proc.h"
#include "doca_device.h"

/* In a role: go on only if it works. */
/* ---- processes ---- */

struct peer_role {
	const char *name;
	void (*run)(int ctl);
};

/* Start a process on @side ("host" or "dpu") and send it @len bytes of @arg. HOST_WRAPPER, if set, starts the
 * host's process in other namespaces; @pid is then the wrapper's. */
void peer_start(struct proc *proc, const char *side, const struct peer_role *role, const void *arg, size_t len);

/* First in main(), with all roles up to one without name: does not return in a process that a wrapper started. */
void peer_main(int argc, char **argv, const struct peer_role *roles);

/* The daemon (BFSIMD) of a session in a new directory, with @topology, or NULL for one card with two ports.
 * Its end fails the test if anything is left: in the directory, or by the peers in /dev/shm. */
void card_start(const char *topology);
void card_start_with(const char *topology, const char *clock); /* the same, with a clock mode (bfsimd --clock) */
void card_end(void);
void card_kill_daemon(void);
void card_restart(void); /* after that: a new daemon in the same directory */
int card_num_fds(void);

/* cmocka setup: card_start(NULL). cmocka teardown: kill all that a failed test left, and remove the directory. */
int card_setup(void **state);
int card_teardown(void **state);

/* Repetitions in a loop: @count, or fewer where programs run slowly. BFSIM_TEST_ROUNDS overrides it. */
unsigned int peer_rounds(unsigned int count);

/* ---- devices ---- */

/* ---- loops ---- */

struct loop {
	struct doca_pe *pe;
	int epoll_fd;
	bool sleeps;      /* else it polls */
	int64_t quiet_ms; /* time of the last event; 0 = just now */
};

void loop_open(struct loop *loop, bool sleeps);
void loop_watch(struct loop *loop, int fd); /* wakes the loop too */
void loop_close(struct loop *loop);

/* Make progress; if there was none, wait for an event, for @ms at most (-1 = without limit). */
void loop_turn(struct loop *loop, int ms);

#define LOOP_UNTIL(loop, condition)          \
	do {                                 \
		while (!(condition))         \
			loop_turn(loop, -1); \
	} while (0)

/* A pattern that differs by message: byte @i of message @seq of @sender. */
void pattern_fill(uint8_t *bytes, size_t len, uint32_t sender, uint32_t seq);
bool pattern_is(const uint8_t *bytes, size_t len, uint32_t sender, uint32_t seq);

#endif
