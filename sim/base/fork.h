/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/fork.h - what happens around a fork of the process: one registry, in a written order.
 *
 *   fork() --before(), from the last rank to the first--> [two processes] --parent(), from the first rank to the last
 *                                                               '--child(), likewise, in the child's only thread
 *
 * A child has no session, no thread besides the one that forked, and copies of all memory: of locks that other threads of
 * the parent held, too. A handler may rely on the ranks before its own. Those of one rank know nothing of each other.
 */
#ifndef SIM_BASE_FORK_H
#define SIM_BASE_FORK_H

#include <pthread.h>

enum sim_fork_rank {
	SIM_FORK_LOCKS,      /* locks, caches and descriptors that depend on nothing else */
	SIM_FORK_RECORD,     /* the record of the current session, which an attachment reads and writes */
	SIM_FORK_LOG,        /* the log of a library that uses sim */
	SIM_FORK_ATTACHMENT, /* the session, which is the parent's: a child abandons it */
	SIM_FORK_USERS,      /* what points into the session */
	SIM_FORK_CHECKER,    /* what watches all of them */
};

/* Each function may be NULL. */
struct sim_fork_handler {
	enum sim_fork_rank rank;
	pthread_mutex_t *lock; /* a child initialises it before child(); NULL = none */
	void (*before)(void);
	void (*parent)(void);
	void (*child)(void);
	struct sim_fork_handler *next;
};

/* Add a handler, which is static, in a constructor or by the process's only thread. */
void sim_fork_add(struct sim_fork_handler *handler);

/* Add the handler of a file: SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &lock); */
#define SIM_AT_FORK(rank_, ...)                                    \
	static struct sim_fork_handler at_fork;                    \
	static void __attribute__((constructor)) add_at_fork(void) \
	{                                                          \
		sim_fork_add(&at_fork);                            \
	}                                                          \
	static struct sim_fork_handler at_fork = { .rank = (rank_), __VA_ARGS__ }

#endif
