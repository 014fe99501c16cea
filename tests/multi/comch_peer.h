/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/comch_peer.h - what programs that talk over Comch have in common, for tests of several such.
 *
 *   test:  card_start() --> peer_start(role) ... --> card_end()
 *   role:  a process (proc.h) with its device and a loop, through the public headers alone
 *
 * A loop drives a progress engine, either way that programs do: it polls without
 * a pause, or sleeps on the notification handle until something happens. A loop
 * in which nothing happens for PROC_DEADLINE_MS ends its process, so that a
 * wake-up which is lost shows.
 */
#ifndef TESTS_MULTI_COMCH_PEER_H
#define TESTS_MULTI_COMCH_PEER_H

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#include "proc.h"
#include "doca_check.h"

/* In a role: go on only if it works. */
/* ---- processes ---- */

struct peer_role {
	const char *name;
	void (*run)(int talk);
};

/* Start a process on @side ("host" or "dpu"), and say @len bytes of @arg to it.
 * The host's may be started by way of a command (HOST_WRAPPER), which puts it
 * into other namespaces; then its pid is the command's. */
void peer_start(struct proc *proc, const char *side, const struct peer_role *role, const void *arg, size_t len);

/* First in main(), with all roles up to one without name: does not return in a process that a wrapper started. */
void peer_main(int argc, char **argv, const struct peer_role *roles);

/* The daemon (BFSIMD) of a session in a new directory, with @topology, or NULL for one card with two ports.
 * Its end fails the test if anything is left: in the directory, or by the peers in /dev/shm. */
void card_start(const char *topology);
void card_start_with(const char *topology,
		     const char *clock); /* the same, with time that passes like that (bfsimd --clock) */
void card_end(void);
void card_kill(void); /* for teardowns */
int card_num_fds(void);

/* Repetitions in a loop: @count, or fewer where programs run slowly. BFSIM_TEST_ROUNDS overrides it. */
unsigned int peer_rounds(unsigned int count);

/* ---- devices ---- */

/* The first one, or that with this address. */
struct doca_dev *peer_open(const char *address);
struct doca_dev_rep *peer_open_rep(struct doca_dev *dev, const char *address);

/* ---- loops ---- */

struct loop {
	struct doca_pe *pe;
	int epoll_fd;
	bool sleeps;      /* else it polls */
	int64_t quiet_ms; /* since when nothing has happened; 0 = something has just now */
};

void loop_open(struct loop *loop, bool sleeps);
void loop_watch(struct loop *loop, int fd); /* wakes it too */
void loop_close(struct loop *loop);

/* Progress; if there was nothing, wait until there may be, or for @ms at most (-1 = as long as it takes). */
void loop_turn(struct loop *loop, int ms);

#define LOOP_UNTIL(loop, condition)          \
	do {                                 \
		while (!(condition))         \
			loop_turn(loop, -1); \
	} while (0)

/* Messages that can be told apart: byte @i of number @seq from @sender. */
void pattern_fill(uint8_t *bytes, size_t len, uint32_t sender, uint32_t seq);
bool pattern_is(const uint8_t *bytes, size_t len, uint32_t sender, uint32_t seq);

#endif
